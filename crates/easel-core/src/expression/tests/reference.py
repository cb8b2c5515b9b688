"""Evaluates expressions by walking CPython's own syntax tree, with the differences that the module's page lists.

Reads {"scope": {...}, "texts": [...]}; answers for each text ["value", JSON text], ["error", kind] or ["syntax"].
"""

import ast
import functools
import json
import math
import operator
import sys
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(10_000)

FUNCTIONS = "len bool int float str abs min max sum any all sorted round lower upper startswith endswith contains".split()


class Failure(Exception):
    pass


def checked(number):
    if isinstance(number, bool):
        number = int(number)
    if isinstance(number, complex):
        raise Failure("Arithmetic")
    if isinstance(number, float) and not math.isfinite(number):
        raise Failure("Arithmetic")
    if isinstance(number, int) and not -(2**63) <= number < 2**64:
        raise Failure("Arithmetic")
    return number


def is_number(value):
    return isinstance(value, (int, float))


def refuse_constant(name):
    raise ValueError(name)


def step(value, key):
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_constant=refuse_constant)
        except ValueError:
            return None
        if isinstance(value, str):
            return None
    if isinstance(key, bool):
        key = int(key)
    if isinstance(value, dict):
        if isinstance(key, int):
            key = str(key)
        return value.get(key) if isinstance(key, str) else None
    if isinstance(value, list) and isinstance(key, int):
        return value[key] if -len(value) <= key < len(value) else None
    return None


def identical(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(identical(a[key], b[key]) for key in a)
    return a == b


def part(a, b):
    return a in b


COMPARISONS = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: part, ast.NotIn: lambda a, b: not part(a, b), ast.Is: identical,
    ast.IsNot: lambda a, b: not identical(a, b),
}


def holds(comparison, a, b):
    try:
        return COMPARISONS[type(comparison)](a, b)
    except TypeError:
        return False


def repeat(value, times):
    size = len(value.encode()) if isinstance(value, str) else len(value)
    if size * max(times, 0) > (16 << 20 if isinstance(value, str) else 1_000_000):
        raise Failure("Limit")
    return value * times if size else value


def power(a, b):
    if isinstance(a, int) and isinstance(b, int) and b >= 0:
        if b > 1000:
            raise Failure("Limit")
        return int(a) ** int(b)
    return float(a) ** float(b)


OPERATIONS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: power,
}


def operate(operation, a, b):
    kind = type(operation)
    if kind not in OPERATIONS:
        raise SyntaxError
    if is_number(a) and is_number(b):
        try:
            return checked(OPERATIONS[kind](a, b))
        except (ZeroDivisionError, OverflowError):
            raise Failure("Arithmetic")
    if kind is ast.Mult:
        for value, times in ((a, b), (b, a)):
            if isinstance(value, (str, list)) and isinstance(times, int):
                return repeat(value, times)
    if kind is ast.Add and type(a) is type(b) and isinstance(a, (str, list)):
        return a + b
    raise Failure("Type")


def compared(a, b):
    return -1 if a < b else 1 if b < a else 0


def rounded(x, places=None):
    if places is None:
        return checked(round(x))
    if not is_number(x) or not isinstance(places, int):
        raise TypeError
    if places < -400:
        return x * 0 if isinstance(x, int) else math.copysign(0.0, x)
    return checked(round(x, int(places)))


def total(items, start=0):
    if isinstance(start, str):
        raise Failure("Type")
    for item in items:
        start = operate(ast.Add(), start, item)
    return start


def spelled(convert):
    def number(text=0):
        if not isinstance(text, str):
            return checked(convert(text))
        try:
            parsed = convert(text)
        except ValueError:
            raise Failure("Value")
        if isinstance(parsed, float) and not math.isfinite(parsed) and not any(c.isdigit() for c in text):
            raise Failure("Value")
        return checked(parsed)
    return number


def contains(whole, item):
    try:
        return item in whole
    except TypeError:
        return str(item) in str(whole)


def call(name, arguments):
    functions = {
        "len": len, "bool": bool, "int": spelled(int), "float": spelled(float), "str": str, "abs": lambda x: checked(abs(x)),
        "min": min, "max": max, "sum": total, "any": any, "all": all,
        "sorted": lambda items: sorted(items, key=functools.cmp_to_key(compared)), "round": rounded,
        "lower": lambda x: str(x).lower(), "upper": lambda x: str(x).upper(),
        "startswith": lambda x, y: str(x).startswith(str(y)), "endswith": lambda x, y: str(x).endswith(str(y)),
        "contains": contains,
    }
    try:
        return functions[name](*arguments)
    except OverflowError:
        raise Failure("Arithmetic")
    except (TypeError, AttributeError):
        raise Failure("Type")
    except ValueError:
        raise Failure("Value")


def evaluate(node, scope):
    def value(node):
        return evaluate(node, scope)

    match node:
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name):
            if name not in scope:
                raise Failure("Unknown")
            return scope[name]
        case ast.Attribute(value=base, attr=name):
            return step(value(base), name)
        case ast.Subscript(value=base, slice=key):
            base = value(base)
            return step(base, value(key))
        case ast.BoolOp(op=op, values=operands):
            wanted = isinstance(op, ast.Or)
            for operand in operands:
                found = value(operand)
                if bool(found) == wanted:
                    break
            return found
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not value(operand)
        case ast.UnaryOp(op=op, operand=operand):
            operand = value(operand)
            if not is_number(operand):
                raise Failure("Type")
            return checked(-operand if isinstance(op, ast.USub) else +operand)
        case ast.BinOp(left=left, op=op, right=right):
            left = value(left)
            return operate(op, left, value(right))
        case ast.Compare(left=left, ops=comparisons, comparators=operands):
            left = value(left)
            for comparison, right in zip(comparisons, operands):
                right = value(right)
                if not holds(comparison, left, right):
                    return False
                left = right
            return True
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return value(body) if value(test) else value(orelse)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return call(name, [value(argument) for argument in arguments])
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [value(element) for element in elements]
        case ast.Set(elts=elements):
            found = []
            for element in elements:
                element = value(element)
                if element not in found:
                    found.append(element)
            return found
        case ast.Dict(keys=keys, values=values):
            members = {}
            for key, member in zip(keys, values):
                key = value(key)
                if not isinstance(key, str):
                    raise Failure("Type")
                members[key] = value(member)
            return members
    raise SyntaxError


def elements(value):
    if isinstance(value, list):
        return len(value) + sum(map(elements, value))
    if isinstance(value, dict):
        return len(value) + sum(map(elements, value.values()))
    return 0


def answer(text, scope):
    try:
        found = evaluate(ast.parse(text, mode="eval").body, scope)
        if elements(found) > 1_000_000:
            raise Failure("Limit")
        return ["value", json.dumps(found)]
    except SyntaxError:
        return ["syntax"]
    except Failure as failure:
        return ["error", failure.args[0]]


task = json.load(sys.stdin)
json.dump([answer(text, task["scope"]) for text in task["texts"]], sys.stdout)
