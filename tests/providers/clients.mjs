// Tests the scripted server with the official clients, which must accept its responses.
// tests/support/run_npm_test starts this and passes the path of the server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { Ollama } from "ollama";
import OpenAI from "openai";

const text = "Hello, wörld!";
const messages = [{ role: "user", content: "Hello" }];
const schema = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
  additionalProperties: false,
};
const weather = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

let server, url, openai, anthropic, ollama;

before(async () => {
  server = spawn(process.env.PROGRAM, { stdio: ["pipe", "pipe", "inherit"] });
  url = await new Promise((told) => server.stdout.once("data", (line) => told(`${line}`.trim())));
  openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "k" });
  anthropic = new Anthropic({ baseURL: url, apiKey: "k" });
  ollama = new Ollama({ host: url });
});

after(() => server.stdin.end());

const seen = async () => (await fetch(`${url}/seen`)).json();

// Waits until the server has detected that a client closed one more response before its end.
async function expectOneMoreClosed(before) {
  while ((await seen()).closed === before.closed) await new Promise((go) => setTimeout(go, 10));
}

for (const model of ["plain", "split"]) {
  test(`openai: text and its stream, ${model}`, async () => {
    const whole = await openai.chat.completions.create({ model, messages });
    assert.equal(whole.choices[0].message.content, text);
    assert.equal(whole.choices[0].finish_reason, "stop");
    assert.equal(whole.usage.total_tokens, 17);
    const stream = openai.chat.completions.stream({
      model,
      messages,
      stream_options: { include_usage: true },
    });
    let told = "";
    stream.on("content", (piece) => (told += piece));
    const final = await stream.finalChatCompletion();
    assert.equal(told, text);
    assert.equal(final.choices[0].message.content, text);
    assert.equal(final.usage.completion_tokens, 5);
  });

  test(`openai: a streamed call and its result, ${model}`, async () => {
    const tools = [{ type: "function", function: { name: "weather", parameters: weather } }];
    const stream = openai.chat.completions.stream({ model, messages, tools });
    const { message, finish_reason } = (await stream.finalChatCompletion()).choices[0];
    assert.equal(finish_reason, "tool_calls");
    assert.equal(message.tool_calls[0].function.name, "weather");
    assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), { city: "Oslo" });
    const result = { role: "tool", tool_call_id: message.tool_calls[0].id, content: "rain" };
    const next = await openai.chat.completions.create({
      model,
      messages: [...messages, message, result],
      tools,
    });
    assert.equal(next.choices[0].message.content, text);
  });

  test(`anthropic: text and its stream, ${model}`, async () => {
    const whole = await anthropic.messages.create({ model, messages, max_tokens: 9 });
    assert.equal(whole.content[0].text, text);
    assert.equal(whole.stop_reason, "end_turn");
    const stream = anthropic.messages.stream({ model, messages, max_tokens: 9 });
    let told = "";
    stream.on("text", (piece) => (told += piece));
    const final = await stream.finalMessage();
    assert.equal(told, text);
    assert.deepEqual([final.usage.input_tokens, final.usage.output_tokens], [12, 5]);
  });

  test(`anthropic: a streamed call and its result, ${model}`, async () => {
    const tools = [{ name: "weather", input_schema: weather }];
    const asked = { model, max_tokens: 9, tools };
    const final = await anthropic.messages.stream({ ...asked, messages }).finalMessage();
    assert.equal(final.stop_reason, "tool_use");
    assert.deepEqual(final.content[0].input, { city: "Oslo" });
    const result = { type: "tool_result", tool_use_id: final.content[0].id, content: "rain" };
    const next = await anthropic.messages.create({
      ...asked,
      messages: [
        ...messages,
        { role: "assistant", content: final.content },
        { role: "user", content: [result] },
      ],
    });
    assert.equal(next.content[0].text, text);
  });

  test(`ollama: text, its stream, and a call, ${model}`, async () => {
    const whole = await ollama.chat({ model, messages, stream: false });
    assert.equal(whole.message.content, text);
    assert.equal(whole.eval_count, 5);
    let told = "";
    let last;
    for await (last of await ollama.chat({ model, messages, stream: true })) {
      told += last.message.content;
    }
    assert.equal(told, text);
    assert.deepEqual([last.done, last.done_reason, last.prompt_eval_count], [true, "stop", 12]);
    const tools = [{ type: "function", function: { name: "weather", parameters: weather } }];
    const called = await ollama.chat({ model, messages, tools });
    assert.deepEqual(called.message.tool_calls[0].function.arguments, { city: "Oslo" });
  });
}

test("structured output", async () => {
  const json_schema = { name: "answer", strict: true, schema };
  const one = await openai.chat.completions.create({
    model: "plain",
    messages,
    response_format: { type: "json_schema", json_schema },
  });
  assert.deepEqual(JSON.parse(one.choices[0].message.content), { n: 3 });
  const two = await anthropic.messages.create({
    model: "plain",
    messages,
    max_tokens: 9,
    output_config: { format: { type: "json_schema", schema } },
  });
  assert.deepEqual(JSON.parse(two.content[0].text), { n: 3 });
  const three = await ollama.chat({ model: "plain", messages, format: schema });
  assert.deepEqual(JSON.parse(three.message.content), { n: 3 });
});

test("the models that there are", async () => {
  const names = [];
  for await (const model of openai.models.list()) names.push(model.id);
  assert.ok(names.includes("plain"));
  assert.ok((await anthropic.models.list()).data.some((model) => model.id === "plain"));
  assert.ok((await ollama.list()).models.some((model) => model.name === "plain"));
});

test("what is busy is asked again, as it says", async () => {
  for (const model of ["busy-seconds", "busy-ms", "overloaded", "broken"]) {
    const { requests } = await seen();
    const began = Date.now();
    const answer = await anthropic.messages.create({ model, messages, max_tokens: 9 });
    assert.equal(answer.content[0].text, text);
    assert.equal((await seen()).requests, requests + 2, model);
    if (model === "busy-seconds") assert.ok(Date.now() - began >= 1000);
  }
  const { requests } = await seen();
  const answer = await openai.chat.completions.create({ model: "busy-date", messages });
  assert.equal(answer.choices[0].message.content, text);
  assert.equal((await seen()).requests, requests + 2);
});

test("what is refused is refused in their own words", async () => {
  const ask = {
    openai: (model) => openai.chat.completions.create({ model, messages }, { maxRetries: 0 }),
    anthropic: (model) =>
      anthropic.messages.create({ model, messages, max_tokens: 9 }, { maxRetries: 0 }),
  };
  for (const [model, status, name] of [
    ["no-key", 401, "AuthenticationError"],
    ["no-credit", 429, "RateLimitError"],
    ["gone", 404, "NotFoundError"],
    ["bad", 400, "BadRequestError"],
    ["nobody-knows-it", 404, "NotFoundError"],
  ]) {
    for (const provider of ["openai", "anthropic"]) {
      await assert.rejects(ask[provider](model), (failed) => {
        assert.equal(failed.status, status);
        assert.equal(failed.constructor.name, name);
        return true;
      });
    }
    await assert.rejects(ollama.chat({ model, messages }), { status_code: status });
  }
});

test("a stream that is cut, or ends in an error, is no answer", async () => {
  for (const model of ["cut-midway", "error-midway"]) {
    await assert.rejects(openai.chat.completions.stream({ model, messages }).finalChatCompletion());
    await assert.rejects(
      anthropic.messages.stream({ model, messages, max_tokens: 9 }).finalMessage(),
    );
    await assert.rejects(async () => {
      for await (const _ of await ollama.chat({ model, messages, stream: true }));
    });
  }
});

test("who goes away is noticed", async () => {
  let known = await seen();
  for await (const _ of await openai.chat.completions.create({
    model: "hang-midway",
    messages,
    stream: true,
  })) {
    break;
  }
  await expectOneMoreClosed(known);
  known = await seen();
  const stream = anthropic.messages.stream({ model: "hang-midway", messages, max_tokens: 9 });
  stream.once("text", () => stream.abort());
  await assert.rejects(stream.finalMessage(), Anthropic.APIUserAbortError);
  await expectOneMoreClosed(known);
  known = await seen();
  const lines = await ollama.chat({ model: "hang-midway", messages, stream: true });
  await assert.rejects(async () => {
    for await (const _ of lines) lines.abort();
  });
  await expectOneMoreClosed(known);
});
