// LangGraph.js with its PostgreSQL checkpointer.
//   node langgraph.mjs --durability=sync|async [--seconds=N]
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { check, measure, nodesPerRun, options, postgresUrl, state } from './work.mjs';

const durability = options.durability ?? 'sync';
const schema = `langgraph_${process.pid}`;
const connections = new pg.Pool({ connectionString: postgresUrl, max: 10 });
const checkpointer = new PostgresSaver(connections, undefined, { schema });
await checkpointer.setup();

// One channel for each member, as its users write it.
const Page = Annotation.Root({
  counter: Annotation(), title: Annotation(), tags: Annotation(), items: Annotation(),
  text: Annotation(),
});
const builder = new StateGraph(Page);
for (let i = 1; i <= nodesPerRun; i++) {
  builder.addNode(`node${i}`, (page) => ({ counter: page.counter + 1 }));
  builder.addEdge(i === 1 ? START : `node${i - 1}`, `node${i}`);
}
const graph = builder.addEdge(`node${nodesPerRun}`, END).compile({ checkpointer });

const what = durability === 'sync'
  ? 'each step before the next begins'
  : 'each step while the next one runs';
await measure(`LangGraph.js, ${durability}`, what, async (name) => {
  check(await graph.invoke(state(), { configurable: { thread_id: name }, durability }));
});
await connections.query(`DROP SCHEMA ${schema} CASCADE`);
await connections.end();
