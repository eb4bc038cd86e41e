// The validation suite of LangGraph's checkpointers, on BelaySaver and `belay serve`.
//
// The suite's command line (1.1.1) does not start: its bundle lacks a module. Its functions are
// called directly, by a file of tests that vitest runs.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startVitest } from "vitest/node";
import { buildClient } from "./built_client.mjs";
import { makeStore } from "./stores.mjs";

const SUITE_TESTS = 718;
const HISTORY_TESTS = 8;

// Counts the results, and keeps the failures.
class Results {
  passed = 0;
  skipped = 0;
  failures = [];

  onTestCaseResult(testCase) {
    const { state, errors = [] } = testCase.result();
    if (state === "passed") this.passed += 1;
    else if (state === "skipped") this.skipped += 1;
    else this.failures.push(`${testCase.fullName}: ${errors.map((each) => each.message).join("; ")}`);
  }

  onTestRunEnd(modules, errors) {
    for (const each of [...errors, ...modules.flatMap((module) => module.errors())]) {
      this.failures.push(each.message ?? String(each));
    }
  }
}

test("the checkpointer passes every test of the suite", { timeout: 540_000 }, async () => {
  const client = buildClient();
  const file = join(client, "validation.test.mjs");
  writeFileSync(
    file,
    `import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
     import initializer from "./validation.init.mjs";
     specTest(initializer);
     deltaChannelHistoryTests(initializer);\n`,
  );
  const store = await makeStore();
  process.env.BELAY = process.env.PROGRAM;
  process.env.BELAY_VALIDATION_STORE = store.url;
  const results = new Results();
  try {
    const vitest = await startVitest("test", [file], {
      watch: false,
      globals: true,
      config: false,
      root: client,
      include: [file],
      exclude: [],
      reporters: [results],
      testTimeout: 30_000,
      hookTimeout: 60_000,
    });
    await vitest.close();
  } finally {
    rmSync(client, { recursive: true, force: true });
    await store.remove();
    process.exitCode = 0;
  }
  assert.deepEqual(results.failures, []);
  assert.equal(results.skipped, 0);
  assert.equal(results.passed, SUITE_TESTS + HISTORY_TESTS);
});
