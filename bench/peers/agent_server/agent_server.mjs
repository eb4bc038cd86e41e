// Runs of the graph `delay` through the SDK of LangGraph: `belay serve --graphs conformance` on
// SQLite, and the reference server in memory, in turns.
//
//   PROGRAM=BELAY node agent_server.mjs [ROUNDS [SECONDS]]

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 5);
const IN_FLIGHT = 16;
const PORT = 21_456;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(status.match(/VmHWM:\s+(\d+)/)[1]) / 1024;
}
function processorTimeOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function whenReady(url, child) {
  for (let i = 0; i < 300; i++) {
    if (child.exitCode !== null) throw new Error("a server has ended");
    try {
      if ((await fetch(url + "/ok")).ok) return;
    } catch {
      // It does not listen yet.
    }
    await pause(100);
  }
  throw new Error("a server does not answer");
}

function startBelay(home) {
  const store = "sqlite:" + join(home, "belay.db");
  const words = ["serve", "--graphs", "conformance", "--listen", `127.0.0.1:${PORT}`];
  return spawn(process.env.PROGRAM, words, {
    env: { PATH: process.env.PATH, HOME: home, BELAY_STORE: store, BELAY_MODEL: "builtin" },
    stdio: "ignore",
  });
}
function startReference() {
  return spawn(process.execPath, ["reference.mjs"], {
    env: { ...process.env, PORT: String(PORT), WORKERS: "10", NODE_ENV: "production" },
    stdio: "ignore",
  });
}

async function measure(start, home) {
  const child = start(home);
  const url = `http://127.0.0.1:${PORT}`;
  await whenReady(url, child);
  const client = new Client({ apiUrl: url, callerOptions: { maxRetries: 0 } });
  const until = Date.now() + seconds * 1000;
  let count = 0;
  const before = processorTimeOf(child.pid);
  const loop = async () => {
    while (Date.now() < until) {
      const values = await client.runs.wait(null, "delay", { input: { messages: [], delay: 0 } });
      if (values.messages.length !== 1) throw new Error(JSON.stringify(values));
      count++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  const figures = {
    perSecond: count / seconds,
    cpu: ((processorTimeOf(child.pid) - before) * 1000) / count,
    memory: memoryOf(child.pid),
  };
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
  return figures;
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const found = { belay: [], reference: [] };
for (let round = 0; round < rounds; round++) {
  for (const [name, start] of [["belay", startBelay], ["reference", startReference]]) {
    const home = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), "belay-bench-"));
    found[name].push(await measure(start, home));
    rmSync(home, { recursive: true, force: true });
  }
}
console.log("| server | runs/s | CPU ms per run | peak memory MiB |");
console.log("|---|---|---|---|");
for (const [name, all] of Object.entries(found)) {
  const of = (member) => median(all.map((each) => each[member])).toFixed(1);
  console.log(`| ${name} | ${of("perSecond")} | ${of("cpu")} | ${of("memory")} |`);
}
console.log("\n" + execFileSync("nproc", { encoding: "utf8" }).trim() + " cores");
