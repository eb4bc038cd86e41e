// Prints medians over the rounds as a Markdown table: node table.mjs RESULTS
import fs from 'node:fs';

const rows = fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean).map(JSON.parse);
const systems = [...new Set(rows.map((row) => row.system))];

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
const of = (system, inFlight, figure) => median(rows
  .filter((row) => row.system === system && (!inFlight || row.in_flight === inFlight))
  .map((row) => row[figure]));
const round = (number) => Math.round(number).toLocaleString('en-US');
// Returns the ratio of Belay's durable nodes per second to those of another system.
const slower = (system, inFlight) =>
  (of('Belay', inFlight, 'nodes_per_second') / of(system, inFlight, 'nodes_per_second')).toFixed(1);

if (systems.includes('Belay')) {
  console.log(`The disk takes ${round(of('Belay', 0, 'appends'))} appends of 8 KB with fdatasync `
    + 'a second.\n');
}
console.log('| | durable is | nodes/s, 1 run | nodes/s, 64 runs | CPU us a node, 1 run '
  + '| CPU us a node, 64 runs | Belay\'s rate / its, 1 run | 64 runs | rounds | others\' load |');
console.log('|---|---|---|---|---|---|---|---|---|---|');
for (const system of systems) {
  const own = rows.filter((row) => row.system === system);
  const cells = [
    system, own[0].durability,
    round(of(system, 1, 'nodes_per_second')), round(of(system, 64, 'nodes_per_second')),
    round(of(system, 1, 'cpu_us')), round(of(system, 64, 'cpu_us')),
    slower(system, 1), slower(system, 64),
    own.length / 2, of(system, 0, 'other_load').toFixed(2),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}
