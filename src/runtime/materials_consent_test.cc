// Tests a person's consent to materials of a program that its graph refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/materials_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST_F(Materials, ThatAreRefusedAreAcceptedByAPersonWhoIsRecorded) {
  begin();
  ProgramForm strict{.model = "openai:large", .refused = {"model"}};
  RunRow before = status().row;
  RunView accepted = accept(strict).value();
  EXPECT_EQ(accepted.row.status, RunStatus::paused) << "at the second breakpoint";
  EXPECT_EQ(accepted.materials["model"], Value("openai:large"));
  std::vector<EventRow> consents = events_of_kind("consent");
  ASSERT_EQ(consents.size(), 1u);
  EXPECT_EQ(consents[0].seq, before.seq + 1);
  Value body = parse_json(consents[0].body).value();
  EXPECT_EQ(body["by"], Value("ana"));
  EXPECT_EQ(body["onBehalfOf"], Value("ben"));
  EXPECT_EQ(to_json(body["materials"]), R"({"model":"openai:large"})");
  EXPECT_EQ(violations(strict), "");
  // Any process with these materials continues the run.
  EXPECT_EQ(resume(strict).value().row.status, RunStatus::completed);
  EXPECT_EQ(violations(strict), "");
  EXPECT_EQ(to_json(status(strict).state["log"]), R"(["one","two"])");
  auto runtime = process(steps(strict));
  ReplayOptions replayed;
  replayed.thread = ThreadId("t");
  auto report = block_on(loop, runtime->replay(replayed)).value();
  EXPECT_FALSE(report.divergence) << report.divergence->what << " " << report.divergence->recorded
                                  << " / " << report.divergence->replayed;
}

TEST_F(Materials, AreAcceptedOnceHoweverOftenTheCallIsRepeated) {
  begin();
  ProgramForm strict{.model = "openai:large", .refused = {"model"}};
  std::uint64_t seq = status().row.seq;
  RunRow accepted = accept(strict, seq).value().row;
  EXPECT_EQ(accept(strict, seq).value().row, accepted) << "the reply was lost";
  EXPECT_EQ(accept(strict).value().row.status, RunStatus::completed) << "as resume() alone";
  EXPECT_EQ(accept(strict).value().row.status, RunStatus::completed);
  EXPECT_EQ(events_of_kind("consent").size(), 1u);
  EXPECT_EQ(violations(strict), "");
}

// One history of a run, in a new store.
struct AcceptingRound : Materials {
  void TestBody() override {}

  // The process of the consent dies at its n-th commit.
  void dies_at(int commit, bool lands, const ProgramForm& form) {
    store.commits = 0;
    store.halt_at = commit;
    store.lands = lands;
    auto dying = process(steps(form));
    Spawned call;
    loop.post([&] {
      call = spawn<Result<RunView>>(
          loop, dying->resume(default_tenant(), ThreadId("t"), {}, {}, Consent{"ana"}),
          [](const Result<RunView>&) {});
    });
    loop.run_until(clock.now() + std::chrono::hours(1));
    store.halt_at = 0;
    call.reset();
  }
};

TEST(MaterialsConsent, IsGivenOnceAlthoughTheProcessDies) {
  ProgramForm strict{.model = "openai:large", .refused = {"model"}};
  for (int at : {1, 2}) {
    for (bool lands : {false, true}) {
      SCOPED_TRACE(std::to_string(at) + (lands ? " after" : " before"));
      AcceptingRound round;
      round.begin();
      round.dies_at(at, lands, strict);
      RunView view = round.accept(strict).value();
      for (int i = 0; i < 2 && view.row.status == RunStatus::paused; ++i) {
        view = round.accept(strict).value();
      }
      EXPECT_EQ(view.row.status, RunStatus::completed);
      EXPECT_EQ(round.events_of_kind("consent").size(), 1u);
      EXPECT_EQ(round.violations(strict), "");
    }
  }
}

TEST_F(Materials, ThatHaveNotChangedAreNotAccepted) {
  begin();
  RunRow before = status().row;
  ProgramForm strict{.prompt = "Be kind.", .refused = {"model"}};
  for (const ProgramForm& form : {ProgramForm{}, strict}) {
    auto refused = accept(form);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    EXPECT_THAT(refused.error().message, HasSubstr("no changed materials"));
  }
  EXPECT_EQ(status().row, before);
  ASSERT_TRUE(resume().ok());
  ASSERT_EQ(resume().value().row.status, RunStatus::completed);
  EXPECT_FALSE(accept(strict).ok()) << "the run has ended";
  ProgramForm other{.model = "openai:large", .refused = {"model"}};
  EXPECT_FALSE(accept(other).ok()) << "the run has ended";
}

TEST_F(Materials, OfAnotherStructureAreNotAccepted) {
  begin();
  RunRow before = status().row;
  JsonGraphBuilder changed{"steps"};
  changed.channel("log", {.kind = JsonKind::array});
  changed.node("three", [](const Value&, Context&) { return append("log", "three"); });
  changed.edge(start, "three").edge("three", end).material("model", "openai:large");
  changed.on_changed_materials(MaterialChange::refuse, {"model"});
  auto runtime = process(std::move(changed).build().value());
  auto refused =
      block_on(loop, runtime->resume(default_tenant(), ThreadId("t"), {}, {}, Consent{"ana"}));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("version"));
  EXPECT_EQ(status().row, before);
}

TEST_F(Materials, AreAcceptedForAQueuedRunThatAWorkerThenExecutes) {
  JsonGraph old = steps();
  StartOptions options;
  options.thread = ThreadId("t");
  Instant later = clock.now() + 1h;
  block_on(loop, process(old)->enqueue(old, Value::Object(), options, later)).value();
  ProgramForm strict{.model = "openai:large", .refused = {"model"}};
  EXPECT_EQ(accept(strict).value().row.status, RunStatus::paused) << "resume() does not wait";
  EXPECT_EQ(violations(strict), "");
}

TEST_F(Materials, OfARunAreMigratedAfterAConsentToOthers) {
  begin();
  ProgramForm both{
      .prompt = "Be kind.", .model = "openai:large", .refused = {"model"}, .migrates = true};
  ASSERT_FALSE(resume(both).ok());
  ASSERT_TRUE(accept(both).ok());
  ASSERT_EQ(resume(both).value().row.status, RunStatus::completed);
  EXPECT_EQ(to_json(status(both).state["log"]), R"(["one!","two!"])");
  EXPECT_EQ(violations(both), "");
}

// A run that waits for a decision, alone in its superstep or together with a completed task.
struct AskingRound : Materials {
  void TestBody() override {}

  JsonGraph asking(const std::string& named, bool is_wide) {
    JsonGraphBuilder graph{"asking"};
    graph.channel("text", {.kind = JsonKind::string});
    graph.channel("log", {.kind = JsonKind::array});
    graph.approval("review", "text", {.question = "Good?"}).approved(end).rejected(end);
    graph.edge(start, "review").material("model", named);
    if (is_wide) {
      graph.node("other", [](const Value&, Context&) { return append("log", "other"); });
      graph.edge(start, "other").edge("other", end);
    }
    graph.on_changed_materials(MaterialChange::refuse, {"model"});
    return std::move(graph).build().value();
  }

  void is_accepted_and_decided(bool is_wide) {
    JsonGraph old = asking("openai:small", is_wide), large = asking("openai:large", is_wide);
    StartOptions options;
    options.thread = ThreadId("t");
    RunView waiting = block_on(loop, process(old)->start(old, Value::Object(), options)).value();
    ASSERT_TRUE(waiting.approval);
    auto runtime = process(large);
    Decision approve{.approved = true, .decided_by = "ana"};
    Decision again = approve;
    InterruptId asked = waiting.approval->interrupt;
    EXPECT_FALSE(block_on(loop, runtime->decide(default_tenant(), asked, approve)).ok());
    auto accepted =
        block_on(loop, runtime->resume(default_tenant(), ThreadId("t"), {}, {}, Consent{"ana"}));
    ASSERT_TRUE(accepted.ok()) << accepted.error().message;
    EXPECT_EQ(accepted->row.status, RunStatus::paused);
    EXPECT_EQ(accepted->row.due_at, waiting.row.due_at) << "the approval expires as before";
    ASSERT_TRUE(accepted->approval);
    EXPECT_EQ(faults(large), "");
    auto decided = block_on(loop, runtime->decide(default_tenant(), asked, again));
    ASSERT_TRUE(decided.ok()) << decided.error().message;
    EXPECT_EQ(decided->view.row.status, RunStatus::completed);
    EXPECT_EQ(faults(large), "");
    ReplayOptions replayed;
    replayed.thread = ThreadId("t");
    auto report = block_on(loop, runtime->replay(replayed)).value();
    EXPECT_FALSE(report.divergence) << report.divergence->what;
  }

  std::string faults(const JsonGraph& graph) {
    CheckScope scope;
    scope.graphs = {graph.definition()};
    std::string told;
    for (const Violation& each : block_on(loop, check_store(*kept, scope)).value().violations) {
      told += each.rule + ": " + each.message + "\n";
    }
    return told;
  }
};

TEST(MaterialsConsent, IsGivenForARunThatWaitsForADecision) {
  for (bool is_wide : {false, true}) {
    SCOPED_TRACE(is_wide ? "of several tasks" : "alone");
    AskingRound().is_accepted_and_decided(is_wide);
  }
}

}  // namespace
}  // namespace belay
