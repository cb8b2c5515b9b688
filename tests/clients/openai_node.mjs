// Easel as the official OpenAI client for Node sees it.
//
// Needs `openai` from npm below EASEL_MODULES, and a server: EASEL_URL, EASEL_KEY, and the ids of released agents in
// EASEL_AGENT (a model that streams), EASEL_ASKS (a form with the field `name`), EASEL_REMEMBERS (gives its history) and
// EASEL_BROKEN (fails). `tests/clients/openai.sh` runs it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.EASEL_MODULES}/`);
const { OpenAI } = require("openai");

const { EASEL_URL, EASEL_KEY, EASEL_AGENT, EASEL_ASKS, EASEL_REMEMBERS, EASEL_BROKEN } = process.env;
const TALE = "Once upon a time.";
const baseURL = `${EASEL_URL}/v1`;
const client = new OpenAI({ baseURL, apiKey: EASEL_KEY });
const user = (content) => [{ role: "user", content }];
const collect = async (stream) => {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
};

const checks = {
  async models() {
    const ids = (await collect(client.models.list())).map((model) => model.id);
    for (const id of [EASEL_AGENT, EASEL_ASKS, EASEL_REMEMBERS]) assert(ids.includes(id), ids.join());
    assert.equal((await client.models.retrieve(EASEL_AGENT)).owned_by, "ann");
  },

  async chat() {
    const answer = await client.chat.completions.create({ model: EASEL_AGENT, messages: user("tell") });
    assert.equal(answer.choices[0].message.content, TALE);
    assert.equal(answer.choices[0].finish_reason, "stop");
    assert(answer.usage.total_tokens > 0);
  },

  async chatStream() {
    const chunks = await collect(
      await client.chat.completions.create({
        model: EASEL_AGENT,
        messages: user("tell"),
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    assert.equal(chunks[0].choices[0].delta.role, "assistant");
    assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join(""), TALE);
    assert.equal(chunks.at(-2).choices[0].finish_reason, "stop");
    assert(chunks.at(-1).usage.total_tokens > 0);
  },

  async chatStreamHelper() {
    const stream = client.chat.completions.stream({ model: EASEL_AGENT, messages: user("tell") });
    assert.equal(await stream.finalContent(), TALE);
  },

  async sessions() {
    const { data, response } = await client.chat.completions
      .create({ model: EASEL_REMEMBERS, messages: user("one") })
      .withResponse();
    assert(data.choices[0].message.content.startsWith("1: "));
    const session_id = response.headers.get("x-easel-session");
    const second = await client.chat.completions.create({
      model: EASEL_REMEMBERS,
      messages: user("two"),
      metadata: { session_id },
    });
    assert.match(second.choices[0].message.content, /^2: .*user: one/s);
  },

  async questions() {
    const asked = await client.chat.completions.create({ model: EASEL_ASKS, messages: user("hi") });
    assert.equal(asked.choices[0].message.content, "Who are you?");
    const answered = await client.chat.completions.create({
      model: EASEL_ASKS,
      messages: user("Ann"),
      metadata: { session_id: asked.easel.session_id },
    });
    assert.equal(answered.choices[0].message.content, "Hello Ann.");
  },

  async responses() {
    const first = await client.responses.create({ model: EASEL_REMEMBERS, input: "one" });
    assert(first.output_text.startsWith("1: "));
    const second = await client.responses.create({
      model: EASEL_REMEMBERS,
      input: "two",
      previous_response_id: first.id,
    });
    assert.match(second.output_text, /^2: .*user: one/s);
    assert.equal((await client.responses.retrieve(first.id)).output_text, first.output_text);
  },

  async responsesStream() {
    const events = await collect(await client.responses.create({ model: EASEL_AGENT, input: "tell", stream: true }));
    const deltas = events.filter((event) => event.type === "response.output_text.delta");
    assert.equal(deltas.map((event) => event.delta).join(""), TALE);
    assert.equal(events.at(-1).type, "response.completed");
    const stream = client.responses.stream({ model: EASEL_AGENT, input: "tell" });
    assert.equal((await stream.finalResponse()).output_text, TALE);
  },

  async errors() {
    const stranger = new OpenAI({ baseURL, apiKey: "no-key", maxRetries: 0 });
    await assert.rejects(collect(stranger.models.list()), OpenAI.AuthenticationError);
    const ask = (model, extra = {}) => client.chat.completions.create({ model, messages: user("x"), ...extra });
    await assert.rejects(ask("gpt-5"), (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found");
    await assert.rejects(ask(EASEL_AGENT, { messages: [] }), OpenAI.BadRequestError);
    await assert.rejects(ask(EASEL_BROKEN), (error) => error.status === 500 && /Agent:Nowhere/.test(error.message));
    await assert.rejects(async () => collect(await ask(EASEL_BROKEN, { stream: true })), /Agent:Nowhere/);
  },
};

for (const check of Object.values(checks)) await check();
const { version } = JSON.parse(readFileSync(`${process.env.EASEL_MODULES}/node_modules/openai/package.json`));
console.log(`openai for Node ${version}: ${Object.keys(checks).length} checks hold`);
