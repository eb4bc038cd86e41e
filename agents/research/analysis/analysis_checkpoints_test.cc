// Checkpoints of analyses: saved, restored from the cache and the store, migrated, kept, removed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agents/research/analysis/analysis_fixture.h"
#include "agents/research/analysis/checkpoint_sweep.h"
#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/records.h"
#include "agents/research/checkpoints/checkpoint_store_fixture.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::research {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Processes, one after the other, that execute one analysis of the user "ana".
class AnalysisProcess {
 public:
  AnalysisProcess(CheckpointStore& store, std::shared_ptr<const ResearchParts> parts)
      : store_(store), graph_(analysis_graph(parts).value()) {
    store_.runtime->add(graph_);
    store_.runtime->add(checkpoint_sweep_graph(parts).value());
  }
  RunView start(Analysis order, const std::string& id = "an-1") {
    StartOptions options;
    options.user = store_.owner;
    options.thread = ThreadId(id);
    return store_.wait(store_.runtime->start(graph_, std::move(order), options)).value();
  }
  RunView approve(const RunView& view, Value edited = {}) {
    Decision decision;
    decision.approved = true;
    decision.decided_by = "ana";
    if (!edited.is_null()) decision.edited = std::move(edited);
    InterruptId interrupt = view.approval->interrupt;
    auto decided =
        store_.wait(store_.runtime->decide(default_tenant(), interrupt, std::move(decision)));
    return decided.value().view;
  }
  RunView sweep() {
    auto graph = checkpoint_sweep_graph(std::make_shared<ResearchParts>()).value();
    StartOptions options;
    options.user = store_.owner;
    return store_.wait(store_.runtime->start(graph, CheckpointSweep{}, options)).value();
  }

 private:
  CheckpointStore& store_;
  Graph<Analysis> graph_;
};

Analysis state_of(const RunView& view) { return decode_json<Analysis>(view.state).value(); }

std::vector<AgentCheckpoint> checkpoints_in(CheckpointStore& store, const std::string& agent_type) {
  std::vector<AgentCheckpoint> found;
  for (const RecordRow& row : store.rows_in(AgentCheckpoint::collection)) {
    AgentCheckpoint checkpoint = record_from<AgentCheckpoint>(row).value();
    if (checkpoint.agent_type == agent_type) found.push_back(std::move(checkpoint));
  }
  return found;
}

TEST(AnalysisCheckpoints, AreSavedWithEachSubtaskAndWithAFailure) {
  CheckpointStore store("memory:");
  Calculations calculations;
  calculations.failures = {{"growth.sustainable_growth", 1}};
  AnalysisProcess process(store, calculations.parts());
  RunView open = process.start(order_of("AAPL", {"growth"}));
  ASSERT_EQ(open.row.status, RunStatus::paused) << open.row.error;
  std::vector<AgentCheckpoint> saved = checkpoints_in(store, "growth");
  ASSERT_THAT(saved, SizeIs(3)) << "two subtasks and the failure";
  EXPECT_EQ(saved[1].progress_pct, 50);
  EXPECT_EQ(saved[1].current_subtask, "sustainable_growth");
  EXPECT_THAT(saved[1].completed_subtasks, ElementsAre("historical_growth", "compound_growth"));
  EXPECT_TRUE(saved[1].failure_reason.empty());
  EXPECT_EQ(saved[1].retry_count, 0);
  EXPECT_EQ(saved[1].agent_version, "1.1.0");
  EXPECT_EQ(saved[1].stock_ticker, "AAPL");
  EXPECT_EQ(saved[1].agent_config["currency"], Value("USD"));
  EXPECT_THAT(to_json(saved[1].working_memory), HasSubstr("historical_growth"));
  EXPECT_THAT(saved[2].failure_reason, HasSubstr("the source is unavailable"));
  EXPECT_EQ(saved[2].completed_subtasks, saved[1].completed_subtasks);
  EXPECT_EQ(saved[2].retry_count, 1);
  EXPECT_LT(saved[0].checkpoint_time, saved[1].checkpoint_time);
  EXPECT_LT(saved[1].checkpoint_time, saved[2].checkpoint_time);
}

TEST(AnalysisCheckpoints, ASpecialistThatFailedContinuesFromTheCacheOrTheStore) {
  for (bool has_cache : {true, false}) {
    CheckpointStore store("memory:");
    Calculations calculations;
    calculations.failures = {{"growth.sustainable_growth", 1}};
    auto cache = std::make_shared<RecordingCache>();
    auto parts = std::make_shared<ResearchParts>(*calculations.parts());
    parts->checkpoint_cache = cache;
    AnalysisProcess process(store, parts);
    RunView open = process.start(order_of("AAPL", {"growth"}));
    EXPECT_EQ(cache->gets, 0) << "a specialist that has no checkpoint reads none";
    EXPECT_THAT(cache->texts, SizeIs(1));
    EXPECT_EQ(cache->last_ttl, std::chrono::hours(7 * 24));
    if (!has_cache) cache->texts.clear();
    calculations.counts.clear();
    RunView done = process.approve(open);
    EXPECT_EQ(done.row.status, RunStatus::completed) << done.row.error;
    EXPECT_EQ(done.row.outcome, "complete");
    EXPECT_EQ(cache->gets, 1);
    EXPECT_FALSE(calculations.counts.contains("growth.historical_growth")) << "completed before";
    EXPECT_EQ(calculations.counts.at("growth.sustainable_growth"), 1);
    EXPECT_THAT(store.rows_in(AgentCheckpoint::collection), IsEmpty()) << "removed after a success";
    EXPECT_THAT(store.rows_in(CheckpointHead::collection), IsEmpty());
    EXPECT_THAT(cache->texts, IsEmpty());
  }
}

// The program of the next morning has another version of the agents.
std::shared_ptr<const AgentVersions> next_versions(bool has_migration) {
  auto versions = std::make_shared<AgentVersions>(semantic_version_from("2.0.0").value());
  Migration migration;
  migration.from = semantic_version_from("1.1.0").value();
  migration.to = semantic_version_from("2.0.0").value();
  migration.description = "repeats the last subtask";
  migration.apply = [](Value checkpoint) -> Result<Value> {
    AgentCheckpoint old = checkpoint_from(checkpoint).value();
    set_progress(old,
                 {"historical_growth", "compound_growth", "sustainable_growth", "growth_stability"},
                 old.completed_subtasks.size() - 1);
    return checkpoint_value(old);
  };
  if (has_migration) versions->add(std::move(migration)).value();
  return versions;
}

TEST(AnalysisCheckpoints, APauseOverAnUpdateOfTheProgramMigratesThem) {
  conformance::TemporaryFolder folder;
  std::string name = "sqlite:" + folder.file("pause.db");
  std::uint64_t seed = 0;
  for (bool has_migration : {true, false}) {
    std::string id = has_migration ? "with-migration" : "without-migration";
    Calculations evening;
    evening.failures = {{"growth.sustainable_growth", 1}};
    RunView open;
    {
      CheckpointStore store(name, ++seed);
      open = AnalysisProcess(store, evening.parts()).start(order_of("AAPL", {"growth"}), id);
      ASSERT_EQ(open.row.status, RunStatus::paused) << open.row.error;
    }
    CheckpointStore store(name, ++seed);
    Calculations morning;
    auto parts = std::make_shared<ResearchParts>(*morning.parts());
    parts->versions = next_versions(has_migration);
    RunView view = AnalysisProcess(store, parts).approve(open);
    if (has_migration) {
      EXPECT_EQ(view.row.outcome, "complete") << view.row.error;
      EXPECT_FALSE(morning.counts.contains("growth.historical_growth"));
      EXPECT_EQ(morning.counts.at("growth.compound_growth"), 1) << "as the migration demands";
    } else {
      EXPECT_EQ(view.row.status, RunStatus::paused);
      EXPECT_THAT(state_of(view).specialists.at("growth").failure, HasSubstr("2.0.0"));
      EXPECT_THAT(morning.counts, IsEmpty());
      EXPECT_THAT(checkpoints_in(store, "growth"), SizeIs(3)) << "a refusal changes nothing";
    }
  }
}

TEST(AnalysisCheckpoints, OfAnIncompleteAnalysisAreRemovedAfterThirtyDays) {
  CheckpointStore store("memory:");
  Calculations calculations;
  calculations.failures = {{"growth.sustainable_growth", 100}};
  AnalysisProcess process(store, calculations.parts());
  RunView open = process.start(order_of("AAPL", {"growth"}));
  Decision rejection;
  rejection.decided_by = "ana";
  InterruptId interrupt = open.approval->interrupt;
  auto ended =
      store.wait(store.runtime->decide(default_tenant(), interrupt, std::move(rejection))).value();
  EXPECT_EQ(ended.view.row.outcome, "incomplete");
  store.clock.move(std::chrono::hours(29 * 24));
  EXPECT_EQ(process.sweep().row.outcome, "swept");
  EXPECT_THAT(checkpoints_in(store, "growth"), SizeIs(3));
  store.clock.move(std::chrono::hours(2 * 24));
  RunView swept = process.sweep();
  EXPECT_EQ(swept.state["checkpoints"], Value(3));
  EXPECT_EQ(swept.state["analyses"], Value(1));
  store.clock.move(std::chrono::seconds(1));
  EXPECT_THAT(store.rows_in(AgentCheckpoint::collection), IsEmpty());
}

TEST(AnalysisCheckpoints, AreMovedToTheArchiveIfTheOptionsDemandIt) {
  CheckpointStore store("memory:");
  Calculations calculations;
  auto parts = std::make_shared<ResearchParts>(*calculations.parts());
  parts->checkpoints.archive = true;
  AnalysisProcess process(store, parts);
  EXPECT_EQ(process.start(order_of("AAPL", {"growth"})).row.outcome, "complete");
  store.clock.move(std::chrono::seconds(1));
  EXPECT_THAT(store.rows_in(AgentCheckpoint::collection), IsEmpty());
  EXPECT_THAT(store.rows_in(ArchivedCheckpoint::collection), SizeIs(4));
}

TEST(AnalysisCheckpoints, AreNotSavedIfTheyAreOffAndTheAnalysisStatesIt) {
  CheckpointStore store("memory:");
  Calculations calculations;
  calculations.failures = {{"growth.sustainable_growth", 1}};
  auto parts = std::make_shared<ResearchParts>(*calculations.parts());
  parts->checkpoints.enabled = false;
  AnalysisProcess process(store, parts);
  RunView open = process.start(order_of("AAPL", {"growth"}));
  EXPECT_FALSE(state_of(open).request.checkpoints);
  EXPECT_THAT(store.rows_in(AgentCheckpoint::collection), IsEmpty());
  EXPECT_EQ(process.approve(open).row.outcome, "complete");
}

TEST(AnalysisCheckpoints, OnlyTheSelectedSpecialistIsExecutedAgain) {
  CheckpointStore store("memory:");
  Calculations calculations;
  calculations.failures = {{"growth.compound_growth", 1}, {"credit.leverage", 1}};
  AnalysisProcess process(store, calculations.parts());
  RunView open = process.start(order_of("AAPL", {"growth", "credit"}));
  calculations.counts.clear();
  Value question = payload_of(*open.approval);
  question.as_object()->insert_or_assign("only", Value(Value::Array{Value("growth")}));
  RunView again = process.approve(open, question);
  EXPECT_FALSE(calculations.counts.contains("credit.leverage"));
  EXPECT_EQ(calculations.counts.at("growth.compound_growth"), 1);
  ASSERT_EQ(again.row.status, RunStatus::paused) << "credit still waits";
  EXPECT_EQ(state_of(again).question.failures.size(), 1u);
  EXPECT_THAT(state_of(again).question.only, IsEmpty());
  RunView done = process.approve(again);
  EXPECT_EQ(done.row.outcome, "complete");
  EXPECT_EQ(calculations.counts.at("credit.leverage"), 1);
}

TEST(AnalysisCheckpoints, AReplayOfAResumedAnalysisFindsNoDifference) {
  CheckpointStore store("memory:");
  Calculations calculations;
  calculations.failures = {{"growth.sustainable_growth", 1}};
  AnalysisProcess process(store, calculations.parts());
  RunView done = process.approve(process.start(order_of("AAPL", {"growth", "credit"})));
  ASSERT_EQ(done.row.outcome, "complete");
  store.clock.move(std::chrono::hours(1));
  calculations.failures = {{"growth.sustainable_growth", 1}};
  ReplayOptions options;
  options.thread = ThreadId("an-1");
  ReplayReport report = store.wait(store.runtime->replay(std::move(options))).value();
  std::string difference;
  if (report.divergence) difference = report.divergence->node + ": " + report.divergence->what;
  EXPECT_EQ(difference, "");
}

TEST(AnalysisCheckpoints, AForkExecutesAllSubtasksWithItsOwnRecords) {
  CheckpointStore store("memory:");
  Calculations calculations;
  AnalysisProcess process(store, calculations.parts());
  RunView open = process.start(order_of("AAPL", {"strategy"}));
  ASSERT_EQ(open.row.status, RunStatus::paused) << open.row.error;
  std::size_t before = store.rows_in(Deliverable::collection).size();
  ForkOptions options;
  options.from = ThreadId("an-1");
  options.thread = ThreadId("an-2");
  RunView fork = store.wait(store.runtime->fork(std::move(options))).value();
  while (fork.row.status == RunStatus::paused) fork = process.approve(fork);
  EXPECT_EQ(fork.row.outcome, "complete") << fork.row.error;
  std::size_t of_fork = 0;
  std::size_t of_original = 0;
  for (const RecordRow& row : store.rows_in(Deliverable::collection)) {
    Deliverable made = record_from<Deliverable>(row).value();
    (made.analysis == "an-2" ? of_fork : of_original) += 1;
  }
  EXPECT_EQ(of_original, before) << "the records of the original are unchanged";
  EXPECT_EQ(of_fork, before + 1) << "with the final score";
}

TEST(AnalysisCheckpoints, TheGraphOfTheFindingsIsWrittenOnceWhateverCrashes) {
  conformance::TemporaryFolder folder;
  CypherFileOptions options;
  options.folder = folder.path();
  Calculations calculations;
  auto parts = std::make_shared<ResearchParts>(*calculations.parts());
  parts->graph = cypher_file_sink(std::move(options)).value();
  Analysis order = order_of("AAPL", {"growth"});
  auto graph = analysis_graph(parts);
  auto done = testing::World{}.run(graph, order).approve_all();
  ASSERT_TRUE(done.ok()) << done.error()->message;
  EXPECT_EQ(done.state().graph.sink, "file");
  EXPECT_EQ(done.state().graph.outcome, "delivered");
  std::string text = text_in(done.state().graph.place);
  EXPECT_THAT(text, AllOf(HasSubstr("MERGE"), HasSubstr("AAPL"), HasSubstr("compound_growth")));
  for (const auto& crash : done.crash_points()) {
    std::filesystem::remove(done.state().graph.place);
    auto rough = testing::World{}.run(graph, order).crash_at(crash).approve_all();
    ASSERT_TRUE(rough.ok()) << crash << rough.error()->message;
    EXPECT_EQ(rough.state().graph.outcome, "delivered") << crash;
    EXPECT_EQ(text_in(rough.state().graph.place), text) << crash;
  }
}

}  // namespace
}  // namespace belay::research
