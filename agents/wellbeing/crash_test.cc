// If a process dies at any commit of a run, before the commit or before its result arrives, another
// process completes the run from the store with the same result.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/wellbeing_fixture.h"

namespace belay::wellbeing {
namespace {

using testing::audit_text;
using testing::HaltingStore;
using testing::kToday;
using testing::kTomorrow;
using testing::schedule_text;
using testing::WellbeingFixture;

// Results that must not depend on the crashes.
struct End {
  std::string audit;
  std::string routine;
  std::string summary;
  std::string saved_routine;
  std::string text() const {
    return audit + "\n" + routine + "\n" + summary + "\n" + saved_routine;
  }
};

template <typename T>
std::string text_of(const T& value) {
  return encode_json(value).value();
}

template <typename R>
std::string record_text(std::optional<R> record) {
  if (!record) return "none";
  record->createdAt = Instant{};
  return text_of(*record);
}

// The reply depends only on the request, so that a repeated call has the same reply. The first
// reply to each request is malformed; the first schedule without feedback is invalid.
Result<std::string> answer(const ModelRequest& request) {
  const bool again = request.messages[1].text.find("could not be used") != std::string::npos;
  if (request.purpose == "daily_audit") return again ? audit_text(8) : std::string("{oops");
  const auto& recommendations = *request.input["recommendations"].as_array();
  const bool told = std::find(recommendations.begin(), recommendations.end(),
                              Value("Activities array is empty")) != recommendations.end();
  return told ? schedule_text() : std::string(R"({"activities": []})");
}

// Executes one step of the story. Returns an empty result if the process died in it.
template <typename Agent, typename Call>
auto step(WellbeingFixture& world, Agent agent, Call call) {
  auto answer = world.try_wait(call(agent));
  if (!answer) {
    world.store.heal();
    world.reopen();
  }
  return answer;
}

// Audit, approve, plan, approve. If the process dies in a step, the next process repeats the step,
// as a user or a script would.
End story(WellbeingFixture& world) {
  GraphConfig audit;
  audit.threadId = "audit";
  GraphConfig routine;
  routine.threadId = "routine";
  ResumeInput yes;
  yes.approved = true;
  const auto insist = [&](auto make_agent, auto call) {
    while (true) {
      auto answer = step(world, make_agent(), call);
      if (answer) return std::move(*answer).value();
    }
  };
  const auto auditor = [&] { return world.auditor(); };
  const auto generator = [&] { return world.generator(); };
  insist(auditor, [&](auto& agent) { return agent.execute({kToday}, audit); });
  const auto audited = insist(auditor, [&](auto& agent) { return agent.resume("audit", yes); });
  insist(generator, [&](auto& agent) { return agent.execute({kTomorrow}, routine); });
  const auto planned = insist(generator, [&](auto& agent) { return agent.resume("routine", yes); });
  EXPECT_EQ(audited.outcome, "saved");
  EXPECT_EQ(planned.outcome, "saved");
  return {text_of(audited.state), text_of(planned.state),
          record_text(world.saved<DailySummary>(kToday)),
          record_text(world.saved<Routine>(kTomorrow))};
}

TEST(Crash, AnyCommitMayBeTheLastOneOfAProcess) {
  WellbeingFixture calm;
  calm.model.then_always(answer);
  calm.add_note(kToday, "A hard day, and no sleep.");
  const std::size_t before = calm.store.commits();
  const End expected = story(calm);
  const std::size_t commits = calm.store.commits() - before;
  ASSERT_GE(commits, 15u) << "retry, pauses, decisions and nodes of both agents";
  for (std::size_t at = 0; at < commits; ++at) {
    for (const auto loses : {HaltingStore::Loses::the_commit, HaltingStore::Loses::the_answer}) {
      WellbeingFixture world;
      world.model.then_always(answer);
      world.add_note(kToday, "A hard day, and no sleep.");
      world.store.halt_after(at, loses);
      const End end = story(world);
      EXPECT_EQ(end.text(), expected.text()) << "died at commit " << at;
      EXPECT_EQ(world.runs("audit").size(), 1u);
      EXPECT_EQ(world.runs("routine").size(), 1u);
      EXPECT_EQ(world.violations(), "") << "died at commit " << at;
    }
  }
}

template <typename State>
State of_day(const char* date) {
  State state;
  state.date = date;
  return state;
}

// The same for each agent alone, also with crashes while its nodes execute.
TEST(Crash, AnyMomentOfANodeMayBeTheLastOneOfAProcess) {
  const auto options = WellbeingFixture::english();
  const Note note{"note-1", kToday, "A hard day, and no sleep."};
  auto world = belay::testing::World{}.record(note).model(
      belay::testing::replies_with(answer).takes(std::chrono::seconds(2)));
  auto calm = world.run(daily_auditor(options), of_day<Audit>(kToday)).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(calm.outcome(), "saved");
  EXPECT_EQ(calm.attempts("analyzeNotes"), 2);
  for (const auto& crash : calm.crash_points()) {
    SCOPED_TRACE(crash.text);
    auto scenario = world.run(daily_auditor(options), of_day<Audit>(kToday));
    auto rough = scenario.crash_at(crash).approve_all();
    EXPECT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(rough.records<DailySummary>().size(), 1u);
  }
  world.record(calm.records<DailySummary>().at(0));
  auto planned =
      world.run(routine_generator(options), of_day<RoutineState>(kTomorrow)).approve_all();
  ASSERT_TRUE(planned.ok()) << planned.error()->message;
  for (const auto& crash : planned.crash_points()) {
    SCOPED_TRACE(crash.text);
    auto scenario = world.run(routine_generator(options), of_day<RoutineState>(kTomorrow));
    auto rough = scenario.crash_at(crash).approve_all();
    EXPECT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), planned.state());
    EXPECT_EQ(rough.records<Routine>().size(), 1u);
  }
}

}  // namespace
}  // namespace belay::wellbeing
