// Runs the Cypher file of an analysis on kuzu, twice, and compares the stored graph with the rows
// that it was written from. $PROGRAM is write_graph.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

const folder = join(process.cwd(), "node_modules", "kuzu");

const print = (...words) => execFileSync(process.env.PROGRAM, words, { encoding: "utf8" });
const expected = JSON.parse(print("rows"));

// The number of nodes, or of relations, of each table of the sample.
const counts = {
  Company: 2, Filing: 4, FiscalYear: 2, Specialist: 7, Analysis: 1, Metric: 14, Finding: 2,
  FILED: 3, HAS_YEAR: 2, ANALYZES: 1, COMPARED_WITH: 1, READS: 4, RAN: 7, HAS_METRIC: 14,
  HAS_FINDING: 2, MEASURED_IN: 13, COMPUTED_BY: 14, USES: 7, FOUND_IN: 2, REPORTED_BY: 2,
  BASED_ON: 1, QUOTES: 1,
};

let kuzu;

// The installation of the packages ran no scripts: the script of kuzu copies the library for this
// machine and the modules from the sources, which have 400 MB and are not needed after it.
function prepare_engine() {
  const sources = join(folder, "kuzu-source");
  if (!existsSync(sources)) return;
  const engine = join(folder, "prebuilt", `kuzujs-${process.platform}-${process.arch}.node`);
  assert.ok(existsSync(engine), "kuzu has a library for this machine");
  execFileSync(process.execPath, ["install.js"], { cwd: folder, stdio: "ignore" });
  renameSync(sources, sources + ".done");
  rmSync(sources + ".done", { recursive: true });
}

before(async () => {
  prepare_engine();
  kuzu = (await import("kuzu")).default;
});

// Returns the rows of the last statement of the text. The results are closed here, the last first:
// the first one owns the memory of all, and the process crashes when the garbage collector frees
// a result after its connection or database (https://github.com/kuzudb/kuzu/issues/5881).
async function rows(connection, text) {
  const results = [await connection.query(text)].flat();
  const found = await results.at(-1).getAll();
  for (const result of results.reverse()) result.close();
  return found;
}

// Runs `use` with a connection to an empty database, and closes both after it, in that order.
async function with_empty_database(use) {
  const database = new kuzu.Database(":memory:");
  const connection = new kuzu.Connection(database);
  try {
    await use(connection);
  } finally {
    await connection.close();
    await database.close();
  }
}

// A test whose function gets a connection to an empty database.
const test_of_graph = (name, use) => test(name, () => with_empty_database(use));

// The members of a stored node without those of the engine.
function properties(stored) {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !name.startsWith("_")));
}

async function stored(connection, table) {
  if ("key" in expected[table][0]) {
    const nodes = await rows(connection, `MATCH (n:${table}) RETURN n`);
    return nodes.map(({ n }) => properties(n));
  }
  const found = await rows(
    connection,
    `MATCH (a)-[r:${table}]->(b) RETURN a.key AS source, b.key AS target, r`,
  );
  return found.map(({ source, target, r }) => ({ source, target, ...properties(r) }));
}

const sorted = (list) =>
  list.map((row) => JSON.stringify(Object.entries(row).sort())).sort();

async function compare(connection, claim) {
  assert.deepEqual(Object.keys(expected).sort(), Object.keys(counts).sort());
  for (const [table, count] of Object.entries(counts)) {
    const found = await stored(connection, table);
    assert.equal(found.length, count, `${claim}: ${table}`);
    assert.deepEqual(sorted(found), sorted(expected[table]), `${claim}: ${table}`);
  }
}

async function one(connection, statement) {
  const found = await rows(connection, statement);
  assert.equal(found.length, 1, statement);
  return Object.values(found[0])[0];
}

for (const size of [1, 3, 500]) {
  test_of_graph(`the file can run again, ${size} rows at a time`, async (connection) => {
    const file = print("cypher", String(size));
    await rows(connection, file);
    await compare(connection, "once");
    await rows(connection, file);
    await compare(connection, "twice");
  });
}

test_of_graph("another analysis of the same date updates the nodes", async (connection) => {
  await rows(connection, print("cypher", "500", "another"));
  assert.equal(await one(connection, "MATCH (n:Analysis) RETURN n.analysis_id"), "another");
  await rows(connection, print("cypher"));
  await compare(connection, "after another analysis");
});

test_of_graph("texts and numbers are exact", async (connection) => {
  await rows(connection, print("cypher"));
  const value = (metric) =>
    one(connection, `MATCH (n:Metric) WHERE n.metric = '${metric}' RETURN n.value`);
  assert.equal(await value("gross_margin"), 0.4690516410716045);
  assert.equal(await value("total_debt"), 90678000000);
  assert.equal(await value("interest_coverage"), null);
  assert.equal(await value("number_2"), 1e300);
  assert.equal(await value("number_3"), 5e-324);
  assert.equal(await value("number_4"), 1.7976931348623157e308);
  assert.equal(
    await one(connection, "MATCH (n:Finding) WHERE n.item = '9A' RETURN n.quote"),
    "It's \"not effective\" \\u0041 \\ \\' // ;\n\ttab\r\n$x `y` {z} \u00e9 \u{1f600}",
  );
  const why = "MATCH (n:Metric) WHERE n.metric = 'interest_coverage' RETURN n.not_available";
  assert.equal(await one(connection, why), "missing_input: interest_expense");
});

test_of_graph("a finding leads to the facts behind it", async (connection) => {
  await rows(connection, print("cypher"));
  const found = await rows(
    connection,
    `MATCH (c:Company)<-[:ANALYZES]-(:Analysis)-[:HAS_FINDING]->(f:Finding)-[:BASED_ON]->
           (:Metric)-[u:USES]->(filing:Filing)
     RETURN c.ticker AS ticker, f.code AS code, u.facts AS facts, filing.accn AS accn`,
  );
  assert.deepEqual(found, [
    {
      ticker: "AAPL",
      code: "low_current_ratio",
      facts:
        "GrossProfit 2024-09-29 2025-09-27 195201000000\n" +
        "Revenues 2024-09-29 2025-09-27 416161000000",
      accn: "0000320193-25-000079",
    },
  ]);
});
