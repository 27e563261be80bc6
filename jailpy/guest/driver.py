"""Runs one request inside a jail: a program, a call into one, or a program with asserts behind it.

Used by a fresh interpreter (`python /jailpy/driver.py`) and by the children of a zygote. Everything that leaves through
the channel is data that the guest could have written itself; nothing is decided here. Python 3.9 and later, standard
library only, nothing imported that a small program would not import anyway.

A program runs and ends as under `python main.py`: what the interpreter does in C around a main program (pythonrun.c,
pylifecycle.c), in the same order, is done here. Two traces are left: these functions are the outermost callers, and
the recursion limit is higher by as many.

Request and frame are one value each (values.py) behind an 8-byte big-endian length:

    request  {"mode": "script"|"call"|"assert"|"serve"|"referee"|"modules"|"project"|"beside", "path": file of the code,
              "function", "args", "kwargs", "prelude", "test", "expected", "modules", "ini", "frame_bytes",
              "frame_nodes", "argv": what sys.argv has behind the program's name,
              "tell": whether a script's uncaught exception is to come out as a frame, as MemoryError always does};
              serve and modules come with a descriptor, one end of the connection (crossing.py) between the program's
              jail and its tests', whose modes are referee and project
    frame    {"value": v} | {"done": True} | {"error": (type, message, where)} | {"syntax": (type, message, where)}
             | {"too_large": what} | {"no_test": True} | {"done": True, "exit", "tests", "broken"} (project.py)
"""

from __future__ import annotations

import _thread
import atexit
import builtins
import gc
import os
import sys
from _weakref import ref
from collections.abc import Callable
from typing import Any

# Guests change builtins, modules and their functions; what ends a program must work all the same.
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]  # what functions made from here on see as theirs
_modules, _display = sys.modules, sys.__excepthook__
_exit, _kill, _getpid, _write = os._exit, os.kill, os.getpid, os.write
_run_exitfuncs, _collect, _get_referrers = atexit._run_exitfuncs, gc.collect, gc.get_referrers
_count_threads = _thread._count
# What C code printed is in libc's buffers, and those are flushed by exit(), not by _exit(). A zygote has ctypes.
_flush_libc = _modules["ctypes"].CDLL(None).fflush if "ctypes" in _modules else None

CHANNEL = 3
ELSEWHERE = "<in the program's jail>"  # the file of functions that only stand in for the program's (standins.py)
CROSSING = "crossing"  # this file's argument for requests that come with a descriptor, and for those of these modes
NEEDS_CROSSING = ("beside",)
MAX_REQUEST = 1 << 28
_MESSAGE = 2000
_OWN_FOLDER = __file__.rpartition("/")[0]
_SIGINT = 2
_RECURSION_LIMIT = sys.getrecursionlimit()
#: No file beside a program takes their place: the interpreter has them before it looks there.
_FIRST = frozenset(
    ("os", "site", "codecs", "io", "abc", "stat", "posixpath", "genericpath", "zipimport", "encodings", "sitecustomize")
)
_Function: Any = type(lambda: None)


def read_request(decode: Callable[..., Any], fd: int = CHANNEL, begun: bytes = b"") -> Any:
    """The next request, of which `begun` has been read; None at the end of the channel."""
    data = begun or os.read(fd, 1 << 16)
    while data and (len(data) < 8 or len(data) - 8 < int.from_bytes(data[:8], "big")):
        more = os.read(fd, 1 << 20)
        if not more:
            return None
        data += more
    return decode(data[8:], max_bytes=MAX_REQUEST, max_nodes=1 << 24) if data else None


class Driver:
    """One request. What sends the frame is bound before any guest code runs."""

    folder = ""  # where the last program lies

    def __init__(self, source: bytes, request: dict[str, Any], values: Any, fd: int = CHANNEL, peer: Any = None) -> None:
        self.source = source
        self.peer = peer  # (crossing.py, descriptor) of a connection to another jail
        self.request = request
        self.encode = values.encode
        self.too_large = values.TooLarge
        self.fd = fd
        self.path: str = request["path"]
        self.shared: Any = None

    def run(self) -> int:
        """Runs the request; gives the exit code, or the signal that is to end the process, below 0."""
        mode = self.request["mode"]
        Driver.folder, name = os.path.split(self.path)
        sys.argv[:] = [name, *self.request.get("argv", ())]
        if hasattr(sys, "orig_argv"):
            sys.orig_argv[:] = [sys.executable, *sys.argv]
        code = None
        project = {"modules": self._serve_modules, "project": self._project, "beside": self._beside}.get(mode)
        if project is None:
            code = self._compile(self.source, self.path)
            if code is None:
                return 1
        if len(self.request.get("files", "unknown")) > 1:
            _unshadow(self.folder)
        module = self._module("solution" if mode == "call" else "__main__")
        sys.setrecursionlimit(_RECURSION_LIMIT + _depth() + (2 if mode == "script" else 4))  # calls to the program
        if mode == "script":
            return self._script(code, module.__dict__)
        if project is not None:
            return self._answer(project)
        if mode == "referee":
            return self._answer(self._referee)
        if mode == "serve":
            self.shared = self._folders()  # as it is before the program writes into it
        then = {"call": self._call, "assert": self._assert, "serve": self._serve}[mode]
        return self._answer(lambda: self._load(code, module.__dict__, then))

    def _compile(self, source: bytes, path: str) -> Any:
        try:
            _check_encoding(source, path)
            return compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            failed: BaseException = error
        self.send({"syntax": _describe(failed)})
        _show(failed)
        return None

    def _module(self, name: str) -> Any:
        module = type(sys)(name)
        _modules.pop(name, None)  # so that what the program imports comes behind it
        _modules[name] = module
        module.__loader__ = _loader(name, self.path)
        module.__dict__.update(__annotations__={}, __builtins__=_modules["builtins"], __file__=self.path, __cached__=None)
        return module

    def _script(self, code: Any, namespace: dict[str, Any]) -> int:
        error: BaseException | None = None
        try:
            _execute(code, namespace)
        except BaseException as caught:
            error = caught
        _flush_quietly("stderr", "stdout")
        if error is not None and issubclass(type(error), SystemExit):
            return _exit_code(error)
        if error is not None and (self.request.get("tell") or type(error) is MemoryError):
            self.send({"error": _describe(error)})
        exit_code = 0 if error is None else _show(error)
        error = None
        for name in ("__file__", "__cached__"):
            namespace.pop(name, None)
        return exit_code

    def _answer(self, work: Callable[[], dict[str, Any]]) -> int:
        try:
            frame = work()
        except BaseException as error:
            error_frame = {"error": _describe(error)}
            if not isinstance(error, SystemExit):
                _show(error)
            self.send(error_frame)
            return 1
        self.send(frame)
        return 0

    def _load(
        self, code: Any, namespace: dict[str, Any], then: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]:
        prelude = self.request.get("prelude") or ""
        if prelude and then == self._call:
            _execute(compile(prelude, "<prelude>", "exec", dont_inherit=True), namespace)
        _execute(code, namespace)
        return then(namespace)

    def _call(self, namespace: dict[str, Any]) -> dict[str, Any]:
        function = _find(namespace, self.request["function"])
        return {"value": function(*self.request["args"], **self.request["kwargs"])}

    def _assert(self, namespace: dict[str, Any]) -> dict[str, Any]:
        for source, name in ((self.request.get("prelude") or "", "<prelude>"), (self.request["test"], "<test>")):
            _execute(compile(source, name, "exec", dont_inherit=True), namespace)
        return {"done": True}

    def _serve(self, namespace: dict[str, Any]) -> dict[str, Any]:
        crossing, fd = self.peer
        crossing.serve(namespace, fd, self.shared)
        return {"done": True}

    def _serve_modules(self) -> dict[str, Any]:
        crossing, fd = self.peer
        crossing.serve({}, fd, crossing.Folders(("/tmp",), ()), _top_levels(self.folder))
        return {"done": True}

    def _project(self) -> dict[str, Any]:
        crossing, fd = self.peer
        frame: dict[str, Any] = crossing.project(
            self.folder, self.request, fd, crossing.Folders(("/tmp",), ()), _top_levels(self.folder)
        )
        return frame

    def _beside(self) -> dict[str, Any]:
        frame: dict[str, Any] = self.peer[0].beside(self.folder, self.request)
        return frame

    def _referee(self) -> dict[str, Any]:
        crossing, fd = self.peer
        source, prelude = self.source.decode(), self.request["prelude"]
        frame: dict[str, Any] = crossing.referee(source, self.path, prelude, fd, self._folders())
        return frame

    def _folders(self) -> Any:
        """What both jails see as one: the working folder but for the code, and the temporary files."""
        return self.peer[0].Folders((self.folder, "/tmp"), (os.path.basename(self.path), "__pycache__"))

    def send(self, frame: dict[str, Any]) -> None:
        """One frame, whole."""
        limit = self.request["frame_bytes"]
        try:
            data = self.encode(frame, max_bytes=limit, max_nodes=self.request["frame_nodes"])
        except self.too_large as error:
            data = self.encode({"too_large": error.what})
        view = memoryview(len(data).to_bytes(8, "big") + data)
        try:
            while view:
                view = view[_write(self.fd, view) :]
        except OSError:  # the guest closed it: no frame, which is never a pass
            pass


def _check_encoding(source: bytes, path: str) -> None:
    """compile() lets pass what it need not decode, such as comments; the reader of files does not."""
    try:
        source.decode()
    except UnicodeDecodeError as error:
        if b"coding" not in b"".join(source.split(b"\n", 2)[:2]):
            byte, line = source[error.start], source.count(b"\n", 0, error.start) + 1
            raise SyntaxError(
                f"Non-UTF-8 code starting with '\\x{byte:02x}' in file {path} on line {line}, but no encoding "
                "declared; see https://peps.python.org/pep-0263/ for details"
            ) from None


def _execute(code: Any, namespace: dict[str, Any]) -> None:
    """exec(code, namespace), but as a call of Python by Python, which counts once towards the recursion limit."""
    _Function(code, namespace)()


def _depth() -> int:
    """How many calls lie between the interpreter and the caller, itself included."""
    depth = 0
    frame: Any = sys._getframe(1)
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def _unshadow(folder: str) -> None:
    """Files beside a program come before the library's modules, those too that are imported already."""
    for entry in os.listdir(folder):
        name, extension = os.path.splitext(entry)
        package = not extension and os.path.exists(os.path.join(folder, name, "__init__.py"))
        if (package or extension == ".py") and name in _modules and not _always_first(name):
            for other in [other for other in _modules if other == name or other.startswith(name + ".")]:
                del _modules[other]


def _top_levels(folder: str) -> frozenset[str]:
    """Names under which code of this folder, or of those in it, may be imported."""
    return frozenset(name.partition(".")[0] for _, folders, files in os.walk(folder) for name in (*folders, *files))


def _always_first(name: str) -> bool:
    return name in _FIRST or name in sys.builtin_module_names or _modules["_imp"].is_frozen(name)


def _loader(name: str, path: str) -> Any:
    """What `python file.py` puts into __loader__, for inspect and linecache."""
    external = _modules.get("_frozen_importlib_external")
    return external.SourceFileLoader(name, path) if external else None


def _find(namespace: dict[str, Any], function: str) -> Any:
    owner, _, method = function.rpartition(".")
    if not owner and function not in namespace and "Solution" in namespace:
        owner = "Solution"  # the LeetCode form, where only the method is named
    if not owner:
        return namespace[function]
    made = namespace[owner]
    return getattr(made() if isinstance(made, type) else made, method)


def _show(error: BaseException) -> int:
    """As the interpreter shows an uncaught exception, without the frames of this file. Gives the exit code."""
    _trim(error)
    kind, traceback = type(error), error.__traceback__
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, traceback
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    failed: BaseException | None = None
    try:
        hook = sys.excepthook
    except AttributeError:
        _say("sys.excepthook is missing\n")
        hook = _display
    try:
        hook(kind, error, traceback)
    except BaseException as caught:
        failed = caught
    if failed is not None:
        if issubclass(type(failed), SystemExit):
            return _exit_code(failed)
        _trim(failed)
        _say("Error in sys.excepthook:\n")
        _display(type(failed), failed, failed.__traceback__)
        _say("\nOriginal exception was:\n")
        _display(kind, error, traceback)
    return -_SIGINT if kind is KeyboardInterrupt else 1


def _trim(error: BaseException) -> None:
    """Takes this file's calls out of the traceback, and out of what SyntaxError has as one."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    error.__traceback__ = traceback


def _say(text: str) -> None:
    """Text on stderr, whatever became of it."""
    try:
        sys.stderr.write(text)
    except BaseException:
        _write(2, text.encode("utf-8", "backslashreplace"))


def _describe(error: BaseException) -> tuple[str, str, str]:
    """(type, message, where), cut; a message that cannot be made is left out."""
    try:
        message = str(error)[:_MESSAGE]
    except BaseException:
        message = ""
    traceback, where = error.__traceback__, ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename.rpartition("/")[0] != _OWN_FOLDER and code.co_filename != ELSEWHERE:
            where = f"{code.co_filename}:{traceback.tb_lineno} in {code.co_name}"
        traceback = traceback.tb_next
    return (type(error).__name__[:100], message, where[:300])


def place(path: str, content: bytes, mode: int) -> None:
    """One file of the working folder, with the folders on the way to it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, mode)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path))
        fd = os.open(path, flags, mode)
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)


def end(run: Callable[[], int], mode: str) -> None:
    """Runs to the end of the process, as an interpreter that was started for this program would end.

    In a child of a zygote the interpreter's own finalisation would walk, and so copy, all that the zygote holds.
    """
    code = run()
    if mode != "script":
        _leave(code)
    threading = _modules.get("threading")
    try:
        if threading is not None and (_count_threads() or threading._threading_atexits):
            threading._shutdown()
    except BaseException as error:
        _report(error, "on threading shutdown", threading)
    with _Suppressed():  # what a function raises has been shown
        _run_exitfuncs()
    if not _flush():
        code = 120
    with _Suppressed():
        _finalise()
    _die(code)


def rehearse_end() -> None:
    """Does what `end` does last, for a process that goes on: the memory that this writes to is copied now, not then."""
    _finalise()


def _exit_code(error: BaseException) -> int:
    """What SystemExit asks for, and its message on stderr."""
    try:
        value = error.code  # type: ignore[attr-defined]  # only called with a SystemExit
    except BaseException:
        value = error
    if value is None:
        return 0
    if issubclass(type(value), int):
        return int.__and__(value, 0xFF) if int.bit_length(value) < 64 else 0xFF
    with _Suppressed():
        if getattr(sys, "stderr", None) is None:
            _say(str(value))
        else:
            sys.stderr.write(str(value))
    _say("\n")
    return 1


def _leave(code: int) -> None:
    """Flushes and ends. A flush that fails is exit code 120, as in the interpreter's own end."""
    _die(code if _flush() else 120)


def _die(code: int) -> None:
    if code == -_SIGINT:
        __import__("_signal").signal(_SIGINT, 0)
        _kill(_getpid(), _SIGINT)
    _exit(code)


def _flush() -> bool:
    """Flushes the standard streams. False where that failed."""
    fine = True
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        try:
            closed = stream is None or stream.closed
        except BaseException:
            closed = False
        try:
            if not closed:
                stream.flush()  # type: ignore[union-attr]  # None counts as closed
        except BaseException as error:
            fine = False
            if name == "stdout":
                _report(error, "on flushing sys.stdout", stream)
    return fine


def _flush_quietly(*names: str) -> None:
    for name in names:
        with _Suppressed():
            getattr(sys, name).flush()


def _report(error: BaseException, when: str, culprit: object) -> None:
    """As the interpreter reports an exception that nobody can catch."""
    _trim(error)
    with _Suppressed():
        _say(f"Exception ignored {f'{when}:' if sys.version_info >= (3, 13) else f'in: {culprit!r}'}\n")
        _display(type(error), error, error.__traceback__)


class _Suppressed:
    """contextlib.suppress(BaseException), for a small program that does not import contextlib."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> bool:
        return True


class _Mark:
    """Lies in the program's namespace, to show whether that is gone."""

    __slots__ = ("__weakref__",)


def _finalise() -> None:
    """What a program sees of the interpreter's finalisation: its modules go, and with them what they hold."""
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            setattr(sys, name, None)
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, getattr(sys, f"__{name}__", None))
    mark = _Mark()
    watch = ref(mark)
    main = _modules.get("__main__")
    if type(main) is type(sys):
        vars(main)["__jailpy__"] = mark
    del main, mark
    for name in _own_modules(Driver.folder + "/"):
        del _modules[name]
    _collect()
    if watch() is not None and not _count_threads():
        for namespace in _get_referrers(watch()):
            if type(namespace) is dict:
                _clear(namespace)
    _flush_quietly("stdout", "stderr")
    if _flush_libc is not None:
        _flush_libc(None)


def _own_modules(folder: str) -> list[str]:
    """The program, and what it imported from its folder. Modules that were there before are not looked at, which would
    copy them."""
    names: list[str] = []
    for name in reversed(_modules):
        file = getattr(_modules[name], "__file__", None)
        if name == "__main__" or (type(file) is str and file.startswith(folder)):
            names.insert(0, name)
        if name == "__main__":
            break
    return names


def _clear(namespace: dict[str, Any]) -> None:
    """As the interpreter clears a module that something still holds: private names first."""
    for private in (True, False):
        for name in list(namespace):
            if name != "__builtins__" and private == (name[:1] == "_" and name[1:2] != "_"):
                namespace[name] = None


def receive(decode: Callable[..., Any], channel: Any) -> tuple[Any, int]:
    """The next request, and the descriptor that came with it; -1 for none."""
    begun, fds, _, _ = _modules["socket"].recv_fds(channel, 1 << 16, 1)
    for fd in fds:
        os.set_inheritable(fd, False)
    return (read_request(decode, begun=begun) if begun else None), (fds or [-1])[0]


def forget(names: tuple[str, ...]) -> None:
    """Takes modules of ours out of the program's sight: its own imports must find its own."""
    for name in names:
        del _modules[name]


def main() -> None:
    """A fresh interpreter: one request from the channel, then the interpreter's own way to end."""
    import values  # beside this file, which is no package inside a jail

    os.set_inheritable(CHANNEL, False)
    peer = None
    if sys.argv[1:] == [CROSSING]:
        import socket

        import crossing  # for most programs it would be for nothing

        with socket.socket(fileno=os.dup(CHANNEL)) as channel:
            request, fd = receive(values.decode, channel)
        peer = crossing, fd
        forget(crossing.MODULES)
    else:
        request = read_request(values.decode)
    sys.path[0] = os.path.dirname(request["path"])
    forget(("values",))
    with open(request["path"], "rb") as file:
        source = file.read()
    code = Driver(source, request, values, peer=peer).run()
    if request["mode"] != "script":
        _leave(code)
    if code == -_SIGINT:
        sys.excepthook = lambda *_: None  # it has been shown; the interpreter knows how to die of it
        raise KeyboardInterrupt
    sys.exit(code)


if __name__ == "__main__":
    main()
