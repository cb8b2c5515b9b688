"""Serves calls into a package's modules, inside CPython. The protocol is that of protocol.rs.

Modules of the package live under a private name, and only code of the package sees them under their own: a package may
have a json.py without breaking what else imports json.
"""

import builtins
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import io
import json
import linecache
import math
import os
import select
import struct
import sys
import threading
import traceback

PRIVATE = "easel_package"
MAX_DEPTH = 100
MOST_MESSAGE = 10_000
MOST_TRACEBACK = 100_000


class Unfit(Exception):
    """A result that JSON cannot hold."""


class Files(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds and runs the package's modules from their texts."""

    def __init__(self, files, root):
        self.files = files
        self.root = root
        self.builtins = dict(vars(builtins), __import__=self.import_first_here)
        for path, text in files.items():
            lines = text.splitlines(keepends=True)
            linecache.cache[path] = (len(text), None, lines, path)

    def path_of(self, name):
        """The path of a dotted module, and whether it is a package; a folder without __init__.py has no path."""
        base = name.replace(".", "/")
        if base + ".py" in self.files:
            return base + ".py", False
        if base + "/__init__.py" in self.files:
            return base + "/__init__.py", True
        if any(path.startswith(base + "/") for path in self.files):
            return None, True
        return None, False

    def has(self, name):
        return self.path_of(name) != (None, False)

    def find_spec(self, fullname, path=None, target=None):
        if fullname == PRIVATE:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        if not fullname.startswith(PRIVATE + "."):
            return None
        file, is_package = self.path_of(fullname[len(PRIVATE) + 1 :])
        if file is None and not is_package:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=file, is_package=is_package)

    def exec_module(self, module):
        file = module.__spec__.origin
        if file is not None:
            self.run(module, file)

    def run(self, module, file):
        module.__file__ = os.path.join(self.root, file) if self.root else file
        module.__builtins__ = self.builtins
        code = compile(self.files[file], file, "exec", dont_inherit=True)
        exec(code, module.__dict__)

    def import_first_here(self, name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0 and self.has(name):
            private = f"{PRIVATE}.{name}"
            module = builtins.__import__(private, globals, locals, fromlist, 0)
            if fromlist:
                return module
            return sys.modules[f"{PRIVATE}.{name.partition('.')[0]}"]
        return builtins.__import__(name, globals, locals, fromlist, level)

    def load(self, file):
        """The module of a file, loaded once whatever it is called by."""
        name = file[: -len(".py")].replace("/", ".")
        name = name.removesuffix(".__init__")
        if self.path_of(name)[0] == file and all(part.isidentifier() for part in name.split(".")):
            return importlib.import_module(f"{PRIVATE}.{name}")
        # A sidecar whose path is no module's name.
        name = f"{PRIVATE}:{file}"
        if name not in sys.modules:
            spec = importlib.machinery.ModuleSpec(name, self, origin=file)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                self.run(module, file)
            except BaseException:
                del sys.modules[name]
                raise
        return sys.modules[name]


class Members(dict):
    """A dictionary whose members can be read as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class LoopIteration:
    def __init__(self, members):
        self.__dict__.update(members)


def with_attributes(value):
    if isinstance(value, dict):
        return Members({name: with_attributes(member) for name, member in value.items()})
    if isinstance(value, list):
        return [with_attributes(item) for item in value]
    return value


class Printed(io.TextIOBase):
    """What is printed, up to a limit in bytes."""

    def __init__(self, most):
        self.kept = bytearray()
        self.most = most
        self.dropped = 0

    def writable(self):
        return True

    def write(self, text):
        data = text.encode("utf-8", "replace")
        room = self.most - len(self.kept) if self.dropped == 0 else 0
        self.kept += data[:room]
        self.dropped += max(len(data) - room, 0)
        return len(text)

    def text(self):
        return bytes(self.kept).decode("utf-8", "ignore")


def plain(value, depth=0, outer=()):
    """The value as JSON holds it: tuples become lists, sets sorted lists."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise Unfit("a text with half a character in it") from None
        return str.__str__(value)
    if isinstance(value, int):
        value = int(value)
        if not -(2**63) <= value < 2**64:
            raise Unfit("an int beyond 64 bits")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Unfit(f"the float {float(value)!r}")
        return float(value)
    if not isinstance(value, (dict, list, tuple, set, frozenset)):
        raise Unfit(f"of type {type(value).__name__}")
    if id(value) in outer:
        raise Unfit("data that contains itself")
    if depth >= MAX_DEPTH:
        raise Unfit(f"data nested deeper than {MAX_DEPTH} levels")
    outer = (*outer, id(value))
    if isinstance(value, dict):
        return {key_text(key): plain(member, depth + 1, outer) for key, member in value.items()}
    items = [plain(item, depth + 1, outer) for item in value]
    if isinstance(value, (set, frozenset)):
        items.sort(key=in_order)
    return items


def key_text(key):
    if isinstance(key, str):
        return plain(key)
    if isinstance(key, (bool, int, float)) or key is None:
        plain(key)
        return json.dumps(key)
    raise Unfit(f"a dictionary with a key of type {type(key).__name__}")


def in_order(item):
    """null, false, true, numbers, texts, lists: the order of the built-in interpreter's results."""
    if item is None:
        return (0,)
    if isinstance(item, bool):
        return (1, item)
    if isinstance(item, (int, float)):
        return (2, item)
    if isinstance(item, str):
        return (3, item)
    return (4, [in_order(part) for part in item])


def verdict(value):
    if not isinstance(value, tuple):
        return {"stop": bool(value), "reason": ""}
    if not value:
        raise Unfit("an empty tuple, which says neither stop nor go on")
    reason = value[1] if len(value) > 1 else ""
    return {"stop": bool(value[0]), "reason": str(reason or "")}


def text_of(error):
    try:
        return str(error)[:MOST_MESSAGE]
    except Exception:
        return "an exception that cannot be shown"


def failure(error, files):
    """What was raised, without the frames that are not the user's."""
    every = traceback.TracebackException(type(error), error, error.__traceback__)
    chain = every
    while chain is not None:
        first = next((n for n, f in enumerate(chain.stack) if f.filename in files), len(chain.stack))
        chain.stack = traceback.StackSummary.from_list(chain.stack[first:])
        chain = chain.__cause__ or chain.__context__
    name = type(error).__name__
    kind = "memory" if isinstance(error, MemoryError) else "raised"
    shown = "".join(every.format())
    return {
        "kind": kind,
        "exception": name,
        "message": text_of(error),
        "frames": [
            {"file": frame.filename, "line": frame.lineno or 0, "function": frame.name}
            for frame in every.stack
            if frame.filename in files
        ],
        "traceback": shown.rstrip("\n")[-MOST_TRACEBACK:],
    }


def find(files, call):
    module = files.load(call["file"]) if call["file"] else importlib.import_module(call["module"])
    value = module
    for part in call["attribute"].split("."):
        value = getattr(value, part)
    return value


async def awaited(value):
    return await value


def run(files, call):
    function = find(files, call)
    if call["verdict"]:
        members = call["arguments"]
        members["result"] = with_attributes(members.get("result"))
        value = function(LoopIteration(members))
    else:
        value = function(**call["arguments"])
    if inspect.isawaitable(value):
        import asyncio

        value = asyncio.run(awaited(value))
    return value


def as_json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def answer(files, call):
    """The reply to a call, as JSON."""
    printed = Printed(call["printed"])
    value = verdict_given = failed = None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            returned = run(files, call)
            if call["verdict"]:
                verdict_given = verdict(returned)
            value = as_json(None if call["verdict"] else plain(returned))
        except Unfit as unfit:
            failed = {"kind": "result", "message": str(unfit)}
        except BaseException as error:
            failed = failure(error, files.files)
    if value is not None and len(value) > call["result"]:
        failed = {"kind": "too_large", "message": str(len(value))}
    reply = {"printed": printed.text(), "dropped": printed.dropped, "failure": failed, "verdict": verdict_given}
    # The value's text is used as it is: it may be large.
    return b'{"value":' + (b"null" if failed else value) + b"," + as_json(reply)[1:]


def end_with_host(descriptor):
    """Ends this process when nobody reads its answers any more."""
    poll = select.poll()
    poll.register(descriptor, 0)
    poll.poll()
    os._exit(1)


def serve():
    calls = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # What user code reads and writes at the descriptors themselves is kept away from the protocol.
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    threading.Thread(target=end_with_host, args=(answers.fileno(),), daemon=True).start()

    def read():
        header = calls.read(4)
        if len(header) < 4:
            return None
        return json.loads(calls.read(struct.unpack("<I", header)[0]))

    opening = read()
    if opening is None:
        return
    files = Files(opening["files"], opening["root"])
    sys.meta_path.insert(0, files)
    sys.dont_write_bytecode = True
    while (call := read()) is not None:
        data = answer(files, call)
        answers.write(struct.pack("<I", len(data)) + data)
        answers.flush()
    os._exit(0)


serve()
