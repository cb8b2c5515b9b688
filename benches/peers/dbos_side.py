"""DBOS with its SQLite system database: a workflow of so many steps, each of which gives a short text.

DBOS leaves SQLite's journal as it is, with a rollback file. WAL is set here, which is faster, and FULL with it.
"""

import sys

import sqlalchemy
from dbos import DBOS
from sqlalchemy import event

import side


@event.listens_for(sqlalchemy.Engine, "connect")
def pragmas(connection, _record):
    """For each connection that DBOS opens."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")


@DBOS.step()
def step(number, value):
    """Takes what came and gives a short text."""
    return f"{number}: {value[:20]}"


@DBOS.workflow()
def workflow(nodes):
    """Steps one after the other."""
    value = "hello"
    for number in range(nodes):
        value = step(number, value)
    return value


def run(runs, nodes):
    """One workflow, or many at once, as many as DBOS lets run beside each other."""
    if runs == 1:
        ended = [workflow(nodes)]
    else:
        started = [DBOS.start_workflow(workflow, nodes) for _ in range(runs)]
        ended = [handle.get_result() for handle in started]
    for value in ended:
        assert value.startswith(f"{nodes - 1}: ")


def main():
    url = f"sqlite:///{sys.argv[1]}/dbos.db"
    DBOS(config={"name": "peers", "system_database_url": url, "log_level": "ERROR"})
    DBOS.launch()
    side.serve(run)
    DBOS.destroy()


main()
