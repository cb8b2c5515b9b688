#!/usr/bin/env python3
"""Easel beside LangGraph and DBOS: durable runs on the same disk, each side a process that waits for its turn.

    python3 benches/peers/compare.py

builds Easel's side, gets the peers from PyPI into benches/peers/.venv and prints a table. `--help` says how to measure less.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
PEERS = {"LangGraph, SqliteSaver": "langgraph_side.py", "DBOS, SQLite": "dbos_side.py"}


class Side:
    """A process that runs what it is told and says how long it took."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.hear("ready")

    def hear(self, expected=None):
        """The next line."""
        line = self.process.stdout.readline().strip()
        if not line or (expected and line != expected):
            raise SystemExit(f"{self.process.args} said {line!r} and ended with {self.process.wait()}")
        return line

    def seconds(self, runs, nodes):
        """How long so many runs of so many nodes take."""
        self.process.stdin.write(f"{runs} {nodes}\n")
        self.process.stdin.flush()
        return float(self.hear())

    def end(self):
        """Lets it close its files."""
        self.process.stdin.close()
        self.process.wait(timeout=60)


def target():
    """Where cargo puts what it builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")).resolve()


def easel():
    """Easel's side and the floor, built."""
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "benches"], cwd=REPOSITORY, check=True)
    return target() / "release" / "table"


def python():
    """The Python that has the peers."""
    folder = HERE / ".venv"
    program = folder / "bin" / "python"
    if not program.exists():
        venv.create(folder, with_pip=True)
    install = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "-r", HERE / "requirements.txt"], check=True)
    return program


def quarters(values):
    """The median and the middle half, as text."""
    if len(values) == 1:
        return f"{values[0]:.2f}"
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def measure(what, floor, others, runs, nodes, rounds):
    """One row for each side: each is measured right after the floor, in turn, so that both meet the same weather."""
    for side in (floor, *others.values()):
        side.seconds(runs, nodes)
    floors, times, ratios = [], {name: [] for name in others}, {name: [] for name in others}
    for number in range(rounds):
        for name, side in others.items():
            # Every other time the floor comes second.
            pair = [floor, side] if number % 2 == 0 else [side, floor]
            took = {one: one.seconds(runs, nodes) for one in pair}
            floors.append(took[floor])
            times[name].append(took[side])
            ratios[name].append(took[side] / took[floor])
    for name, seconds in {"the floor": floors, **times}.items():
        middle = statistics.median(seconds)
        ratio = quarters(ratios[name]) if name in ratios else "1"
        print(f"| {what} | {name} | {1000 * middle:,.1f} ms | {runs * nodes / middle:,.0f} | {ratio} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=20, help="pairs of one run")
    arguments.add_argument("--rounds-at-once", type=int, default=3, help="pairs of many runs; 0 leaves them out")
    arguments.add_argument("--runs", type=int, default=1000, help="how many runs are many")
    arguments = arguments.parse_args()

    table, program = easel(), python()
    with tempfile.TemporaryDirectory(dir=target(), prefix="peers-") as folder:
        sides = {
            "Easel": [table, "--side", "easel", folder],
            **{name: [program, HERE / script, folder] for name, script in PEERS.items()},
        }
        floor = Side([table, "--side", "floor", folder])
        others = {name: Side(command) for name, command in sides.items()}
        print("| what | side | median | nodes/s | beside the floor (middle half) |")
        print("|---|---|---|---|---|")
        measure("one run of 100 nodes", floor, others, 1, 100, arguments.rounds)
        if arguments.rounds_at_once:
            what = f"{arguments.runs:,} runs of 10 nodes at once"
            measure(what, floor, others, arguments.runs, 10, arguments.rounds_at_once)
        for side in (floor, *others.values()):
            side.end()


if __name__ == "__main__":
    sys.exit(main())
