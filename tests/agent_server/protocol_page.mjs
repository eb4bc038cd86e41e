// The same chat over `useStream` of @langchain/react, which uses the newer streaming protocol.

import { createElement as h, useState } from "react";
import { createRoot } from "react-dom/client";
import { useStream } from "@langchain/react";

const query = new URLSearchParams(location.search);
window.shown = []; // the texts of the agent's messages, as each rendering has shown them

function Chat() {
  const [threadId, setThread] = useState(() => sessionStorage.getItem("thread"));
  const stream = useStream({
    apiUrl: query.get("api"),
    assistantId: query.get("agent"),
    threadId,
    transport: query.get("transport") ?? "sse",
    onThreadId: (id) => {
      sessionStorage.setItem("thread", id);
      setThread(id);
    },
  });
  const say = (content) => stream.submit({ messages: [{ type: "human", content }] });
  const replies = stream.messages.filter((each) => each.getType() === "ai" && each.text);
  window.shown.push(replies.map((each) => each.text));
  const approve = () => stream.respond({ type: "accept" });
  return h("main", null,
    stream.messages.map((each) => h("p", { key: each.id, className: each.getType() }, each.text)),
    h("output", { id: "state" }, stream.isLoading ? "loading" : "idle"),
    stream.error && h("output", { id: "error" }, String(stream.error)),
    stream.interrupt && h("button", { id: "approve", onClick: approve }, "Approve"),
    h("button", { id: "say", onClick: () => say(query.get("text")) }, "Send"));
}

createRoot(document.getElementById("page")).render(h(Chat));
