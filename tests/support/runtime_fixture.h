#pragma once
// tests/support/runtime_fixture.h - test fixture with a mail agent, a simulated clock and a
// scripted model.

#include <gtest/gtest.h>

#include "belay/limits.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "tests/support/repeating_store.h"

namespace belay {

struct Mail {
  std::string topic{};
  std::string draft{};
  int rounds = 0;
  bool awaiting = false;
  bool approved = false;
};

struct SentMail {
  static constexpr std::string_view collection = "sent_mails";
  std::string thread{};
  std::string topic{};
  std::string text{};
  std::string key() const { return thread; }
  static auto indexed() { return std::tuple{&SentMail::topic}; }
};

inline Task<Update<Mail>> write_mail(const Mail& mail, Context& context) {
  auto draft = (co_await context.model().complete("Write about " + mail.topic)).value();
  co_return set(&Mail::draft, std::move(draft)).add(&Mail::rounds, 1);
}

inline Update<Mail> send_mail(const Mail& mail, Context& context) {
  SentMail sent;
  sent.thread = context.thread().text;
  sent.topic = mail.topic;
  sent.text = mail.draft;
  context.save(sent);
  context.outcome("sent");
  return unchanged<Mail>();
}

inline Graph<Mail> mail_graph() {
  GraphBuilder<Mail> graph{"mail"};
  graph.one_run_per_thread();
  graph.node("write", write_mail).retry({.attempts = 3}).timeout(std::chrono::milliseconds(30'000));
  graph.approval("review", &Mail::draft, {.question = "Send this mail?"})
      .when([](const Mail& mail) { return mail.topic.starts_with("urgent"); })
      .approved("send")
      .rejected(end)
      .pending_flag(&Mail::awaiting)
      .decision_flag(&Mail::approved);
  graph.node("send", send_mail);
  graph.edge(start, "write").edge("write", "review").edge("send", end);
  return std::move(graph).build().value();
}

// One or several processes, one after another or at the same time, with one store.
struct RuntimeFixture : ::testing::Test {
  testing::SimulatedClock clock{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random{7};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  // Calls every reader twice, as a store can do at any time.
  std::unique_ptr<Store> store = std::make_unique<RepeatingStore>(open_memory_store(clock, random));
  Graph<Mail> graph = mail_graph();
  std::vector<std::string> told;
  std::unique_ptr<Runtime> runtime = process();
  Instant began = clock.now();

  RuntimeFixture() {
    model.then_always([](const ModelRequest& request) {
      return "Dear " + request.messages.at(0).text.substr(12);
    });
  }

  std::unique_ptr<Runtime> process() {
    auto opened = Runtime::open(RuntimeParts{*store, loop, clock, random, model,
                                             [this](const ProgressEvent& event) { tell(event); }});
    auto made = std::move(opened).value();
    made->add(graph);
    return made;
  }

  Result<RunView> start_mail(std::string topic, StartOptions options = {}) {
    Mail mail;
    mail.topic = std::move(topic);
    return block_on(loop, runtime->start(graph, std::move(mail), std::move(options)));
  }

  static Decision approve(std::string by = "ana") {
    Decision decision;
    decision.approved = true;
    decision.decided_by = std::move(by);
    return decision;
  }
  static Decision reject(std::string by = "ana") {
    Decision decision = approve(std::move(by));
    decision.approved = false;
    return decision;
  }

  Result<DecisionResult> decide(const RunView& paused, Decision decision) {
    return block_on(
        loop, runtime->decide(default_tenant(), paused.approval->interrupt, std::move(decision)));
  }

  std::vector<RunRow> all_runs() {
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [](Snapshot& view) {
      RunFilter filter;
      filter.tenant = default_tenant();
      filter.limit = limits::list_rows_max;
      return view.runs(filter);
    };
    return block_on(loop, read<std::vector<RunRow>>(*store, std::move(reader))).value();
  }

  // Returns the bodies of the commits' own events of this type.
  std::vector<Value> event_bodies(const RunId& run, const std::string& type) {
    std::function<Result<std::vector<EventRow>>(Snapshot&)> reader = [run](Snapshot& view) {
      EventFilter filter;
      filter.tenant = default_tenant();
      filter.run = run;
      return view.events(filter);
    };
    std::vector<Value> bodies;
    auto rows = block_on(loop, read<std::vector<EventRow>>(*store, std::move(reader)));
    for (const EventRow& row : rows.value()) {
      if (row.type == type) bodies.push_back(parse_json(row.body).value());
    }
    return bodies;
  }

  void tell(const ProgressEvent& event) {
    if (event.kind == ProgressEvent::Kind::task_finished) return;
    static constexpr std::string_view names[] = {"started", "finished", "attempt_failed", "paused",
                                                 "decided", "ended",    "released"};
    told.push_back(std::string(names[static_cast<int>(event.kind)]) + " " + event.node + " " +
                   std::to_string(event.attempt));
  }
};

}  // namespace belay
