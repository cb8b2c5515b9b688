"""LangGraph with its SQLite checkpointer: a chain of nodes, one short value as its state.

The state is overwritten by each node and not added to, which is the least that LangGraph can store.
"""

import os
import sqlite3
import sys
import uuid
from functools import cache
from typing import TypedDict

# Nothing is to be sent anywhere.
os.environ["LANGSMITH_TRACING"] = "false"

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

import side

# Threads that many runs share. Its own way with asyncio and 1,000 runs in flight takes 1.5 times as long.
THREADS = 16


class State(TypedDict):
    """What is handed from node to node."""

    value: str


def node(number):
    """A node that takes what came and gives a short text."""
    return lambda state: {"value": f"{number}: {state['value'][:20]}"}


def chain(nodes, saver):
    """Nodes one after the other."""
    graph = StateGraph(State)
    names = [f"n{number}" for number in range(nodes)]
    for number, name in enumerate(names):
        graph.add_node(name, node(number))
    for before, after in zip([START, *names], [*names, END]):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


def main():
    connection = sqlite3.connect(sys.argv[1] + "/langgraph.db", check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()
    connection.execute("PRAGMA synchronous=FULL")
    compiled = cache(lambda nodes: chain(nodes, saver))

    def config(nodes):
        thread = {"thread_id": uuid.uuid4().hex}
        return {"configurable": thread, "recursion_limit": nodes + 5, "max_concurrency": THREADS}

    def run(runs, nodes):
        inputs = [{"value": "hello"}] * runs
        configs = [config(nodes) for _ in inputs]
        # With "sync" a step is on the disk before the next begins.
        for ended in compiled(nodes).batch(inputs, configs, durability="sync"):
            assert ended["value"].startswith(f"{nodes - 1}: ")

    side.serve(run)


main()
