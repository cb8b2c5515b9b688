"""Write graphs in Python and run them with Easel.

One file without dependencies, for Python 3.9 and later: copy it beside your code, or put its folder on ``PYTHONPATH``.

    from easel import Graph, GraphInput, GraphNode

    graph = Graph(
        name="note",
        inputs=[GraphInput(name="topic", type="string")],
        nodes=[
            GraphNode(id="research", kind="base", instructions="Collect facts about {topic}."),
            GraphNode(id="say", kind="output", depends_on=["research"], value="{research}"),
        ],
    )
    graph.save("graph.yaml")
    print(graph.run({"topic": "owls"})["say"])

The keys are those of ``graph.yaml``; Easel checks them and runs the graph. ``run`` and ``check`` start the ``easel``
program, which is looked for in ``$EASEL``, then on ``PATH``.
"""

import json
import math
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = [
    "EaselError",
    "Graph",
    "GraphBuilder",
    "GraphInput",
    "GraphNode",
    "Problem",
    "NODE_KINDS",
    "to_yaml",
]

NODE_KINDS = (
    "base",
    "react",
    "tool",
    "function",
    "python",
    "router",
    "loop",
    "map",
    "subgraph",
    "input",
    "output",
)

#: Keys whose value is a list of nodes.
_BODIES = ("body",)

#: Other spellings of keys that code may have.
_ALIASES = {"as": "item_var", "as_": "item_var"}

#: Keys that hold a value nothing in a file can: what to write instead.
_CALLABLES = {
    "until": "Put the function into the sidecar, a Python file beside the graph that the graph names as `functions`, "
    "and give the function's name as text: until={name!r}.",
    "callable": "Put the function into a Python file beside the graph and name it as text: callable='module:{name}'.",
}


class EaselError(Exception):
    """A graph that cannot be written, is refused, or failed. Its text is what Easel says."""

    def __init__(self, message, code=None):
        super().__init__(message)
        #: The exit code of the ``easel`` program, if it ran: 1 failed, 2 usage, 3 refused, 4 waiting for input.
        self.code = code


class Problem(dict):
    """Something the check found: ``severity``, ``code``, ``message``, ``fix``, and ``node`` and ``place`` if known."""

    def __str__(self):
        return "{}[{}]: {}".format(self.get("severity"), self.get("code"), self.get("message"))


class _Keys:
    """What has keys of the file as attributes. A key that was not given has the value ``None``."""

    def __init__(self, **keys):
        object.__setattr__(self, "_keys", {})
        for key, value in keys.items():
            setattr(self, key, value)

    def __setattr__(self, key, value):
        key = _ALIASES.get(key, key)
        if key in _CALLABLES and callable(value):
            name = getattr(value, "__name__", "")
            advice = _CALLABLES[key].format(name=name if name.isidentifier() else "is_done")
            raise EaselError(
                "`{}` is a function of this program, and a graph is a file, which cannot hold one. {}".format(key, advice)
            )
        if value is None:
            self._keys.pop(key, None)
        else:
            self._keys[key] = value

    def __getattr__(self, key):
        if key.startswith("_"):
            raise AttributeError(key)
        return self._keys.get(_ALIASES.get(key, key))

    def __eq__(self, other):
        return isinstance(other, _Keys) and self.to_dict() == other.to_dict()

    __hash__ = None

    def __repr__(self):
        keys = ", ".join("{}={!r}".format(key, value) for key, value in self._keys.items())
        return "{}({})".format(type(self).__name__, keys)

    def to_dict(self):
        """The keys as plain data, in the order in which they were given."""
        return {key: _plain(value, key) for key, value in self._keys.items()}


class GraphInput(_Keys):
    """A declared input: ``name``, ``type``, ``required``, ``description``, ``enum``, ``accept``, ``max_bytes``."""

    def __init__(self, name, type="string", **keys):  # noqa: A002 - the word of the file
        super().__init__(name=name, type=type, **keys)


class GraphNode(_Keys):
    """A node: ``id``, ``kind`` and any other key of the file. ``body`` is a list of nodes."""

    def __init__(self, id, kind="base", **keys):  # noqa: A002 - the word of the file
        for key in _BODIES:
            if keys.get(key) is not None:
                keys[key] = [_node(node) for node in keys[key]]
        super().__init__(id=id, kind=kind, **keys)


class Graph(_Keys):
    """A graph: ``name``, ``nodes``, and any other key of the file."""

    def __init__(self, name, nodes=(), inputs=(), **keys):
        super().__init__(name=name)
        object.__setattr__(self, "_inputs", _inputs(inputs))
        object.__setattr__(self, "_nodes", [_node(node) for node in nodes])
        for key, value in keys.items():
            setattr(self, key, value)

    def __setattr__(self, key, value):
        if key == "nodes":
            value = [_node(node) for node in value]
            object.__setattr__(self, "_nodes", value)
        elif key == "inputs":
            object.__setattr__(self, "_inputs", _inputs(value))
        else:
            super().__setattr__(key, value)

    @property
    def nodes(self):
        """The nodes of the top level. The list may be changed."""
        return self._nodes

    @property
    def inputs(self):
        """The declared inputs. The list may be changed."""
        return self._inputs

    def add(self, *nodes):
        """Adds nodes and inputs, and gives the graph back."""
        for node in nodes:
            if isinstance(node, GraphInput):
                self._inputs.append(node)
            else:
                self._nodes.append(_node(node))
        return self

    @classmethod
    def from_dict(cls, spec):
        """A graph of plain data, such as ``to_dict`` gives or ``json.load`` reads."""
        return cls(**spec)

    def to_dict(self):
        """The graph as plain data."""
        keys = super().to_dict()
        if self._inputs:
            keys["inputs"] = [declared.to_dict() for declared in self._inputs]
        keys["nodes"] = [node.to_dict() for node in self._nodes]
        return keys

    def to_yaml(self):
        """The text of ``graph.yaml``."""
        return to_yaml(self.to_dict())

    def save(self, path):
        """Writes ``graph.yaml``. Python files that the graph names have to lie beside it."""
        Path(path).write_text(self.to_yaml(), encoding="utf-8")

    def check(self, folder=None, easel=None):
        """Everything Easel has to say about the graph before it runs, as a list of ``Problem``.

        ``folder`` is where its Python files are, the current folder if not given.
        """
        with self._written(folder) as path:
            done = _run(easel, ["check", "--format", "json", path])
        if done.returncode not in (0, 3):
            raise EaselError(_told(done), done.returncode)
        reports = json.loads(done.stdout)
        reports = reports.get("files", reports) if isinstance(reports, dict) else reports
        return [Problem(found) for report in reports for found in report["diagnostics"]]

    def run(self, inputs=None, folder=None, easel=None, arguments=()):
        """Runs the graph and gives its results by node.

        ``inputs`` are the run's inputs by name. ``arguments`` are further arguments of ``easel run``, such as
        ``["--model", "gpt-4o-mini@openai"]``. Raises ``EaselError`` with what Easel says if the graph is refused, fails,
        or waits for input.
        """
        with tempfile.TemporaryDirectory() as scratch:
            given = Path(scratch) / "inputs.json"
            given.write_text(json.dumps(inputs or {}, allow_nan=False), encoding="utf-8")
            with self._written(folder) as path:
                done = _run(easel, ["run", path, "--json", "--inputs", str(given), *arguments])
        if done.returncode != 0:
            raise EaselError(_told(done), done.returncode)
        return json.loads(done.stdout)["results"]

    def _written(self, folder):
        """The graph as a file among its Python files, while it is needed."""
        if folder is None and not (self.functions or any(_names_python(node) for node in self._nodes)):
            folder = tempfile.gettempdir()
        return _Written(self.to_yaml(), folder)


class GraphBuilder:
    """Puts a graph together by calls in a row, one for each kind of node."""

    def __init__(self, name, description=None, **keys):
        self._graph = Graph(name=name, description=description, **keys)

    def input(self, name, type="string", **keys):  # noqa: A002
        """Declares an input."""
        self._graph.add(GraphInput(name, type=type, **keys))
        return self

    def outputs(self, *ids):
        """The nodes whose values a run gives out."""
        self._graph.outputs = list(ids[0]) if len(ids) == 1 and not isinstance(ids[0], str) else list(ids)
        return self

    def add(self, node):
        """Adds a node."""
        self._graph.add(node)
        return self

    def node(self, id, kind="base", **keys):  # noqa: A002
        """Adds a node of any kind."""
        return self.add(GraphNode(id=id, kind=kind, **keys))

    def build(self):
        """The graph."""
        return self._graph


def _adds(kind):
    def add(self, id, **keys):  # noqa: A002
        return self.node(id, kind=kind, **keys)

    add.__name__ = kind
    add.__doc__ = "Adds a node of kind ``{}``.".format(kind)
    return add


for _kind in NODE_KINDS:
    if _kind != "input":
        setattr(GraphBuilder, _kind, _adds(_kind))
GraphBuilder.input_node = _adds("input")


# Data


def _node(node):
    if isinstance(node, GraphNode):
        return node
    if isinstance(node, dict):
        return GraphNode(**node)
    raise EaselError("A node is {}, where a GraphNode or a mapping belongs.".format(type(node).__name__))


def _names_python(node):
    """Whether a node, or one in its body, names something of a Python file."""
    named = node.callable or isinstance(node.output_schema, (str, type))
    return bool(named) or any(_names_python(inner) for inner in node.body or ())


def _inputs(inputs):
    """The three ways in which a graph declares inputs, as one."""
    if isinstance(inputs, dict):
        inputs = [{name: declared} for name, declared in inputs.items()]
    return [_input(declared) for declared in inputs or ()]


def _input(declared):
    if isinstance(declared, GraphInput):
        return declared
    if isinstance(declared, str):
        return GraphInput(declared)
    if isinstance(declared, dict):
        if "name" in declared:
            return GraphInput(**declared)
        if len(declared) == 1:
            ((name, rest),) = declared.items()
            return GraphInput(name, **rest) if isinstance(rest, dict) else GraphInput(name, type=rest)
    raise EaselError("An input is {!r}, where a GraphInput or a mapping with `name` belongs.".format(declared))


def _plain(value, place):
    """A value as a file can hold it."""
    if isinstance(value, _Keys):
        return value.to_dict()
    if isinstance(value, dict):
        return {_key(key, place): _plain(member, "{}.{}".format(place, key)) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, "{}[{}]".format(place, at)) for at, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise EaselError("`{}` is {}, which a graph cannot hold.".format(place, value))
    if value is None or isinstance(value, (bool, int, float, str)):
        # Not what is derived from them: an enumeration's member is written as its value.
        return getattr(value, "value", value) if type(value) not in (bool, int, float, str, type(None)) else value
    if isinstance(value, Path):
        return str(value)
    # A model class of pydantic knows the shape it stands for.
    shape = getattr(value, "model_json_schema", None)
    if isinstance(value, type) and callable(shape):
        return "{}:{}".format(value.__module__, value.__name__)
    raise EaselError("`{}` is {}, which a graph cannot hold.".format(place, type(value).__name__))


def _key(key, place):
    if isinstance(key, str):
        return key
    raise EaselError("`{}` has the key {!r}; keys are text.".format(place, key))


# YAML

#: Text that every reader of YAML takes for itself without quotes.
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./(-][A-Za-z0-9_./(),;!?'-]*)*\Z")

#: Words that some reader of YAML takes for something else.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf", "infinity"}

#: What a text over several lines may hold to be written line by line.
_LINES = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]*\Z")


def to_yaml(value):
    """Plain data as YAML that says exactly the same to any reader, YAML 1.1 or 1.2."""
    lines = []
    _block(value, 0, lines)
    return "\n".join(lines) + "\n"


def _block(value, depth, lines):
    """Writes a mapping or a list, each member or item on lines of its own."""
    indent = "  " * depth
    if isinstance(value, dict) and value:
        for key, member in value.items():
            _entry(indent + _scalar(key) + ":", member, depth, lines)
    elif isinstance(value, list) and value:
        for item in value:
            if isinstance(item, (dict, list)) and item:
                first = len(lines)
                _block(item, depth + 1, lines)
                lines[first] = indent + "- " + lines[first][len(indent) + 2 :]
            else:
                _entry(indent + "-", item, depth, lines)
    else:
        lines.append(indent + _scalar(value))


def _entry(head, value, depth, lines):
    """Writes a value behind its key or dash."""
    if isinstance(value, (dict, list)) and value:
        lines.append(head)
        _block(value, depth + 1, lines)
    elif isinstance(value, str) and _is_lines(value):
        # `-` and `+`: the line breaks at the end are those that are written.
        kept = "-" if not value.endswith("\n") else ("" if not value.endswith("\n\n") else "+")
        lines.append(head + " |" + kept)
        body = value[:-1] if value.endswith("\n") else value
        lines.extend("  " * (depth + 1) + line if line else "" for line in body.split("\n"))
    else:
        lines.append(head + " " + _scalar(value))


def _is_lines(text):
    """Whether a text is best read line by line. One that begins with a blank or a line break needs more than that."""
    return "\n" in text.strip("\n") and text[0] not in " \n" and bool(_LINES.match(text)) and " \n" not in text


def _scalar(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        bare = _BARE.match(value) and value.lower() not in _WORDS and not value.endswith((" ", ":"))
        return value if bare else _quoted(value)
    if isinstance(value, float):
        text = repr(value)
        # Without a dot some readers take 1e+20 for text.
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    if isinstance(value, int):
        return str(value)
    return "{}" if isinstance(value, dict) else "[]"


def _quoted(text):
    """A text in double quotes. JSON's escapes are YAML's."""
    quoted = json.dumps(text, ensure_ascii=False)
    hidden = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
    return hidden.sub(lambda found: "\\u{:04x}".format(ord(found.group())), quoted)


# The program


class _Written:
    """A file that is there for a while, in a folder of other people's files."""

    def __init__(self, text, folder):
        self._text = text
        self._folder = Path(folder) if folder is not None else Path.cwd()

    def __enter__(self):
        handle, self._path = tempfile.mkstemp(prefix=".easel-", suffix=".yaml", dir=self._folder)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(self._text)
        return self._path

    def __exit__(self, *_):
        os.unlink(self._path)


def _run(easel, arguments):
    program = easel or os.environ.get("EASEL") or shutil.which("easel")
    if not program:
        raise EaselError("There is no `easel` program on PATH. Install it, or set EASEL to where it is.")
    try:
        return subprocess.run(
            [str(program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise EaselError("{} cannot be started: {}.".format(program, error)) from error


def _told(done):
    """What the program said about why it ended."""
    return done.stderr.strip() or "easel ended with exit code {}.".format(done.returncode)
