// A client whose types are generated from the description of letters_program.cc. The compiler
// reports each "@ts-expect-error" whose next line has no error.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Schemas = components["schemas"];

const url = process.argv[2];
assert.ok(url);
const client = createClient<paths>({ baseUrl: url });

function present<T>(value: T | null | undefined): T {
  assert.ok(value !== null && value !== undefined);
  return value;
}

// Starts a run with a typed input. Its response is a run of this agent.
const begun = await client.POST("/api/agents/letter%20writer/runs", {
  body: { input: { topic: "the sea", tone: "friendly", to: { name: "Ana" } } },
});
const paused = present(begun.data);
assert.equal(begun.response.status, 202);
const status: Schemas["ShownRunStatus"] = paused.status;
assert.equal(status, "paused");
const text: string = present(paused.state).draft.text;
assert.equal(text, "Hello Ana, about the sea");
const city: string | null = present(paused.state).to.city;
assert.equal(city, null);
assert.equal(present(paused.state).cents, null);
assert.equal(present(paused.state).versions, 1);

// The payload of its approval has the type of the channel that it shows.
const asked = present(paused.approval);
assert.ok(asked.node === "review");
const enclosed: string[] = asked.payload.enclosed;
assert.deepEqual(enclosed, ["map"]);

async function decide(interrupt: string, decision: Schemas["Decision_letter_writer_review"]) {
  const decided = await client.POST("/api/approvals/{approvalId}/decision", {
    params: { path: { approvalId: interrupt } },
    body: decision,
  });
  return present(decided.data);
}

// Decides with a typed answer: first a choice of this approval, then an edited payload.
const again = await decide(asked.interruptId, { choice: "rewrite", answer: { cents: 80 } });
assert.equal(again.result satisfies Schemas["DecisionVerdict"], "accepted");
assert.ok(again.run.agent === "letter writer");
assert.equal(present(again.run.state).versions, 2);
const second = present(again.run.approval);
const done = await decide(second.interruptId, {
  approved: true,
  answer: { cents: 90 },
  edited: { text: "Hello Ana", enclosed: [] },
});
assert.equal(done.run.status, "completed");

// Reads a run of any agent: its agent selects the type of its state.
const read = await client.GET("/api/runs/{runId}", {
  params: { path: { runId: paused.runId } },
});
const run = present(read.data);
switch (run.agent) {
  case "letter writer":
    assert.equal(present(run.state).sent satisfies boolean, true);
    assert.equal(present(run.state).cents satisfies number | null, 90);
    assert.equal(present(run.state).draft.text, "Hello Ana");
    break;
  case "greeter":
    assert.fail(present(run.state).greeting satisfies string);
  default:
    assert.fail("another agent");
}
const failing = await client.GET("/api/runs/{runId}", { params: { path: { runId: "none" } } });
assert.equal(present(failing.error).code satisfies Schemas["ProblemCode"], "not_found");

// Reads the records that the run saved.
const found = await client.GET("/api/records/sent-letters");
const records = present(found.data).records;
assert.deepEqual(
  records.map((record) => record.value.to.name satisfies string),
  ["Ana"],
);
assert.equal(present(records[0]).value.cents satisfies number | null, 90);

// An agent whose state is a JSON object.
const counted = await client.POST("/api/agents/counter/runs", { body: { input: { from: 6 } } });
assert.equal(present(present(counted.data).state).count satisfies number, 7);

const argumentsOfTool: Schemas["ToolArguments_find_address"] = { name: "Ana" };
assert.equal(argumentsOfTool.name, "Ana");

// All of this is rejected by the compiler. It is not executed.
export async function isRejected() {
  await client.POST("/api/agents/letter%20writer/runs", {
    // @ts-expect-error: a number for a text
    body: { input: { topic: 7 } },
  });
  await client.POST("/api/agents/letter%20writer/runs", {
    // @ts-expect-error: no enumerator
    body: { input: { tone: "rude" } },
  });
  // @ts-expect-error: the input of another agent
  const input: Schemas["AgentInput_letter_writer"] = { from: 6 };
  await client.POST("/api/agents/letter%20writer/runs", { body: { input } });
  await client.POST("/api/agents/counter/runs", {
    // @ts-expect-error: a required channel is missing
    body: { input: {} },
  });
  await client.POST("/api/agents/counter/runs", {
    // @ts-expect-error: no value of BusyThread
    body: { input: { from: 6 }, ifBusy: "wait" },
  });
  // @ts-expect-error: no such agent
  await client.POST("/api/agents/none/runs", { body: {} });
  // @ts-expect-error: a text for a number in the answer
  await decide("id", { approved: true, answer: { cents: "ninety" } });
  // @ts-expect-error: the answer lacks a member
  await decide("id", { approved: true, answer: {} });
  // @ts-expect-error: no choice of this approval
  await decide("id", { choice: "burn" });
  // @ts-expect-error: not the payload of this approval
  await decide("id", { approved: true, edited: { text: 7, enclosed: [] } });
  // @ts-expect-error: no status of a run
  return present(read.data).status === "finished";
}
