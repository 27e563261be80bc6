"""The other side of a measurement, in an interpreter of its own: forks or spawns on request and times itself.

Run by the interpreter under test (never imports jailpy), with what to do as JSON in argv[1]: {"fork": source,
"preload": names} or {"spawn": argv}. For every line "COUNT PAUSE" on stdin it does so many runs, with a pause in
seconds after each, and answers with one line of JSON: {"times": seconds each, "seconds": in all, "cpu": seconds}, or
{"error": text}.
"""

import json
import os
import resource
import subprocess
import sys
import time


def fork_once(code):
    """A bare fork: the child runs the compiled program with its stdout on a pipe; it is read and waited for."""
    begun = time.perf_counter()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writer, 1)
        exec(code, {"__name__": "__main__", "__builtins__": __builtins__})  # noqa: S102
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
    command = [word.replace("{unique}", f"{os.getpid()}-{time.monotonic_ns()}") for word in argv]
    begun = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    spent = time.perf_counter() - begun
    if done.returncode or done.stdout != b"1\n":
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(words[-1] if words else f"exit code {done.returncode}")
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
        count, pause = line.split()
        begun, used, times, error = time.perf_counter(), cpu(), [], None
        try:
            for _ in range(int(count)):
                times.append(once(given))
                time.sleep(float(pause))
        except (OSError, RuntimeError) as reason:
            error = {"error": str(reason)}
        answer = {"times": times, "seconds": time.perf_counter() - begun, "cpu": cpu() - used}
        answers.write(json.dumps(error or answer) + "\n")


if __name__ == "__main__":
    main()
