// GET /metrics of a real server, read by a parser of Prometheus' text format from npm.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import parse from "parse-prometheus-text-format";

const folder = mkdtempSync(join(tmpdir(), "belay-metrics-"));
let server;
let address;

before(async () => {
  server = spawn(process.env.PROGRAM, ["serve", "--listen", "127.0.0.1:0"], {
    env: { PATH: process.env.PATH, HOME: folder, BELAY_STORE: "sqlite:" + join(folder, "b.db") },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  for await (const piece of server.stderr) {
    text += piece;
    address = text.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
    if (address) break;
  }
  assert.ok(address, text);
});

after(() => {
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("every family is parsed with its type, its labels and its values", async () => {
  const thread = 'quotes " and \\ and \n';
  for (const name of ["a", "b"]) {
    const started = await fetch(address + "/api/agents/daily-audit", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ date: "2026-01-01", threadId: name }),
    });
    assert.ok([200, 202].includes(started.status), await started.text());
  }
  assert.equal((await fetch(address + "/api/threads/" + encodeURIComponent(thread))).status, 422);
  const response = await fetch(address + "/metrics");
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type"), /^text\/plain; version=0\.0\.4/);
  const families = Object.fromEntries(parse(await response.text()).map((f) => [f.name, f]));
  const started = families.belay_runs_started_total;
  assert.equal(started.type, "COUNTER");
  assert.deepEqual(started.metrics, [{ value: "2", labels: { agent: "daily_auditor" } }]);
  // This parser merges the series of a histogram and drops their labels.
  assert.equal(families.belay_commit_seconds.type, "HISTOGRAM");
  const buckets = families.belay_commit_seconds.metrics[0].buckets;
  assert.ok(Number(buckets["+Inf"]) >= 4, JSON.stringify(buckets));
  assert.ok(Number(buckets["0.0005"]) <= Number(buckets["+Inf"]));
  assert.equal(families.belay_failure_rate.type, "GAUGE");
  assert.equal(families.belay_http_request_seconds.type, "HISTOGRAM");
  assert.equal(families.belay_failure_rate_alert.metrics[0].value, "0");
});
