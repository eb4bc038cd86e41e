// Tests hints between processes: they only save time; results do not depend on them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/event_fixture.h"
#include "worker/composite_notifier.h"

namespace belay {
namespace {

using ::testing::ElementsAre;

// Hints between the processes of one test, which can lose and change messages.
class TestHints final : public WorkNotifier, public Broadcast {
 public:
  void notify(std::string_view queue) override {
    ++notified;
    for (const auto& [id, each] : sleepers_) {
      if (each.first == queue) each.second();
    }
  }
  Subscription subscribe(std::string_view queue, std::function<void()> called) override {
    sleepers_[++last_] = {std::string(queue), std::move(called)};
    return left_at_end(sleepers_, nullptr);
  }
  void publish(std::string_view channel, std::string text) override {
    if (change) change(text);
    for (const auto& [id, each] : listeners_) {
      if (each.first == channel && !text.empty()) each.second(text);
    }
  }
  Subscription subscribe(std::string_view channel,
                         std::function<void(std::string)> heard) override {
    listeners_[++last_] = {std::string(channel), std::move(heard)};
    return left_at_end(listeners_, this);
  }

  int notified = 0;
  std::function<void(std::string&)> change;  // a message that becomes empty is lost

 private:
  // The pointer of a subscription is not used, and can be null.
  template <typename All>
  Subscription left_at_end(All& all, TestHints* pointed_to) {
    return Subscription(pointed_to, [&all, id = last_](void*) { all.erase(id); });
  }
  int last_ = 0;
  std::map<int, std::pair<std::string, std::function<void()>>> sleepers_;
  std::map<int, std::pair<std::string, std::function<void(std::string)>>> listeners_;
};

struct HintsOfOthers : Events {
  TestHints told;
  int threads = 0;

  HintsOfOthers() {
    hints.work_notifier = &told;
    hints.broadcast = &told;
  }
  Graph<Plan> says(std::vector<std::string> words, std::chrono::milliseconds each = 150ms) {
    GraphBuilder<Plan> graph{"says"};
    graph.node("say", [words, each](const Plan&, Context& context) -> Task<Update<Plan>> {
      for (const std::string& word : words) {
        context.stream(word);
        co_await sleep_for(each);
      }
      co_return append(&Plan::log, "said");
    });
    graph.edge(start, "say").edge("say", end);
    return built(std::move(graph));
  }
  // Returns the text that a reader in another process receives from a run that streams these words.
  std::vector<std::string> heard_elsewhere(const std::vector<std::string>& words) {
    return heard_elsewhere(says(words));
  }
  std::vector<std::string> heard_elsewhere(const Graph<Plan>& graph) {
    StartOptions begin;
    begin.thread = ThreadId("t" + std::to_string(++threads));
    EventOptions wanted = options({}, true);
    wanted.thread = begin.thread;
    auto runtime = process(graph);
    auto other = process(graph);
    Spawned running;
    loop.post([&] {
      running = spawn<Result<RunView>>(loop, runtime->start(graph, Plan{}, begin),
                                       [](const Result<RunView>&) {});
    });
    loop.run_until(clock.now() + 1ms);
    Following following;
    loop.post([&] { follow(*other, following, wanted); });
    loop.run();
    std::vector<std::string> lines;
    for (const StreamEvent& event : following.events) {
      if (event.kind != EventKind::messages) continue;
      lines.push_back(std::to_string(event.attempt) + "@" + std::to_string(event.offset) + " " +
                      *event.body["text"].as_string() + (event.id ? " for good" : ""));
    }
    return lines;
  }
};

TEST_F(HintsOfOthers, AWorkerThatIsToldOfARunDoesNotWaitForItsNextLook) {
  for (bool is_told : {false, true}) {
    hints.work_notifier = is_told ? &told : nullptr;
    auto graph = says({"a"}, 1ms);
    auto client = process(graph);
    auto worker = process(graph);
    WorkerOptions work;
    work.poll_interval = 60s;
    Spawned working;
    loop.post([&] {
      working = spawn<Result<std::size_t>>(loop, worker->run_worker(work),
                                           [](const Result<std::size_t>&) {});
    });
    loop.run_until(clock.now() + 1s);
    StartOptions options;
    options.thread = ThreadId(is_told ? "told" : "untold");
    EXPECT_TRUE(block_on(loop, client->enqueue(graph, Plan{}, options, Instant())).ok());
    loop.run_until(clock.now() + 1s);
    auto status = block_on(loop, client->status(default_tenant(), options.thread)).value();
    EXPECT_EQ(status.row.status, is_told ? RunStatus::completed : RunStatus::queued);
    loop.run_until(clock.now() + 60s);
    status = block_on(loop, client->status(default_tenant(), options.thread)).value();
    EXPECT_EQ(status.row.status, RunStatus::completed);
    worker->drain();
    loop.run_until(clock.now() + 61s);
  }
  EXPECT_EQ(told.notified, 1);
}

// A delta names the commit that it follows. In a subgraph, only deltas after the newest commit are
// accepted.
TEST_F(HintsOfOthers, TextOfASubgraphIsReceivedInAnotherProcess) {
  GraphBuilder<Plan> outer{"outer"};
  outer.node("before", [](const Plan&, Context&) { return append(&Plan::log, "before"); });
  outer.subgraph(
      "inside", says({"Dear ", "Ana"}), [](const Plan& plan) { return plan; },
      [](const Plan&) { return append(&Plan::log, "inside"); });
  outer.edge(start, "before").edge("before", "inside").edge("inside", end);
  EXPECT_THAT(heard_elsewhere(built(std::move(outer))),
              ElementsAre("1@0 Dear ", "1@5 Ana", "1@0 Dear Ana for good"));
}

TEST_F(HintsOfOthers, EitherOfTwoWaysWakes) {
  TestHints one, other;
  int calls = 0;
  {
    CompositeNotifier both(one, other);
    Subscription listening = both.subscribe("q", [&] { ++calls; });
    one.notify("q");
    EXPECT_EQ(calls, 1);
    other.notify("q");
    EXPECT_EQ(calls, 2);
    both.notify("q");
    EXPECT_EQ(calls, 4);
  }
  one.notify("q");
  other.notify("q");
  EXPECT_EQ(calls, 4) << "who has left is called by neither";
}

TEST_F(HintsOfOthers, AWorkerThatIsCalledWithoutEndLooksNoMoreOftenThanItMay) {
  struct Counting final : ForwardingStore {
    using ForwardingStore::ForwardingStore;
    Task<Result<Done>> read(Reader reader) override {
      ++reads;
      return inner().read(std::move(reader));
    }
    int reads = 0;
  };
  Counting counting(store);
  RuntimeParts parts{counting, loop, clock, random, model};
  parts.hints = hints;
  auto worker = Runtime::open(std::move(parts)).value();
  WorkerOptions work;
  work.poll_interval = 60s;
  Spawned working;
  loop.post([&] {
    working = spawn<Result<std::size_t>>(loop, worker->run_worker(work),
                                         [](const Result<std::size_t>&) {});
  });
  for (int i = 0; i < 1'000; ++i) {
    told.notify(default_tenant().text);
    loop.run_until(clock.now() + 1ms);
  }
  EXPECT_GE(counting.reads, 50);
  EXPECT_LE(counting.reads, 101);
}

TEST_F(HintsOfOthers, AReaderInAnotherProcessHearsTextWhileItComes) {
  EXPECT_THAT(heard_elsewhere({"Dear ", "Ana, ", "h\u00e9llo"}),
              ElementsAre("1@0 Dear ", "1@5 Ana, ", "1@10 h\u00e9llo",
                          "1@0 Dear Ana, h\u00e9llo for good"));
}

TEST_F(HintsOfOthers, AfterALostPieceAReaderWaitsForTheCommit) {
  int pieces = 0;
  told.change = [&](std::string& text) {
    if (++pieces == 2) text.clear();
  };
  EXPECT_THAT(heard_elsewhere({"Dear ", "Ana, ", "hello"}),
              ElementsAre("1@0 Dear ", "1@0 Dear Ana, hello for good"));
}

TEST_F(HintsOfOthers, WhatIsDoubledIsHeardOnce) {
  std::string last;
  told.change = [&](std::string& text) {
    std::string now = text;
    // The second delta is received again instead of the third.
    if (!last.empty() && last != text && text.find("hello") != text.npos) text = last;
    last = now;
  };
  EXPECT_THAT(heard_elsewhere({"Dear ", "Ana, ", "hello"}),
              ElementsAre("1@0 Dear ", "1@5 Ana, ", "1@0 Dear Ana, hello for good"));
}

TEST_F(HintsOfOthers, WhatGoesNotWithTheStoreIsNotHeard) {
  const std::vector<std::pair<std::string, Value>> lies{{"epoch", Value(0)},
                                                        {"seq", Value(1'000)},
                                                        {"task", Value(random_uuid(random).text())},
                                                        {"node", Value("other")},
                                                        {"offset", Value(3)},
                                                        {"attempt", Value(0)},
                                                        {"attempt", Value("many")},
                                                        {"at", Value("soon")},
                                                        {"sender", Value()}};
  for (const auto& [name, lie] : lies) {
    told.change = [&name = name, &lie = lie](std::string& text) {
      Value document = parse_json(text).value();
      (*document.as_object())[name] = lie;
      text = to_json(document);
    };
    EXPECT_THAT(heard_elsewhere({"Dear "}), ElementsAre("1@0 Dear  for good")) << name;
  }
  for (const char* rubbish : {"{", "[]", "null", "{}", "\xff\xfe"}) {
    told.change = [rubbish](std::string& text) { text = rubbish; };
    EXPECT_THAT(heard_elsewhere({"Dear "}), ElementsAre("1@0 Dear  for good"));
  }
}

// The circuit breaker opens after five failures. After the hint of the other process, one failure
// in this process is enough.
TEST_F(HintsOfOthers, ACircuitThatOpensElsewhereOpensHereAtTheFirstFailure) {
  for (bool is_told : {false, true}) {
    hints.broadcast = is_told ? &told : nullptr;
    int calls = 0;
    GraphBuilder<Plan> builder{"mails"};
    builder
        .node("send",
              [&calls](const Plan&, Context&) -> Result<Update<Plan>> {
                ++calls;
                return error(ErrorCode::unavailable, "It is away.");
              })
        .depends_on("smtp")
        .retry({.attempts = 1});
    builder.edge(start, "send").edge("send", end);
    auto graph = built(std::move(builder));
    DependencyOptions options;
    options.failure_threshold = 5;
    auto first = process(graph);
    auto second = process(graph);
    first->protect("smtp", options);
    second->protect("smtp", options);
    auto send = [&](Runtime& by) {
      StartOptions begin;
      begin.thread = ThreadId("mail-" + std::to_string(++threads));
      block_on(loop, by.start(graph, Plan{}, begin)).value();
    };
    for (int i = 0; i < 5; ++i) send(*first);
    EXPECT_EQ(calls, 5);
    send(*second);
    EXPECT_EQ(calls, 6) << "a hint by itself keeps nobody away";
    send(*second);
    EXPECT_EQ(calls, is_told ? 6 : 7);
  }
}

}  // namespace
}  // namespace belay
