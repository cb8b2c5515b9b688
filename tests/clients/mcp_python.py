"""Easel as the official MCP client for Python sees it, in the newest revision and in the one before.

Needs `mcp` from PyPI, and a server of this machine at EASEL_URL with the released agents "Echo" (says what it is told) and
"Greeter" (asks for a `name`, and greets). `tests/clients/mcp.sh` runs it.
"""

import asyncio
import os

from mcp import Client
from mcp.types import ElicitResult

URL = os.environ["EASEL_URL"] + "/mcp"


async def talk(mode):
    asked, told = [], []

    async def answer(_, question):
        asked.append((question.message, list(question.requested_schema["properties"])))
        return ElicitResult(action="accept", content={"name": "Ada"})

    async def progress(_progress, _total, message):
        told.append(message)

    async with Client(URL, elicitation_callback=answer, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"echo", "greeter", "resume_run"} <= set(tools), tools
        assert tools["echo"].input_schema["required"] == ["query"]
        result = await client.call_tool("echo", {"query": "hello"}, progress_callback=progress)
        assert result.content[0].text == "You said hello.", result
        assert result.structured_content["content"] == "You said hello.", result
        assert told == ["begin", "Message:Echo"], told
        result = await client.call_tool("greeter", {"query": "hello"})
        assert result.content[0].text == "Hello Ada.", result
        assert asked == [("Who are you?", ["name"])], asked
        wrong = await client.call_tool("echo", {})
        assert wrong.is_error and "query" in wrong.content[0].text, wrong


async def resume(first, second):
    """A client that cannot ask begins a run, and another one answers it."""
    async with Client(URL, mode=first) as client:
        waiting = await client.call_tool("greeter", {"query": "hello"})
        run = waiting.structured_content["run"]
        assert run in waiting.content[0].text, waiting
    async with Client(URL, mode=second) as client:
        answers = {"run": run, "answers": {"name": "Bob"}}
        done = await client.call_tool("resume_run", answers)
        assert done.content[0].text == "Hello Bob.", done


async def main():
    for mode in ("auto", "legacy"):
        await talk(mode)
    await resume("auto", "legacy")
    await resume("legacy", "auto")


asyncio.run(main())
print("The official MCP client for Python can use it.")
