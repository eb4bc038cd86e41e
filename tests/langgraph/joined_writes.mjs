// The writes of tasks that are sent with the checkpoint after them: number of requests, and what
// happens to the writes when the checkpoint is refused or the server does not answer.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import * as http from "node:http";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { Annotation, END, START, StateGraph, interrupt } from "@langchain/langgraph";
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { buildClient, serve } from "./built_client.mjs";
import { makeStore } from "./stores.mjs";

const metadata = { source: "loop", step: 0, parents: {} };
let client;
let store;
let server;
let recorder;
let saver;
let thread = 0;
let config;

// Forwards requests to the server, and records their routes. `cut`: cuts this number of answers.
async function record(url) {
  const seen = [];
  const made = { seen, cut: 0 };
  const proxy = http.createServer((request, response) => {
    seen.push(request.url.split("/").pop());
    const forwarded = http.request(
      url + request.url,
      { method: request.method, headers: request.headers },
      (answer) => {
        if (made.cut > 0) {
          made.cut -= 1;
          answer.resume();
          answer.on("end", () => response.destroy());
          return;
        }
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  made.url = `http://127.0.0.1:${proxy.address().port}`;
  made.close = () => {
    proxy.closeAllConnections();
    proxy.close();
  };
  return made;
}

let belay;

before(async () => {
  client = buildClient();
  belay = await import(join(client, "dist", "index.js"));
  store = await makeStore();
  server = await serve(store.home, store.url);
  recorder = await record(server.url);
  saver = new belay.BelaySaver({ url: recorder.url });
});

after(async () => {
  recorder?.close();
  server?.child.kill("SIGKILL");
  rmSync(client, { recursive: true, force: true });
  await store?.remove();
});

beforeEach(async () => {
  thread += 1;
  config = await put({ configurable: { thread_id: "thread-" + thread } });
  recorder.seen.length = 0;
});

const counted = (route) => recorder.seen.filter((each) => each === route).length;

function put(parent, { id = uuid6(0), values = {}, changed } = {}, by = saver) {
  const all = Object.fromEntries(Object.keys(values).map((name) => [name, 1]));
  const checkpoint = { ...emptyCheckpoint(), id, channel_values: values, channel_versions: all };
  return by.put(parent, checkpoint, metadata, changed ?? all);
}

async function writesAt(place) {
  const tuple = await new belay.BelaySaver({ url: server.url }).getTuple(place);
  return tuple.pendingWrites.map((write) => write.join(":")).sort();
}

test("a step of a graph is one request", async () => {
  const State = Annotation.Root({ step: Annotation() });
  const graph = new StateGraph(State)
    .addNode("a", () => ({ step: "a" }))
    .addNode("b", () => ({ step: "b" }))
    .addNode("c", () => ({ step: interrupt("Go on?") }))
    .addEdge(START, "a")
    .addEdge("a", "b")
    .addEdge("b", "c")
    .addEdge("c", END)
    .compile({ checkpointer: saver });
  for (const durability of ["sync", "async"]) {
    recorder.seen.length = 0;
    await graph.invoke({}, { configurable: { thread_id: "graph-" + durability }, durability });
    // Of the input, "__start__", a and b. The writes of the interrupt are alone, if no checkpoint
    // is still to be sent.
    assert.equal(counted("checkpoints"), 4, recorder.seen.join());
    assert.ok(counted("writes") <= 1, recorder.seen.join());
    const found = await writesAt({ configurable: { thread_id: "graph-" + durability } });
    assert.equal(found.length, 1, found.join());
    assert.match(found[0], /:__interrupt__:/);
  }
});

test("writes without a checkpoint after them are sent in the same turn", async () => {
  await saver.putWrites(config, [["a", 1]], "task");
  assert.deepEqual(recorder.seen, ["writes"]);
  assert.deepEqual(await writesAt(config), ["task:a:1"]);
});

test("parallel tasks of a step are one request, up to 64 of them and 64 KiB", async () => {
  const long = "x".repeat(70_000);
  const saved = [saver.putWrites(config, [["long", long]], "long")];
  for (let i = 0; i < 66; i += 1) saved.push(saver.putWrites(config, [["a", i]], "task-" + i));
  await Promise.all([...saved, put(config)]);
  assert.equal(counted("checkpoints"), 1);
  assert.equal(counted("writes"), 3);
  const expected = Array.from({ length: 66 }, (_, i) => `task-${i}:a:${i}`);
  assert.deepEqual(await writesAt(config), [...expected, "long:long:" + long].sort());
});

test("a task's later writes follow its earlier ones", async () => {
  const first = saver.putWrites(config, [["__interrupt__", "one"]], "task");
  const second = saver.putWrites(config, [["a", 1]], "task");
  const other = { configurable: { ...config.configurable, thread_id: "other-" + thread } };
  const third = saver.putWrites(other, [["a", 2]], "task");
  await Promise.all([first, second, third, put(config)]);
  assert.deepEqual(recorder.seen.sort(), ["checkpoints", "writes", "writes"]);
  assert.deepEqual(await writesAt(config), ["task:__interrupt__:one", "task:a:1"]);
});

test("a lost answer repeats the request, which has no further effect", async () => {
  recorder.cut = 1;
  const saved = saver.putWrites(config, [["a", 1], ["__error__", "e"]], "task");
  const [next] = await Promise.all([put(config), saved]);
  assert.deepEqual(recorder.seen, ["checkpoints", "checkpoints"]);
  assert.deepEqual(await writesAt(config), ["task:__error__:e", "task:a:1"]);
  assert.deepEqual(await writesAt(next), []);
});

test("writes are stored when their checkpoint is refused", async () => {
  const saved = saver.putWrites(config, [["a", 1]], "task");
  await assert.rejects(put(config, { id: "x".repeat(201) }), /checkpointId/);
  await saved;
  assert.deepEqual(recorder.seen.sort(), ["checkpoints", "checkpoints", "writes"]);
  assert.deepEqual(await writesAt(config), ["task:a:1"]);
});

test("a checkpoint is stored when the writes before it are refused", async () => {
  const refused = assert.rejects(saver.putWrites(config, [["x".repeat(4_001), 1]], "task"), /channel/);
  const [next] = await Promise.all([put(config), refused]);
  assert.deepEqual(recorder.seen.sort(), ["checkpoints", "checkpoints", "writes"]);
  assert.deepEqual(await writesAt(next), []);
});

test("many small writes are not joined with a large checkpoint", async () => {
  const writes = Array.from({ length: 9_000 }, (_, i) => ["items", i % 10]);
  const saved = saver.putWrites(config, writes, "task");
  await Promise.all([put(config, { values: { big: "\"".repeat(200_000) } }), saved]);
  assert.deepEqual(recorder.seen.sort(), ["checkpoints", "writes"]);
  assert.equal((await writesAt(config)).length, 9_000);
});

// A serializer that fails for values with the member `bad`.
function failingSaver() {
  const { serde } = saver;
  const dumpsTyped = async (value) => (value?.bad ? assert.fail("bad value") : serde.dumpsTyped(value));
  return new belay.BelaySaver({ url: recorder.url, serde: { ...serde, dumpsTyped } });
}

test("writes are stored when their checkpoint cannot be serialized", async () => {
  const failing = failingSaver();
  const saved = failing.putWrites(config, [["a", 1]], "task");
  await assert.rejects(put(config, { values: { a: { bad: 1 } } }, failing), /bad value/);
  await saved;
  assert.deepEqual(recorder.seen, ["writes"]);
});

test("a checkpoint is stored when writes before it cannot be serialized", async () => {
  const failing = failingSaver();
  const refused = assert.rejects(failing.putWrites(config, [["a", { bad: 1 }]], "bad"), /bad value/);
  const good = failing.putWrites(config, [["a", 1]], "good");
  const [next] = await Promise.all([put(config, {}, failing), good, refused]);
  assert.deepEqual(recorder.seen, ["checkpoints"]);
  assert.deepEqual(await writesAt(config), ["good:a:1"]);
  assert.deepEqual(await writesAt(next), []);
});

test("a checkpoint whose parent was removed is sent again, with the writes", async () => {
  await new belay.BelaySaver({ url: server.url }).deleteThread(config.configurable.thread_id);
  const saved = saver.putWrites(config, [["a", 1]], "task");
  const more = { values: { b: 1, c: 2 }, changed: { b: 1 } };
  const [next] = await Promise.all([put(config, more), saved]);
  assert.deepEqual(recorder.seen, ["checkpoints", "checkpoints"]);
  const tuple = await new belay.BelaySaver({ url: server.url }).getTuple(next);
  assert.deepEqual(tuple.checkpoint.channel_values, { b: 1, c: 2 });
});

test("writes and checkpoint fail together when the server does not answer", async () => {
  const silent = new belay.BelaySaver({ url: "http://127.0.0.1:9", retryTime: 0 });
  const saved = assert.rejects(silent.putWrites(config, [["a", 1]], "task"), /No answer/);
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(0) };
  await assert.rejects(silent.put(config, checkpoint, metadata, {}), /No answer/);
  await saved;
});
