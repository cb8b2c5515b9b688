"""Uses a running server through RAGFlow's own client, as its users do.

    python3 ragflow_sdk_client.py http://127.0.0.1:9380 KEY

Makes an agent of each agent template that the server offers, opens a conversation, asks with and without a stream,
lists, publishes, deletes. Needs `ragflow-sdk` 0.27; on a Python older than it asks for, install it with
`pip install --ignore-requires-python --no-deps ragflow-sdk==0.27.3` beside `requests` and `beartype`.
"""

import sys

import requests
from ragflow_sdk import RAGFlow


def main():
    base, key = sys.argv[1], sys.argv[2]
    rag = RAGFlow(key, base)
    headers = {"Authorization": f"Bearer {key}"}
    offered = requests.get(f"{base}/api/v1/agents/templates", headers=headers, timeout=30).json()
    templates = [t for t in offered["data"] if t["canvas_category"] == "agent_canvas"]
    assert len(templates) >= 8, len(templates)
    for template in templates:
        use(rag, template)
    assert rag.list_agents() == [], "all were deleted"
    refuse(rag)
    print(f"all agents answered: {len(templates)}")


def use(rag, template):
    title = template["title"]["en"]
    rag.create_agent(title, template["dsl"], description="made by a test", canvas_type=template["canvas_type"])
    agent = next(a for a in rag.list_agents() if a.title == title)
    assert agent.description == "made by a test"
    whole = rag.get_agent(agent.id)
    assert whole.dsl.components is not None
    rag.update_agent(agent.id, description="changed by a test", canvas_type=template["canvas_type"])
    session = agent.create_session(name="A chat")
    assert session.id and session.agent_id == agent.id, session
    begin = next(c for c in template["dsl"]["components"].values() if c["obj"]["component_name"] == "Begin")["obj"]["params"]
    # Those that wait for a webhook are started by one.
    if begin.get("mode") != "Webhook":
        converse(session, title, begin.get("inputs") or {})
        assert len(agent.list_sessions()[0].message) > 3, title
    assert [s.id for s in agent.list_sessions()] == [session.id]
    second = agent.create_session()
    agent.delete_sessions(ids=[second.id])
    agent.delete_sessions(delete_all=True)
    assert agent.list_sessions() == []
    rag.delete_agent(agent.id)


def converse(session, title, begin):
    given = {name: {"type": field["type"], "value": "What is Easel?"} for name, field in begin.items()}
    whole = "".join(m.content for m in session.ask("What is Easel?", stream=False, inputs=given))
    streamed = "".join(m.content for m in session.ask("What is Easel?", stream=True, inputs=given))
    if not whole:
        # It asked something back. The client passes questions over; their answers go the same way as messages.
        answers = {"changes": "none", "budget": "Low", "deadline": "today"}
        streamed = "".join(m.content for m in session.ask("", stream=True, inputs=answers))
        list(session.ask("What is Easel?", stream=False))
        whole = "".join(m.content for m in session.ask("", stream=False, inputs=answers))
    print(f"{title}: {whole[:60]!r}, streamed {streamed[:60]!r}")
    assert whole and whole == streamed, (title, whole, streamed)


def refuse(rag):
    for wrong in (lambda: rag.get_agent("nothing"), lambda: rag.create_agent("", {}), lambda: rag.delete_agent("nothing")):
        try:
            wrong()
        except Exception as error:  # the client raises plain exceptions
            assert str(error), error
        else:
            raise AssertionError("this must be refused")


if __name__ == "__main__":
    main()
