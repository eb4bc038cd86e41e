// A crash changes no result, and the same seed produces the same run.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/property/player.h"

namespace belay::property {
namespace {

RC_GTEST_PROP(Crashes, AnyRunEndsAsItWouldHaveWithoutThem, ()) {
  auto scenario = *any_scenario();
  auto crashes = *any_crashes();
  Player undisturbed;
  RunView ended = undisturbed.play(scenario, {});
  Outcome expected = undisturbed.outcome(ended);
  RC_CLASSIFY(true, expected.status);
  RC_CLASSIFY(ended.row.seq >= 10, "ten commits and more");
  RC_CLASSIFY(ended.row.retry_count > 0, "retried");
  RC_CLASSIFY(!expected.approvals.empty(), "asked");
  RC_CLASSIFY(!crashes.empty() && crashes[0].after < static_cast<int>(ended.row.seq), "crashed");
  Player disturbed;
  Outcome came_to = disturbed.outcome(disturbed.play(scenario, crashes));
  RC_ASSERT(came_to == expected);
  RC_ASSERT(disturbed.violations() == std::string());
  RC_ASSERT(undisturbed.violations() == std::string());
}

RC_GTEST_PROP(Crashes, NoCommittedStepRunsAgain, ()) {
  auto scenario = *any_scenario();
  Player player;
  RunView view = player.play(scenario, *any_crashes());
  RC_ASSERT(player.faults == std::vector<std::string>());
  int steps = 0;
  for (const CheckpointRow& each : player.checkpoints(view)) {
    if (each.kind == CommitKind::node) ++steps;
  }
  RC_ASSERT(static_cast<int>(player.store.ended.size()) == steps);
  for (const auto& [task, times] : player.store.ended) RC_ASSERT(times == 1);
}

RC_GTEST_PROP(Crashes, ManyRunsAtOnceDoNotTouchOneAnother, ()) {
  auto scenarios = *rc::gen::container<std::vector<Scenario>>(3, any_scenario());
  Player together;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    together.play_until_asked(scenarios[i], "t" + std::to_string(i));
  }
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    std::string thread = "t" + std::to_string(i);
    scenarios[i].verdicts.clear();  // an expiry would affect the other scenarios too
    Outcome came_to = together.outcome(together.play(scenarios[i], {}, thread));
    Player alone;
    Outcome expected = alone.outcome(alone.play(scenarios[i], {}, thread));
    RC_ASSERT(came_to == expected);
  }
  RC_ASSERT(together.violations() == std::string());
}

// Every kind of crash at every crash point of one scenario with all kinds of nodes.
TEST(Crashes, EveryPointOfARunThatHasItAllLeadsToTheSameEnd) {
  Scenario scenario;
  scenario.nodes = {{NodePlan::wait, 0, 5, true},     {NodePlan::approve, 8, 1, true},
                    {NodePlan::work, 0, 5, true},     {NodePlan::validate, 2, 5, true},
                    {NodePlan::question, 0, 5, true}, {NodePlan::save, 0, 5, true}};
  scenario.results = {done, unavailable, slow, done, throws};
  scenario.verdicts = {edit, approve};
  scenario.seed = 4;
  Player undisturbed;
  RunView ended = undisturbed.play(scenario, {});
  ASSERT_EQ(ended.row.status, RunStatus::completed);
  ASSERT_EQ(ended.row.outcome, "saved");
  ASSERT_GE(ended.row.retry_count, 2);
  ASSERT_GE(undisturbed.approvals(ended).size(), 2u);
  Outcome expected = undisturbed.outcome(ended);
  for (int after = 0; after < static_cast<int>(ended.row.seq); ++after) {
    for (int way :
         {Crash::loses_the_commit, Crash::loses_the_answer, Crash::refuses, Crash::is_uncertain}) {
      // And a second crash at the first commit after the restart.
      Player disturbed;
      Outcome came_to =
          disturbed.outcome(disturbed.play(scenario, {Crash{after, way}, Crash{1, way}}));
      EXPECT_EQ(came_to, expected) << Crash{after, way};
      EXPECT_EQ(disturbed.violations(), "") << Crash{after, way};
    }
  }
}

// Equal byte for byte, including ids and times.
RC_GTEST_PROP(Determinism, TheSameSeedGivesTheSameRun, ()) {
  auto scenario = *any_scenario();
  auto crashes = *any_crashes();
  auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Player first(seed);
  Player second(seed);
  RunView one = first.play(scenario, crashes);
  RunView other = second.play(scenario, crashes);
  RC_ASSERT(one.row == other.row);
  RC_ASSERT(one.state == other.state);
  RC_ASSERT(first.checkpoints(one) == second.checkpoints(other));
  RC_ASSERT(first.approvals(one) == second.approvals(other));
  RC_ASSERT(first.events(one) == second.events(other));
  RC_ASSERT(first.footprints() == second.footprints());
}

}  // namespace
}  // namespace belay::property
