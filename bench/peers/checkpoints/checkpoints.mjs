// LangGraph.js with three checkpointers on the same work, in turns: time for each step, and bytes.
//
//   PROGRAM=BELAY CLIENT=clients/js/checkpoint STORE=sqlite|postgres POSTGRES_BIN=FOLDER \
//     node checkpoints.mjs [ROUNDS]
//
// Work: a list that grows by 500 bytes in each of 200 steps, and ten steps in a line over 1 KB;
// `durability: sync`. SqliteSaver once with SQLite's `synchronous` as it sets it (NORMAL: a power
// cut loses commits), and once with FULL, which Belay has.

import fs from "node:fs";
import { join } from "node:path";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import pg from "pg";
import { buildClient, serve } from "./built_client.mjs";
import { makeStore } from "./stores.mjs";
import { counted, state } from "./work.mjs";

const STEPS = 200;
const LINES = 20;
const rounds = Number(process.argv[2] ?? 3);
const words = "the order was sent and a person must decide whether it can be paid today ".split(" ");

// About 500 bytes of words, different for each number.
function message(number) {
  let seed = (number + 1) * 2654435761;
  let content = "";
  while (content.length < 460) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    content += words[(seed >>> 8) % words.length] + (seed % 97) + " ";
  }
  return { role: number % 2 ? "assistant" : "user", id: number, content };
}

const Growing = Annotation.Root({
  counter: Annotation(),
  messages: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
const growing = (checkpointer) =>
  new StateGraph(Growing)
    .addNode("add", (page) => ({ counter: page.counter + 1, messages: [message(page.counter)] }))
    .addEdge(START, "add")
    .addConditionalEdges("add", (page) => (page.counter >= STEPS ? END : "add"))
    .compile({ checkpointer });
const Page = Annotation.Root({
  counter: Annotation(), title: Annotation(), tags: Annotation(), items: Annotation(),
  text: Annotation(),
});
function line(checkpointer) {
  const builder = new StateGraph(Page);
  for (let i = 1; i <= 10; i += 1) {
    builder.addNode("node" + i, (page) => ({ counter: counted(page).counter }));
    builder.addEdge(i === 1 ? START : "node" + (i - 1), "node" + i);
  }
  return builder.addEdge("node10", END).compile({ checkpointer });
}

async function measure(name, round, checkpointer, bytes) {
  const config = (thread_id) => ({ configurable: { thread_id }, durability: "sync", recursionLimit: 300 });
  const lines = line(checkpointer);
  for (let i = 0; i < 5; i += 1) await lines.invoke(state(), config(`before-${round}-${i}`));
  const before = await bytes();
  let began = performance.now();
  await growing(checkpointer).invoke({ counter: 0, messages: [] }, config("growing-" + round));
  const listMs = (performance.now() - began) / STEPS;
  const listBytes = (await bytes()) - before;
  began = performance.now();
  for (let i = 0; i < LINES; i += 1) await lines.invoke(state(), config(`line-${round}-${i}`));
  const lineMs = (performance.now() - began) / LINES / 10;
  console.log(JSON.stringify({ name, round, listMs, lineMs, listBytes }));
}

const client = buildClient();
const { BelaySaver } = await import(join(client, "dist", "index.js"));

for (let round = 0; round < rounds; round += 1) {
  const store = await makeStore();
  const server = await serve(store.home, store.url);
  const belay = new BelaySaver({ url: server.url });
  if (process.env.STORE === "postgres") {
    const address = new URL(store.url.replace("postgresql:///", "postgresql://local/"));
    const pool = new pg.Pool({ host: address.searchParams.get("host"), user: "belay",
      database: "postgres", max: 10 });
    const official = new PostgresSaver(pool, undefined, { schema: "official" });
    await official.setup();
    const size = (schema) => async () => {
      const text = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c"
        + " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'";
      return Number((await pool.query(text, [schema])).rows[0].bytes);
    };
    await measure("BelaySaver", round, belay, size("belay"));
    await measure("PostgresSaver", round, official, size("official"));
    await pool.end();
  } else {
    const database = new (await import("better-sqlite3")).default(join(store.home, "belay.db"), { readonly: true });
    // The pages in use: the file of the log is not counted.
    const pages = async () => database.pragma("page_count", { simple: true }) * 4096;
    await measure("BelaySaver", round, belay, pages);
    database.close();
    for (const synchronous of ["NORMAL", "FULL"]) {
      const official = SqliteSaver.fromConnString(join(store.home, synchronous + ".db"));
      official.setup();
      official.db.pragma("synchronous=" + synchronous);
      await measure("SqliteSaver, " + synchronous, round, official,
        async () => official.db.pragma("page_count", { simple: true }) * 4096);
      official.db.close();
    }
  }
  server.child.kill("SIGKILL");
  await store.remove();
}
fs.rmSync(client, { recursive: true, force: true });
