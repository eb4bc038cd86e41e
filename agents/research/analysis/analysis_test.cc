// Analyses of real companies, through crashes, failures, pauses and decisions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "agents/research/analysis/analysis_fixture.h"
#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/records.h"
#include "agents/research/analysis/results_json.h"
#include "belay/testing.h"

namespace belay::research {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

const RunOptions kWithoutApproval{.require_approval = false};

std::set<std::string> deliverable_names(const std::vector<Deliverable>& deliverables) {
  std::set<std::string> names;
  for (const Deliverable& each : deliverables) names.insert(each.specialist + "." + each.subtask);
  return names;
}

std::set<std::string> all_subtasks() {
  std::set<std::string> names;
  for (const Specialist& specialist : specialists()) {
    for (const Subtask& subtask : specialist.subtasks) {
      names.insert(specialist.name + "." + subtask.name);
    }
  }
  return names;
}

TEST(Specialists, AreThirteenWith53SubtasksAnd476Metrics) {
  EXPECT_EQ(specialists().size(), 13u);
  EXPECT_EQ(all_subtasks().size(), 53u);
  EXPECT_THAT(MetricCatalogue::built_in().errors(), IsEmpty());
  Calculations calculations;
  auto run = testing::World{}.run(analysis_graph(calculations.parts()), order_of("AAPL"));
  auto done = run.approve_all();
  ASSERT_TRUE(done.ok()) << done.error()->message;
  std::set<std::string> metrics;
  for (const Deliverable& each : done.records<Deliverable>()) {
    Results results = results_from(each.results).value();
    for (const Figure& figure : results.figures) {
      metrics.insert(figure.specialist + "." + figure.subtask + "." + figure.metric);
    }
  }
  EXPECT_EQ(metrics.size(), 476u);
}

TEST(Analysis, AsksAPersonBeforeTheFinalScoring) {
  Calculations calculations;
  auto graph = analysis_graph(calculations.parts());
  auto open = testing::World{}.run(graph, order_of("AAPL")).leave_open();
  EXPECT_EQ(open.status(), RunStatus::paused);
  EXPECT_EQ(deliverable_names(open.records<Deliverable>()).size(), 52u);
  ASSERT_EQ(open.approvals().size(), 1u);
  EXPECT_EQ(open.state().question.reason, "gate");
  EXPECT_EQ(open.state().question.progress.at("strategy"), "3 of 4");
  EXPECT_EQ(open.state().question.progress.at("valuation"), "5 of 5");

  auto approved = testing::World{}.run(graph, order_of("AAPL")).approve_all();
  EXPECT_EQ(approved.outcome(), "complete");
  EXPECT_EQ(deliverable_names(approved.records<Deliverable>()), all_subtasks());

  auto rejected = testing::World{}.run(graph, order_of("AAPL")).reject_all();
  EXPECT_EQ(rejected.status(), RunStatus::completed);
  EXPECT_EQ(rejected.outcome(), "scoring_rejected");
}

TEST(Analysis, ACompletedSubtaskIsNotExecutedAgainAfterACrash) {
  Calculations calculations;
  auto graph = analysis_graph(calculations.parts());
  Analysis order = order_of("AAPL", {"growth", "industry_macro", "valuation"});
  auto world = testing::World{};
  auto calm = world.run(graph, order).options(kWithoutApproval).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  std::vector<Deliverable> expected = calm.records<Deliverable>();
  ASSERT_EQ(expected.size(), 13u);
  auto points = calm.crash_points();
  ASSERT_GT(points.size(), 40u);
  for (const auto& crash : points) {
    calculations.counts.clear();
    auto rough = world.run(graph, order).options(kWithoutApproval).crash_at(crash).approve_all();
    ASSERT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.outcome(), "complete");
    EXPECT_EQ(deliverable_names(rough.records<Deliverable>()), deliverable_names(expected));
    int repeated = 0;
    for (const auto& [name, count] : calculations.counts) repeated += count - 1;
    // The subtasks in progress at the crash: at most one of each specialist of a phase.
    EXPECT_LE(repeated, 2);
    EXPECT_EQ(calculations.counts.size(), 13u);
  }
}

TEST(Analysis, TheFailureOfThreeSpecialistsLeavesTheOthersRunning) {
  Calculations calculations;
  calculations.failures = {
      {"growth.compound_growth", 1}, {"credit.leverage", 1}, {"governance.controls", 1}};
  auto graph = analysis_graph(calculations.parts());
  Analysis order = order_of("AAPL");
  auto open = testing::World{}.run(graph, order).options(kWithoutApproval).leave_open();
  EXPECT_EQ(open.status(), RunStatus::paused) << "a failure waits for a person, whatever --yes";
  EXPECT_EQ(open.state().question.reason, "failures");
  EXPECT_THAT(open.state().question.failures,
              UnorderedElementsAre(Key("growth"), Key("credit"), Key("governance")));
  EXPECT_EQ(open.state().question.failures.at("credit"), "leverage: the source is unavailable");
  EXPECT_EQ(open.state().specialists.at("valuation").completed.size(), 5u);
  EXPECT_THAT(open.state().specialists.at("growth").completed, ElementsAre("historical_growth"));

  calculations.counts.clear();
  calculations.failures = {
      {"growth.compound_growth", 1}, {"credit.leverage", 1}, {"governance.controls", 1}};
  auto done = testing::World{}.run(graph, order).approve_all();
  ASSERT_TRUE(done.ok()) << done.error()->message;
  EXPECT_EQ(done.outcome(), "complete");
  EXPECT_EQ(calculations.counts.at("credit.leverage"), 2);
  EXPECT_EQ(calculations.counts.at("growth.historical_growth"), 1) << "completed before";
  EXPECT_EQ(deliverable_names(done.records<Deliverable>()), all_subtasks());
}

TEST(Analysis, ASubtaskWhoseNeedHasFailedWaitsAndAllOthersContinue) {
  Calculations calculations;
  calculations.failures = {{"industry_macro.market_sensitivity", 100}};
  auto open =
      testing::World{}.run(analysis_graph(calculations.parts()), order_of("AAPL")).leave_open();
  const auto& specialists = open.state().specialists;
  EXPECT_EQ(specialists.at("valuation").waitsFor, "industry_macro.market_sensitivity");
  EXPECT_THAT(specialists.at("competitive_position").completed, ElementsAre("margin_durability"));
  EXPECT_EQ(specialists.at("competitive_position").waitsFor, "valuation.wacc_calculation");
  EXPECT_EQ(specialists.at("growth").completed.size(), 4u);
}

TEST(Analysis, AFailureThatPersistsEndsAsIncomplete) {
  Calculations calculations;
  calculations.failures = {{"growth.compound_growth", 100}};
  auto graph = analysis_graph(calculations.parts());
  auto ended = testing::World{}.run(graph, order_of("AAPL", {"growth"})).reject_all();
  EXPECT_EQ(ended.status(), RunStatus::completed);
  EXPECT_EQ(ended.outcome(), "incomplete");
}

TEST(Analysis, WaitsWhileAPauseIsRequested) {
  Calculations calculations;
  auto graph = analysis_graph(calculations.parts());
  auto calm = testing::World{}.run(graph, order_of("AAPL", {"growth"})).approve_all();
  std::string id = calm.records<Deliverable>().at(0).analysis;
  auto paused = testing::World{}
                    .record(PauseRequest{id, "ana", *instant_from("2026-01-01T09:00:00Z")})
                    .run(graph, order_of("AAPL", {"growth"}))
                    .leave_open();
  EXPECT_EQ(paused.status(), RunStatus::paused);
  EXPECT_EQ(paused.state().question.reason, "paused");
  EXPECT_THAT(paused.records<Deliverable>(), IsEmpty());
}

TEST(Analysis, WithoutCheckpointsASpecialistIsOneStep) {
  Calculations calculations;
  Analysis order = order_of("AAPL", {"growth", "credit"});
  order.request.checkpoints = false;
  auto run = testing::World{}.run(analysis_graph(calculations.parts()), order).approve_all();
  EXPECT_EQ(run.outcome(), "complete");
  EXPECT_EQ(run.records<Deliverable>().size(), 8u);
}

TEST(Analysis, OfADamagedOrUnknownCompanyFailsWithTheFileAndTheCause) {
  Calculations calculations;
  auto graph = analysis_graph(calculations.parts());
  auto failure = [&](Analysis order) {
    auto run = testing::World{}.run(graph, std::move(order)).approve_all();
    EXPECT_EQ(run.status(), RunStatus::failed);
    return run.error() ? run.error()->message : std::string();
  };
  EXPECT_THAT(failure(order_of("ZZZZ")), HasSubstr("Unknown ticker \"ZZZZ\""));
  Analysis absent = order_of("ZZZZ");
  absent.request.ciks["ZZZZ"] = "99";
  EXPECT_THAT(failure(absent), HasSubstr("CIK0000000099.json is in none of the data folders"));
  Analysis early = order_of("AAPL");
  early.request.asOf = "2001-01-01";
  EXPECT_THAT(failure(early), HasSubstr("no usable fiscal year"));
  Analysis other = order_of("ZZZZ");
  other.request.ciks["ZZZZ"] = "320193x";
  EXPECT_THAT(failure(other), HasSubstr("Unknown ticker"));
}

TEST(Analysis, RefusesAnInputThatNamesDataFoldersOrSkipsTheGate) {
  Calculations calculations;
  Analysis order = order_of("AAPL", {"growth"});
  order.request.data = {"/etc"};
  auto run = testing::World{}.run(analysis_graph(calculations.parts()), order).approve_all();
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(run.error()->message, HasSubstr("names data folders"));
  order = order_of("AAPL", {"growth"});
  order.request.yes = true;
  auto skips = testing::World{}.run(analysis_graph(calculations.parts()), order).approve_all();
  ASSERT_FALSE(skips.ok());
  EXPECT_THAT(skips.error()->message, HasSubstr("requireApproval"));
}

TEST(Analysis, ReadsTheFoldersOfItsRecord) {
  AnalysisRow row;
  row.id = "t";
  row.data = {"/nonexistent"};
  Calculations calculations;
  auto graph = analysis_graph(calculations.parts());
  auto calm = testing::World{}.run(graph, order_of("AAPL", {"growth"})).approve_all();
  row.id = calm.records<Deliverable>().at(0).analysis;
  auto run = testing::World{}.record(row).run(graph, order_of("AAPL", {"growth"})).approve_all();
  EXPECT_EQ(run.status(), RunStatus::failed);
  ASSERT_TRUE(run.error());
  EXPECT_THAT(run.error()->message, HasSubstr("none of the data folders"));
}

TEST(Analysis, AServiceReadsOnlyTheFoldersThatItsOperatorPermits) {
  Calculations calculations;
  auto graph_that_permits = [&](std::vector<std::string> folders) {
    auto parts = std::make_shared<ResearchParts>(*calculations.parts());
    parts->permitted_data = std::move(folders);
    return analysis_graph(parts);
  };
  auto order = order_of("AAPL", {"growth"});
  auto calm = testing::World{}.run(graph_that_permits({}), order).approve_all();
  EXPECT_EQ(calm.outcome(), "complete") << "those of the program are permitted";
  AnalysisRow row;
  row.id = calm.records<Deliverable>().at(0).analysis;
  std::string data = bundled_parts().data;
  for (const auto& [folder, root, is_permitted] :
       std::vector<std::tuple<std::string, std::string, bool>>{
           {data, data, true},
           {data + "/", data, true},
           {data + "/edgar/..", data, true},
           {data, data + "/", true},
           {data, data + "/edgar", false},
           {data + "2", data, false},
           {data + "/edgar/../..", data, false},
           {"agents/research/data", data, false}}) {
    row.data = {folder};
    auto run = testing::World{}.record(row).run(graph_that_permits({root}), order).approve_all();
    EXPECT_EQ(run.outcome() == "complete", is_permitted) << folder << " below " << root;
    if (is_permitted) continue;
    ASSERT_TRUE(run.error());
    EXPECT_EQ(run.error()->code, ErrorCode::forbidden);
  }
}

TEST(Analysis, ATextOfAModelHasQuotesThatTheFilingContains) {
  const std::string quote =
      "The Company designs, manufactures and markets smartphones, personal computers, tablets, "
      "wearables and accessories";
  auto reply = [quote](const ModelRequest&) -> Result<std::string> {
    Value::Array sentences;
    for (const char* text : {"It makes smartphones and computers.", "It sells tablets, too.",
                             "It has 7 invented factories."}) {
      sentences.push_back(Value::object({{"text", text}, {"quotes", Value::Array{quote}}}));
    }
    return to_json(Value::object({{"sentences", std::move(sentences)}}));
  };
  Calculations calculations;
  auto run = testing::World{}
                 .model(testing::replies_with(reply))
                 .run(analysis_graph(calculations.parts()), order_of("AAPL", {"business_model"}))
                 .approve_all();
  ASSERT_TRUE(run.ok()) << run.error()->message;
  for (const Deliverable& made : run.records<Deliverable>()) {
    if (made.subtask != "business_description") continue;
    EXPECT_NE(made.proseBy, "extract");
    EXPECT_THAT(made.prose, HasSubstr("It makes smartphones and computers."));
    EXPECT_THAT(made.prose, ::testing::Not(HasSubstr("factories"))) << "7 is in no quote";
    EXPECT_THAT(to_json(made.quotes), HasSubstr("personal computers, tablets"));
    return;
  }
  FAIL() << "there is no business_description";
}

TEST(Analysis, AFileThatChangesMeanwhileFailsTheSubtasksThatReadIt) {
  namespace fs = std::filesystem;
  fs::path folder = fs::temp_directory_path() / ("research-" + std::to_string(::getpid()));
  fs::create_directories(folder / "edgar");
  fs::path file = folder / "edgar" / "CIK0000320193.json";
  fs::copy_file(BELAY_SOURCE_DIR "/agents/research/data/edgar/CIK0000320193.json", file);
  bool is_changed = false;
  auto parts = std::make_shared<ResearchParts>();
  parts->data = folder.string();
  parts->before_subtask = [&](const std::string&, const std::string& subtask) -> Result<Done> {
    if (subtask == "compound_growth" && !is_changed) {
      std::ofstream(file, std::ios::app) << "\n";
      is_changed = true;
    }
    return Done{};
  };
  Analysis order = order_of("AAPL", {"growth"});
  auto run = testing::World{}.run(analysis_graph(parts), order).leave_open();
  EXPECT_THAT(run.state().specialists.at("growth").failure,
              HasSubstr("has changed since the analysis began"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace belay::research
