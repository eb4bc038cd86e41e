// Tests invalid input of programs: it yields a typed error with its position, and stored data does
// not change.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/json_graph.h"
#include "belay/limits.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Sheet {
  std::string text{};
  std::vector<std::string> log{};
  std::map<std::string, Value> cells{};
};

// Returns this many nested arrays.
Value nested(std::size_t levels) {
  Value value = 1;
  for (std::size_t i = 0; i < levels; ++i) {
    Value::Array around;
    around.push_back(std::move(value));
    value = Value(std::move(around));
  }
  return value;
}

struct BadInput : CrashingStoreFixture {
  RunView run(const Graph<Sheet>& graph, Sheet sheet = {}) {
    auto runtime = process(graph);
    return block_on(loop, runtime->start(graph, std::move(sheet), {})).value();
  }

  // Returns a graph with one node.
  template <typename Node>
  static Graph<Sheet> one(Node node) {
    GraphBuilder<Sheet> graph{"sheet"};
    graph.node("fill", std::move(node));
    graph.edge(start, "fill").edge("fill", end);
    return std::move(graph).build().value();
  }

  // Runs a graph with this branch to its end.
  template <typename Choose>
  RunView branching(Choose choose) {
    GraphBuilder<Sheet> graph{"branches"};
    graph.node("fill", [](const Sheet&, Context&) { return unchanged<Sheet>(); });
    graph.node("next", [](const Sheet&, Context&) { return append(&Sheet::log, "next"); });
    graph.branch("fill", std::move(choose), {"next", end});
    graph.edge(start, "fill").edge("next", end);
    return run(std::move(graph).build().value());
  }
};

TEST_F(BadInput, ABranchThatNamesWhatItDidNotDeclareFailsTheRun) {
  auto elsewhere = branching([](const Sheet&) { return "elsewhere"; });
  EXPECT_EQ(elsewhere.row.status, RunStatus::failed);
  EXPECT_EQ(elsewhere.row.error_code, "invalid");
  EXPECT_THAT(elsewhere.row.error, HasSubstr("\"fill\" selected \"elsewhere\""));
  auto several = branching([](const Sheet&) { return std::vector<std::string>{"next", "fill"}; });
  EXPECT_THAT(several.row.error, HasSubstr("\"fill\" selected \"fill\""));
  auto sends = branching([](const Sheet&) { return std::vector<Send>{send_to("fill", 1)}; });
  EXPECT_THAT(sends.row.error, HasSubstr("\"fill\" selected \"fill\""));
  auto index = branching([](const Sheet&) { return 2; });
  EXPECT_THAT(index.row.error, HasSubstr("selected edge 2 of 2"));
}

// The text of an exception is stored with the failed attempt, and read when the run continues.
TEST_F(BadInput, AnErrorOfBytesThatAreNoTextIsStoredAsText) {
  GraphBuilder<Sheet> graph{"sheet"};
  graph
      .node("fill",
            [](const Sheet&, Context& context) -> Result<Update<Sheet>> {
              if (context.attempt() == 1) throw std::runtime_error("a\xff\nb");
              if (context.attempt() == 2) return Error{ErrorCode::unavailable, "c\xc3\"d"};
              return append(&Sheet::log, context.previous_error()->message);
            })
      .retry({.attempts = 3, .base = 1h});
  graph.edge(start, "fill").edge("fill", end);
  auto sheets = std::move(graph).build().value();
  auto played = testing::World{}.run(sheets, Sheet{}).approve_all();
  EXPECT_TRUE(played.ok()) << played.error()->message;
  EXPECT_EQ(played.state().log.at(0), "c\xEF\xBF\xBD\"d");
}

TEST_F(BadInput, ABranchThatThrowsFailsTheRunWithWhatItSaid) {
  auto failed = branching([](const Sheet& sheet) {
    return sheet.log.empty() ? decode_json<std::string>(Value(7)).value() : std::string("next");
  });
  EXPECT_EQ(failed.row.status, RunStatus::failed);
  EXPECT_EQ(failed.row.error_code, "invalid");
  EXPECT_THAT(failed.row.error, HasSubstr("should be a string"));
}

TEST_F(BadInput, AStateOfFiftyMegabytesIsCarriedOn) {
  auto graph =
      one([](const Sheet& sheet, Context&) { return set(&Sheet::text, sheet.text + "!"); });
  Sheet sheet;
  sheet.text.assign(50'000'000, 'x');
  auto view = run(graph, std::move(sheet));
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.state["text"].as_string()->size(), 50'000'001u);
}

TEST_F(BadInput, AStateBeyondTheLimitIsRefusedByItsChannelAndTheLimit) {
  auto graph = one([](const Sheet&, Context&) {
    return set(&Sheet::text, std::string(limits::value_bytes_max, 'x')).append(&Sheet::log, "x");
  });
  auto view = run(graph);
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "invalid");
  EXPECT_THAT(view.row.error, HasSubstr("\"text\" cannot be saved"));
  EXPECT_THAT(view.row.error, HasSubstr(std::to_string(limits::value_bytes_max)));
  EXPECT_EQ(to_json(view.state["log"]), "[]") << "nothing of the node's update is kept";
  auto runtime = process(graph);
  Sheet sheet;
  sheet.text.assign(limits::value_bytes_max, 'x');
  auto refused = block_on(loop, runtime->start(graph, std::move(sheet), {}));
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(limits::value_bytes_max)));
}

TEST_F(BadInput, AnInputMayHaveAsManyBytesAsAreAllowedAndNotOneMore) {
  auto graph = one([](const Sheet&, Context&) { return unchanged<Sheet>(); });
  auto runtime = process(graph);
  auto enqueue = [&](std::size_t letters) {
    Sheet sheet;
    sheet.text.assign(letters, 'x');
    return block_on(loop, runtime->enqueue(graph, std::move(sheet), {}, Instant()));
  };
  std::size_t around = std::string(R"({"text":""})").size();
  EXPECT_TRUE(enqueue(limits::value_bytes_max - around).ok());
  auto refused = enqueue(limits::value_bytes_max - around + 1);
  ASSERT_FALSE(refused.ok()) << "one byte more";
  EXPECT_THAT(refused.error().message,
              HasSubstr("has " + std::to_string(limits::value_bytes_max + 1) + " bytes"));
}

TEST_F(BadInput, AStateOfSixtyFiveLevelsIsRefusedWithItsPath) {
  auto at_depth = [](std::size_t levels) {
    return one(
        [levels](const Sheet&, Context&) { return merge(&Sheet::cells, "deep", nested(levels)); });
  };
  auto deep = run(at_depth(limits::json_depth_max - 1));  // the map itself is a level
  EXPECT_EQ(deep.row.status, RunStatus::completed) << deep.row.error;
  EXPECT_EQ(deep.state["cells"]["deep"], nested(limits::json_depth_max - 1));
  auto deeper = run(at_depth(limits::json_depth_max));
  EXPECT_EQ(deeper.row.status, RunStatus::failed);
  EXPECT_THAT(deeper.row.error, HasSubstr("\"cells\" cannot be saved: At \"deep.0.0."));
  EXPECT_THAT(deeper.row.error, HasSubstr("nested deeper than 64 levels"));
}

TEST_F(BadInput, AnInputOfSixtyFiveLevelsBeginsNothing) {
  auto graph = one([](const Sheet&, Context&) { return append(&Sheet::log, "x"); });
  Sheet sheet;
  sheet.cells["deep"] = nested(limits::json_depth_max - 1);
  EXPECT_EQ(run(graph, sheet).row.status, RunStatus::completed);
  sheet.cells["deep"] = nested(limits::json_depth_max);
  int commits = store.commits;
  auto runtime = process(graph);
  auto refused = block_on(loop, runtime->start(graph, sheet, {}));
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("nested deeper than 64 levels"));
  EXPECT_EQ(store.commits, commits);
}

// Such values are nested in documents of Belay, which must still be readable.
TEST_F(BadInput, WhatIsSentAskedEmittedAndPublishedMayBeAsDeepAsAState) {
  GraphBuilder<Sheet> graph{"deep"};
  graph
      .node("fan",
            [](const Sheet&, Context&) {
              return unchanged<Sheet>()
                  .send("visit", nested(limits::json_depth_max))
                  .send("visit", nested(1));
            })
      .destinations({"visit"});
  graph.node("visit", [](const Sheet&, Context& context) {
    context.emit("deep", nested(limits::json_depth_max));
    context.publish("deep", nested(limits::json_depth_max));
    InterruptRequest question;
    question.name = "q";
    question.payload = context.input<Value>();
    context.interrupt(question);
    return append(&Sheet::log, "visited");
  });
  graph.edge(start, "fan").edge("visit", end);
  auto built = std::move(graph).build().value();
  auto view = run(built);
  while (view.approval) {
    auto runtime = process(built);
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    auto answer = block_on(
        loop, runtime->decide(default_tenant(), view.approval->interrupt, std::move(decision)));
    view = std::move(answer).value().view;
  }
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(to_json(view.state["log"]), R"(["visited","visited"])");
}

TEST_F(BadInput, WhatCouldNotBeReadAgainFailsTheNodeThatHandsItIn) {
  Value deep = nested(limits::json_depth_max + 1);
  Value torn = std::string("\xff");
  for (const Value& bad : {deep, torn}) {
    auto emits = run(one([bad](const Sheet&, Context& context) {
      context.emit("note", bad);
      return unchanged<Sheet>();
    }));
    EXPECT_THAT(emits.row.error, HasSubstr("The event \"note\" can't be saved"));
    auto publishes = run(one([bad](const Sheet&, Context& context) {
      context.publish("news", bad);
      return unchanged<Sheet>();
    }));
    EXPECT_THAT(publishes.row.error, HasSubstr("The message to \"news\" can't be saved"));
    auto asks = run(one([bad](const Sheet&, Context& context) {
      InterruptRequest question;
      question.name = "why";
      question.payload = bad;
      context.interrupt(question);
      return unchanged<Sheet>();
    }));
    EXPECT_THAT(asks.row.error, HasSubstr("question \"why\" can't be saved"));
    auto sends =
        run(one([bad](const Sheet&, Context&) { return unchanged<Sheet>().send("fill", bad); }));
    EXPECT_THAT(sends.row.error, HasSubstr("can't be sent"));
    for (const RunView& view : {emits, publishes, asks, sends}) {
      EXPECT_EQ(view.row.status, RunStatus::failed);
      EXPECT_EQ(view.row.error_code, "invalid");
    }
  }
}

TEST_F(BadInput, AMapsKeyThatIsNoTextIsRefusedWithItsChannel) {
  auto view = run(
      one([](const Sheet&, Context&) { return merge(&Sheet::cells, std::string("a\0b", 3), 1); }));
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("\"cells\" cannot be saved: A text contains U+0000"));
}

TEST_F(BadInput, AForkFromWhatIsNotThereOrAnotherTenantsIsNotFound) {
  auto graph = one([](const Sheet&, Context&) { return append(&Sheet::log, "x"); });
  StartOptions options;
  options.thread = ThreadId("mine");
  auto runtime = process(graph);
  block_on(loop, runtime->start(graph, Sheet{}, options)).value();
  int commits = store.commits;
  auto refusal = [&](ForkOptions fork) {
    auto forked = block_on(loop, runtime->fork(fork));
    auto preview = block_on(loop, runtime->preview(fork));
    EXPECT_FALSE(forked.ok());
    EXPECT_FALSE(preview.ok());
    return forked.error();
  };
  ForkOptions of_nothing;
  of_nothing.from = ThreadId("nobody's");
  EXPECT_EQ(refusal(of_nothing).code, ErrorCode::not_found);
  EXPECT_THAT(refusal(of_nothing).message, HasSubstr("nobody's"));
  ForkOptions of_another_tenant;
  of_another_tenant.tenant = TenantId("another");
  of_another_tenant.from = ThreadId("mine");
  EXPECT_EQ(refusal(of_another_tenant).code, ErrorCode::not_found);
  ForkOptions of_the_future;
  of_the_future.from = ThreadId("mine");
  of_the_future.seq = 99;
  EXPECT_EQ(refusal(of_the_future).code, ErrorCode::not_found);
  EXPECT_THAT(refusal(of_the_future).message, HasSubstr("no commit 99"));
  EXPECT_EQ(store.commits, commits) << "nothing was written";
}

TEST_F(BadInput, AForkOfAGraphThatTheProgramLacksIsRefused) {
  auto graph = one([](const Sheet&, Context&) { return append(&Sheet::log, "x"); });
  StartOptions options;
  options.thread = ThreadId("mine");
  auto runtime = process(graph);
  block_on(loop, runtime->start(graph, Sheet{}, options)).value();
  ForkOptions fork;
  fork.from = ThreadId("mine");
  fork.seq = 1;
  auto other = process();
  EXPECT_EQ(block_on(loop, other->fork(fork)).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace belay
