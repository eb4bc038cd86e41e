// Graphs with parallel nodes, joins, sends, subgraphs, waits, breakpoints and interrupts: neither a
// crash nor the order in which tasks end changes the result.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/property/wide_player.h"

namespace belay::property {
namespace {

std::string end_of(const RunView& view) {
  return std::string(name_of(view.row.status)) + " " + view.row.outcome + " " + view.row.error +
         " " + to_json(view.state);
}

RC_GTEST_PROP(Wide, AnyRunEndsAsItWouldHaveWithoutCrashes, ()) {
  auto scenario = *any_wide_scenario();
  auto crashes = *any_crashes();
  WidePlayer undisturbed(scenario);
  std::string expected = end_of(undisturbed.play({}));
  RC_CLASSIFY(true, expected.substr(0, expected.find(' ')));
  RC_ASSERT(undisturbed.violations() == std::string());
  WidePlayer disturbed(scenario);
  std::string came_to = end_of(disturbed.play(crashes));
  RC_ASSERT(disturbed.violations() == std::string());
  RC_ASSERT(came_to == expected);
}

RC_GTEST_PROP(Wide, TheOrderInWhichTasksEndChangesNothing, ()) {
  auto scenario = *any_wide_scenario();
  WidePlayer one(scenario, 1);
  WidePlayer other(scenario, *rc::gen::inRange<std::uint64_t>(2, 1'000));
  std::string expected = end_of(one.play({}));
  RC_ASSERT(end_of(other.play({})) == expected);
}

RC_GTEST_PROP(Wide, TheSameRunGivesTheSameRowsByteForByte, ()) {
  auto scenario = *any_wide_scenario();
  auto crashes = *any_crashes();
  WidePlayer one(scenario);
  WidePlayer other(scenario);
  RunView first = one.play(crashes);
  RunView second = other.play(crashes);
  RC_ASSERT(first.row == second.row);
  RC_ASSERT(one.rows() == other.rows());
}

// Every commit of one run with all kinds of nodes, including pending ones, is tried as the last
// commit of a process.
void crash_everywhere(int durability) {
  using Kind = WideScenario::Kind;
  WideScenario scenario;
  scenario.layers = {{Kind::approve, Kind::flaky, Kind::asks_inside, Kind::slow},
                     {Kind::chain, Kind::sends, Kind::wait, Kind::question},
                     {Kind::save, Kind::inside, Kind::approve}};
  scenario.durability = durability;
  scenario.decides_early = true;
  scenario.seed = 4;
  WidePlayer undisturbed(scenario);
  RunView ended = undisturbed.play({});
  ASSERT_EQ(ended.row.status, RunStatus::completed) << ended.row.error;
  ASSERT_EQ(undisturbed.violations(), "");
  std::string expected = end_of(ended);
  for (int after = 0; after < undisturbed.commits; ++after) {
    for (int way : {Crash::loses_the_commit, Crash::loses_the_answer, Crash::refuses}) {
      WidePlayer disturbed(scenario);
      std::string came_to = end_of(disturbed.play({Crash{after, way}}));
      EXPECT_EQ(came_to, expected) << Crash{after, way};
      EXPECT_EQ(disturbed.violations(), "") << Crash{after, way};
    }
  }
}

TEST(WideCrashes, EveryCommitMayBeTheLastOfItsProcess) { crash_everywhere(0); }
TEST(WideCrashes, EveryCommitMayBeTheLastWithAsync) { crash_everywhere(1); }
TEST(WideCrashes, EveryCommitMayBeTheLastWithExit) { crash_everywhere(2); }

// A subgraph's last commit was once durable without the end of its task, which then never ended.
TEST(WideCrashes, ASubgraphThatHasEndedLetsItsTaskEndAfterACrash) {
  using Kind = WideScenario::Kind;
  WideScenario scenario;
  scenario.layers = {{Kind::asks_inside, Kind::inside, Kind::chooses}};
  scenario.parallel = 1;
  std::string expected = end_of(WidePlayer(scenario).play({}));
  for (int first = 0; first < 6; ++first) {
    for (int second = 0; second < 6; ++second) {
      WidePlayer disturbed(scenario);
      auto view = disturbed.play(
          {Crash{4, Crash::refuses}, Crash{first, Crash::loses_the_commit}, Crash{second, 0}});
      EXPECT_EQ(end_of(view), expected) << first << " " << second;
    }
  }
}

// Found by a random test.
TEST(WideCrashes, AWaitBesideASubgraphGoesOnAfterAnswersThatWereLost) {
  using Kind = WideScenario::Kind;
  WideScenario scenario;
  scenario.layers = {{Kind::wait, Kind::save, Kind::save, Kind::inside}};
  scenario.durability = 1;
  scenario.seed = 0;
  WidePlayer player(scenario);
  RunView view = player.play({Crash{2, Crash::loses_the_answer}, Crash{1, Crash::loses_the_answer},
                              Crash{1, Crash::loses_the_answer}});
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(player.violations(), "");
}

}  // namespace
}  // namespace belay::property
