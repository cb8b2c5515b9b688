def dedupe(text, **kw):
    seen, kept = set(), []
    for line in text.splitlines():
        key = line.strip().lower()
        if key and key not in seen:
            seen.add(key)
            kept.append(line)
    return "\n".join(kept)
assert dedupe("a\nA\nb") == "a\nb"
# ----
class Counter:
    """Counts."""
    step = 1
    start: int = 0
    def __init__(self, n=0): self.n = n
    def bump(self):
        self.n += self.step
        return self
    def __repr__(self): return f"Counter({self.n})"
    def __eq__(self, other): return self.n == other.n
    def __hash__(self): return self.n
    def __contains__(self, x): return x == self.n
    def __iter__(self): return iter([self.n])
    def __enter__(self): return self
    def __exit__(self, *a): return False
with Counter() as c:
    c.bump()
assert str(c) == "Counter(1)" and c == Counter(1) and 1 in c and list(c) == [1]
# ----
import json
assert json.loads(json.dumps({"b": 1, "a": [1, 2.5, None]}, indent=2, sort_keys=True)) == {"a": [1, 2.5, None], "b": 1}
# ----
import re
m = re.match(r"(?P<x>\d+)-(\w+)", "12-ab", re.IGNORECASE)
assert (m.group("x"), m.groups(), m[1], m.groupdict()) == ("12", ("12", "ab"), "12", {"x": "12"})
assert re.sub(r"\s+", " ", "a  b") == "a b" and re.findall(r"\d", "a1b2") == ["1", "2"]
# ----
from datetime import datetime, timedelta, date
assert (datetime(2020, 1, 2) - datetime(2020, 1, 1)).days == 1
assert date(2020, 1, 1) + timedelta(days=1) == date(2020, 1, 2)
assert datetime.fromisoformat("2020-01-01T00:00:00").strftime("%Y") == "2020"
# ----
from collections import Counter, defaultdict, namedtuple, deque
d = defaultdict(list)
d["a"].append(1)
P = namedtuple("P", "a b")
assert dict(d) == {"a": [1]} and Counter("aab").most_common(1) == [("a", 2)] and P(1, 2).b == 2
q = deque([1], maxlen=3)
q.append(2)
# ----
from dataclasses import dataclass
@dataclass
class Row:
    n: int
    tag: str = "x"
assert Row(1).tag == "x" and Row(1) == Row(1)
# ----
from functools import partial, reduce
from itertools import chain, islice, accumulate, zip_longest
assert reduce(lambda a, b: a + b, [1, 2, 3]) == 6 and list(chain([1], [2])) == [1, 2]
# ----
import math
assert math.floor(math.sqrt(17)) == 4 and math.isclose(math.pi, 3.14159, rel_tol=1e-3)
# ----
import base64, binascii
assert base64.b64decode(base64.b64encode(b"x")) == b"x"
# ----
import asyncio
async def one(x): return x
async def all_of(): return await asyncio.gather(one(1), one(2))
assert asyncio.run(all_of()) == [1, 2]
# ----
from typing import Any, Callable, Dict, List, Optional, Union
Names = None
def f(a: Optional[List[str]] = None, *, b: int | None = None, **kw: Dict[str, Any]) -> Dict[str, Union[int, str]]:
    x: dict[str, list[int]] = {}
    return x
assert f() == {}
# ----
from __future__ import annotations
def f(a: Missing) -> AlsoMissing: return a
assert f(1) == 1
# ----
def outer():
    n = 0
    def inner():
        nonlocal n
        n += 1
        return n
    inner()
    return inner()
assert outer() == 2
# ----
STATE = {"n": 0}
TOTAL = 0
def bump():
    global TOTAL
    TOTAL += 1
    STATE["n"] += 1
    return STATE["n"]
bump()
assert bump() == 2 == TOTAL
# ----
try:
    {}["a"]
except (KeyError, IndexError) as e:
    kind = type(e).__name__
else:
    kind = None
finally:
    done = True
assert kind == "KeyError" and done
# ----
try:
    raise ValueError("bad") from None
except Exception as e:
    text, arguments = str(e), e.args
assert text == "bad" and arguments == ("bad",)
# ----
try:
    import numpy as np
except ImportError:
    np = None
assert np is None
# ----
def deco(f):
    def wrapped(*a, **k): return f(*a, **k) + 1
    return wrapped
@deco
def g(x): return x
assert g(1) == 2
# ----
assert "{:.2f} {name!r:>5} {0[a]}".format({"a": 1}["a"] * 1.0, name="x") if False else True
assert "{:.2f}-{b[0]}".format(1.234, b=[2]) == "1.23-2"
n = 3.14159
assert f"{n:.2f} {n!r:>10} {'a' if n else 'b'} {n=}".startswith("3.14")
# ----
a, *b = [1, 2, 3]
[x, y], z = [1, 2], 3
assert b == [2, 3] and [*b, a] == [2, 3, 1] and {**{"a": 1}, "b": 2} == {"a": 1, "b": 2}
# ----
if (n := 3) > 2 and not n == 4 and n in (1, 2, 3) and n is not None:
    assert 1 < n <= 3
# ----
assert {k: v for k, v in {"a": 1, "b": 0}.items() if v} == {"a": 1}
assert sum(i * i for i in range(4)) == 14 and {x % 2 for x in [1, 2]} == {0, 1}
# ----
assert sorted([{"a": 2}, {"a": 1}], key=lambda r: r["a"])[0]["a"] == 1
words = ["b", "A"]
words.sort(key=lambda s: s.lower(), reverse=True)
assert words == ["b", "A"] and max([3, 1], default=0) == 3 and min((x for x in [2, 1])) == 1
# ----
assert list(map(lambda a, b: a + b, [1], [2])) == [3] and list(filter(None, [0, 1])) == [1]
assert list(enumerate("ab", start=1)) == [(1, "a"), (2, "b")] and list(zip([1], [2])) == [(1, 2)]
assert any([0, 1]) and all([]) and divmod(5, 2) == (2, 1) and round(2.5) == 2 and abs(-1) == 1
# ----
assert int("ff", 16) == 255 and float("1.5") == 1.5 and str(None) == "None" and bool([]) is False
assert chr(65) == "A" and ord("A") == 65 and hex(255) == "0xff" and list(reversed([1, 2])) == [2, 1]
# ----
assert "a,b".split(",") == ["a", "b"] and " x ".strip() == "x" and "abc".removeprefix("a") == "bc"
assert "abc".title() == "Abc" and "7".zfill(3) == "007" and "a-b".partition("-") == ("a", "-", "b")
assert "abc".startswith(("a", "x")) and "abc".replace("b", "") == "ac" and "ABC".casefold() == "abc"
# ----
l = [3, 1, 2]
l.sort()
l.insert(0, 9)
l.extend([4])
l.reverse()
assert l.pop() == 9 and l.index(4) == 0 and l.count(1) == 1 and l[::-1][0] == 1
# ----
d = {"a": 1}
d.update(b=2)
assert d.pop("a") == 1 and d.get("x", 0) == 0 and d.setdefault("c", []) == [] and list(d.keys()) == ["b", "c"]
# ----
s = {1, 2}
s.add(3)
s.discard(1)
assert s - {3} == {2} and s | {9} == {2, 3, 9} and s & {2} == {2} and s ^ {2} == {3} and s.issuperset({2})
# ----
for i in range(3):
    if i == 1: continue
    if i == 5: break
else:
    ended = True
while False: pass
assert ended
# ----
def f(a, b=2, /, c=3, *rest, d=4, **kw): return (a, b, c, rest, d, kw)
assert f(1) == (1, 2, 3, (), 4, {}) and f(1, 2, 3, 4, d=5, e=6) == (1, 2, 3, (4,), 5, {"e": 6})
# ----
class Bag: pass
b = Bag()
b.x = 1
setattr(b, "y", 2)
assert hasattr(b, "y") and getattr(b, "z", 3) == 3 and isinstance(b, Bag) and isinstance(1, (int, str))
# ----
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from pandas import DataFrame
# ----
import os
assert os.sep == "/" and os.linesep == "\n"
# ----
from pathlib import Path
p = Path("a") / "b.txt"
assert p.name == "b.txt" and p.suffix == ".txt" and str(p.parent) == "a" and p.stem == "b"
# ----
import unicodedata
assert unicodedata.normalize("NFC", "e\u0301") == "é"
# ----
import sys
assert sys.version_info[0] == 3 and sys.platform
# ----
print("a", 1, sep="-", end="!")
# ----
def f[T](x: T) -> T: return x
assert f(1) == 1
# ----
def score(it):
    """Documented."""
    return (it["n"] >= 8, f"scored {it['n']}")
assert score({"n": 9}) == (True, "scored 9")
# ----
def check(n):
    assert isinstance(n, int), "n must be an int"
    return n ** 2 // 3 % 5 << 1 | 1
assert check(4) == 1
# ----
pick = lambda d, *path: reduce_path(d, path)
def reduce_path(d, path):
    for step in path:
        d = d[step] if step in d else None
        if d is None: break
    return d
assert pick({"a": {"b": 1}}, "a", "b") == 1
# ----
class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b
a = Pair(1, 2)
a.a += 1
(x, y), z = (a.a, a.b), 3
assert (x, y, z) == (2, 2, 3)
# ----
import re
def clean(m): return m
pattern = re.compile(r"\s+")
assert pattern.sub(" ", "a  b", count=1) == "a b" and clean("x") == "x"
# ----
it = iter([1, 2])
assert next(it) == 1 and next(it) == 2 and next(it, None) is None
# ----
hits = [w for w in ["a", "b"] if w in "abc"]
assert len(hits) == 2 and sum(1 for w in hits if w == "a") == 1 and sum(len(w) for w in hits) == 2
# ----
def retry(call, times):
    last = None
    for attempt in range(times):
        try:
            return call(attempt)
        except ValueError as e:
            last = e
    raise last
assert retry(lambda n: n + 1, 2) == 1
