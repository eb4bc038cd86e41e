// Belay: one round of postgres_bench, which starts its own PostgreSQL with the same settings.
//   node belay.mjs --program=build/release/bench/postgres_bench
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { machineTime, options, report } from './work.mjs';

const ticksPerSecond = 100;
// Returns the processor time of the processes that this one has waited for, and of their children.
function childrenTime() {
  const line = fs.readFileSync('/proc/self/stat', 'utf8');
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ').slice(13, 15);
  return fields.reduce((ticks, field) => ticks + Number(field), 0) / ticksPerSecond;
}

const before = { all: machineTime(), used: childrenTime() };
const parameters = ['--rounds=1', '--max-wait=0'];
if (process.env.BENCH_DIRECTORY) parameters.push(`--directory=${process.env.BENCH_DIRECTORY}`);
const done = spawnSync(options.program, parameters, { encoding: 'utf8' });
if (done.status !== 0) throw new Error(`${options.program}: ${done.error ?? done.stderr}`);
const all = machineTime();
const others = all.busy - before.all.busy - (childrenTime() - before.used);

const rows = done.stdout.split('\n').filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
const cell = (row, heading) => {
  const column = rows[0].findIndex((name) => name.startsWith(heading));
  if (column < 0) throw new Error(`postgres_bench prints no column "${heading}"`);
  return Number(row[column]);
};
for (const [start, inFlight] of [['one run alone', 1], ['64 runs', 64]]) {
  const row = rows.find((cells) => cells[0].startsWith(start));
  if (!row) throw new Error(`postgres_bench prints no row "${start}"`);
  report({
    system: 'Belay',
    durability: 'each step before the next begins',
    in_flight: inFlight,
    nodes_per_second: cell(row, 'Belay, nodes/s'),
    cpu_us: cell(row, 'Belay, CPU'),
    other_load: Math.max(0, others) / (all.all - before.all.all),
    appends: cell(row, '8 KB append'),
  });
}
