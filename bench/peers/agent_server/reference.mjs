// The reference server on $PORT, with the graph `delay` of this folder.

import { startServer } from "@langchain/langgraph-api/server";

await startServer({
  port: Number(process.env.PORT),
  nWorkers: Number(process.env.WORKERS),
  host: "127.0.0.1",
  cwd: import.meta.dirname,
  graphs: { delay: "./delay_graph.mjs:graph" },
});
