// Lints the descriptions of two programs with the recommended rules of Redocly.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, test } from "node:test";
import { describedBy, folder, removeFolder, tool } from "./program.mjs";

after(removeFolder);

function problemsOf(path) {
  const words = ["lint", path, "--format=json", "--max-problems=1000"];
  const { output, errors } = tool("redocly", words, folder);
  assert.ok(output.startsWith("{"), output + errors);
  return JSON.parse(output).problems;
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
  document.paths["/api/{kind}/newest"] = {
    get: {
      operationId: "newest",
      summary: "Ambiguous with /api/agents/{agent}",
      parameters: [{ name: "kind", in: "path", required: true, schema: { type: "string" } }],
      responses: { 200: { description: "Any" }, 400: { description: "An error" } },
    },
  };
  writeFileSync(faulty, JSON.stringify(document));
  const rules = problemsOf(faulty).map((each) => each.ruleId);
  assert.deepEqual(rules.sort(), [
    "no-ambiguous-paths",
    "no-empty-servers",
    "no-unused-components",
  ]);
});
