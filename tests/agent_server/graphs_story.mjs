// The graphs for suites, through LangGraph's SDK: configurations, headers, names of errors, long
// runs, strategies, streams; and webhooks of a server that is killed between two of its steps.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { after, before, test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { Server } from "./server.mjs";

const ASKED = { messages: [{ role: "human", content: "foo", id: "first" }] };
const received = [];
let server;
let client;
let inbox;
let hook;

before(async () => {
  inbox = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => {
      received.push({ key: request.headers["idempotency-key"], run: JSON.parse(text) });
      response.end();
    });
  });
  await new Promise((resolve) => inbox.listen(0, "127.0.0.1", resolve));
  hook = `http://127.0.0.1:${inbox.address().port}/hook`;
  server = await Server.start("--graphs", "conformance");
  client = newClient();
});
after(async () => {
  inbox?.close();
  await server?.remove();
});

const newClient = (headers = {}) =>
  new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 }, defaultHeaders: headers });
const newThread = async () => (await client.threads.create()).thread_id;

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function until(done) {
  for (let i = 0; i < 300; i++) {
    const found = await done();
    if (found) return found;
    await pause(100);
  }
  assert.fail("It did not happen within 30 s.");
}

const requestsFor = (run) => received.filter((each) => each.key === run);

test("a node reads the header of a request", async () => {
  const own = newClient({ "x-configurable-header": "of the client" });
  const values = await own.runs.wait(await newThread(), "agent_simple", { input: ASKED });
  assert.equal(values.messages.at(-1).content, "end: of the client");
});

test("a node reads the context of its assistant and that of its run", async () => {
  const context = { model: "anthropic" };
  const made = await client.assistants.create({ graphId: "simple_runtime", context });
  const model = async (assistant, options = {}) =>
    (await client.runs.wait(null, assistant, { input: { message: "x" }, ...options })).model;
  assert.equal(await model("simple_runtime"), "unknown");
  assert.equal(await model(made.assistant_id), "anthropic");
  assert.equal(await model(made.assistant_id, { context: { model: "openai" } }), "openai");
});

test("a node reads config.configurable", async () => {
  const config = { configurable: { nodeName: "runtime" } };
  const values = await client.runs.wait(null, "dynamic", { input: {}, config });
  assert.equal(values.node, "runtime");
});

test("an error has its name in a stream, in a joined stream and in a result", async () => {
  const told = { error: "CustomError", message: "Boo!" };
  const thread = await newThread();
  const events = await collect(
    client.runs.stream(thread, "error", { input: { messages: [] }, streamMode: "debug" }),
  );
  assert.equal(events.at(-1).event, "error");
  assert.deepEqual(events.at(-1).data, told);
  const run = await client.runs.create(await newThread(), "error", { input: { messages: [] } });
  const joined = await collect(client.runs.joinStream(run.thread_id, run.run_id));
  assert.deepEqual(joined.at(-1).data, told);
  assert.equal((await client.runs.get(run.thread_id, run.run_id)).status, "error");
  await assert.rejects(client.runs.wait(null, "error", { input: {} }), /CustomError: Boo!/);
});

test("a long run ends while short ones do", async () => {
  const runs = await Promise.all(
    [1000, 2000, 4000].map(async (delay) => {
      const thread = await newThread();
      const input = { messages: [], delay };
      return { delay, run: await client.runs.create(thread, "delay", { input }) };
    }),
  );
  for (const { delay, run } of runs) {
    await client.runs.join(run.thread_id, run.run_id);
    const state = await client.threads.getState(run.thread_id);
    assert.equal(state.values.messages[0].content, `finished after ${delay}ms`);
  }
});

test("each strategy for a busy thread has its effect", async () => {
  const thread = await newThread();
  const input = (content, sleep) => ({ messages: [{ role: "human", content }], sleep });
  const first = await client.runs.create(thread, "agent", { input: input("foo", 2) });
  await assert.rejects(client.runs.create(thread, "agent", { input: input("x", 0) }));
  const second = await client.runs.create(thread, "agent", {
    input: input("bar", 0),
    multitaskStrategy: "enqueue",
  });
  await client.runs.join(thread, second.run_id);
  assert.equal((await client.runs.get(thread, first.run_id)).status, "success");
  const state = await client.threads.getState(thread);
  assert.deepEqual(
    state.values.messages.map((each) => each.content),
    ["foo", "begin", "tool_call__begin", "end", "bar", "begin", "tool_call__begin", "end"],
  );
});

test("RemoteGraph streams the values of each step", async () => {
  const graph = new RemoteGraph({ graphId: "agent", client });
  const chunks = await collect(await graph.stream(ASKED, { streamMode: "values" }));
  assert.deepEqual(
    chunks.at(-1).messages.map((each) => each.content),
    ["foo", "begin", "tool_call__begin", "end"],
  );
});

test("a webhook outlives the server, and is sent by the next one", async () => {
  const thread = await newThread();
  const run = await client.runs.create(thread, "delay", {
    input: { messages: [], delay: 1500 },
    webhook: hook,
  });
  await server.restart();
  server.command("resume", "--all");
  const [sent] = await until(() => requestsFor(run.run_id).length && requestsFor(run.run_id));
  assert.equal(sent.run.status, "success");
  assert.equal(sent.run.thread_id, thread);
  assert.deepEqual(
    sent.run.values.messages.map((each) => each.content),
    ["finished after 1500ms"],
  );
  for (const member of ["run_started_at", "run_ended_at", "webhook_sent_at"]) {
    assert.ok(Date.parse(sent.run[member]), member);
  }
  const shown = await until(async () => {
    const found = await client.runs.get(thread, run.run_id);
    return found.webhook?.status === "delivered" && found;
  });
  assert.equal(shown.status, "success");
});

test("a relative webhook is refused, and one in a private network is not sent", async () => {
  const refused = client.runs.create(await newThread(), "agent", {
    input: ASKED,
    webhook: "/custom/webhook",
  });
  await assert.rejects(refused, (error) => error.status === 422);
  const run = await client.runs.create(await newThread(), "agent", {
    input: ASKED,
    webhook: "http://10.1.2.3/",
  });
  const failed = await until(async () => {
    const found = await client.runs.get(run.thread_id, run.run_id);
    return found.webhook?.status === "failed" && found;
  });
  assert.equal(failed.status, "success");
});

test("/internal/truncate deletes threads and crons", async () => {
  await client.crons.create("agent", { schedule: "0 9 * * *", input: ASKED });
  const body = JSON.stringify({ runs: true, threads: true });
  const headers = { "Content-Type": "application/json" };
  const done = await fetch(`${server.url}/internal/truncate`, { method: "POST", headers, body });
  assert.equal(done.status, 200);
  assert.deepEqual(await client.crons.search(), []);
  assert.deepEqual(await client.threads.search(), []);
  assert.doesNotMatch(server.command("schedules"), /cron-/);
});
