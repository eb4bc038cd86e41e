// Replays of runs with parallel nodes and crashes: with the original code there is no divergence,
// and with changed code the divergence is the change.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "service/run_file.h"
#include "tests/property/wide_player.h"

namespace belay::property {
namespace {

std::string told(const std::optional<Divergence>& first) {
  if (!first) return "";
  return std::to_string(first->seq) + " " + first->node + ": " + first->what + ": " +
         first->recorded + " / " + first->replayed;
}

bool names(const CheckpointRow& commit, const std::string& node) {
  return ("," + commit.node + ",").find("," + node + ",") != std::string::npos;
}

// Returns the seq of the commit that ends the first task of the node, if there is one.
std::optional<std::uint64_t> end_of(const std::vector<CheckpointRow>& commits,
                                    const std::string& node) {
  for (std::size_t i = 1; i < commits.size(); ++i) {
    bool ends = commits[i].superstep > commits[i - 1].superstep;
    if (ends && names(commits[i], node)) return commits[i].seq;
  }
  return std::nullopt;
}

// Returns the error of a replay with this change, or an empty text.
std::string misses(WidePlayer& player, const WideChange& change) {
  auto seq = end_of(player.commits_of_run(), change.node);
  if (!seq) return "";
  auto found = player.divergence(change);
  if (found && found->seq == *seq && found->node == change.node) return "";
  return "changed " + change.node + " at " + std::to_string(*seq) + ", found \"" + told(found) +
         "\"";
}

RC_GTEST_PROP(WideReplays, AnyRunComesOutAsItIsRecordedWhateverCrashedOnTheWay, ()) {
  auto scenario = *any_wide_scenario();
  WidePlayer player(scenario);
  player.play(*any_crashes());
  RC_ASSERT(told(player.divergence()) == std::string());
  RC_ASSERT(player.violations() == std::string());
}

RC_GTEST_PROP(WideReplays, OfAChangedNodeTheFirstVisitIsFoundAndNamed, ()) {
  auto scenario = *any_wide_scenario();
  WidePlayer player(scenario);
  player.play(*any_crashes());
  auto change = *rc::gen::elementOf(player.changes);
  RC_CLASSIFY(true, change.what == WideChange::route ? "route" : "update");
  RC_ASSERT(misses(player, change) == std::string());
}

// Exports the run as a file, without the data that an import changes: waiting messages are
// discarded in the copy.
std::string exported(WidePlayer& player, Store& store, CheckScope scope, RunFile* file = nullptr) {
  ThreadFilter filter;
  filter.tenant = default_tenant();
  std::function<Result<std::vector<ThreadRow>>(Snapshot&)> reader = [filter](Snapshot& view) {
    return view.threads(filter);
  };
  auto threads =
      block_on(player.loop, read<std::vector<ThreadRow>>(store, std::move(reader))).value();
  Value document = block_on(player.loop, export_run(store, std::move(scope), threads.at(0).thread,
                                                    std::nullopt, player.clock.now(), "belay"))
                       .value();
  if (file) *file = run_file_from(parse_json(to_json(document)).value()).value();
  Value::Object members = *document.as_object();
  members.erase("messages");
  members.erase("digest");
  return to_json(Value(std::move(members)));
}

RC_GTEST_PROP(WideReplays, AnyRunComesOutOfAFileAsItWentIn, ()) {
  auto scenario = *any_wide_scenario();
  WidePlayer player(scenario);
  player.play(*any_crashes());
  CheckScope scope;
  scope.graphs = {player.graph()};
  RunFile file;
  std::string before = exported(player, *player.memory, scope, &file);
  std::unique_ptr<Store> other = open_memory_store(player.clock, player.random);
  auto imported = block_on(
      player.loop, import_run(*other, scope, std::move(file), true, player.clock, player.random));
  RC_ASSERT(imported.ok());
  RC_ASSERT(exported(player, *other, scope) == before);
}

// Found by 5,000 cases: with `parallel` 1, an interrupt that was requested and decided while a
// retry waited. Its replay executed the retry first, and paused.
TEST(WideReplays, AQuestionThatHadToWaitForAPlaceIsAskedBeforeARetryIsDue) {
  WideScenario scenario;
  scenario.seed = 32;
  scenario.parallel = 1;
  scenario.decides_early = true;
  scenario.layers = {{WideScenario::question, WideScenario::flaky, WideScenario::question}};
  WidePlayer player(scenario);
  player.play({{2, Crash::loses_the_commit}, {4, Crash::loses_the_answer}});
  EXPECT_EQ(told(player.divergence()), "");
  EXPECT_EQ(player.violations(), "");
}

}  // namespace
}  // namespace belay::property
