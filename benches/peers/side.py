"""What both peers have in common: they are told how much to run, and say how long it took."""

import sys
import time


def serve(run):
    """Reads lines `RUNS NODES` and writes the seconds that `run(runs, nodes)` took, until there are no more."""
    # What the libraries print must not come between the numbers.
    answers, sys.stdout = sys.stdout, sys.stderr
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        runs, nodes = map(int, line.split())
        start = time.perf_counter()
        run(runs, nodes)
        print(time.perf_counter() - start, file=answers, flush=True)
