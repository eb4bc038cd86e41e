// Chats with React hooks of LangGraph in a headless Chromium, from another origin than the server:
// a message, an interrupt, a page that is loaded again, a server that is killed, an approval; and
// replies that are streamed, which no rendering shows twice.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { HARD_DAY, Server } from "./server.mjs";

const { Browser, findBrowser } = await import(process.env.BROWSER);
const program = findBrowser();
const TIME = 30_000;
let pages;
let server;
let browser;

async function bundleOf(page) {
  const result = await build({
    entryPoints: [page],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  return result.outputFiles[0].text;
}

async function servePages(names) {
  const scripts = new Map();
  for (const name of names) scripts.set("/" + name, await bundleOf("./" + name));
  const site = createServer((request, response) => {
    const path = new URL(request.url, "http://page").pathname;
    const script = scripts.get(path);
    response.setHeader("content-type", script ? "text/javascript" : "text/html; charset=utf-8");
    const source = path.replace(/\.html$/, ".mjs");
    response.end(
      script ?? `<!doctype html><div id="page"></div><script type="module" src="${source}"></script>`,
    );
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  return { site, origin: "http://127.0.0.1:" + site.address().port };
}

// Waits until the page has an element whose text contains the text.
async function shows(selector, text = "") {
  const until = Date.now() + TIME;
  while (Date.now() < until) {
    const found = await browser.call(
      (chosen) => [...document.querySelectorAll(chosen)].map((each) => each.textContent),
      selector,
    );
    if (found.some((each) => each.includes(text))) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const body = await browser.call(() => document.body.innerHTML);
  const log = browser.events.filter((each) => /exceptionThrown|entryAdded/.test(each.method));
  return assert.fail(`no ${selector} with "${text}": ${body}\n${JSON.stringify(log).slice(0, 4000)}`);
}
const click = (selector) =>
  browser.call((chosen) => document.querySelector(chosen).click(), selector);

before(async () => {
  if (!program) return;
  pages = await servePages(["classic_page.mjs", "protocol_page.mjs"]);
  server = await Server.start("--cors-origin", pages.origin);
});
after(async () => {
  pages?.site.close();
  await server?.remove();
});

for (const [page, more] of [
  ["classic_page", ""],
  ["protocol_page", ""],
  ["protocol_page", "&transport=websocket"],
]) {
  test(`${page}${more}: a chat is continued in a page that is loaded again`, {
    skip: program ? false : "no Chromium: apt-get install chromium-headless-shell",
  }, async () => {
    browser = await Browser.start(program);
    try {
      const query = `api=${encodeURIComponent(server.url)}&agent=daily_auditor&text=${HARD_DAY}`;
      const url = `${pages.origin}/${page}.html?${query}${more}`;
      await browser.open(url);
      await shows("#say");
      await click("#say");
      await shows("#approve");
      assert.equal((await shows(".human", HARD_DAY)).length, 1, "the message of the page, once");
      await server.restart();
      await browser.open(url);
      await shows(".human", HARD_DAY);
      await shows("#approve");
      await click("#approve");
      await shows(".ai");
      await shows("#state", "idle");
      const faults = await browser.call(() => document.querySelector("#error")?.textContent ?? "");
      assert.equal(faults, "");
    } finally {
      await browser.close();
    }
  });
}

// A model with OpenAI's protocol that answers in words: first with a call of a tool, if the request
// has tools, then about its result.
async function serveModel() {
  const model = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", async () => {
      const { messages, tools } = JSON.parse(body);
      // A goal: a step with a call, one without, and the summary.
      const isPlanned = JSON.stringify(messages).includes("Step 1:");
      const hasResult = !tools || isPlanned || messages.at(-1).role === "tool";
      const answer = REPLIES[isPlanned && !tools ? 2 : 1];
      const canFindOrders = tools?.some((each) => each.function.name === FIND_ORDER.name);
      const call = canFindOrders ? FIND_ORDER : WRITE_FILE;
      const words = (hasResult ? answer : REPLIES[0]).match(/\S+ ?/g);
      const send = (choice) => {
        const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "scripted" };
        const data = JSON.stringify({ ...chunk, choices: [{ index: 0, ...choice }] });
        response.write(`data: ${data}\n\n`);
      };
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      for (const content of words) {
        send({ delta: { role: "assistant", content }, finish_reason: null });
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
      const calls = [{ index: 0, id: "call_1", type: "function", function: call }];
      if (!hasResult) send({ delta: { tool_calls: calls }, finish_reason: null });
      send({ delta: {}, finish_reason: hasResult ? "stop" : "tool_calls" });
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));
  return model;
}
const FIND_ORDER = { name: "find_order", arguments: '{"number":"A-17"}' };
const WRITE_FILE = { name: "write_file", arguments: '{"path":"note.txt","text":"hello"}' };
const REPLIES = [
  "Let me look at this order first.",
  "It was delivered to you yesterday, a lamp.",
  "The order has been found, and its lamp is yours.",
];

// True if a text is the beginning of another one, or equals it.
const showsTwice = (texts) =>
  texts.some((one, i) => texts.some((other, j) => i !== j && other.startsWith(one)));

// `least`: different texts that the renderings have shown.
async function expectOnce(api, agent, page, more, last, least) {
  browser = await Browser.start(program);
  try {
    const query = `api=${encodeURIComponent(api)}&agent=${agent}&text=hello`;
    await browser.open(`${pages.origin}/${page}.html?${query}${more}`);
    await shows("#say");
    await click("#say");
    await shows(".ai", last);
    await shows("#state", "idle");
    const shown = await browser.call(() => window.shown);
    const twice = shown.filter(showsTwice);
    assert.deepEqual(twice, []);
    const messages = await browser.call(() =>
      [...document.querySelectorAll("p")].map((each) => [each.className, each.textContent]));
    assert.deepEqual(messages.filter(([type]) => type === "human"), [["human", "hello"]]);
    assert.deepEqual(messages.filter(([type, text]) => type === "ai" && !text), []);
    const parts = new Set(shown.flat());
    assert.ok(parts.size >= least, "as they were streamed: " + JSON.stringify([...parts]));
  } finally {
    await browser.close();
  }
}

for (const [page, more] of [
  ["classic_page", ""],
  ["protocol_page", ""],
  ["protocol_page", "&transport=websocket"],
]) {
  test(`${page}${more}: no reply is shown twice at any moment`, {
    skip: program ? false : "no Chromium: apt-get install chromium-headless-shell",
  }, async () => {
    const model = await serveModel();
    const cors = ["--cors-origin", pages.origin];
    const graphs = await Server.start("--graphs", "conformance", ...cors);
    const variables = {
      BELAY_MODEL: "openai:scripted",
      BELAY_MODEL_URL: `http://127.0.0.1:${model.address().port}/v1`,
    };
    const withoutTools = { ...variables, BELAY_ASSISTANT_FILES: undefined };
    const talks = await Server.start(withoutTools, ...cors);
    const tools = await Server.start(variables, ...cors);
    const desk = { PROGRAM: process.env.HELPDESK, ...variables };
    const helpdesk = process.env.HELPDESK ? await Server.start(desk, ...cors) : undefined;
    try {
      await expectOnce(graphs.url, "agent", page, more, "end", 2);
      // Its words are those of a subgraph, which a chat does not show.
      await expectOnce(talks.url, "assistant", page, more, REPLIES[1], 1);
      await expectOnce(tools.url, "assistant", page, more, REPLIES[1], 1);
      await expectOnce(tools.url, "goal", page, more, REPLIES[2], 12);
      if (helpdesk) await expectOnce(helpdesk.url, "helpdesk", page, more, REPLIES[1], 6);
    } finally {
      await helpdesk?.remove();
      await tools.remove();
      await talks.remove();
      await graphs.remove();
      model.close();
    }
  });
}
