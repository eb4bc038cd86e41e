// Tests the text that nodes stream: deltas for readers, and the durable event of each attempt.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/event_fixture.h"

namespace belay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Streams : Events {
  // Streams the words one by one; its first `failures` attempts fail.
  Graph<Plan> says(std::vector<std::string> words, int failures = 0) {
    GraphBuilder<Plan> graph{"says"};
    graph
        .node("say",
              [words, failures](const Plan&, Context& context) -> Task<Result<Update<Plan>>> {
                for (const std::string& word : words) {
                  context.stream(word);
                  co_await sleep_for(10ms);
                }
                if (context.attempt() <= failures) co_return error(ErrorCode::unavailable, "Lost.");
                co_return append(&Plan::log, "said");
              })
        .retry({.attempts = 3, .base = 50ms});
    graph.edge(start, "say").edge("say", end);
    return built(std::move(graph));
  }
  // Starts the run, and lets `time` pass.
  void begin(Runtime& runtime, const Graph<Plan>& graph, std::chrono::milliseconds time) {
    loop.post([this, &runtime, &graph] {
      running = spawn<Result<RunView>>(loop, runtime.start(graph, Plan{}, on_thread()),
                                       [](const Result<RunView>&) {});
    });
    loop.run_until(clock.now() + time);
  }
  // Returns "attempt@offset text" for each delta, with a mark for durable events.
  static std::vector<std::string> pieces(const std::vector<StreamEvent>& events) {
    std::vector<std::string> lines;
    for (const StreamEvent& event : events) {
      if (event.kind != EventKind::messages) continue;
      lines.push_back(std::to_string(event.attempt) + "@" + std::to_string(event.offset) + " " +
                      *event.body["text"].as_string() + (event.id ? " for good" : ""));
    }
    return lines;
  }

  Spawned running;
};

TEST_F(Streams, AReaderHearsEachPieceAndThenTheWholeTextForGood) {
  auto graph = says({"Dear ", "Ana, ", "hello"});
  auto runtime = process(graph);
  begin(*runtime, graph, 1ms);
  Following following;
  loop.post([&] { follow(*runtime, following); });
  loop.run();
  EXPECT_THAT(pieces(following.events),
              ElementsAre("1@0 Dear ", "1@5 Ana, ", "1@10 hello", "1@0 Dear Ana, hello for good"));
  const StreamEvent* durable = nullptr;
  for (const StreamEvent& event : following.events) {
    if (event.kind == EventKind::messages && event.id) durable = &event;
  }
  ASSERT_TRUE(durable);
  for (const StreamEvent& event : following.events) {
    if (event.kind != EventKind::messages) continue;
    EXPECT_EQ(event.thread, ThreadId("t"));
    EXPECT_EQ(event.run, durable->run) << "a piece names what the durable text names";
    EXPECT_EQ(event.task, durable->task);
    EXPECT_EQ(event.node, "say");
    EXPECT_GT(event.at, Instant());
    EXPECT_LE(event.at, durable->at);
  }
  EXPECT_FALSE(durable->run.is_null());
  EXPECT_FALSE(durable->task.is_null());
}

TEST_F(Streams, AReaderWhoComesLateHearsTheTextSoFarOnce) {
  auto graph = says({"Dear ", "Ana, ", "hello"});
  auto runtime = process(graph);
  begin(*runtime, graph, 15ms);
  EXPECT_THAT(pieces(read_now(*runtime)), ElementsAre("1@0 Dear Ana, "));
  EXPECT_THAT(pieces(read_now(*runtime)), ElementsAre("1@0 Dear Ana, ")) << "another reader";
  loop.run();
  EXPECT_THAT(pieces(read_now(*runtime)), ElementsAre("1@0 Dear Ana, hello for good"));
}

TEST_F(Streams, AFailedAttemptsTextIsDropped) {
  auto graph = says({"one ", "two"}, 1);
  auto runtime = process(graph);
  begin(*runtime, graph, 1ms);
  Following following;
  loop.post([&] { follow(*runtime, following); });
  loop.run();
  EXPECT_THAT(pieces(following.events),
              ElementsAre("1@0 one ", "1@4 two", "2@0 one ", "2@4 two", "2@0 one two for good"));
  EXPECT_THAT(pieces(read_now(*runtime)), ElementsAre("2@0 one two for good"));
}

TEST_F(Streams, ASlowReaderGetsInOnePieceWhatItMissed) {
  std::vector<std::string> words(1'000, "word ");
  auto graph = says(words);
  auto runtime = process(graph);
  begin(*runtime, graph, 1ms);
  auto reader = block_on(loop, runtime->events(options({EventKind::messages}, true))).value();
  auto first = block_on(loop, reader->next()).value();
  EXPECT_THAT(pieces(first), ElementsAre("1@0 word "));
  loop.run_until(clock.now() + 5s);
  auto second = block_on(loop, reader->next()).value();
  ASSERT_THAT(second, SizeIs(1));
  EXPECT_EQ(second[0].offset, 5u);
  EXPECT_GT(second[0].body["text"].as_string()->size(), 2'000u);
  running.reset();
}

TEST_F(Streams, AReaderInAnotherProcessGetsTheTextWithItsCommit) {
  auto graph = says({"Dear ", "Ana"});
  auto runtime = process(graph);
  auto other = process(graph);
  begin(*runtime, graph, 15ms);
  EXPECT_THAT(pieces(read_now(*other)), IsEmpty());
  loop.run();
  EXPECT_THAT(pieces(read_now(*other)), ElementsAre("1@0 Dear Ana for good"));
}

TEST_F(Streams, ACharacterMayComeInTwoPiecesAndIsHeardWhole) {
  auto graph = says({"caf\xC3", "\xA9 ", "\xF0\x9F", "\x98", "\x80"});
  auto runtime = process(graph);
  begin(*runtime, graph, 1ms);
  EXPECT_THAT(pieces(read_now(*runtime)), ElementsAre("1@0 caf"));
  loop.run_until(clock.now() + 25ms);
  EXPECT_THAT(pieces(read_now(*runtime)), ElementsAre("1@0 caf\xC3\xA9 "));
  loop.run();
  EXPECT_THAT(pieces(read_now(*runtime)), ElementsAre("1@0 caf\xC3\xA9 \xF0\x9F\x98\x80 for good"));
}

TEST_F(Streams, WhatIsNoTextFailsTheNode) {
  for (std::vector<std::string> words :
       {std::vector<std::string>{"ok", "\xFF"}, {"\xC3", "x"}, {"caf\xC3"}}) {
    kept = open_memory_store(clock, random);
    HaltingStore fresh(*kept);
    auto graph = says(words);
    auto runtime = Runtime::open(RuntimeParts{fresh, loop, clock, random, model}).value();
    runtime->add(graph);
    auto view = block_on(loop, runtime->start(graph, Plan{}, on_thread())).value();
    EXPECT_EQ(view.row.status, RunStatus::failed);
    EXPECT_EQ(view.row.error_code, "invalid");
    EXPECT_THAT(pieces(read_now(*runtime)), IsEmpty());
  }
}

TEST_F(Streams, ANodeInASubgraphIsHeardWithItsNamespaceAndKeptThroughACrash) {
  GraphBuilder<Chapter> chapter{"chapter"};
  chapter.node("tell", [](const Chapter&, Context& context) -> Task<Update<Chapter>> {
    context.stream("once");
    co_await sleep_for(10ms);
    co_return append(&Chapter::lines, "told");
  });
  chapter.edge(start, "tell").edge("tell", end);
  auto inner = std::move(chapter).build().value();
  GraphBuilder<Plan> builder{"outer"};
  builder.subgraph(
      "inside", inner, [](const Plan&) { return Chapter{}; },
      [](const Chapter&) { return append(&Plan::log, "inside"); });
  builder.node("slow", logs_after("slow", 50ms));
  builder.edge(start, "inside").edge(start, "slow").edge("inside", end).edge("slow", end);
  auto graph = built(std::move(builder));
  {
    auto first = process(graph);
    begin(*first, graph, 5ms);
    auto said = read_now(*first, options({EventKind::messages}));
    ASSERT_THAT(pieces(said), ElementsAre("1@0 once"));
    EXPECT_EQ(said[0].checkpoint_ns.substr(0, 7), "inside:");
    EXPECT_EQ(said[0].node, "tell");
    loop.run_until(clock.now() + 20ms);
    running.reset();  // destroys the waiting node, as if its process had died
  }
  auto second = process(graph);
  auto view = block_on(loop, second->resume(default_tenant(), ThreadId("t"))).value();
  ASSERT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  auto kept_text = read_now(*second, options({EventKind::messages}));
  EXPECT_THAT(pieces(kept_text), ElementsAre("1@0 once for good"));
  EXPECT_EQ(kept_text[0].checkpoint_ns.substr(0, 7), "inside:");
}

}  // namespace
}  // namespace belay
