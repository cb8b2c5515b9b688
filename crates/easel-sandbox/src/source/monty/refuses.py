class A: pass
class B(A): pass
# ----
class E(Exception): pass
# ----
class M(metaclass=type): pass
# ----
def g():
    yield 1
# ----
def g():
    yield from [1]
# ----
x = [1]
del x[0]
# ----
match 1:
    case 1: pass
# ----
"%s-%d" % ("a", 1)
# ----
f"{1}%s" % 1
# ----
class A:
    @property
    def x(self): return 1
# ----
class A:
    @staticmethod
    def x(): return 1
# ----
class A:
    class B: pass
# ----
class A:
    if True: x = 1
# ----
class A:
    def __len__(self): return 1
len(A())
# ----
class A:
    def __getitem__(self, k): return 1
A()[1]
# ----
class A:
    def __call__(self): return 1
A()()
# ----
class A:
    def __add__(self, o): return 1
A() + 1
# ----
class A:
    def __getattr__(self, n): return 1
A().x
# ----
class A:
    def __lt__(self, o): return True
A() < 1
# ----
class A:
    def __bool__(self): return False
assert not A()
# ----
from math import *
# ----
import requests
# ----
import numpy as np
# ----
import os.path
# ----
import random
# ----
import time
# ----
import hashlib
# ----
import uuid
# ----
import csv
# ----
import string
# ----
import statistics
# ----
import logging
# ----
import enum
# ----
from dataclasses import asdict
# ----
from dataclasses import dataclass, field
# ----
from collections import OrderedDict
# ----
from functools import lru_cache
# ----
from functools import wraps
# ----
from itertools import groupby
# ----
from typing import NamedTuple
# ----
from math import prod
# ----
import math
math.prod([1])
# ----
import asyncio
asyncio.sleep(0)
# ----
import os
os.path.join("a", "b")
# ----
import sys
sys.exit(1)
# ----
import sys
sys.path
# ----
from . import helpers
# ----
from .helpers import x
# ----
{"a": 1} | {"b": 2}
# ----
d = dict(a=1)
d |= {"b": 2}
# ----
l = [1, 2]
l[0:1] = [3]
# ----
1j
# ----
1 @ 2
# ----
type X = int
# ----
try: pass
except* ValueError: pass
# ----
async def f():
    async for x in y: pass
# ----
async def f():
    async with y: pass
# ----
async def f(): return [x async for x in y]
# ----
def f(): pass
f.__name__
# ----
def f(): "doc"
f.__doc__
# ----
(1).__class__
# ----
callable(1)
# ----
globals()
# ----
eval("1")
# ----
issubclass(bool, int)
# ----
format(1, "x")
# ----
bytearray(b"a")
# ----
open("x")
# ----
with open("x", "w") as f: f.write("x")
# ----
from pathlib import Path
Path("x").read_text()
# ----
input()
# ----
"a".translate({97: "b"})
# ----
"{a}".format_map({"a": 1})
# ----
(5).bit_length()
# ----
from datetime import datetime
datetime.strptime("2020", "%Y")
# ----
from datetime import datetime
datetime.utcnow()
# ----
d = {"a": 1}
max(d, key=d.get)
# ----
sorted(["B"], key=str.lower)
# ----
raise ValueError("a", 1)
# ----
raise ValueError(3)
# ----
import sys
print("x", file=sys.stderr)
# ----
import json
json.dumps({}, default=str)
# ----
raise IOError("x")
# ----
{1} <= set([1, 2])
# ----
next((x for x in [1]), None)
# ----
g = (x for x in [1])
next(g)
# ----
next(map(str, [1]))
# ----
sum(x > 1 for x in [1, 2])
# ----
n = 0
n += (1 == 1)
# ----
bytes([97])
# ----
fmt = "%s"
fmt % "a"
# ----
import re
re.sub("a", lambda m: "b", "a")
# ----
import re
def up(m): return "b"
re.compile("a").sub(up, "a")
# ----
d = {}
d["a"], d["b"] = 1, 2
# ----
class A:
    def __init__(self, a, b): self.a, self.b = a, b
A(1, 2)
# ----
d = {}
for d["k"] in [1]: pass
# ----
def f(): pass
f.cache = {}
# ----
from typing import Dict, Any
Alias = Dict[str, Any]
# ----
Alias = dict[str, int]
# ----
Alias = int | None
# ----
from typing import TypeVar
T = TypeVar("T")
# ----
from dataclasses import dataclass
@dataclass(order=True)
class R:
    a: int
# ----
from dataclasses import dataclass
@dataclass
class R:
    a: int
    def __post_init__(self): pass
# ----
str.upper("a")
# ----
from datetime import datetime
datetime.min
# ----
from datetime import datetime
datetime(2020, 1, 1).isoformat(sep=" ")
# ----
import itertools
itertools.chain.from_iterable([[1]])
# ----
import json
try: json.loads("{")
except json.JSONDecodeError as e: e.lineno
