// Runs the scenarios of the referee for a server against `belay serve`, and compares each check
// with its expected result. A check that passes although it is listed as one that cannot, is an error,
// too: the list then claims too much.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exceptions } from './referee_exceptions.mjs';
import { serve, world } from './server_process.mjs';

const referee = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';

// Returns the checks of each scenario, by its name.
async function verdict(where, url, revision) {
  const folder = join(where.folder, revision);
  const words = ['server', '--url', url, '--suite', 'all', '-o', folder];
  if (revision !== 'newest') words.push('--spec-version', revision);
  const child = spawn(process.execPath, [referee, ...words], { stdio: 'ignore' });
  await once(child, 'exit');
  const scenarios = new Map();
  for (const name of readdirSync(folder)) {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    scenarios.set(scenario, JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')));
  }
  return scenarios;
}

for (const revision of ['newest', '2025-11-25']) {
  test(`the referee finds exactly the known exceptions: ${revision}`, async (t) => {
    const where = world(t);
    const server = await serve(where);
    const scenarios = await verdict(where, server.url, revision);
    await server.end('SIGKILL');
    assert.ok(scenarios.size > 30, `${scenarios.size} scenarios`);
    const surprises = [];
    for (const [scenario, checks] of scenarios) {
      const known = exceptions[revision][scenario] ?? {};
      const failed = new Set(
        checks.filter((each) => each.status === 'FAILURE').map((each) => each.id),
      );
      for (const check of checks) {
        if (check.status === 'FAILURE' && !known[check.id]) {
          surprises.push(`${scenario}: ${check.id} fails: ${check.errorMessage}`);
        }
      }
      for (const id of Object.keys(known)) {
        if (!failed.has(id)) surprises.push(`${scenario}: ${id} does not fail any more`);
      }
    }
    for (const scenario of Object.keys(exceptions[revision])) {
      if (!scenarios.has(scenario)) surprises.push(`${scenario}: no such scenario`);
    }
    assert.deepEqual(surprises, []);
  });
}
