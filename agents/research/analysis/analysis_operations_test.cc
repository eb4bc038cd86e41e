// The operations on analyses through a service: progress within a phase, retries, batches.

#include "agents/research/analysis/analysis_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>

#include "agents/research/analysis/analysis_batch.h"
#include "agents/research/analysis/analysis_documents.h"
#include "agents/research/analysis/coordinator.h"
#include "agents/research/checkpoints/parallel_calls.h"
#include "belay/open.h"
#include "belay/testing.h"
#include "service/local_service.h"
#include "tests/support/principals.h"

namespace belay::research {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Blocks one subtask until it is released, and lets others fail.
class SubtaskGate {
 public:
  std::map<std::string, int> failures;  // left, by "SPECIALIST.SUBTASK"
  std::map<std::string, int> counts;

  void close(const std::string& name) { closed_ = name; }
  void open() {
    std::lock_guard lock(mutex_);
    closed_.clear();
    changed_.notify_all();
  }
  bool is_reached() {
    std::lock_guard lock(mutex_);
    return is_reached_;
  }
  Result<Done> pass(const std::string& name) {
    std::unique_lock lock(mutex_);
    ++counts[name];
    if (name == closed_) {
      is_reached_ = true;
      changed_.wait(lock, [&] { return closed_.empty(); });
    }
    if (failures[name] == 0) return Done{};
    --failures[name];
    return error(ErrorCode::invalid, "the source is closed");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string closed_;
  bool is_reached_ = false;
};

class AnalysisOperations : public ::testing::Test {
 protected:
  AnalysisOperations() {
    auto parts = std::make_shared<ResearchParts>();
    parts->data = BELAY_SOURCE_DIR "/agents/research/data";
    parts->before_subtask = [this](const std::string& specialist, const std::string& subtask) {
      return gate.pass(specialist + "." + subtask);
    };
    graph_ = analysis_graph(std::move(parts)).value().definition();
    runtime = Runtime::open(RuntimeParts{*store, *loop, clock, random, model}).value();
    runtime->add(graph_);
    service = make_local_service(
        LocalServiceParts{*store, *store, *runtime, *loop, clock, random, {graph_}, {}, {}});
  }

  template <typename T>
  T wait(Task<T> task) {
    return block_on(*loop, std::move(task));
  }
  AnalysisAccess access() { return {*service, local_program, UserId("ana")}; }
  static AnalysisRequest order(std::vector<std::string> only) {
    AnalysisRequest request;
    request.ticker = "AAPL";
    request.only = std::move(only);
    return request;
  }
  RunView start(const std::string& id, std::vector<std::string> only) {
    StartRun wanted = prepare_analysis(UserId("ana"), id, order(std::move(only))).value();
    return wait(service->start(local_program, std::move(wanted))).value();
  }
  Error refused_retry(const std::string& id, const std::string& specialist) {
    auto retried = wait(retry_specialist(access(), id, specialist));
    EXPECT_FALSE(retried.ok());
    return retried.ok() ? Error{} : retried.error();
  }
  BatchOrder batch(std::vector<BatchTicker> tickers) {
    BatchOrder all;
    all.batch = "friday";
    all.tickers = std::move(tickers);
    all.request = order({"growth"});
    all.request.ticker.clear();
    return all;
  }

  SubtaskGate gate;
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<Clock> system = system_clock();
  Clock& clock = *system;
  testing::SeededRandom random{7};
  std::unique_ptr<Store> store = open_memory_store(clock, random);
  testing::ScriptedModel model;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Service> service;

 private:
  std::shared_ptr<const GraphDefinition> graph_;
};

using IsLookedFor = bool (*)(const AnalysisView& view);

// Starts an analysis and returns it as it is while a subtask is blocked.
Task<Result<AnalysisView>> look_within_a_phase(AnalysisAccess at, StartRun wanted,
                                               SubtaskGate& gate, IsLookedFor is_looked_for) {
  Executor& executor = co_await this_executor();
  Completion<Done> ended;
  std::function<void(Result<RunView>)> done = [ended](Result<RunView>) { ended.complete(Done{}); };
  std::string id = wanted.thread.text;
  auto start = at.service.start(at.who, std::move(wanted));
  Spawned running = spawn<Result<RunView>>(executor, std::move(start), std::move(done));
  while (!gate.is_reached()) co_await sleep_for(std::chrono::milliseconds(1));
  std::string looked_at = id;
  auto view = co_await find_progress(at, std::move(looked_at));
  while (view.ok() && !is_looked_for(*view)) {
    co_await sleep_for(std::chrono::milliseconds(1));
    looked_at = id;
    view = co_await find_progress(at, std::move(looked_at));
  }
  gate.open();
  co_await ended;
  co_return std::move(view);
}

TEST_F(AnalysisOperations, TheProgressIsExactWhileAPhaseIsInProgress) {
  gate.close("growth.sustainable_growth");
  StartRun wanted = prepare_analysis(UserId("ana"), "a", order({"growth", "credit"})).value();
  IsLookedFor any = [](const AnalysisView&) { return true; };
  AnalysisView view = wait(look_within_a_phase(access(), std::move(wanted), gate, any)).value();
  EXPECT_EQ(view.run.row.status, RunStatus::running);
  EXPECT_THAT(view.state.specialists.at("growth").completed,
              ElementsAre("historical_growth", "compound_growth"));
  Value growth = progress_document(view)["growth"];
  EXPECT_EQ(growth["progress"], Value("2 of 4 subtasks"));
  EXPECT_EQ(growth["current"], Value("sustainable_growth"));

  AnalysisView ended = wait(find_progress(access(), "a")).value();
  EXPECT_THAT(ended.current, IsEmpty());
  EXPECT_EQ(progress_document(ended)["growth"]["progress"], Value("4 of 4 subtasks"));
  EXPECT_TRUE(progress_document(ended)["growth"]["current"].is_null());
}

TEST_F(AnalysisOperations, AFailureIsShownBeforeTheEndOfItsPhase) {
  gate.failures = {{"credit.coverage", 1}};
  gate.close("growth.growth_stability");
  StartRun wanted = prepare_analysis(UserId("ana"), "a", order({"growth", "credit"})).value();
  IsLookedFor has_failed = [](const AnalysisView& view) {
    auto credit = view.state.specialists.find("credit");
    return credit != view.state.specialists.end() && !credit->second.failure.empty();
  };
  AnalysisView view =
      wait(look_within_a_phase(access(), std::move(wanted), gate, has_failed)).value();
  EXPECT_EQ(view.run.row.status, RunStatus::running);
  EXPECT_THAT(view.state.specialists.at("credit").completed, ElementsAre("leverage"));
  EXPECT_FALSE(view.current.contains("credit"));
  EXPECT_EQ(view.current.at("growth"), "growth_stability");
}

TEST_F(AnalysisOperations, WithoutCheckpointsOnlyTheEndOfASpecialistIsKnown) {
  gate.close("growth.compound_growth");
  AnalysisRequest request = order({"growth"});
  request.checkpoints = false;
  StartRun wanted = prepare_analysis(UserId("ana"), "a", request).value();
  IsLookedFor any = [](const AnalysisView&) { return true; };
  AnalysisView view = wait(look_within_a_phase(access(), std::move(wanted), gate, any)).value();
  EXPECT_EQ(progress_document(view)["growth"]["progress"], Value("0 of 4 subtasks"));
  EXPECT_THAT(view.current, IsEmpty());
}

TEST_F(AnalysisOperations, ARetryExecutesTheRemainingSubtasksOfOneSpecialist) {
  gate.failures = {{"growth.compound_growth", 1}, {"credit.coverage", 1}};
  RunView waiting = start("a", {"growth", "credit", "governance"});
  ASSERT_EQ(waiting.row.status, RunStatus::paused);
  RunView retried = wait(retry_specialist(access(), "a", "growth")).value();
  EXPECT_EQ(retried.row.status, RunStatus::paused);
  AnalysisView view = wait(find_progress(access(), "a")).value();
  EXPECT_EQ(view.state.specialists.at("growth").completed.size(), 4u);
  EXPECT_THAT(view.state.specialists.at("credit").failure, HasSubstr("the source is closed"));
  EXPECT_EQ(gate.counts["growth.historical_growth"], 1);
  EXPECT_EQ(gate.counts["credit.coverage"], 1);
  RunView all = wait(retry_specialist(access(), "a", "credit")).value();
  EXPECT_EQ(all.row.outcome, "complete");
}

TEST_F(AnalysisOperations, ARetryWithoutAFailureIsAConflictThatNamesTheState) {
  gate.failures = {{"growth.compound_growth", 1}};
  start("a", {"growth", "credit"});
  EXPECT_THAT(refused_retry("a", "credit").message, HasSubstr("has not failed: 4 of 4 subtasks"));
  EXPECT_THAT(refused_retry("a", "valuation").message, HasSubstr("is not a part of the analysis"));
  EXPECT_EQ(refused_retry("a", "fortune").code, ErrorCode::invalid);
  EXPECT_EQ(refused_retry("b", "growth").code, ErrorCode::not_found);
  EXPECT_EQ(wait(retry_specialist(access(), "a", "growth")).value().row.outcome, "complete");
  Error ended = refused_retry("a", "growth");
  EXPECT_EQ(ended.code, ErrorCode::conflict);
  EXPECT_THAT(ended.message, HasSubstr("has ended: completed"));
}

// Two retries at the same time.
Task<std::vector<Result<RunView>>> retry_both(AnalysisAccess at, std::string id, std::string first,
                                              std::string second) {
  Executor& executor = co_await this_executor();
  Completion<Result<RunView>> other;
  std::function<void(Result<RunView>)> done = [other](Result<RunView> view) {
    other.complete(std::move(view));
  };
  auto task = retry_specialist(at, id, std::move(first));
  Spawned running = spawn<Result<RunView>>(executor, std::move(task), std::move(done));
  std::vector<Result<RunView>> all;
  all.push_back(co_await retry_specialist(at, std::move(id), std::move(second)));
  all.push_back(co_await other);
  co_return std::move(all);
}

TEST_F(AnalysisOperations, OfTwoRetriesAtTheSameTimeOneIsAConflict) {
  for (const char* second : {"growth", "credit"}) {
    gate.failures = {{"growth.compound_growth", 1}, {"credit.coverage", 1}};
    std::string id = std::string("of-") + second;
    start(id, {"growth", "credit"});
    auto all = wait(retry_both(access(), id, "growth", second));
    ASSERT_NE(all[0].ok(), all[1].ok());
    Error refused = all[0].ok() ? all[1].error() : all[0].error();
    EXPECT_EQ(refused.code, ErrorCode::conflict) << refused.message;
  }
}

TEST_F(AnalysisOperations, AnAnalysisOfAnotherUserDoesNotExist) {
  gate.failures = {{"growth.compound_growth", 1}};
  start("a", {"growth"});
  Principal ben = holder_of_key("ben", Permission::decide);
  AnalysisAccess at{*service, ben, UserId("ben")};
  EXPECT_EQ(wait(find_analysis(at, "a")).error().code, ErrorCode::not_found);
  EXPECT_EQ(wait(retry_specialist(at, "a", "growth")).error().code, ErrorCode::not_found);
  EXPECT_EQ(wait(pause_analysis(at, "a", clock.now())).error().code, ErrorCode::not_found);
  EXPECT_EQ(wait(resume_analysis(at, "a")).error().code, ErrorCode::not_found);
  EXPECT_EQ(wait(resolve_analysis(at, "a")).error().code, ErrorCode::not_found);
  EXPECT_THAT(wait(list_analyses(at, "", "", 10)).value().analyses, IsEmpty());
}

TEST_F(AnalysisOperations, ABatchSentAgainStartsNothingTwiceAndContinuesAnInterruptedStart) {
  BatchOrder wanted = batch({{"AAPL", ""}, {"NVDA", ""}, {"ZZZZ", "99"}});
  std::vector<BatchMember> members = check_batch(UserId("ana"), wanted).value();
  // The start was interrupted after the list and the first run.
  ASSERT_TRUE(wait(list_batch(access(), members, clock.now())).ok());
  std::vector<BatchMember> first(members.begin(), members.begin() + 1);
  ASSERT_TRUE(wait(start_batch(access(), "default", first)).ok());
  auto states = wait(batch_states(access(), members)).value();
  EXPECT_EQ(listed_status(states[0]), "queued");
  EXPECT_EQ(listed_status(states[1]), "not started");
  RunId run = states[0].run->run;

  for (int sent = 0; sent < 2; ++sent) {
    ASSERT_TRUE(wait(list_batch(access(), members, clock.now())).ok());
    ASSERT_TRUE(wait(start_batch(access(), "default", members)).ok());
  }
  states = wait(batch_states(access(), members)).value();
  EXPECT_EQ(states[0].run->run, run);
  EXPECT_EQ(wait(service->runs(local_program, {})).value().size(), 3u);
  EXPECT_EQ(wait(list_analyses(access(), "friday", "", 10)).value().analyses.size(), 3u);
  AnalysisListPage page = wait(list_analyses(access(), "friday", "", 2)).value();
  EXPECT_EQ(wait(list_analyses(access(), "friday", page.next, 2)).value().analyses.size(), 1u);
  EXPECT_THAT(wait(list_analyses(access(), "monday", "", 10)).value().analyses, IsEmpty());
}

TEST_F(AnalysisOperations, TheDataFoldersOfABatchAreSavedWithItsAnalyses) {
  BatchOrder wanted = batch({{"AAPL", ""}});
  wanted.request.data = {"/data/of/ana"};
  std::vector<BatchMember> members = check_batch(UserId("ana"), wanted).value();
  ASSERT_TRUE(wait(list_batch(access(), members, clock.now())).ok());
  auto states = wait(batch_states(access(), members)).value();
  EXPECT_THAT(states[0].row.data, ElementsAre("/data/of/ana"));
}

TEST_F(AnalysisOperations, AnotherOrderInABatchIsRefused) {
  BatchOrder wanted = batch({{"AAPL", ""}});
  std::vector<BatchMember> members = check_batch(UserId("ana"), wanted).value();
  ASSERT_TRUE(wait(start_batch(access(), "default", members)).ok());
  wanted.request.only = {"credit"};
  members = check_batch(UserId("ana"), wanted).value();
  auto refused = wait(start_batch(access(), "default", members));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("AAPL: "));
  EXPECT_THAT(refused.error().message, HasSubstr("different input"));
}

TEST_F(AnalysisOperations, ABatchIsCheckedAsAWhole) {
  auto refusal = [&](const BatchOrder& wanted) {
    auto checked = check_batch(UserId("ana"), wanted);
    return checked.ok() ? "accepted" : checked.error().message;
  };
  EXPECT_THAT(refusal(batch({{"AAPL", ""}, {"QQQQ", ""}})), HasSubstr("Unknown ticker \"QQQQ\""));
  EXPECT_THAT(refusal(batch({})), HasSubstr("no company"));
  BatchOrder unnamed = batch({{"AAPL", ""}});
  unnamed.queue.clear();
  EXPECT_THAT(refusal(unnamed), HasSubstr("queue"));
  BatchOrder other = batch({{"AAPL", ""}});
  other.batch = "monday";
  EXPECT_NE(check_batch(UserId("ana"), other).value()[0].id,
            check_batch(UserId("ana"), batch({{"AAPL", ""}})).value()[0].id);
}

Task<Result<Done>> count_call(std::size_t number, std::size_t& open, std::size_t& most,
                              std::vector<std::size_t>& called) {
  most = std::max(most, ++open);
  called.push_back(number);
  co_await sleep_for(std::chrono::milliseconds(1));
  --open;
  if (number == 5) co_return error(ErrorCode::conflict, "the fifth");
  co_return Done{};
}

TEST_F(AnalysisOperations, CallsAreLimitedAndNoneBeginsAfterAnError) {
  std::size_t open = 0, most = 0;
  std::vector<std::size_t> called;
  NumberedCall call = [&](std::size_t number) { return count_call(number, open, most, called); };
  auto ended = wait(call_each(100, 3, std::move(call)));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "the fifth");
  EXPECT_EQ(most, 3u);
  EXPECT_EQ(open, 0u);
  EXPECT_LE(called.size(), 8u);
  NumberedCall none;
  EXPECT_TRUE(wait(call_each(0, 3, std::move(none))).ok());
}

}  // namespace
}  // namespace belay::research
