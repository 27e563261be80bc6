"""Runs one request inside a jail: a program, a call into one, or a program with asserts behind it.

Used by a fresh interpreter (`python /jailpy/driver.py`) and by the children of a zygote. Everything that leaves through
the channel is data that the guest could have written itself; nothing is decided here. Python 3.9 and later, standard
library only, nothing imported that a small program would not import anyway.

Request and frame are one value each (values.py) behind an 8-byte big-endian length:

    request  {"mode": "script"|"call"|"assert", "path": file of the code, "function", "args", "kwargs", "prelude",
              "test", "frame_bytes", "frame_nodes"}
    frame    {"value": v} | {"done": True} | {"error": (type, message, where)} | {"syntax": (type, message, where)}
             | {"too_large": what}
"""

import os
import sys

CHANNEL = 3
MAX_REQUEST = 1 << 28
_MESSAGE = 2000


def read_request(decode, fd=CHANNEL):
    """The next request; None at the end of the channel."""
    data = os.read(fd, 1 << 16)
    while data and (len(data) < 8 or len(data) - 8 < int.from_bytes(data[:8], "big")):
        more = os.read(fd, 1 << 20)
        if not more:
            return None
        data += more
    return decode(data[8:], max_bytes=MAX_REQUEST, max_nodes=1 << 24) if data else None


class Driver:
    """One request. What sends the frame is bound before any guest code runs."""

    def __init__(self, source, request, values, fd=CHANNEL):
        self.source = source
        self.request = request
        self.encode = values.encode
        self.too_large = values.TooLarge
        self.fd = fd
        self.path = request["path"]

    def run(self):
        """Runs the request; gives the exit code, or raises what the interpreter is to handle (SystemExit)."""
        mode = self.request["mode"]
        name = "solution" if mode == "call" else "__main__"
        code = self._compile(self.source, self.path)
        if code is None:
            return 1
        module = self._module(name)
        if mode == "script":
            return self._script(code, module.__dict__)
        return self._judge(code, module.__dict__, self._call if mode == "call" else self._assert)

    def _compile(self, source, path):
        try:
            return compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            self.send({"syntax": _describe(error)})
            sys.excepthook(type(error), error, None)
            return None

    def _module(self, name):
        module = type(sys)(name)
        sys.modules[name] = module
        module.__dict__.update(
            __file__=self.path, __cached__=None, __builtins__=sys.modules["builtins"], __annotations__={}
        )
        module.__loader__ = _loader(name, self.path)
        return module

    def _script(self, code, namespace):
        try:
            exec(code, namespace)
        except SystemExit:
            raise
        except BaseException as error:
            _show(error)
            return 1
        return 0

    def _judge(self, code, namespace, then):
        try:
            prelude = self.request.get("prelude") or ""
            if prelude and then == self._call:
                exec(compile(prelude, "<prelude>", "exec", dont_inherit=True), namespace)
            exec(code, namespace)
            frame = then(namespace)
        except BaseException as error:
            error_frame = {"error": _describe(error)}
            if not isinstance(error, SystemExit):
                _show(error)
            self.send(error_frame)
            return 1
        self.send(frame)
        return 0

    def _call(self, namespace):
        function = _find(namespace, self.request["function"])
        return {"value": function(*self.request["args"], **self.request["kwargs"])}

    def _assert(self, namespace):
        for source, name in ((self.request.get("prelude") or "", "<prelude>"), (self.request["test"], "<test>")):
            exec(compile(source, name, "exec", dont_inherit=True), namespace)
        return {"done": True}

    def send(self, frame):
        """One frame, whole."""
        limit = self.request["frame_bytes"]
        try:
            data = self.encode(frame, max_bytes=limit, max_nodes=self.request["frame_nodes"])
        except self.too_large as error:
            data = self.encode({"too_large": error.what})
        view = memoryview(len(data).to_bytes(8, "big") + data)
        try:
            while view:
                view = view[os.write(self.fd, view) :]
        except OSError:  # the guest closed it: no frame, which is never a pass
            pass


def _loader(name, path):
    """What `python file.py` puts into __loader__, for inspect and linecache."""
    external = sys.modules.get("_frozen_importlib_external")
    return external.SourceFileLoader(name, path) if external else None


def _find(namespace, function):
    owner, _, method = function.rpartition(".")
    if not owner and function not in namespace and "Solution" in namespace:
        owner = "Solution"  # the LeetCode form, where only the method is named
    if not owner:
        return namespace[function]
    made = namespace[owner]
    return getattr(made() if isinstance(made, type) else made, method)


def _show(error):
    """As the interpreter shows an uncaught exception, without the frames of this file."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)


def _describe(error):
    """(type, message, where), cut; a message that cannot be made is left out."""
    try:
        message = str(error)[:_MESSAGE]
    except BaseException:
        message = ""
    traceback, where = error.__traceback__, ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename != __file__:
            where = "%s:%d in %s" % (code.co_filename, traceback.tb_lineno, code.co_name)
        traceback = traceback.tb_next
    return (type(error).__name__[:100], message, where[:300])


def place(path, content, mode):
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


def end(run, mode):
    """Runs to the end of the process, as an interpreter that was started for this program would end.

    In a child of a zygote the interpreter's own finalisation would walk, and so copy, all that the zygote holds.
    """
    if mode != "script":
        _leave(run())
    code = 1
    try:
        code = run()
    except SystemExit as error:
        code = _exit_code(error.code)
    except BaseException as error:
        _show(error)
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    import atexit

    atexit._run_exitfuncs()
    sys.modules["__main__"].__dict__.clear()
    _leave(code)


def _exit_code(value):
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    try:
        print(value, file=sys.stderr)
    except BaseException:
        pass
    return 1


def _leave(code):
    """Flushes and ends. A flush that fails is exit code 120, as in the interpreter's own end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            code = code or 120
    os._exit(code)


def main():
    """A fresh interpreter: one request from the channel, then the interpreter's own way to end."""
    import values

    os.set_inheritable(CHANNEL, False)
    request = read_request(values.decode)
    sys.path[0] = os.path.dirname(request["path"])
    sys.argv[:] = [os.path.basename(request["path"])]
    del sys.modules["values"]  # the guest's own `import values` must find its own
    with open(request["path"], "rb") as file:
        source = file.read()
    run = Driver(source, request, values).run
    if request["mode"] == "script":
        sys.exit(run())
    _leave(run())


if __name__ == "__main__":
    main()
