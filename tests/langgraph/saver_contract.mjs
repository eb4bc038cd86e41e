// What the validation suite leaves out: large and odd values, order, branches, restarts, and a
// graph of LangGraph.js over a server that is killed.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  Annotation, Command, END, MemorySaver, START, StateGraph, interrupt,
} from "@langchain/langgraph";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { buildClient, serve } from "./built_client.mjs";
import { makeStore } from "./stores.mjs";

const metadata = { source: "loop", step: 0, parents: {} };
let client;
let store;
let belay;
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

const newSaver = (options = {}) => new belay.BelaySaver({ url: server.url, ...options });
const threadConfig = (thread_id, checkpoint_id) => ({
  configurable: { thread_id, checkpoint_ns: "", ...(checkpoint_id ? { checkpoint_id } : {}) },
});

function checkpointOf(values, version, id = uuid6(0)) {
  const versions = Object.fromEntries(Object.keys(values).map((channel) => [channel, version]));
  return { ...emptyCheckpoint(), id, channel_values: values, channel_versions: versions };
}

async function putValues(saver, config, values, version, more = {}) {
  const checkpoint = checkpointOf(values, version);
  return saver.put(config, checkpoint, { ...metadata, ...more }, checkpoint.channel_versions);
}

async function idsOf(generator) {
  const ids = [];
  for await (const tuple of generator) ids.push(tuple.config.configurable.checkpoint_id);
  return ids;
}

// Stops the server by SIGKILL, and starts it again on its port.
async function restart() {
  const gone = new Promise((resolve) => server.child.once("exit", resolve));
  server.child.kill("SIGKILL");
  await gone;
  server = await serve(store.home, store.url, new URL(server.url).host);
}

test("bytes, NULs, odd names and values of many megabytes are read as they were written", async () => {
  const saver = newSaver();
  const big = randomBytes(5_000_000);
  const values = {
    bytes: new Uint8Array([0, 255, 0]),
    text: "a\u0000b \ud83d\ude00 \"$'",
    big: new Uint8Array(big),
    ["__proto__"]: 1,
    "chan nel/\"$'|": [1, { deep: null }],
  };
  Object.defineProperty(values, "__proto__", { value: "own", enumerable: true });
  const thread = "odd \"'$;--/|?#%\u20ac";
  const config = await putValues(saver, threadConfig(thread), values, 1, { note: "x\u0000y" });
  const tuple = await newSaver().getTuple(config);
  const found = tuple.checkpoint.channel_values;
  assert.deepEqual(Object.keys(found).sort(), Object.keys(values).sort());
  assert.equal(Buffer.compare(Buffer.from(found.big), big), 0);
  assert.deepEqual([...found.bytes], [0, 255, 0]);
  assert.equal(found.text, values.text);
  assert.deepEqual(found["chan nel/\"$'|"], [1, { deep: null }]);
  assert.equal(tuple.metadata.note, "x\u0000y");
  assert.equal({}.own, undefined);
  await saver.putWrites(config, [["w", new Uint8Array(big)], ["v", "small"]], "task");
  const writes = (await saver.getTuple(config)).pendingWrites;
  assert.equal(Buffer.compare(Buffer.from(writes[0][2]), big), 0);
  assert.equal(writes[1][2], "small");
  await assert.rejects(putValues(saver, threadConfig("a\u0000b"), {}, 1), /U\+0000/);
  await assert.rejects(putValues(saver, threadConfig(""), {}, 1), /thread_id/);
});

test("a growing list is stored as changes and read as a whole by another process", async () => {
  const saver = newSaver();
  let config = threadConfig("growing");
  const list = [];
  for (let step = 0; step < 80; step += 1) {
    list.push({ step, text: "message number " + step + " ".repeat(100) });
    config = await putValues(saver, config, { list: [...list] }, step + 1);
  }
  const tuple = await newSaver().getTuple(threadConfig("growing"));
  assert.deepEqual(tuple.checkpoint.channel_values.list, list);
  let length = 80;
  for await (const each of newSaver().list(threadConfig("growing"))) {
    assert.equal(each.checkpoint.channel_values.list.length, length);
    length -= 1;
  }
  assert.equal(length, 0);
});

test("two branches with the same versions keep their values", async () => {
  const saver = newSaver();
  const root = await putValues(saver, threadConfig("branches"), { a: "x".repeat(600) }, 1);
  const one = await putValues(saver, root, { a: "x".repeat(600) + "1" }, 2);
  const two = await putValues(saver, root, { a: "x".repeat(600) + "2" }, 2);
  const valueOf = async (config) => (await newSaver().getTuple(config)).checkpoint.channel_values.a;
  assert.match(await valueOf(one), /x1$/);
  assert.match(await valueOf(two), /x2$/);
});

test("filters compare members and never inject", async () => {
  const saver = newSaver();
  const thread = threadConfig("filters");
  const first = await putValues(saver, thread, {}, 1, { user: { id: 7, name: "x" }, "a'b$": 1 });
  const second = await putValues(saver, thread, {}, 1, { user: { id: 8 }, flag: null });
  const ids = (filter, more = {}) => idsOf(saver.list(thread, { filter, ...more }));
  const [one, two] = [first, second].map((each) => each.configurable.checkpoint_id);
  assert.deepEqual(await ids({ user: { id: 7 } }), [one]);
  assert.deepEqual(await ids({ "a'b$": 1 }), [one]);
  assert.deepEqual(await ids({ flag: null }), [two]);
  assert.deepEqual(await ids({ step: 0, source: undefined }), [two, one]);
  assert.deepEqual(await ids({ "' OR 1=1 --": 1 }), []);
  assert.deepEqual(await ids({ long: "x".repeat(100_000) }), []);
  assert.deepEqual(await ids({}, { limit: 0 }), []);
  assert.deepEqual(await ids({}, { limit: 1 }), [two]);
  assert.deepEqual(await ids({}, { before: second }), [one]);
});

test("copies, pruning and the deletion of runs", async () => {
  const saver = newSaver();
  let config = threadConfig("kept");
  for (const run_id of ["r1", "r2", "r3"]) {
    config = await putValues(saver, config, { a: run_id }, Number(run_id[1]), { run_id });
    await saver.putWrites(config, [["a", run_id]], "task");
  }
  await saver.copyThread("kept", "copied");
  assert.equal((await idsOf(saver.list(threadConfig("copied")))).length, 3);
  assert.equal((await saver.deleteForRuns(["r2"])).checkpoints, 2);
  assert.equal((await saver.prune(["copied"])).checkpoints, 1);
  const left = await saver.getTuple(threadConfig("copied"));
  assert.equal(left.checkpoint.channel_values.a, "r3");
  assert.deepEqual(left.pendingWrites, [["task", "a", "r3"]]);
  await saver.deleteThread("copied");
  assert.equal(await saver.getTuple(threadConfig("copied")), undefined);
  assert.equal((await idsOf(saver.list(threadConfig("kept")))).length, 2);
});

test("a change of a value that another process removed is sent as a whole", async () => {
  const saver = newSaver();
  const config = await putValues(saver, threadConfig("gone"), { a: "y".repeat(900) }, 1);
  await newSaver().deleteThread("gone");
  const next = await putValues(saver, config, { a: "y".repeat(901) }, 2);
  assert.equal((await saver.getTuple(next)).checkpoint.channel_values.a.length, 901);
});

// A saver, and the thread is deleted by another process after its requests of `route` that match.
function interruptedSaver(thread, route, matches = () => true) {
  const saver = newSaver();
  const send = saver.server.send.bind(saver.server);
  let isDeleted = false;
  saver.server.send = async (path, body) => {
    const answer = await send(path, body);
    if (!isDeleted && path === route && matches(body)) {
      isDeleted = true;
      await newSaver().deleteThread(thread);
    }
    return answer;
  };
  return { saver, isDeleted: () => isDeleted };
}

test("a thread is deleted after the parts of a large value were saved", async () => {
  const State = Annotation.Root({ doc: Annotation(), more: Annotation() });
  const long = "x".repeat(1_000_000);
  for (const [nth, durability] of [[1, "sync"], [1, "async"], [2, "sync"], [2, "async"]]) {
    const thread = `parts-${nth}-${durability}`;
    let lastParts = 0;
    const isNth = ({ part }) => part === 1 && (lastParts += 1) === nth;
    const { saver, isDeleted } = interruptedSaver(thread, "parts", isNth);
    const graph = new StateGraph(State)
      .addNode("a", () => ({ doc: long }))
      .addNode("b", () => ({ more: 2 }))
      .addEdge(START, "a")
      .addEdge("a", "b")
      .addEdge("b", END)
      .compile({ checkpointer: saver });
    const done = await graph.invoke({}, { ...threadConfig(thread), durability });
    assert.deepEqual([done.doc.length, done.more, isDeleted()], [long.length, 2, true], thread);
    const { values } = await graph.getState(threadConfig(thread));
    assert.deepEqual([values.doc?.length, values.more], [long.length, 2], thread);
  }
});

test("a thread is deleted after the parts of writes were saved that are sent alone", async () => {
  const { saver, isDeleted } = interruptedSaver("alone", "parts", ({ part }) => part === 1);
  const config = await putValues(saver, threadConfig("alone"), {}, 1);
  await saver.putWrites(config, [["w", "y".repeat(1_000_000)]], "task");
  assert.ok(isDeleted());
  const again = checkpointOf({}, 1, config.configurable.checkpoint_id);
  await saver.put(threadConfig("alone"), again, metadata, {});
  const [write] = (await newSaver().getTuple(config)).pendingWrites;
  assert.deepEqual([write[1], write[2].length], ["w", 1_000_000]);
});

test("copied checkpoints have the values of the originals", async () => {
  const State = Annotation.Root({ name: Annotation(), doc: Annotation() });
  const found = [];
  for (const checkpointer of [new MemorySaver(), newSaver()]) {
    const graph = new StateGraph(State)
      .addNode("a", () => ({ name: "Ana" }))
      .addNode("b", ({ name }) => ({ doc: "Dear " + name + "!".repeat(600) }))
      .addEdge(START, "a")
      .addEdge("a", "b")
      .addEdge("b", END)
      .compile({ checkpointer });
    await graph.invoke({}, threadConfig("copies"));
    const states = [];
    for await (const state of graph.getStateHistory(threadConfig("copies"))) states.push(state);
    const copies = [];
    for (const state of states) {
      const copied = await graph.updateState(state.config, null, "__copy__");
      const { values, next } = await graph.getState(copied);
      assert.deepEqual(values, state.values);
      copies.push({ values, next, done: await graph.invoke(null, copied) });
    }
    found.push(copies);
  }
  assert.equal(found[0].length, 4);
  assert.deepEqual(found[1], found[0]);
});

test("a first checkpoint without new versions has no values, unless it is a copy", async () => {
  for (const [source, expected] of [["input", {}], ["fork", { a: 1 }]]) {
    const checkpoint = checkpointOf({ a: 1 }, 1);
    const config = threadConfig("first-" + source);
    const saved = await newSaver().put(config, checkpoint, { ...metadata, source }, {});
    const tuple = await newSaver().getTuple(saved);
    assert.deepEqual(tuple.checkpoint.channel_values, expected);
    assert.deepEqual(tuple.checkpoint.channel_versions, { a: 1 });
  }
});

test("long metadata hide neither the run nor the delta channels from the server", async () => {
  const saver = newSaver();
  const note = "x".repeat(65_500);
  const first = await putValues(saver, threadConfig("long"), { m: "snapshot" }, 1);
  const next = { ...checkpointOf({}, 1), channel_versions: { m: 2 } };
  const counters_since_delta_snapshot = { m: [1, 1] };
  const long = { ...metadata, note, counters_since_delta_snapshot, run_id: "long-run" };
  const second = await saver.put(first, next, long, { m: 2 });
  await saver.prune(["long"], "keep_latest");
  const ids = [second, first].map((each) => each.configurable.checkpoint_id);
  assert.deepEqual(await idsOf(saver.list(threadConfig("long"))), ids);
  assert.equal((await saver.deleteForRuns(["long-run"])).checkpoints, 1);
  assert.deepEqual(await idsOf(saver.list(threadConfig("long"))), ids.slice(1));
});

test("another process prunes a thread while checkpoints are put", async () => {
  const saver = newSaver();
  const other = newSaver();
  let config = threadConfig("busy");
  let isPut = true;
  async function prune() {
    while (isPut) {
      await other.prune(["busy"]);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  const pruned = prune();
  for (let step = 1; step <= 30; step += 1) {
    const checkpoint = checkpointOf({ step, fixed: "z".repeat(600) }, step);
    checkpoint.channel_versions.fixed = 1;
    const changed = step === 1 ? checkpoint.channel_versions : { step };
    config = await saver.put(config, checkpoint, metadata, changed);
    const { step: found, fixed } = (await other.getTuple(config)).checkpoint.channel_values;
    assert.deepEqual([found, fixed.length], [step, 600]);
  }
  isPut = false;
  await pruned;
  await other.prune(["busy"]);
  assert.deepEqual(await idsOf(saver.list(threadConfig("busy"))), [config.configurable.checkpoint_id]);
  assert.equal((await newSaver().getTuple(config)).checkpoint.channel_values.fixed.length, 600);
});

test("calls in progress survive a kill -9 of the server", async () => {
  const saver = newSaver();
  let config = threadConfig("killed");
  const restarted = new Promise((resolve) => setTimeout(() => resolve(restart()), 20));
  const puts = [];
  for (let step = 0; step < 40; step += 1) {
    config = await putValues(saver, config, { step }, step + 1);
    puts.push(config.configurable.checkpoint_id);
    await saver.putWrites(config, [["step", step]], "task-" + step);
  }
  await restarted;
  assert.deepEqual(await idsOf(newSaver().list(threadConfig("killed"))), puts.reverse());
});

test("a graph with an interrupt continues after a restart, and travels back in time", async () => {
  const State = Annotation.Root({
    log: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
  });
  const compiled = () =>
    new StateGraph(State)
      .addNode("ask", () => ({ log: ["answer: " + interrupt("Which one?")] }))
      .addNode("end", () => ({ log: ["end"] }))
      .addEdge(START, "ask")
      .addEdge("ask", "end")
      .addEdge("end", END)
      .compile({ checkpointer: newSaver() });
  const config = { configurable: { thread_id: "graph" }, durability: "sync" };
  const paused = await compiled().invoke({ log: ["start"] }, config);
  assert.equal(paused.__interrupt__[0].value, "Which one?");
  const early = await compiled().getState(config);
  await restart();
  const done = await compiled().invoke(new Command({ resume: "this" }), config);
  assert.deepEqual(done.log, ["start", "answer: this", "end"]);
  const forked = await compiled().updateState(early.config, { log: ["changed"] });
  assert.deepEqual((await compiled().getState(forked)).values.log, ["start", "changed"]);
  const again = await compiled().invoke(null, { ...early.config, durability: "sync" });
  assert.equal(again.__interrupt__[0].value, "Which one?");
  const history = [];
  for await (const state of compiled().getStateHistory(config)) history.push(state.values.log);
  assert.ok(history.some((log) => log?.join() === "start,answer: this,end"), JSON.stringify(history));
});

test("the process has one checkpointer", async () => {
  assert.throws(() => belay.getCheckpointer(), /initializeCheckpointer/);
  const made = await belay.initializeCheckpointer({ url: server.url });
  assert.equal(belay.getCheckpointer(), made);
  assert.equal(await belay.initializeCheckpointer(), made);
  assert.equal(JSON.stringify(made), '"[BelaySaver]"');
});
