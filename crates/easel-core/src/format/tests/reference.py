"""Renders templates by CPython's own parser of format strings and its own format(), one placeholder at a time.

Reads {"scope": {...}, "texts": [...]}; answers for each text [rendered, names that were not filled], or null for one
that CPython refuses as a whole.
"""

import _string
import json
import string
import sys

CONVERSIONS = {None: lambda value: value, "s": str, "r": repr, "a": ascii}


class Unresolved(Exception):
    pass


def refuse_constant(name):
    raise ValueError(name)


def step(value, attribute, key):
    if isinstance(value, str):
        value = json.loads(value, parse_constant=refuse_constant)
    if isinstance(value, dict):
        return value[str(key)]
    if isinstance(value, list) and not attribute and isinstance(key, int):
        return value[key]
    raise KeyError(key)


def look_up(name, scope):
    root, steps = _string.formatter_field_name_split(name)
    value = scope[root]
    for attribute, key in steps:
        value = step(value, attribute, key)
    return value


def placeholder(name, spec, conversion, scope, depth):
    try:
        value = CONVERSIONS[conversion](look_up(name, scope))
        if "{" in spec:
            if depth == 0:
                raise ValueError
            spec = "".join(
                literal + ("" if inner is None else placeholder(inner, inner_spec, inner_conversion, scope, depth - 1))
                for literal, inner, inner_spec, inner_conversion in string.Formatter().parse(spec)
            )
        return format(value, spec)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        raise Unresolved(name)


def render(text, scope):
    try:
        pieces = list(string.Formatter().parse(text))
    except ValueError:
        return None
    rendered, unresolved = "", []
    for literal, name, spec, conversion in pieces:
        rendered += literal
        if name is None:
            continue
        try:
            rendered += placeholder(name, spec, conversion, scope, 1)
        except Unresolved as miss:
            unresolved.append(miss.args[0])
            rendered += "{" + name + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}"
    return [rendered, unresolved]


task = json.load(sys.stdin)
json.dump([render(text, task["scope"]) for text in task["texts"]], sys.stdout)
