"""The other side of a measurement, in an interpreter of its own: forks or spawns on request and times itself.

Run by the interpreter under test (never imports jailpy), with what to do as JSON in argv[1]: {"fork": source, "preload":
[names]} or {"spawn": argv}. For every line on stdin, a count, it does so many runs and answers with one line of JSON:
{"times": [s], "seconds": s, "cpu": s}.
"""

import json
import os
import resource
import subprocess
import sys
import time


def fork_once(code):
    """A bare fork: the child runs the compiled program with its stdout on a pipe that is read here, and is waited for."""
    begun = time.perf_counter()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writer, 1)
        exec(code, {"__name__": "__main__", "__builtins__": __builtins__})  # noqa: S102  # what a bare fork is for
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    output = b""
    while data := os.read(reader, 65536):
        output += data
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    spent = time.perf_counter() - begun
    assert status == 0 and output == b"1\n", (status, output)
    return spent


def spawn_once(argv):
    """One child process through subprocess."""
    begun = time.perf_counter()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    spent = time.perf_counter() - begun
    assert done.stdout == b"1\n", done
    return spent


def cpu():
    """CPU seconds of this process and of all that it has waited for."""
    each = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in each)


def main():
    """Serves counts until the end of stdin."""
    what = json.loads(sys.argv[1])
    for name in what.get("preload", ()):
        __import__(name)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stdout = os.fdopen(1, "w", closefd=False)  # a pipe: block-buffered, in a child too
    if "fork" in what:
        once, given = fork_once, compile(what["fork"], "main.py", "exec")
    else:
        once, given = spawn_once, what["spawn"]
    for line in sys.stdin:
        begun, used = time.perf_counter(), cpu()
        times = [once(given) for _ in range(int(line))]
        answers.write(
            json.dumps({"times": times, "seconds": time.perf_counter() - begun, "cpu": cpu() - used}) + "\n"
        )


if __name__ == "__main__":
    main()
