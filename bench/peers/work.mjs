// The workload of all systems and its measurement: ten nodes in a line that count, over a state of
// about 1 KB; 1 run at a time, and 64 in flight.
import fs from 'node:fs';

export const options = Object.fromEntries(process.argv.slice(2).map((argument) => {
  const [name, value] = argument.replace(/^--/, '').split('=');
  return [name, value];
}));

export const nodesPerRun = 10;
const seconds = Number(options.seconds ?? 8);
const runsBefore = 20;
const inFlight = [1, 64];
// Process id of the server that the programs are given, or start.
const serverOf = () => Number(process.env.BENCH_POSTGRES_PID ?? 0);
export const postgresUrl = process.env.BENCH_POSTGRES_URL;

export const state = () => ({
  counter: 0,
  title: 'A page of a diary',
  tags: ['alpha', 'beta', 'gamma', 'delta'],
  items: Array.from({ length: 8 }, (_, i) =>
    ({ id: i, name: `item-${i}`, score: i * 1.5, note: 'n'.repeat(40) })),
  text: 'lorem ipsum dolor sit amet '.repeat(8),
});
export const counted = (page) => ({ ...page, counter: page.counter + 1 });
export function check(page) {
  if (page.counter !== nodesPerRun) throw new Error(`a run ended with ${JSON.stringify(page)}`);
}

const ticksPerSecond = 100;

// After the name: state, parent, ..., utime (12th), stime, and those of ended children.
function processFields(pid) {
  try {
    const line = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;  // it has ended
  }
}

// Returns the processor seconds of a process, its live descendants, and its children that have
// ended.
export function processorTime(pid) {
  if (!pid) return 0;
  const children = new Map();
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = processFields(name)?.[1];
    if (parent) children.set(parent, [...(children.get(parent) ?? []), name]);
  }
  let ticks = 0;
  const left = [String(pid)];
  while (left.length > 0) {
    const next = left.pop();
    const fields = processFields(next) ?? [];
    for (const field of fields.slice(11, next === String(pid) ? 15 : 13)) ticks += Number(field);
    left.push(...(children.get(next) ?? []));
  }
  return ticks / ticksPerSecond;
}

// Returns the seconds in which cores were busy or their time was stolen by the host, and the total.
export function machineTime() {
  const [user, nice, system, idle, wait, interrupts, soft, steal] =
    fs.readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/).slice(1).map(Number);
  const busy = user + nice + system + interrupts + soft + steal;
  return { busy: busy / ticksPerSecond, all: (busy + idle + wait) / ticksPerSecond };
}

export function report(row) {
  console.log(JSON.stringify(row));
}

async function load(oneRun, atATime, name) {
  let runs = 0;
  const began = performance.now();
  const ends = began + seconds * 1000;
  await Promise.all(Array.from({ length: atATime }, async () => {
    while (performance.now() < ends) await oneRun(`${name}-${runs++}`);
  }));
  return { runs, seconds: (performance.now() - began) / 1000 };
}

// Measures `oneRun`, which is called with a different name each time.
export async function measure(system, durability, oneRun, server = serverOf()) {
  for (let i = 0; i < runsBefore; i++) await oneRun(`before-${process.pid}-${i}`);
  for (const atATime of inFlight) {
    const before = { own: process.cpuUsage(), server: processorTime(server), all: machineTime() };
    const { runs, seconds: taken } = await load(oneRun, atATime, `${process.pid}-${atATime}`);
    const own = process.cpuUsage(before.own);
    const used = (own.user + own.system) / 1e6 + processorTime(server) - before.server;
    const all = machineTime();
    const nodes = runs * nodesPerRun;
    report({
      system,
      durability,
      in_flight: atATime,
      nodes_per_second: nodes / taken,
      cpu_us: (used / nodes) * 1e6,
      other_load: Math.max(0, all.busy - before.all.busy - used) / (all.all - before.all.all),
    });
  }
}
