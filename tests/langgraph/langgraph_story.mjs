// A supervisor with a scripted model, an interrupt and a time travel, over a server that is killed
// by SIGKILL during its writes. The reference is the same graph over a MemorySaver.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { AIMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  Annotation, Command, END, MemorySaver, MessagesAnnotation, START, StateGraph, interrupt,
} from "@langchain/langgraph";
import { createSupervisor } from "@langchain/langgraph-supervisor";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { buildClient, serve } from "./built_client.mjs";
import { makeStore } from "./stores.mjs";

const KILLS = 25;
let client;
let belay;
let store;
let server;

before(async () => {
  client = buildClient();
  belay = await import(join(client, "dist", "index.js"));
  store = await makeStore();
  server = await serve(store.home, store.url);
});

after(async () => {
  server?.child.kill("SIGKILL");
  rmSync(client, { recursive: true, force: true });
  await store?.remove();
});

const newSaver = () => new belay.BelaySaver({ url: server.url });

// Stops the server by SIGKILL, and starts it again on its port.
async function restart() {
  const gone = new Promise((resolve) => server.child.once("exit", resolve));
  server.child.kill("SIGKILL");
  await gone;
  server = await serve(store.home, store.url, new URL(server.url).host);
}

// A chat model that delegates to the agent "clerk" once, and then replies.
class ScriptedModel extends FakeListChatModel {
  constructor() {
    super({ responses: ["done"] });
  }
  bindTools() {
    return this;
  }
  async _generate(messages) {
    const isDone = messages.some((message) => message.name === "clerk");
    const call = { name: "transfer_to_clerk", args: {}, id: "call-1", type: "tool_call" };
    const message = isDone
      ? new AIMessage({ id: "reply", content: "done" })
      : new AIMessage({ id: "delegation", content: "", tool_calls: [call] });
    return { generations: [{ text: "", message }] };
  }
}

function supervised(checkpointer) {
  const clerk = new StateGraph(MessagesAnnotation)
    .addNode("ask", () => {
      const answer = interrupt("Which one?");
      return { messages: [new AIMessage({ id: "answer", name: "clerk", content: answer })] };
    })
    .addEdge(START, "ask")
    .addEdge("ask", END)
    .compile({ name: "clerk" });
  return createSupervisor({ agents: [clerk], llm: new ScriptedModel(), outputMode: "last_message" })
    .compile({ checkpointer });
}

const textsOf = (state) =>
  state.messages.map((message) => `${message.getType()}:${message.name ?? ""}:${message.content}`);

// Executes the story; `between` is called at its pause. Returns what a user observes.
async function story(newCheckpointer, between) {
  const config = { configurable: { thread_id: "story" }, durability: "sync" };
  const seen = [];
  const input = { messages: [{ role: "user", content: "Order it." }] };
  const paused = await supervised(newCheckpointer()).invoke(input, config);
  seen.push(paused.__interrupt__.map((each) => each.value));
  const early = await supervised(newCheckpointer()).getState(config);
  seen.push(early.next);
  await between();
  const done = await supervised(newCheckpointer()).invoke(new Command({ resume: "this" }), config);
  seen.push(textsOf(done));
  await between();
  const again = await supervised(newCheckpointer()).invoke(null, { ...early.config, durability: "sync" });
  seen.push(again.__interrupt__?.map((each) => each.value));
  const other = await supervised(newCheckpointer()).invoke(new Command({ resume: "that" }), config);
  seen.push(textsOf(other));
  const history = [];
  for await (const state of supervised(newCheckpointer()).getStateHistory(config)) {
    history.push([state.metadata.source, state.metadata.step, textsOf({ messages: [], ...state.values })]);
  }
  return [...seen, history];
}

test("a supervisor with an interrupt and a time travel has the results of a MemorySaver", async () => {
  const memory = new MemorySaver();
  const expected = await story(() => memory, async () => {});
  assert.deepEqual(await story(newSaver, restart), expected);
});

const Steps = Annotation.Root({
  count: Annotation(),
  list: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
const steps = (checkpointer) =>
  new StateGraph(Steps)
    .addNode("step", (state) => ({ count: state.count + 1, list: ["item " + state.count] }))
    .addEdge(START, "step")
    .addConditionalEdges("step", (state) => (state.count >= 10 ? END : "step"))
    .compile({ checkpointer });

async function historyOf(graph, config) {
  const found = [];
  for await (const state of graph.getStateHistory(config)) {
    found.push([state.metadata.step, state.next, state.values]);
  }
  return found;
}

test("a graph whose server is killed at random instants has the history of a MemorySaver", async () => {
  const memory = steps(new MemorySaver());
  const config = (thread_id) => ({ configurable: { thread_id }, durability: "sync" });
  await memory.invoke({ count: 0 }, config("expected"));
  const expected = await historyOf(memory, config("expected"));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const thread = config("killed-" + kill);
    const wait = Math.random() * 100;
    const restarted = new Promise((resolve) => setTimeout(resolve, wait)).then(restart);
    await Promise.all([steps(newSaver()).invoke({ count: 0 }, thread), restarted]);
    assert.deepEqual(await historyOf(steps(newSaver()), thread), expected, `after ${wait} ms`);
  }
});

test("a put that is not repeated is stored with all of its values or not at all", async () => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const impatient = new belay.BelaySaver({ url: server.url, retryTime: 0 });
    const config = { configurable: { thread_id: "half-" + kill, checkpoint_ns: "" } };
    const acknowledged = [];
    const puts = (async () => {
      let parent = config;
      for (let step = 1; step <= 200; step += 1) {
        const values = { a: "a".repeat(500) + step, b: "b".repeat(5_000) + step };
        const versions = { a: step, b: step };
        const checkpoint = {
          ...emptyCheckpoint(), id: uuid6(step), channel_values: values, channel_versions: versions,
        };
        parent = await impatient.put(parent, checkpoint, { source: "loop", step, parents: {} }, versions);
        acknowledged.push(checkpoint.id);
      }
    })();
    const result = puts.catch((failure) => failure);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 100));
    await restart();
    await result;
    const found = [];
    for await (const tuple of newSaver().list(config)) {
      const { step } = tuple.metadata;
      assert.deepEqual(tuple.checkpoint.channel_values, {
        a: "a".repeat(500) + step, b: "b".repeat(5_000) + step,
      });
      found.push(tuple.checkpoint.id);
    }
    found.reverse();
    assert.deepEqual(found.slice(0, acknowledged.length), acknowledged);
    assert.ok(found.length <= acknowledged.length + 1, "at most the put in progress");
  }
});
