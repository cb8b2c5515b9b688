import re
m = re.match(r"(?P<x>\d+)-(\w+)", "12-ab", re.IGNORECASE)
assert (m.group("x"), m.groups(), m[1], m.groupdict()) == ("12", ("12", "ab"), "12", {"x": "12"})
assert re.sub(r"\s+", " ", "a  b") == "a b" and re.findall(r"\d", "a1b2") == ["1", "2"]
