// Lints the descriptions of two programs with the recommended rules of Redocly.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { describedBy, folder, removeFolder, tool } from "./program.mjs";

// Pairs of paths that match the same address, with the reason why they remain. A warning about any
// other pair, and any other warning, fails the test.
const ambiguous = [
  // The paths of the Agent Server; one is for GET, the other one for DELETE and PATCH.
  ["/runs/crons/{cronId}", "/runs/{runId}/stream"],
  // A path of the wellbeing agents: the first one has precedence, also for a thread "runs".
  ["/api/agents/approve/{threadId}", "/api/agents/{agent}/runs"],
];

after(removeFolder);

function isKnown(problem) {
  if (problem.ruleId !== "no-ambiguous-paths") return false;
  return ambiguous.some((pair) => pair.every((path) => problem.message.includes("`" + path + "`")));
}

function problemsOf(path) {
  const words = ["lint", path, "--format=json", "--max-problems=1000"];
  const { output, errors } = tool("redocly", words, folder);
  assert.ok(output.startsWith("{"), output + errors);
  return JSON.parse(output).problems.filter((problem) => !isKnown(problem));
}

for (const [name, program] of [
  ["letters", process.env.PROGRAM],
  ["belay", process.env.BELAY],
]) {
  test(`the description of ${name} has no errors and no warnings`, () => {
    const path = describedBy(program, name);
    assert.deepEqual(
      problemsOf(path).map((each) => `${each.ruleId}: ${each.message}`),
      [],
    );
  });
}

test("a faulty description is found", () => {
  const faulty = describedBy(process.env.PROGRAM, "faulty");
  const document = JSON.parse(readFileSync(faulty, "utf8"));
  document.components.schemas.Unused = { type: "object" };
  delete document.servers;
  writeFileSync(faulty, JSON.stringify(document));
  const rules = problemsOf(faulty).map((each) => each.ruleId);
  assert.deepEqual(rules.sort(), ["no-empty-servers", "no-unused-components"]);
});
