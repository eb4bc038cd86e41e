// AG-UI over a real server: runs, interrupts and their answers, streams that are cut after each
// event, and a server that is killed meanwhile.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { HttpAgent } from "@ag-ui/client";

const name = "daily_auditor";
const home = mkdtempSync(join(tmpdir(), "belay-ag-ui-"));
const env = { PATH: process.env.PATH, HOME: home, BELAY_STORE: "sqlite:" + join(home, "belay.db") };
let server;

// Saves a note for each day of a week whose risk needs an approval.
function importNotes() {
  const content =
    "I am exhausted and worn out, no strength left. Could not sleep all night, awake until five. " +
    "Ill again, fever and pain all day. I cried and feel depressed and hopeless.";
  const days = [1, 2, 3, 4, 5, 6, 7].map((day) => `2026-03-0${day}`);
  const input = days.map((date) => JSON.stringify({ date, content }) + "\n").join("");
  execFileSync(process.env.PROGRAM, ["notes", "import", "-"], {
    env,
    input,
    stdio: ["pipe", "ignore", "inherit"],
  });
}

// Starts $PROGRAM; returns its process and its address.
async function serve(listen = "127.0.0.1:0") {
  const child = spawn(process.env.PROGRAM, ["serve", "--listen", listen], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  const url = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("The server has ended: " + text)));
    child.stderr.on("data", (piece) => {
      text = (text + piece).slice(-10_000);
      const found = text.match(/http:\/\/127\.0\.0\.1:\d+/);
      if (found) resolve(found[0]);
    });
  });
  return { child, url };
}

async function replaceServer() {
  const gone = new Promise((resolve) => server.child.once("exit", resolve));
  server.child.kill("SIGKILL");
  await gone;
  server = await serve(new URL(server.url).host);
}

before(async () => {
  importNotes();
  server = await serve();
});

after(() => {
  server?.child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

const address = () => server.url + "/ag-ui/" + name;
const addressOf = (thread, run) => `${address()}/threads/${thread}/runs/${run}`;
const newAgent = (threadId, more = {}) => new HttpAgent({ url: address(), threadId, ...more });
const inputOf = (date) => ({ forwardedProps: { input: { date, language: "en" } } });
const answer = (interrupt, payload) => ({
  interruptId: interrupt.id,
  status: "resolved",
  payload,
});

// Runs the agent; returns the types of the events, and the last one.
async function run(agent, parameters) {
  const events = [];
  const failures = [];
  await agent.runAgent(parameters, {
    onEvent: ({ event }) => void events.push(event),
    onRunFailed: ({ error }) => void failures.push(error),
  });
  assert.deepEqual(failures, []);
  return { types: events.map((event) => event.type), last: events.at(-1) };
}

async function rawEvents(response) {
  assert.equal(response.status, 200);
  const pieces = (await response.text()).split("\n\n");
  return pieces.filter((piece) => piece.startsWith("id: "));
}
const idOf = (piece) => piece.slice("id: ".length, piece.indexOf("\n"));
const rejoin = async (thread, run, after) =>
  rawEvents(
    await fetch(addressOf(thread, run), { headers: after ? { "Last-Event-ID": after } : {} }),
  );
const post = (body) =>
  fetch(address(), {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(body),
  });
const bodyOf = (threadId, runId, date) => ({ threadId, runId, messages: [], ...inputOf(date) });
async function countOfRuns(thread) {
  return (await (await fetch(server.url + "/api/runs?threadId=" + thread)).json()).runs.length;
}

test("an interrupted run survives a killed server, and is resumed to its end", async () => {
  const agent = newAgent("thread-1");
  const asked = await run(agent, { runId: "run-1", ...inputOf("2026-03-01") });
  assert.equal(asked.types[0], "RUN_STARTED");
  assert.ok(asked.types.includes("STATE_SNAPSHOT"), asked.types.join());
  assert.ok(asked.types.includes("STEP_STARTED"), asked.types.join());
  assert.equal(asked.last.outcome.type, "interrupt");
  assert.equal(agent.pendingInterrupts.length, 1);
  const [interrupt] = agent.pendingInterrupts;
  assert.ok(interrupt.message);
  assert.ok(interrupt.responseSchema.properties.approved);
  assert.ok(Date.parse(interrupt.expiresAt) > Date.now());
  assert.equal(agent.state.date, "2026-03-01");
  await replaceServer();
  const ended = await run(agent, {
    runId: "run-2",
    resume: [answer(interrupt, { approved: true })],
  });
  assert.equal(ended.last.type, "RUN_FINISHED");
  assert.equal(ended.last.outcome.type, "success");
  assert.equal(agent.pendingInterrupts.length, 0);
  assert.equal(agent.state.date, "2026-03-01");
  assert.equal(await countOfRuns("thread-1"), 1);
});

test("an interrupt is cancelled, and the run ends without its approval", async () => {
  const agent = newAgent("thread-2");
  await run(agent, { runId: "run-1", ...inputOf("2026-03-02") });
  const [interrupt] = agent.pendingInterrupts;
  const resume = [{ interruptId: interrupt.id, status: "cancelled" }];
  const ended = await run(agent, { runId: "run-2", resume });
  assert.equal(ended.last.type, "RUN_FINISHED");
  const approval = await fetch(server.url + "/api/approvals/" + interrupt.id);
  assert.equal((await approval.json()).status, "rejected");
});

test("the same request again joins the run, also in another process", async () => {
  const body = bodyOf("thread-3", "run-1", "2026-03-03");
  const [one, two] = await Promise.all([post(body), post(body)]);
  const first = await rawEvents(one);
  assert.deepEqual(await rawEvents(two), first);
  await replaceServer();
  assert.deepEqual(await rawEvents(await post(body)), first);
  assert.equal(await countOfRuns("thread-3"), 1);
  const other = await post(bodyOf("thread-3", "run-1", "2026-03-04"));
  assert.equal(other.status, 409);
});

test("a stream is continued after each event, also by another process", async () => {
  const agent = newAgent("thread-4");
  await run(agent, { runId: "run-1", ...inputOf("2026-03-05") });
  const resume = agent.pendingInterrupts.map((each) => answer(each, { approved: true }));
  await run(agent, { runId: "run-2", resume });
  await replaceServer();
  for (const name of ["run-1", "run-2"]) {
    const whole = await rejoin("thread-4", name);
    assert.ok(whole.length >= 4, whole.join("\n"));
    for (let cut = 0; cut < whole.length; ++cut) {
      const rest = await rejoin("thread-4", name, idOf(whole[cut]));
      assert.deepEqual(rest, whole.slice(cut + 1));
    }
  }
});

// A connection that is lost after each event, and taken up with the id of the last one.
function fragileFetch(thread, run) {
  return async (url, init) => {
    let response = await fetch(url, init);
    if (response.status !== 200) return response;
    const events = async function* () {
      for (let last; ; ) {
        let text = "";
        let hasEnded = true;
        for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
          text += piece;
          const end = text.indexOf("\n\n");
          if (end < 0 || !text.startsWith("id: ")) continue;
          last = idOf(text);
          yield text.slice(0, end + 2);
          hasEnded = false;
          break;
        }
        if (hasEnded) return;
        response = await fetch(addressOf(thread, run), { headers: { "Last-Event-ID": last } });
      }
    };
    const body = ReadableStream.from(events()).pipeThrough(new TextEncoderStream());
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };
}

test("a client whose connection is lost after each event sees one complete run", async () => {
  const agent = newAgent("thread-5", { fetch: fragileFetch("thread-5", "run-1") });
  const asked = await run(agent, { runId: "run-1", ...inputOf("2026-03-06") });
  assert.equal(asked.last.outcome.type, "interrupt");
  const undisturbed = (await rejoin("thread-5", "run-1")).map((piece) => {
    return JSON.parse(piece.slice(piece.indexOf("data: ") + "data: ".length)).type;
  });
  assert.deepEqual(asked.types, undisturbed);
  assert.equal(agent.state.date, "2026-03-06");
  agent.fetch = fragileFetch("thread-5", "run-2");
  const resume = agent.pendingInterrupts.map((each) => answer(each, { approved: true }));
  const ended = await run(agent, { runId: "run-2", resume });
  assert.equal(ended.last.outcome.type, "success");
});

test("requests that cannot run are refused with a reason", async () => {
  await run(newAgent("thread-6"), { runId: "run-1", ...inputOf("2026-03-07") });
  const refused = await post(bodyOf("thread-6", "run-2", "2026-03-08"));
  assert.ok(refused.status === 409 || refused.status === 422, String(refused.status));
  assert.ok((await refused.json()).detail);
  assert.equal(await countOfRuns("thread-6"), 1);
  assert.equal((await post({ threadId: "thread-7" })).status, 422);
  const unknown = [{ interruptId: "x", status: "resolved", payload: true }];
  const body = { threadId: "thread-7", runId: "run-1", messages: [], resume: unknown };
  assert.equal((await post(body)).status, 404);
  assert.equal((await fetch(addressOf("thread-7", "run-1"))).status, 404);
});
