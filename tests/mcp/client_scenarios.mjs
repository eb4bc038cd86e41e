// The client scenarios of the referee, each against the result that client_results.mjs expects.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {promisify} from 'node:util';

import {results as expected} from './client_results.mjs';

const run = promisify(execFile);
const referee = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';

function expectedOf(scenario) {
  if (expected[scenario]) return expected[scenario];
  const pattern = Object.keys(expected).find(
      (key) => key.endsWith('*') && scenario.startsWith(key.slice(0, -1)));
  return pattern && expected[pattern];
}

// Returns the scenarios of the referee with their revisions.
async function listed() {
  const {stdout} = await run(process.execPath, [referee, 'list', '--client']);
  return [...stdout.matchAll(/^ +- (\S+) \[([^\]]*)\]/gm)].map(
      ([, name, revisions]) => ({name, revisions: revisions.split(',')}));
}

function checksIn(folder) {
  const [results] = readdirSync(folder);
  const file = results && join(folder, results, 'checks.json');
  return file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

// A warning is a result that differs from "pass", too.
async function play(scenario, revision) {
  const folder = mkdtempSync(join(tmpdir(), 'belay-referee-'));
  try {
    const outcome = await run(process.execPath, [
      referee, 'client', '--command', `${process.env.PROGRAM} referee`, '--scenario', scenario,
      '--spec-version', revision, '--output-dir', folder,
    ]).then((done) => ({code: 0, ...done}), (failed) => failed);
    const faults = checksIn(folder).filter(
        ({status}) => status === 'FAILURE' || status === 'WARNING');
    const passes = outcome.code === 0 && faults.length === 0;
    return {result: passes ? 'pass' : 'fail', faults, outcome};
  } finally {
    rmSync(folder, {recursive: true, force: true});
  }
}

const scenarios = await listed();

test('every scenario of the referee has an expected result', () => {
  assert.ok(scenarios.length > 0);
  for (const {name, revisions} of scenarios) {
    const result = expectedOf(name);
    assert.ok(result, `client_results.mjs lacks ${name}`);
    if (typeof result === 'string') {
      assert.match(result, /^not applicable: ./);
    } else {
      assert.deepEqual(Object.keys(result).sort(), [...revisions].sort(), name);
    }
  }
});

for (const {name} of scenarios) {
  const results = expectedOf(name);
  if (typeof results !== 'object') continue;
  for (const [revision, result] of Object.entries(results)) {
    test(`${name} at ${revision}: ${result}`, {timeout: 120_000}, async () => {
      const played = await play(name, revision);
      assert.equal(played.result, result, JSON.stringify(played, null, 1));
    });
  }
}
