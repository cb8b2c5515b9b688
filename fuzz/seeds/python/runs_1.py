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
