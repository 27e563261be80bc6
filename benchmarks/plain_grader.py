"""A grader of the kind that trainers ship: a process per program, `exec`, an alarm, and no isolation at all.

Written after check_correctness of openai/human-eval (assert tests) and of the APPS family, which verl's prime_code and
LiveCodeBench use (stdio tests): a thread pool; for each program a multiprocessing.Manager with a result list and one
forked Process, joined with the time limit and one second; in the child a temporary folder, functions that could harm
the grader replaced by None, output swallowed, an interval timer, `exec` of program and tests. With "manager": false a
pipe takes the Manager's place: the quickest grader of this kind, which none of them ships.

Runs in a lean interpreter of its own, as fork is slow from a trainer's own process. argv[1] is {"workers", "timeout",
"manager"}; a line of JSON on stdin is a list of [code, tests], tests as in the data files; the answer is one line:
{"passed": [bool or null for a time-out], "seconds", "cpu"}.
"""

# ruff: noqa: S102, BLE001  # what this kind of grader does, shown as it is

import builtins
import contextlib
import faulthandler
import io
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

_OS = (
    *("kill", "system", "putenv", "remove", "removedirs", "rmdir", "fchdir", "setuid", "fork", "forkpty", "killpg"),
    *("rename", "renames", "truncate", "replace", "unlink", "fchmod", "fchown", "chmod", "chown", "chroot", "lchown"),
    *("getcwd", "chdir"),
)


class OutOfTime(Exception):
    """The alarm."""


def guard():
    """Takes away what the program could break the grader with. Not a sandbox."""
    faulthandler.disable()
    builtins.exit = builtins.quit = None
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in _OS:
        setattr(os, name, None)
    shutil.rmtree = shutil.move = shutil.chown = None
    subprocess.Popen = None
    for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
        sys.modules[name] = None


@contextlib.contextmanager
def alarm(seconds):
    """OutOfTime after so many seconds of wall time."""

    def ring(number, frame):
        raise OutOfTime

    signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.signal(signal.SIGALRM, ring)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def attempt(code, tests, seconds):
    """ "passed", "timed out" or "failed"."""
    try:
        if "code" in tests[0]:
            with alarm(seconds), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                exec("\n".join([code, *(test["code"] for test in tests)]), {"__name__": "__main__"})
            return "passed"
        return "passed" if all(stdio(code, test, seconds) for test in tests) else "failed"
    except OutOfTime:
        return "timed out"
    except BaseException:
        return "failed"


def stdio(code, test, seconds):
    """One test: text streams in place of the real ones, and a comparison by tokens."""
    output, before = io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(test["input"].encode()))
    try:
        with alarm(seconds), contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
            exec(code, {"__name__": "__main__"})
    finally:
        sys.stdin = before
    return output.getvalue().split() == test["expected_output"].split()


def child(code, tests, seconds, send):
    """The forked process."""
    with tempfile.TemporaryDirectory() as folder:
        rmtree, rmdir, unlink, chdir = shutil.rmtree, os.rmdir, os.unlink, os.chdir
        os.chdir(folder)
        guard()
        send(attempt(code, tests, seconds))
        shutil.rmtree, os.rmdir, os.unlink, os.chdir = rmtree, rmdir, unlink, chdir
        os.chdir("/")


def check(code, tests, seconds, with_manager):
    """True, False, or None for a time-out."""
    if with_manager:
        results = multiprocessing.Manager().list()
        send = results.append
    else:
        reader, writer = multiprocessing.Pipe(duplex=False)
        send = writer.send
    process = multiprocessing.Process(target=child, args=(code, tests, seconds, send))
    process.start()
    process.join(timeout=seconds * (1 if "code" in tests[0] else len(tests)) + 1)
    if process.is_alive():
        process.kill()
        process.join()
    if with_manager:
        result = results[0] if len(results) else "timed out"
    else:
        writer.close()
        try:
            result = reader.recv() if reader.poll() else "timed out"
        except EOFError:
            result = "timed out"
        reader.close()
    return None if result == "timed out" else result == "passed"


def cpu():
    """CPU seconds of this process and of all that it has waited for."""
    each = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in each)


def main():
    """Serves batches until the end of stdin."""
    plan = json.loads(sys.argv[1])
    multiprocessing.set_start_method("fork")
    with ThreadPoolExecutor(plan["workers"]) as pool:
        for line in sys.stdin:
            begun, used = time.perf_counter(), cpu()
            futures = [pool.submit(check, *job, plan["timeout"], plan["manager"]) for job in json.loads(line)]
            passed = [future.result() for future in futures]
            answer = {"passed": passed, "seconds": time.perf_counter() - begun, "cpu": cpu() - used}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
