#pragma once
// tests/support/event_fixture.h - test fixture with event readers and a run that has events of
// every kind.

#include <gtest/gtest.h>

#include "tests/support/superstep_fixture.h"

namespace belay {

inline std::string text_of(const StreamEvent& event) { return to_json(to_value(event)); }
inline std::vector<std::string> texts_of(const std::vector<StreamEvent>& events) {
  std::vector<std::string> texts;
  for (const StreamEvent& event : events) texts.push_back(text_of(event));
  return texts;
}

// Returns all events that the reader returns before an empty page.
inline Task<std::vector<StreamEvent>> read_to_end(Runtime& runtime, EventOptions options) {
  std::vector<StreamEvent> all;
  auto reader = co_await runtime.events(std::move(options));
  if (!reader.ok()) {
    ADD_FAILURE() << reader.error().message;
    co_return std::move(all);
  }
  while (true) {
    auto some = co_await (*reader)->next();
    if (!some.ok()) ADD_FAILURE() << some.error().message;
    if (!some.ok() || some->empty()) break;
    for (StreamEvent& event : *some) all.push_back(std::move(event));
  }
  co_return std::move(all);
}

struct Events : Supersteps {
  struct Chapter {
    std::string title{};
    std::vector<std::string> lines{};
  };

  static EventOptions options(std::vector<EventKind> kinds = {}, bool follow = false) {
    EventOptions options;
    options.thread = ThreadId("t");
    options.kinds = std::move(kinds);
    options.follow = follow;
    return options;
  }
  static StartOptions on_thread(RunOptions run = {}) {
    StartOptions options;
    options.thread = ThreadId("t");
    options.run = run;
    return options;
  }
  std::vector<StreamEvent> read_now(Runtime& runtime, EventOptions wanted = options()) {
    return block_on(loop, read_to_end(runtime, std::move(wanted)));
  }
  static std::vector<StreamEvent> durable(std::vector<StreamEvent> events) {
    std::erase_if(events, [](const StreamEvent& event) { return !event.id; });
    return events;
  }
  // Returns "kind node event" for each event.
  static std::vector<std::string> outline(const std::vector<StreamEvent>& events) {
    std::vector<std::string> lines;
    for (const StreamEvent& event : events) {
      std::string line(name_of(event.kind));
      if (!event.node.empty()) line += " " + event.node;
      if (const std::string* what = event.body["event"].as_string()) line += " " + *what;
      if (const std::string* status = event.body["status"].as_string()) line += " " + *status;
      if (!event.checkpoint_ns.empty()) line += " inside";
      lines.push_back(std::move(line));
    }
    return lines;
  }

  // Follows the thread's events; its run must exist.
  struct Following {
    std::vector<StreamEvent> events;
    bool ended = false;
    Spawned task;
  };
  void follow(Runtime& runtime, Following& into, EventOptions wanted = options({}, true)) {
    std::function<void(std::vector<StreamEvent>)> done = [&into](std::vector<StreamEvent> events) {
      into.events = std::move(events);
      into.ended = true;
    };
    into.task = spawn<std::vector<StreamEvent>>(loop, read_to_end(runtime, std::move(wanted)),
                                                std::move(done));
  }

  // A superstep with a slow node, a node that streams and fails once, a subgraph with an approval,
  // and a node with an interrupt; then a lone approval, and one more node.
  Graph<Plan> everything() {
    GraphBuilder<Chapter> chapter{"chapter"};
    chapter.node("open", [](const Chapter& c, Context&) {
      return append(&Chapter::lines, "open " + c.title);
    });
    chapter.approval("keep", &Chapter::title, {.question = "Keep it?"})
        .approved("close")
        .rejected(end);
    chapter.node("close",
                 [](const Chapter&, Context&) { return append(&Chapter::lines, "close"); });
    chapter.edge(start, "open").edge("open", "keep").edge("close", end);
    auto inner = std::move(chapter).build().value();

    GraphBuilder<Plan> graph{"everything"};
    graph.node("split", [](const Plan&, Context& context) {
      context.emit("began", Value("here"));
      return append(&Plan::log, "split").set(&Plan::title, "a plan");
    });
    graph.node("slow", logs_after("slow", 30ms));
    graph
        .node("flaky",
              [](const Plan&, Context& context) -> Task<Result<Update<Plan>>> {
                context.stream("try " + std::to_string(context.attempt()));
                co_await sleep_for(5ms);
                if (context.attempt() == 1) co_return error(ErrorCode::unavailable, "It is away.");
                co_return append(&Plan::log, "flaky");
              })
        .retry({.attempts = 2, .base = 100ms});
    graph.subgraph(
        "inside", inner, [](const Plan& plan) { return Chapter{plan.title}; },
        [](const Chapter& c) { return add(&Plan::total, static_cast<int>(c.lines.size())); });
    graph.node("ask", [](const Plan&, Context& context) {
      InterruptRequest question;
      question.name = "more";
      question.text = "More?";
      question.payload = Value(7);
      bool more = context.interrupt(std::move(question)).approved;
      return merge(&Plan::sizes, "more", more ? 1 : 0);
    });
    graph.approval("review", &Plan::title, {.question = "Is it right?"})
        .approved("last")
        .rejected(end);
    graph.node("last", logs("last"));
    graph.edge(start, "split").edge("last", end);
    for (std::string name : {"slow", "flaky", "inside", "ask"}) {
      graph.edge("split", name).edge(name, "review");
    }
    return built(std::move(graph));
  }

  std::vector<ApprovalRow> open_questions() {
    std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [](Snapshot& view) {
      ApprovalFilter filter;
      filter.tenant = default_tenant();
      filter.only_open = true;
      return view.approvals(filter);
    };
    return block_on(loop, read<std::vector<ApprovalRow>>(store, std::move(reader))).value();
  }

  // Runs the graph to its end, and approves every request.
  RunView play(Runtime& runtime, const Graph<Plan>& graph, RunOptions run = {}) {
    auto view = block_on(loop, runtime.start(graph, Plan{}, on_thread(run))).value();
    while (view.row.status == RunStatus::paused) {
      Decision decision;
      decision.approved = true;
      decision.decided_by = "ana";
      InterruptId asked = open_questions().front().interrupt;
      view = block_on(loop, runtime.decide(default_tenant(), asked, decision)).value().view;
    }
    EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
    return view;
  }
};

}  // namespace belay
