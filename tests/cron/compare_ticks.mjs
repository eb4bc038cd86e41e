// The ticks of random schedules, compared with those of croner. $PROGRAM is cron_ticks; $MODE is
// "sample" or "full".

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Cron } from "croner";

const mode = process.env.MODE ?? "sample";
const seed = process.env.SEED ?? String(Math.floor(Date.now() / 86_400_000));  // another each day
const expressions = process.env.EXPRESSIONS ?? "100";

const seconds = (dates) => dates.map((date) => date.getTime() / 1000);
const texts = (times) => times.map((time) => new Date(time * 1000).toISOString());

// Returns the number of compared ticks.
function compare({ expression, zone, after, previous, ticks, until }) {
  const cron = new Cron(expression, { timezone: zone, paused: true, fixedTimeRule: "no-wildcard" });
  const start = new Date(after * 1000);
  const claim = `${expression} in ${zone} after ${start.toISOString()}`;
  const count = ticks.length + (until === undefined ? 0 : 1);
  const next = count === 0 ? [] : seconds(cron.nextRuns(count, start));
  const expected = until === undefined ? next : next.filter((tick) => tick <= until);
  assert.deepEqual(texts(ticks), texts(expected), claim);
  if (previous.length > 0) {
    const before = seconds(cron.previousRuns(previous.length, start));
    assert.deepEqual(texts(previous), texts(before), "before: " + claim);
  }
  return ticks.length + previous.length;
}

test(`ticks of ${expressions} expressions, ${mode}, seed ${seed}`, async () => {
  const program = spawn(process.env.PROGRAM, [mode, seed, expressions], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => program.on("close", resolve));
  const schedules = new Set();
  let compared = 0;
  let failures = 0;
  let first;
  for await (const line of createInterface({ input: program.stdout })) {
    const printed = JSON.parse(line);
    schedules.add(printed.expression + printed.zone);
    try {
      compared += compare(printed);
    } catch (fault) {
      first ??= fault;
      failures += 1;
      if (failures <= 20) console.log(fault.message);
    }
  }
  assert.equal(await ended, 0);
  console.log(`evidence: cron ticks compared with croner ${compared}`);
  assert.equal(schedules.size, 6 * Number(expressions));
  assert.equal(failures, 0, first?.message);
});
