// One run through several doors: started through one, watched through another, approved through a
// third; and each stream, cut after each of its events, is continued without a gap.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";
import { HARD_DAY, Server } from "./server.mjs";

const AGENT = "daily_auditor";
let server;
let client;

before(async () => {
  server = await Server.start();
  client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
});
after(() => server?.remove());

const input = { date: HARD_DAY, language: "en" };
const json = { "Content-Type": "application/json" };

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

// The events of a stream of server-sent events, as texts with their ids.
async function sentEvents(response) {
  assert.equal(response.status, 200, await (response.status === 200 ? "" : response.text()));
  const parts = (await response.text()).split(/\n\n/);
  return parts
    .map((text) => ({ id: text.match(/^id: ?(.*)$/m)?.[1], text }))
    .filter((each) => each.id !== undefined);
}

const a2a = (method, params, headers = {}) =>
  fetch(`${server.url}/a2a/${AGENT}`, {
    method: "POST",
    headers: { ...json, "A2A-Version": "1.0", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
async function a2aResult(method, params) {
  const answer = await (await a2a(method, params)).json();
  assert.equal(answer.error, undefined, JSON.stringify(answer.error));
  return answer.result;
}
const agUi = (body) =>
  fetch(`${server.url}/ag-ui/${AGENT}`, {
    method: "POST",
    headers: { ...json, Accept: "text/event-stream" },
    body: JSON.stringify({ messages: [], ...body }),
  });
const statusOf = async (thread) =>
  (await (await fetch(`${server.url}/api/threads/${thread}`)).json()).status;

test("a task of A2A is shown and approved through the Agent Server", async () => {
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ data: input }] };
  const { task } = await a2aResult("SendMessage", { message });
  assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
  const state = await client.threads.getState(task.contextId);
  assert.equal(state.tasks[0].interrupts.length, 1);
  await server.restart();
  const values = await client.runs.wait(task.contextId, AGENT, { command: { resume: true } });
  assert.equal(values.approved, true, JSON.stringify(values));
  const ended = await a2aResult("GetTask", { id: task.id });
  assert.equal(ended.status.state, "TASK_STATE_COMPLETED");
});

test("a run of the Agent Server is watched through A2A and approved through AG-UI", async () => {
  const { thread_id: thread } = await client.threads.create();
  const events = await collect(client.runs.stream(thread, AGENT, { input }));
  const run = events[0].data.run_id;
  const task = await a2aResult("GetTask", { id: run });
  assert.equal(task.status.state, "TASK_STATE_INPUT_REQUIRED");
  assert.equal(task.contextId, thread);
  const watched = a2a("SubscribeToTask", { id: run }).then(sentEvents);
  const state = await client.threads.getState(thread);
  const [interrupt] = state.tasks[0].interrupts;
  const resume = [
    { interruptId: interrupt.id, status: "resolved", payload: { approved: true } },
  ];
  const answered = await sentEvents(await agUi({ threadId: thread, runId: "from-ag-ui", resume }));
  assert.match(answered.at(-1).text, /RUN_FINISHED/);
  const seen = await watched;
  assert.match(seen.at(-1).text, /TASK_STATE_COMPLETED/);
  assert.equal(await statusOf(thread), "completed");
  assert.equal((await client.threads.get(thread)).status, "idle");
});

test("a message has the id of its client at each door, whichever it came through", async () => {
  const { thread_id: thread } = await client.threads.create();
  const human = { type: "human", content: HARD_DAY, id: "of-sdk" };
  await client.runs.wait(thread, AGENT, { input: { messages: [human] } });
  const parts = [{ text: HARD_DAY }];
  const { task } = await a2aResult("SendMessage", {
    message: { messageId: "of-a2a", role: "ROLE_USER", parts },
  });
  const messages = [{ id: "of-ag-ui", role: "user", content: HARD_DAY }];
  await sentEvents(await agUi({ threadId: "chat", runId: "asked", messages }));
  for (const [place, id] of [
    [thread, "of-sdk"],
    [task.contextId, "of-a2a"],
    ["chat", "of-ag-ui"],
  ]) {
    const { values, metadata } = await client.threads.getState(place);
    const ids = (from) => from.filter((each) => each.type === "human").map((each) => each.id);
    assert.deepEqual(ids(values.messages), [id]);
    const { history } = await a2aResult("GetTask", { id: metadata.run_id });
    assert.equal(history.find((each) => each.role === "ROLE_USER").messageId, id);
    const states = await client.threads.getHistory(place);
    for (const each of states) {
      assert.ok(ids(each.values.messages ?? []).every((one) => one === id));
    }
  }
  const [interrupt] = (await client.threads.getState("chat")).tasks[0].interrupts;
  const resume = [{ interruptId: interrupt.id, status: "resolved", payload: { approved: true } }];
  const ended = await sentEvents(await agUi({ threadId: "chat", runId: "decided", resume }));
  const snapshot = ended.find((each) => each.text.includes("MESSAGES_SNAPSHOT"));
  assert.match(snapshot.text, /"id":"of-ag-ui"/);
});

test("a run of AG-UI is approved at a terminal, and all of its streams agree", async () => {
  const thread = "of-ag-ui";
  const start = { threadId: thread, runId: "first", forwardedProps: { input } };
  const asked = await sentEvents(await agUi(start));
  assert.match(asked.at(-1).text, /interrupt/);
  assert.equal((await client.threads.get(thread)).status, "interrupted");
  await server.restart();
  server.command("approvals", "approve", thread, "--by", "ana");
  assert.equal(await statusOf(thread), "completed");

  // AG-UI.
  const place = `${server.url}/ag-ui/${AGENT}/threads/${thread}/runs/first`;
  const rejoin = async (last) =>
    sentEvents(await fetch(place, last === undefined ? {} : { headers: { "Last-Event-ID": last } }));
  const whole = await rejoin();
  assert.deepEqual(whole.slice(0, asked.length), asked);
  for (let i = 0; i < whole.length; i++) {
    assert.deepEqual(await rejoin(whole[i].id), whole.slice(i + 1));
  }
  // The server's own events.
  const own = async (last) =>
    sentEvents(
      await fetch(`${server.url}/api/threads/${thread}/events`, {
        headers: {
          Accept: "text/event-stream",
          ...(last === undefined ? {} : { "Last-Event-ID": last }),
        },
      }),
    );
  const all = await own();
  assert.ok(all.length > 4);
  for (let i = 0; i < all.length; i++) {
    const rest = await own(all[i].id);
    assert.deepEqual(rest.map((each) => each.id), all.slice(i + 1).map((each) => each.id));
  }
  // The Agent Server.
  const [run] = await client.runs.list(thread);
  const joined = await collect(
    client.runs.joinStream(thread, run.run_id, { lastEventId: "-1", streamMode: ["updates"] }),
  );
  for (let last = 0; last < joined.length; last++) {
    const rest = await collect(
      client.runs.joinStream(thread, run.run_id, {
        lastEventId: String(last),
        streamMode: ["updates"],
      }),
    );
    assert.deepEqual(rest, joined.slice(last + 1));
  }
});
