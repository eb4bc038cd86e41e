// A chat over `useStream` of the SDK, as an application has it. The address of the API is in the
// page's query.

import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";
import { useStream } from "@langchain/langgraph-sdk/react";

const query = new URLSearchParams(location.search);
window.shown = []; // the texts of the agent's messages, as each rendering has shown them

function Chat() {
  const [threadId, setThread] = useState(() => sessionStorage.getItem("thread"));
  const stream = useStream({
    apiUrl: query.get("api"),
    assistantId: query.get("agent"),
    threadId,
    onThreadId: (id) => {
      sessionStorage.setItem("thread", id);
      setThread(id);
    },
    reconnectOnMount: true,
    fetchStateHistory: true,
  });
  const say = (content) => stream.submit({ messages: [{ type: "human", content }] });
  const replies = stream.messages.filter((each) => each.type === "ai" && each.content);
  window.shown.push(replies.map((each) => each.content));
  const approve = () => stream.submit(undefined, { command: { resume: { type: "accept" } } });
  return h("main", null,
    stream.messages.map((each) => h("p", { key: each.id, className: each.type }, each.content)),
    h("output", { id: "state" }, stream.isLoading ? "loading" : "idle"),
    stream.error && h("output", { id: "error" }, String(stream.error)),
    stream.interrupt && h("button", { id: "approve", onClick: approve }, "Approve"),
    h("button", { id: "say", onClick: () => say(query.get("text")) }, "Send"));
}

createRoot(document.getElementById("page")).render(h(Chat));
