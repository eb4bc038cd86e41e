// The clients of LangGraph's Agent Server, unchanged, with the agents of a Belay server: an
// interrupt, a server that is killed, streams that are cut, strategies for a busy thread.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as current from "@langchain/langgraph-sdk";
import * as other from "langgraph-sdk-2";
import { HARD_DAY, Server } from "./server.mjs";

const AGENT = "daily_auditor";
const INPUT = { date: HARD_DAY, language: "en" };
let server;

before(async () => {
  server = await Server.start();
});
after(() => server?.remove());

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

const lastOf = (events, name) => events.filter((each) => each.event === name).at(-1)?.data;
const statusOf = (status) => (error) => {
  assert.equal(error.status, status, error.message);
  return true;
};

for (const [name, sdk] of [["1.15.0", current], ["2.0.0", other]]) {
  const newClient = () => new sdk.Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
  // A day of each thread: the Daily Auditor has one run for each day.
  const startOn = async (client) => (await client.threads.create()).thread_id;

  test(`SDK ${name}: agents are assistants`, async () => {
    const client = newClient();
    const found = await client.assistants.search({ graphId: AGENT });
    assert.equal(found.length, 1);
    const shown = await client.assistants.get(AGENT);
    assert.equal(shown.assistant_id, found[0].assistant_id);
    const graph = await client.assistants.getGraph(AGENT);
    assert.ok(graph.nodes.some((node) => node.id === "__start__"));
    assert.ok(graph.edges.length > 2);
    const schemas = await client.assistants.getSchemas(AGENT);
    assert.equal(schemas.graph_id, AGENT);
    await assert.rejects(client.assistants.get("nothing"), statusOf(404));
  });

  test(`SDK ${name}: an interrupt outlives the server, and a reply resumes the run`, async () => {
    const client = newClient();
    const thread = await startOn(client);
    const events = await collect(
      client.runs.stream(thread, AGENT, { input: INPUT, streamMode: ["values", "updates"] }),
    );
    assert.equal(events[0].event, "metadata");
    assert.equal(events.filter((each) => each.event === "error").length, 0, JSON.stringify(events));
    const interrupts = lastOf(events, "values").__interrupt__;
    assert.equal(interrupts.length, 1);
    const shown = await client.threads.get(thread);
    assert.equal(shown.status, "interrupted");

    await server.restart();

    const state = await client.threads.getState(thread);
    assert.equal(state.tasks[0].interrupts[0].id, interrupts[0].id);
    assert.deepEqual(state.next, ["awaitingApproval"]);
    // A reply to no interrupt changes nothing.
    const strange = { resume: { ["0".repeat(32)]: { type: "accept" } } };
    await assert.rejects(client.runs.wait(thread, AGENT, { command: strange }));
    assert.equal((await client.threads.get(thread)).status, "interrupted");
    const rest = await collect(
      client.runs.stream(thread, AGENT, {
        command: { resume: { type: "accept" } },
        streamMode: "values",
      }),
    );
    assert.equal(rest.filter((each) => each.event === "error").length, 0, JSON.stringify(rest));
    assert.equal(lastOf(rest, "values").approved, true);
    assert.deepEqual(
      lastOf(rest, "values").messages.map((message) => message.type),
      ["human", "ai"],
    );
    const ended = await client.threads.getState(thread);
    assert.deepEqual(ended.next, []);
    assert.equal((await client.threads.get(thread)).status, "idle");
    const history = await client.threads.getHistory(thread);
    assert.ok(history.length >= 3);
    for (const [i, each] of history.slice(0, -1).entries()) {
      const parent = each.parent_checkpoint.checkpoint_id;
      assert.equal(parent, history[i + 1].checkpoint.checkpoint_id);
    }
  });

  test(`SDK ${name}: a stream that is cut at any event is joined without a gap`, async () => {
    const client = newClient();
    const thread = await startOn(client);
    let run;
    const whole = await collect(
      client.runs.stream(thread, AGENT, {
        input: INPUT,
        streamMode: ["values", "updates", "debug", "events"],
        streamResumable: true,
        onRunCreated: (created) => (run = created.run_id),
      }),
    );
    assert.ok(run, "Content-Location");
    assert.ok(whole.length > 4);
    for (let last = -1; last < whole.length; last++) {
      const joined = await collect(
        client.runs.joinStream(thread, run, {
          lastEventId: String(last),
          streamMode: ["values", "updates", "debug", "events"],
        }),
      );
      assert.deepEqual(joined, whole.slice(last + 1), `after ${last}`);
    }
  });

  test(`SDK ${name}: runs are waited for, listed, joined, cancelled and deleted`, async () => {
    const client = newClient();
    const thread = await startOn(client);
    const values = await client.runs.wait(thread, AGENT, { input: INPUT });
    assert.equal(values.__interrupt__.length, 1, JSON.stringify(values));
    const [run] = await client.runs.list(thread);
    assert.equal(run.thread_id, thread);
    assert.equal((await client.runs.get(thread, run.run_id)).run_id, run.run_id);
    await client.runs.join(thread, run.run_id);
    await assert.rejects(client.runs.get(thread, run.run_id.replace(/^.{8}/, "00000000")),
      statusOf(404));
    await client.runs.cancel(thread, run.run_id, true);
    assert.notEqual((await client.threads.get(thread)).status, "busy");
    await client.threads.delete(thread);
    await assert.rejects(client.threads.get(thread), statusOf(404));
  });

  test(`SDK ${name}: a run without a thread is waited for`, async () => {
    const client = newClient();
    const calm = { date: "2026-11-0" + (name === "2.0.0" ? 1 : 2), language: "en" };
    const values = await client.runs.wait(null, AGENT, { input: calm });
    assert.equal(values.__error__, undefined, JSON.stringify(values));
  });

  test(`SDK ${name}: items are stored under namespaces`, async () => {
    const client = newClient();
    const space = ["memories", name.replaceAll(".", "-")];
    await client.store.putItem(space, "first", { text: "Likes tea." });
    assert.equal((await client.store.getItem(space, "first")).value.text, "Likes tea.");
    const found = await client.store.searchItems(space, { filter: { text: "Likes tea." } });
    assert.equal(found.items.length, 1);
    const named = await client.store.listNamespaces({ prefix: ["memories"] });
    assert.ok(named.namespaces.some((each) => each[1] === space[1]));
    await client.store.deleteItem(space, "first");
    assert.equal(await client.store.getItem(space, "first"), null);
  });
}
