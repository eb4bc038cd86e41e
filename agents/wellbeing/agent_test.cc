#include "agents/wellbeing/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using std::chrono::milliseconds;
using testing::audit_text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kToday;
using testing::kTomorrow;
using testing::schedule_text;
using testing::WellbeingFixture;

Error unavailable() { return error(ErrorCode::unavailable, "No connection to the model."); }

GraphConfig with_thread(std::string thread) {
  GraphConfig config;
  config.threadId = std::move(thread);
  return config;
}

TEST(Retry, ANodeIsTriedUpToMaxRetriesAndThenTheExecutionFails) {
  EXPECT_TRUE(rc::check("as many calls as attempts are allowed, and the error is the model's", [] {
    const int allowed = *rc::gen::inRange(1, 7);
    WellbeingFixture world;
    world.add_note(kToday, "A day.");
    world.model.then_always([](const ModelRequest&) { return Result<std::string>(unavailable()); });
    GraphConfig config;
    config.maxRetries = allowed;
    const auto result = world.audit(kToday, std::move(config)).value();
    RC_ASSERT(!result.success);
    RC_ASSERT(result.status == "failed");
    RC_ASSERT(*result.error == "No connection to the model.");
    RC_ASSERT(world.model.requests().size() == static_cast<std::size_t>(allowed));
    RC_ASSERT(result.base.retryCount <= allowed);
  }));
}

TEST(Retry, WaitsLongerAfterEachFailure) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  for (int i = 0; i < 4; ++i) world.model.fails(unavailable());
  world.model.replies(audit_text(2));
  GraphConfig config;
  config.maxRetries = 5;
  ASSERT_TRUE(world.audit(kToday, std::move(config)).ok());
  std::vector<milliseconds> waits;
  for (const ProgressEvent& event : world.told) {
    if (event.kind == ProgressEvent::Kind::attempt_failed) waits.push_back(event.duration);
  }
  ASSERT_EQ(waits.size(), 4u);
  const milliseconds expected[] = {milliseconds(2'000), milliseconds(4'000), milliseconds(8'000),
                                   milliseconds(10'000)};
  for (std::size_t i = 0; i < waits.size(); ++i) {
    EXPECT_GE(waits[i], expected[i] * 8 / 10) << i;
    EXPECT_LE(waits[i], expected[i] * 12 / 10) << i;
  }
}

TEST(Retry, ACheckpointIsSavedBeforeEachRetryAndTheCounterOnlyGrows) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.fails(unavailable()).fails(unavailable()).replies(audit_text(2));
  const auto result = world.audit(kToday).value();
  EXPECT_EQ(result.outcome, "saved");
  EXPECT_EQ(result.base.retryCount, 2);
  std::vector<std::string> kinds;
  std::int64_t before = 0;
  for (const CheckpointRow& row : world.history(result.threadId)) {
    kinds.emplace_back(name_of(row.kind));
    EXPECT_GE(row.retry_count, before);
    before = row.retry_count;
  }
  EXPECT_THAT(kinds, ElementsAre("input", "node", "attempt", "attempt", "node", "node", "node"));
}

TEST(Retry, AModelThatHangsIsAskedAgain) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.takes(milliseconds(500'000)).then_always([](const ModelRequest&) {
    return Result<std::string>(audit_text(2));
  });
  GraphConfig config;
  config.timeout = milliseconds(250'000);
  const auto result = world.audit(kToday, std::move(config)).value();
  EXPECT_EQ(result.status, "failed");
  EXPECT_EQ(world.model.requests().size(), 3u) << "a call may take 120 s of the run's 250 s";
}

TEST(AgentGraph, GivesItsResultWithTheFieldsOfTheInterface) {
  WellbeingFixture world;
  world.add_note(kToday, "A hard day.", "n1");
  world.model.replies(audit_text(7));
  const auto result = world.audit(kToday, with_thread("my-thread")).value();
  const Value& json = result.json;
  EXPECT_EQ(json["success"], Value(true));
  EXPECT_EQ(json["threadId"], Value("my-thread"));
  EXPECT_EQ(json["status"], Value("paused"));
  const Value& state = json["state"];
  EXPECT_EQ(state["threadId"], Value("my-thread"));
  EXPECT_EQ(state["status"], Value("paused"));
  EXPECT_EQ(state["currentNode"], Value("awaitingApproval"));
  EXPECT_EQ(state["retryCount"], Value(0));
  EXPECT_EQ(state["createdAt"], Value("2024-01-15T20:00:00.000000Z"));
  EXPECT_EQ(state["updatedAt"], Value("2024-01-15T20:00:00.000000Z"));
  EXPECT_EQ(state["date"], Value(kToday));
  EXPECT_EQ(state["requiresApproval"], Value(true));
  EXPECT_EQ(state["approved"], Value(false));
  EXPECT_EQ(state["analysis"]["riskLevel"], Value(7));
  EXPECT_EQ(state["notes"].as_array()->at(0)["id"], Value("n1"));
  EXPECT_TRUE(state["error"].is_null());
}

TEST(AgentGraph, RefusesAConfigurationThatItCannotObey) {
  WellbeingFixture world;
  const auto code = [&](GraphConfig config) {
    return world.audit(kToday, std::move(config)).error().code;
  };
  GraphConfig checkpoint;
  checkpoint.checkpointId = "1ef0c1a2-0000-6000-8000-000000000000";
  EXPECT_EQ(code(checkpoint), ErrorCode::invalid);
  GraphConfig retries;
  retries.maxRetries = 0;
  EXPECT_EQ(code(retries), ErrorCode::invalid);
  GraphConfig timeout;
  timeout.timeout = milliseconds(0);
  EXPECT_EQ(code(timeout), ErrorCode::invalid);
  EXPECT_EQ(code(with_thread("a\nb")), ErrorCode::invalid);
  EXPECT_EQ(code(with_thread(std::string(300, 'x'))), ErrorCode::invalid);
  EXPECT_EQ(world.store.commits(), 0u) << "nothing was begun";
}

TEST(AgentGraph, RefusesWhatIsNoDateOrLanguageBeforeAnythingBegins) {
  WellbeingFixture world;
  auto agent = world.auditor();
  EXPECT_EQ(world.wait(agent.execute({"2024-13-01"}, {})).error().code, ErrorCode::invalid);
  EXPECT_EQ(world.wait(agent.execute({kToday, "fr"}, {})).error().code, ErrorCode::invalid);
  EXPECT_EQ(world.plan("the day before").error().code, ErrorCode::invalid);
  EXPECT_EQ(world.store.commits(), 0u);
}

TEST(AgentGraph, StartsANewThreadWhenNoneIsNamed) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.replies(audit_text(2)).replies(audit_text(3));
  const auto first = world.audit(kToday).value();
  const auto second = world.audit(kToday).value();
  EXPECT_NE(first.threadId, second.threadId);
  EXPECT_EQ(first.threadId.size(), 36u);
  EXPECT_EQ(world.saved<DailySummary>(kToday)->riskLevel, 3) << "a later audit replaces the day's";
}

TEST(AgentGraph, GivesTheResultOfAKnownThreadThatHasEnded) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.replies(audit_text(2));
  const auto first = world.audit(kToday, with_thread("t")).value();
  const auto again = world.audit(kToday, with_thread("t")).value();
  EXPECT_EQ(to_json(first.json), to_json(again.json));
  EXPECT_EQ(world.model.requests().size(), 1u);
}

TEST(AgentGraph, RefusesAnotherDateForAKnownThread) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.replies(audit_text(7));
  ASSERT_TRUE(world.audit(kToday, with_thread("t")).ok());
  const auto other = world.audit(kTomorrow, with_thread("t"));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::invalid);
}

TEST(AgentGraph, ReturnsAPausedThreadAsItStands) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.replies(audit_text(7));
  const auto first = world.audit(kToday, with_thread("t")).value();
  const auto again = world.audit(kToday, with_thread("t")).value();
  EXPECT_EQ(again.status, "paused");
  EXPECT_EQ(again.approval->interrupt, first.approval->interrupt);
  EXPECT_EQ(world.model.requests().size(), 1u);
}

TEST(AgentGraph, TellsItsStatusWhileItWaits) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.replies(audit_text(7));
  ASSERT_TRUE(world.audit(kToday, with_thread("t")).ok());
  auto agent = world.auditor();
  const auto status = world.wait(agent.getStatus("t")).value();
  EXPECT_EQ(status.status, "paused");
  EXPECT_EQ(status.base.currentNode, "awaitingApproval");
  EXPECT_EQ(status.base.retryCount, 0);
  EXPECT_EQ(status.json["status"], Value("paused"));
  EXPECT_EQ(status.json["state"]["analysis"]["riskLevel"], Value(7));
}

TEST(AgentGraph, TimesOutByTheTimeItWorks) {
  WellbeingFixture world;
  world.add_note(kToday, "A day.");
  world.model.takes(milliseconds(90'000)).then_always([](const ModelRequest&) {
    return Result<std::string>(audit_text(2));
  });
  GraphConfig config;
  config.timeout = milliseconds(60'000);
  const auto result = world.audit(kToday, std::move(config)).value();
  EXPECT_EQ(result.status, "failed");
  EXPECT_THAT(*result.error, HasSubstr("60000 ms"));
  EXPECT_EQ(world.history(result.threadId).back().kind, CommitKind::failure);
}

TEST(AgentGraph, ConcurrentExecutionsKeepTheirStatesApart) {
  WellbeingFixture world;
  world.model.takes(milliseconds(20)).then_always([](const ModelRequest& request) {
    const std::string& date = *request.input["date"].as_string();
    return Result<std::string>(audit_text(1 + (date.back() - '0') % 6, "Summary of " + date));
  });
  std::vector<std::string> dates;
  for (int day = 10; day < 26; ++day) dates.push_back("2024-03-" + std::to_string(day));
  for (const std::string& date : dates) world.add_note(date, "Note of " + date);
  using Answer = Result<GraphExecutionResult<Audit>>;
  auto agent = world.auditor();
  std::vector<std::optional<Answer>> answers(dates.size());
  std::vector<Spawned> running;
  for (std::size_t i = 0; i < dates.size(); ++i) {
    AgentInput input{dates[i]};
    std::function<void(Answer)> done = [&answers, i](Answer answer) {
      answers[i].emplace(std::move(answer));
    };
    running.push_back(spawn<Answer>(
        world.loop, agent.execute(std::move(input), with_thread("thread-" + dates[i])),
        std::move(done)));
  }
  world.loop.run();
  for (std::size_t i = 0; i < dates.size(); ++i) {
    ASSERT_TRUE(answers[i] && answers[i]->ok()) << dates[i];
    const auto& result = **answers[i];
    EXPECT_EQ(result.outcome, "saved");
    EXPECT_EQ(result.state.notes.at(0).content, "Note of " + dates[i]);
    EXPECT_EQ(result.state.analysis->summary, "Summary of " + dates[i]);
    EXPECT_EQ(world.saved<DailySummary>(dates[i])->threadId, result.threadId);
    EXPECT_THAT(world.nodes(result.threadId),
                ElementsAre("fetchNotes", "analyzeNotes", "checkApproval", "saveSummary"));
  }
  EXPECT_EQ(world.violations(), "");
}

TEST(AgentGraph, UsersDoNotSeeEachOthersNotes) {
  WellbeingFixture world;
  world.add_note(kToday, "A private day.");
  AgentParts other{*world.runtime, world.store};
  other.user = UserId("someone-else");
  auto agent = daily_auditor_agent(other, world.options).value();
  const auto result = world.wait(agent.execute({kToday}, {})).value();
  EXPECT_EQ(result.outcome, "nothing_to_do");
}

TEST(AgentGraph, TheAgentsOptionsAreChecked) {
  WellbeingOptions options;
  options.language = "fr";
  EXPECT_EQ(daily_auditor(options).error().code, ErrorCode::invalid);
  options.language = "en";
  options.approval_expires = milliseconds(0);
  EXPECT_EQ(routine_generator(options).error().code, ErrorCode::invalid);
  EXPECT_EQ(wellbeing_graphs(WellbeingFixture::english()).value().size(), 2u);
}

TEST(AgentGraph, HasExactlyTheNodesThatItIsKnownBy) {
  const auto graphs = wellbeing_graphs(WellbeingFixture::english()).value();
  std::vector<std::vector<std::string>> nodes;
  for (const auto& graph : graphs) {
    auto& names = nodes.emplace_back();
    for (const auto& node : graph->nodes) names.push_back(node.name);
  }
  EXPECT_THAT(nodes[0], ElementsAre("fetchNotes", "analyzeNotes", "checkApproval",
                                    "awaitingApproval", "saveSummary"));
  EXPECT_THAT(nodes[1], ElementsAre("analyzer", "scheduler", "validator", "formatter",
                                    "checkApproval", "awaitingApproval", "saveRoutine"));
  EXPECT_EQ(graphs[0]->name, "daily_auditor");
  EXPECT_EQ(graphs[1]->name, "routine_generator");
}

}  // namespace
}  // namespace belay::wellbeing
