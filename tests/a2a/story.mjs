// A2A over a real server: cards, tasks, approvals, streams, and a server that is killed meanwhile.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import {
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";

const agent = "daily_auditor";
const home = mkdtempSync(join(tmpdir(), "belay-a2a-"));
let server;
let client;

// Starts $PROGRAM; returns its process and its address.
async function serve(listen = "127.0.0.1:0") {
  const child = spawn(process.env.PROGRAM, ["serve", "--listen", listen], {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      BELAY_STORE: "sqlite:" + join(home, "belay.db"),
      // The receiver of the push notifications is on this host.
      BELAY_EGRESS_NETWORKS: "127.0.0.1/32",
      BELAY_EGRESS_PORTS: "any",
    },
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

async function kill() {
  const gone = new Promise((resolve) => server.child.once("exit", resolve));
  server.child.kill("SIGKILL");
  await gone;
}

before(async () => {
  server = await serve();
  client = await new ClientFactory().createFromUrl(server.url + "/a2a/" + agent + "/");
});

after(() => {
  server?.child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

let count = 0;
const newMessage = (content, more = {}) => ({
  messageId: "message-" + ++count,
  role: Role.ROLE_USER,
  contextId: "",
  taskId: "",
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
  parts: [{ content, metadata: undefined, filename: "", mediaType: "" }],
  ...more,
});
const inputOf = (date) => ({ $case: "data", value: { date, language: "en" } });
const words = (value) => ({ $case: "text", value });
const configurationOf = (more) => ({
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  returnImmediately: false,
  ...more,
});
const requestOf = (message, configuration = {}) => ({
  tenant: "",
  message,
  configuration: configurationOf(configuration),
  metadata: undefined,
});
const send = (message, configuration) => client.sendMessage(requestOf(message, configuration));
const get = (id) => client.getTask({ tenant: "", id });

// Saves a note that the built-in rules cannot assess: a person must approve its audit.
async function saveNote(date) {
  const response = await fetch(server.url + "/api/notes", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ date, content: "Heute war es kalt und wir sind nicht ausgegangen." }),
  });
  assert.equal(response.status, 201, await response.text());
}

async function waitingTask(date) {
  await saveNote(date);
  const task = await send(newMessage(inputOf(date)));
  assert.equal(task.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  return task;
}

async function responsesOf(stream) {
  const responses = [];
  for await (const response of stream) responses.push(response.payload);
  return responses;
}

test("the cards lead to the agents", async () => {
  const card = await client.getAgentCard();
  assert.equal(card.name, agent);
  assert.equal(card.capabilities.streaming, true);
  assert.equal(card.capabilities.pushNotifications, true);
  const whole = await (await fetch(server.url + "/.well-known/agent-card.json")).json();
  assert.ok(whole.skills.some((skill) => skill.id === agent));
});

test("a task waits for a person, survives a killed server, and has a result", async () => {
  const task = await waitingTask("2026-02-01");
  const asked = task.status.message.parts.find((part) => part.content.$case === "data");
  assert.ok(asked.content.value.interrupt);
  await kill();
  server = await serve(new URL(server.url).host);
  const later = await get(task.id);
  assert.equal(later.contextId, task.contextId);
  assert.equal(later.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const vague = newMessage(words("hm"), { taskId: task.id });
  await assert.rejects(send(vague));
  assert.equal((await get(task.id)).status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const answer = newMessage(words("approve"), { taskId: task.id, contextId: task.contextId });
  const ended = await send(answer);
  assert.equal(ended.id, task.id);
  assert.equal(ended.status.state, TaskState.TASK_STATE_COMPLETED);
  const parts = ended.artifacts.find((each) => each.artifactId === "result").parts;
  assert.equal(parts.at(-1).content.value.date, "2026-02-01");
  assert.equal((await send(answer)).status.state, TaskState.TASK_STATE_COMPLETED);
  const next = newMessage(words("approve"), { taskId: task.id });
  await assert.rejects(send(next), UnsupportedOperationError);
});

test("the same message twice is one task", async () => {
  const message = newMessage(inputOf("2026-02-02"));
  const [first, second] = await Promise.all([send(message), send(message)]);
  assert.equal(first.id, second.id);
  assert.equal((await send(message)).id, first.id);
});

test("a stream begins with the task, and a subscription continues it to its end", async () => {
  await saveNote("2026-02-03");
  const message = newMessage(inputOf("2026-02-03"));
  const sent = await responsesOf(client.sendMessageStream(requestOf(message)));
  assert.equal(sent[0].$case, "task");
  const last = sent.at(-1);
  const paused = last.value.status;
  assert.equal(paused.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const id = sent[0].value.id;
  const subscription = client.resubscribeTask({ tenant: "", id });
  const begun = await subscription.next();
  assert.equal(begun.value.payload.$case, "task");
  await send(newMessage(words("approve"), { taskId: id }));
  const rest = await responsesOf(subscription);
  assert.equal(rest.at(-1).$case, "statusUpdate");
  assert.equal(rest.at(-1).value.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.equal(rest.at(-2).value.artifact.artifactId, "result");
  const over = client.resubscribeTask({ tenant: "", id });
  await assert.rejects(over.next(), UnsupportedOperationError);
});

// Returns the events of a stream with their ids, which the client does not show.
async function rawEvents(id, after) {
  const response = await fetch(server.url + "/a2a/" + agent, {
    method: "POST",
    headers: {
      "A2A-Version": "1.0",
      "Content-Type": "application/json",
      ...(after ? { "Last-Event-ID": after } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } }),
  });
  const pieces = (await response.text()).split("\n\n");
  return pieces.filter((piece) => piece.startsWith("id: "));
}

test("a stream is continued after each event, also by another process", async () => {
  const task = await waitingTask("2026-02-04");
  await send(newMessage(words("approve"), { taskId: task.id }));
  const whole = await rawEvents(task.id, "1-0");
  assert.ok(whole.length >= 4, whole.join("\n"));
  await kill();
  server = await serve(new URL(server.url).host);
  for (let cut = 0; cut < whole.length; ++cut) {
    const place = whole[cut].slice("id: ".length, whole[cut].indexOf("\n"));
    assert.deepEqual(await rawEvents(task.id, place), whole.slice(cut + 1));
  }
});

test("tasks are listed and cancelled, and ended ones are not cancelable", async () => {
  const task = await waitingTask("2026-02-05");
  const contexts = await client.listTasks({
    tenant: "",
    contextId: task.contextId,
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: "",
    statusTimestampAfter: undefined,
  });
  assert.deepEqual(contexts.tasks.map((each) => each.id), [task.id]);
  assert.equal(contexts.totalSize, 1);
  const request = { tenant: "", id: task.id, metadata: undefined };
  const cancelled = await client.cancelTask(request);
  assert.equal(cancelled.status.state, TaskState.TASK_STATE_CANCELED);
  await assert.rejects(client.cancelTask(request), TaskNotCancelableError);
  await assert.rejects(get("01890000-0000-7000-8000-000000000000"), TaskNotFoundError);
});

test("the extended card is not supported", async () => {
  const options = { serviceParameters: { "A2A-Version": "1.0" } };
  await assert.rejects(
    client.transport.getExtendedAgentCard({ tenant: "" }, options),
    UnsupportedOperationError,
  );
});

// Receives push notifications. Refuses the second request.
async function openReceiver() {
  const received = [];
  let requests = 0;
  const receiver = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const isRefused = ++requests === 2;
    response.writeHead(isRefused ? 503 : 200).end();
    const body = JSON.parse(Buffer.concat(pieces).toString());
    if (!isRefused) received.push({ headers: request.headers, body });
  });
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = "http://127.0.0.1:" + receiver.address().port + "/changes";
  return { received, url, close: () => receiver.close() };
}

const stateIn = ({ body }) => (body.task ?? body.statusUpdate)?.status.state;

async function untilReceived(receiver, state) {
  const end = Date.now() + 150_000;
  while (!receiver.received.some((each) => stateIn(each) === state)) {
    assert.ok(Date.now() < end, state + " is missing: " + receiver.received.map(stateIn));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("a receiver is sent each change of a task, also by the next process", async () => {
  const receiver = await openReceiver();
  await saveNote("2026-02-06");
  const config = {
    tenant: "",
    id: "mine",
    taskId: "",
    url: receiver.url,
    token: "for-me",
    authentication: { scheme: "Bearer", credentials: "secret" },
  };
  const message = newMessage(inputOf("2026-02-06"));
  const task = await send(message, { taskPushNotificationConfig: config, returnImmediately: true });
  await untilReceived(receiver, "TASK_STATE_INPUT_REQUIRED");
  const named = { tenant: "", taskId: task.id, id: "mine" };
  const kept = await client.getTaskPushNotificationConfig(named);
  assert.equal(kept.url, receiver.url);
  assert.equal(kept.authentication.credentials, "");
  await kill();
  server = await serve(new URL(server.url).host);
  await send(newMessage(words("approve"), { taskId: task.id }));
  await untilReceived(receiver, "TASK_STATE_COMPLETED");
  const stream = await rawEvents(task.id, "1-0");
  const sent = stream.map((piece) => JSON.parse(piece.slice(piece.indexOf("data: ") + 6)).result);
  // A server that is killed after a request, and before it has saved that, sends it again.
  const changes = new Map(
    receiver.received.map(({ headers, body }) => [headers["idempotency-key"], body]),
  );
  const last = [...changes.values()].slice(-3);
  assert.deepEqual(last, sent.slice(-3), "the changes are those of a stream");
  for (const { headers } of receiver.received) {
    assert.equal(headers["content-type"], "application/a2a+json");
    assert.equal(headers["x-a2a-notification-token"], "for-me");
    assert.equal(headers.authorization, "Bearer secret");
  }
  await client.deleteTaskPushNotificationConfig(named);
  const page = { tenant: "", taskId: task.id, pageSize: 0, pageToken: "" };
  assert.deepEqual((await client.listTaskPushNotificationConfig(page)).configs, []);
  await assert.rejects(client.getTaskPushNotificationConfig(named), TaskNotFoundError);
  receiver.close();
});
