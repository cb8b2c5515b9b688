"""Easel as the official OpenAI client for Python sees it.

Needs `openai` from PyPI, and a server: EASEL_URL, EASEL_KEY, and the ids of released agents in EASEL_AGENT (a model that
streams), EASEL_ASKS (a form with the field `name`), EASEL_REMEMBERS (gives its history) and EASEL_BROKEN (fails).
`tests/clients/openai.sh` runs it.
"""

import asyncio
import os

import openai
from openai import AsyncOpenAI, OpenAI

URL = os.environ["EASEL_URL"] + "/v1"
KEY = os.environ["EASEL_KEY"]
AGENT, ASKS = os.environ["EASEL_AGENT"], os.environ["EASEL_ASKS"]
REMEMBERS, BROKEN = os.environ["EASEL_REMEMBERS"], os.environ["EASEL_BROKEN"]
TALE = "Once upon a time."

client = OpenAI(base_url=URL, api_key=KEY, max_retries=2)


def user(text):
    return [{"role": "user", "content": text}]


def models():
    ids = [model.id for model in client.models.list()]
    assert {AGENT, ASKS, REMEMBERS, BROKEN} <= set(ids), ids
    model = client.models.retrieve(AGENT)
    assert (model.id, model.object, model.owned_by) == (AGENT, "model", "ann"), model


def chat():
    answer = client.chat.completions.create(model=AGENT, messages=user("tell"))
    assert answer.choices[0].message.content == TALE, answer
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0


def chat_stream():
    stream = client.chat.completions.create(
        model=AGENT, messages=user("tell"), stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == TALE, text
    reasons = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
    assert reasons[-1] == "stop" and not any(reasons[:-1]), reasons
    assert chunks[-1].usage.total_tokens > 0 and not chunks[-1].choices


def chat_stream_helper():
    with client.chat.completions.stream(model=AGENT, messages=user("tell")) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        whole = stream.get_final_completion()
    assert text == whole.choices[0].message.content == TALE, text


def sessions():
    raw = client.chat.completions.with_raw_response.create(model=REMEMBERS, messages=user("one"))
    session = raw.headers["x-easel-session"]
    first = raw.parse()
    assert first.choices[0].message.content.startswith("1: "), first
    second = client.chat.completions.create(
        model=REMEMBERS, messages=user("two"), metadata={"session_id": session}
    )
    text = second.choices[0].message.content
    assert text.startswith("2: ") and "user: one" in text, text
    third = client.chat.completions.create(
        model=REMEMBERS, messages=user("three"), extra_headers={"x-easel-session": session}
    )
    assert third.choices[0].message.content.startswith("3: "), third


def questions():
    asked = client.chat.completions.create(model=ASKS, messages=user("hi"))
    assert asked.choices[0].message.content == "Who are you?", asked
    easel = asked.model_extra["easel"]
    assert easel["waiting"]["fields"]["name"]["type"] == "line", easel
    answered = client.chat.completions.create(
        model=ASKS, messages=user("Ann"), metadata={"session_id": easel["session_id"]}
    )
    assert answered.choices[0].message.content == "Hello Ann.", answered


def responses():
    first = client.responses.create(model=REMEMBERS, input="one", metadata={"topic": "test"})
    assert first.status == "completed" and first.output_text.startswith("1: "), first
    second = client.responses.create(model=REMEMBERS, input=user("two"), previous_response_id=first.id)
    assert second.output_text.startswith("2: ") and "user: one" in second.output_text, second
    read = client.responses.retrieve(first.id)
    assert (read.id, read.output_text) == (first.id, first.output_text), read


def responses_stream():
    events = list(client.responses.create(model=AGENT, input="tell", stream=True))
    kinds = [event.type for event in events]
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert text == events[-1].response.output_text == TALE, text
    assert events[-1].response.usage.total_tokens > 0
    with client.responses.stream(model=AGENT, input="tell") as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_text == TALE


def raises(kind, code, call):
    try:
        call()
    except kind as error:
        assert error.code == code, (error.code, error)
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def errors():
    stranger = OpenAI(base_url=URL, api_key="no-key", max_retries=0)
    raises(openai.AuthenticationError, "invalid_api_key", lambda: stranger.models.list())
    create = client.chat.completions.create
    raises(openai.NotFoundError, "model_not_found", lambda: create(model="gpt-5", messages=user("x")))
    raises(openai.BadRequestError, "invalid_value", lambda: create(model=AGENT, messages=[]))
    try:
        create(model=BROKEN, messages=user("x"))
        raise AssertionError("a failed run is no answer")
    except openai.InternalServerError as error:
        assert error.response.headers["x-should-retry"] == "false"
        assert "Agent:Nowhere" in error.message, error
    try:
        list(create(model=BROKEN, messages=user("x"), stream=True))
        raise AssertionError("a failed run is no answer")
    except openai.APIError as error:
        assert "Agent:Nowhere" in error.message, error


async def parallel():
    many = AsyncOpenAI(base_url=URL, api_key=KEY)

    async def tell():
        stream = await many.chat.completions.create(model=AGENT, messages=user("tell"), stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert await asyncio.gather(*(tell() for _ in range(16))) == [TALE] * 16


def main():
    checks = [
        models, chat, chat_stream, chat_stream_helper, sessions, questions, responses, responses_stream, errors,
        lambda: asyncio.run(parallel()),
    ]
    for check in checks:
        check()
    print(f"openai for Python {openai.__version__}: {len(checks)} checks hold")


main()
