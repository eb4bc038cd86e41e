// Texts in the node of a run: recorded, retried, replayed, and through crashes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/research/prose/filing_prose.h"
#include "agents/research/prose/prose_fixture.h"
#include "belay/graph.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay::research {

// The state of a run with one text.
struct ProseRun {
  std::string text{};
  std::string by{};
  Value quotes{};
};

namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kAttempts = 3;

Task<Result<Update<ProseRun>>> write_risks(const ProseRun&, Context& context) {
  const TenKText text = machine_report();
  ProseSource source = prose_source(&text, "1A");
  const bool is_last = context.attempt() >= kAttempts;
  BELAY_CO_TRY(ProseResult prose, co_await write_prose(std::move(source), context, is_last));
  co_return set(&ProseRun::text, prose.text())
      .set(&ProseRun::by, prose.by)
      .set(&ProseRun::quotes, prose.quotes());
}

Result<Graph<ProseRun>> prose_graph() {
  GraphBuilder<ProseRun> graph{"prose"};
  graph.node("write", write_risks).retry({.attempts = kAttempts});
  graph.edge(start, "write").edge("write", end);
  return std::move(graph).build();
}

// A model whose calls have no cost, as the rules of the program's default model.
class RulesModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest) override {
    ++calls;
    co_return error(ErrorCode::invalid, "The rules do not know this purpose.");
  }
  std::optional<ModelPrice> price(const ModelRequest&) const override { return ModelPrice{}; }
  std::int64_t input_tokens_max(const ModelRequest&) const override { return 0; }

  int calls = 0;
};

testing::ScriptedModel valid_replies() {
  return testing::replies_with([](const ModelRequest&) { return reply_with(machine_risks()); });
}

TEST(ProseRuns, HaveTheSameTextAfterACrashAtEveryPoint) {
  // The first reply is not usable; the second depends on the request only.
  auto world = testing::World{}.model(testing::replies_with([](const ModelRequest& request) {
    return request.messages.size() > 2 ? reply_with(machine_risks()) : std::string("{}");
  }));
  auto calm = world.run(prose_graph(), ProseRun{}).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(calm.state().by, "scripted:script");
  EXPECT_THAT(*calm.state().quotes.as_array(), SizeIs(2));
  EXPECT_THAT(calm.model_requests(), SizeIs(2));
  ASSERT_GT(calm.crash_points().size(), 4u);
  for (const auto& crash : calm.crash_points()) {
    auto crashed = world.run(prose_graph(), ProseRun{}).crash_at(crash).approve_all();
    ASSERT_TRUE(crashed.ok()) << crash << crashed.error()->message;
    EXPECT_EQ(crashed.crashes(), 1) << crash;
    EXPECT_EQ(crashed.state(), calm.state()) << crash;
  }
}

TEST(ProseRuns, RetryAModelThatIsUnavailable) {
  const Error busy = error(ErrorCode::unavailable, "busy");
  auto retried = testing::World{}
                     .model(testing::fails(busy).replies(reply_with(machine_risks())))
                     .run(prose_graph(), ProseRun{})
                     .approve_all();
  ASSERT_TRUE(retried.ok()) << retried.error()->message;
  EXPECT_EQ(retried.attempts("write"), 2);
  EXPECT_EQ(retried.state().by, "scripted:script");

  auto never = testing::World{}.model(testing::fails(busy)).run(prose_graph(), ProseRun{});
  auto ended = never.approve_all();
  ASSERT_TRUE(ended.ok()) << ended.error()->message;
  EXPECT_EQ(ended.attempts("write"), 3);
  EXPECT_THAT(ended.model_requests(), SizeIs(2));
  EXPECT_EQ(ended.state().by, "extract");
  EXPECT_THAT(ended.state().text, HasSubstr("The model wrote no text: busy"));
}

TEST(ProseRuns, EndWithTheExtractIfTheModelNeverReplies) {
  auto silent = testing::replies_with([](const ModelRequest&) { return std::string(); });
  silent.takes(std::chrono::minutes(2));
  GraphBuilder<ProseRun> graph{"slow_prose"};
  graph.node("write", write_risks).retry({.attempts = kAttempts}).timeout(std::chrono::seconds(10));
  graph.edge(start, "write").edge("write", end);
  auto done =
      testing::World{}.model(silent).run(std::move(graph).build(), ProseRun{}).approve_all();
  ASSERT_TRUE(done.ok()) << done.error()->message;
  EXPECT_EQ(done.attempts("write"), 3);
  EXPECT_EQ(done.state().by, "extract");
  EXPECT_THAT(done.state().text, HasSubstr("took longer than its"));
}

TEST(ProseRuns, WithoutALanguageModelHaveTheExtractWithoutACall) {
  auto rules = std::make_shared<RulesModel>();
  auto done = testing::World{}.model(rules).run(prose_graph(), ProseRun{}).approve_all();
  ASSERT_TRUE(done.ok()) << done.error()->message;
  EXPECT_EQ(rules->calls, 0);
  EXPECT_EQ(done.state().by, "extract");
  const TenKText text = machine_report();
  EXPECT_EQ(done.state().text, extracted_prose(prose_source(&text, "1A")).text());
}

TEST(ProseRuns, WithAnExhaustedBudgetHaveTheExtract) {
  RunOptions options;
  options.budget.tokens = 100;
  auto done = testing::World{}
                  .model(valid_replies())
                  .run(prose_graph(), ProseRun{})
                  .options(options)
                  .approve_all();
  ASSERT_TRUE(done.ok()) << done.error()->message;
  EXPECT_EQ(done.state().by, "extract");
  EXPECT_THAT(done.state().text, HasSubstr("The model wrote no text: "));
  EXPECT_THAT(done.model_requests(), SizeIs(0));
}

struct RecordedProse : CrashingStoreFixture {
  ProseRun state_after_run(Runtime& runtime, const Graph<ProseRun>& graph) {
    StartOptions options;
    options.thread = ThreadId("t");
    auto view = block_on(loop, runtime.start(graph, ProseRun{}, options));
    EXPECT_TRUE(view.ok());
    return view.ok() ? decode_json<ProseRun>(view->state).value_or(ProseRun{}) : ProseRun{};
  }
  // Expects that a replay has the recorded state without a call.
  void expect_replayed(Runtime& runtime) {
    ReplayOptions options;
    options.thread = ThreadId("t");
    auto report = block_on(loop, runtime.replay(options));
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_FALSE(report->divergence) << report->divergence->what;
    EXPECT_EQ(report->matching_commits, report->run.seq);
  }
};

TEST_F(RecordedProse, IsReplayedFromItsReplies) {
  model.replies("{}").replies(reply_with(machine_risks()));
  auto graph = prose_graph().value();
  auto runtime = process(graph);
  EXPECT_EQ(state_after_run(*runtime, graph).by, "scripted:script");
  EXPECT_THAT(model.requests(), SizeIs(2));
  expect_replayed(*runtime);
  EXPECT_THAT(model.requests(), SizeIs(2));
}

TEST_F(RecordedProse, IsReplayedFromTheErrorOfTheModel) {
  model.fails(error(ErrorCode::not_found, "There is no such model."));
  auto graph = prose_graph().value();
  auto runtime = process(graph);
  EXPECT_EQ(state_after_run(*runtime, graph).by, "extract");
  expect_replayed(*runtime);
}

TEST_F(RecordedProse, WithoutALanguageModelIsReplayedToo) {
  RulesModel rules;
  RuntimeParts parts{store, loop, clock, random, rules};
  auto runtime = Runtime::open(std::move(parts)).value();
  auto graph = prose_graph().value();
  runtime->add(graph);
  EXPECT_EQ(state_after_run(*runtime, graph).by, "extract");
  expect_replayed(*runtime);
  EXPECT_EQ(rules.calls, 0);
}

}  // namespace
}  // namespace belay::research
