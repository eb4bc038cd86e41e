// The calls of tools of agents, in the streams of the SDK: the assistant, which calls them in a
// subgraph, and a goal. Their model is a scripted server with OpenAI's protocol.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Client } from "@langchain/langgraph-sdk";
import { Server } from "./server.mjs";

// The agents, and the names of the events of their tools.
const AGENTS = [
  ["assistant", /^tools\|answer:/],
  ["goal", /^tools$/],
];
const CALL = { name: "write_file", arguments: '{"path":"note.txt","text":"hello"}' };
let model;
let server;
let client;

// Requests one call, and answers when the conversation has its result.
function reply(request, response) {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    const { messages } = JSON.parse(body);
    // A goal shows its steps as a text.
    const has_result = messages.at(-1).role === "tool" || body.includes("Step 1:");
    const call = { index: 0, id: "call_1", type: "function", function: CALL };
    const delta = has_result ? { content: "It is written." } : { tool_calls: [call] };
    const send = (choice) =>
      response.write(
        `data: ${JSON.stringify({
          id: "c",
          object: "chat.completion.chunk",
          created: 1,
          model: "scripted",
          choices: [{ index: 0, ...choice }],
        })}\n\n`,
      );
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    send({ delta: { role: "assistant", ...delta }, finish_reason: null });
    send({ delta: {}, finish_reason: has_result ? "stop" : "tool_calls" });
    response.end("data: [DONE]\n\n");
  });
}

before(async () => {
  model = createServer(reply);
  await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));
  server = await Server.start({
    BELAY_MODEL: "openai:scripted",
    BELAY_MODEL_URL: `http://127.0.0.1:${model.address().port}/v1`,
  });
  client = new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } });
});
after(async () => {
  await server?.remove();
  model?.close();
});

async function collect(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

const input = { messages: [{ role: "user", content: "Write a note." }] };

for (const [agent, name_of_tools] of AGENTS) {
  test(`${agent}: the classic stream has the call and its result, after each cut`, async () => {
    const { thread_id: thread } = await client.threads.create();
    const options = { streamMode: ["tools", "events", "updates"], streamSubgraphs: true };
    const whole = await collect(client.runs.stream(thread, agent, { input, ...options }));
    const tools = whole.filter((each) => name_of_tools.test(each.event)).map((each) => each.data);
    assert.deepEqual(tools.map((each) => each.event), ["on_tool_start", "on_tool_end"]);
    assert.deepEqual(tools[0].input, JSON.parse(CALL.arguments));
    const events = whole.filter((each) => each.event === "events").map((each) => each.data);
    for (const name of ["on_chat_model_end", "on_tool_start", "on_tool_end", "on_chain_end"]) {
      assert.ok(events.some((each) => each.event === name), name);
    }
    const run = whole[0].data.run_id;
    for (let last = -1; last < whole.length; last++) {
      const rest = await collect(
        client.runs.joinStream(thread, run, { lastEventId: String(last), ...options }),
      );
      assert.deepEqual(rest, whole.slice(last + 1), `after ${last}`);
    }
  });

  test(`${agent}: the newer protocol has the call in a message, and its course`, async () => {
    const thread = client.threads.stream({ assistantId: agent });
    const calls = [];
    const opened = await thread.subscribe({ channels: ["tools", "messages", "lifecycle"] });
    const seen = [];
    const reading = (async () => {
      for await (const event of opened) {
        seen.push(event);
        const { data, namespace } = event.params;
        if (event.method === "tools") calls.push(data);
        const is_end = event.method === "lifecycle" && namespace.length === 0;
        if (is_end && data.event !== "running" && data.event !== "started") return;
      }
    })();
    await thread.run.start({ input });
    await reading;
    assert.deepEqual(calls.map((each) => each.event), ["tool-started", "tool-finished"]);
    const blocks = seen
      .filter((each) => each.params.data.event === "content-block-finish")
      .map((each) => each.params.data.content.type);
    assert.ok(blocks.includes("tool_call"), JSON.stringify(blocks));
    assert.ok(blocks.includes("text"), JSON.stringify(blocks));
    await thread.close();
  });
}
