// The graph `delay` of tests/conformance/graphs, for the reference server.

import { MessagesAnnotation, Annotation, END, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ ...MessagesAnnotation.spec, delay: Annotation() });

export const graph = new StateGraph(State)
  .addNode("work", async ({ delay }) => {
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    return { messages: [{ type: "ai", content: `finished after ${delay}ms` }] };
  })
  .addEdge(START, "work")
  .addEdge("work", END)
  .compile();
