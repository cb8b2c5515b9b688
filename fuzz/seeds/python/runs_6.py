from dataclasses import dataclass
@dataclass
class Row:
    n: int
    tag: str = "x"
assert Row(1).tag == "x" and Row(1) == Row(1)
