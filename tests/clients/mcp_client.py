#!/usr/bin/env python3
"""Easel as the client of a server: what the conformance suite of MCP starts for each scenario.

    mcp_client.py EASEL URL

The scenario is in MCP_CONFORMANCE_SCENARIO, and what it wants called in MCP_CONFORMANCE_CONTEXT.
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request

easel, url = sys.argv[1], sys.argv[-1]
scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
folder = tempfile.TemporaryDirectory()
environment = {**os.environ, "EASEL_HOME": os.path.join(folder.name, "home")}
with open(os.path.join(folder.name, "easel.toml"), "w") as settings:
    settings.write(f'[mcp.s]\nurl = "{url}"\n')


def run(*arguments):
    done = subprocess.run(
        [easel, "mcp", *arguments], cwd=folder.name, env=environment, capture_output=True, text=True
    )
    print(arguments, done.returncode, done.stdout, done.stderr, file=sys.stderr)
    return done


def login():
    """Signs in as a browser would that follows where it is sent."""
    command = [easel, "mcp", "login", "s"]
    login = subprocess.Popen(
        command, cwd=folder.name, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    address = login.stdout.readline().strip()
    if address:
        threading.Thread(target=visit, args=(address,), daemon=True).start()
    try:
        _, told = login.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        login.kill()
        _, told = login.communicate()
    print("login", login.returncode, told, file=sys.stderr)
    return login.returncode


def visit(address):
    try:
        urllib.request.urlopen(address, timeout=15).read()
    except Exception as error:  # The terminal says how it went.
        print("browser", error, file=sys.stderr)


def some(schema):
    """A value that fits a schema of one argument."""
    kinds = {"number": 1, "integer": 1, "boolean": True, "object": {}, "array": []}
    return kinds.get(schema.get("type"), "x")


listed = run("list", "s", "--json")
if listed.returncode != 0 and scenario.startswith("auth/"):
    if login() != 0:
        sys.exit(1)
    listed = run("list", "s", "--json")
if listed.returncode != 0:
    sys.exit(1)
calls = context.get("toolCalls")
if calls is None:
    tools = json.loads(listed.stdout)["tools"]
    schemas = ((tool, tool["parameters"].get("properties") or {}) for tool in tools)
    echo = next((tool["parameters"] for tool in tools if tool["name"] != "json_schema_echo"), {})
    calls = [
        {
            "name": tool["name"],
            # The scenario about schemas wants to hear the one that it told.
            "arguments": {
                name: echo if name == "schema" else some(schema) for name, schema in properties.items()
            },
        }
        for tool, properties in schemas
    ]
for call in calls:
    run("call", "s", call["name"], "--arguments", json.dumps(call["arguments"]))
