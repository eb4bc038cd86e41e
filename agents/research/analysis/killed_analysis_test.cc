// Processes with an analysis are ended by SIGKILL in each of its subtasks; another one continues.
// Many analyses in one process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "agents/research/analysis/analysis_fixture.h"
#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/records.h"
#include "agents/research/checkpoints/checkpoint_store_fixture.h"
#include "agents/research/specialists/specialists.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::research {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const ThreadId kAnalysis("an-1");

// A process of a test, which executes the analysis until it ends or until its death.
struct ProcessPlan {
  std::string store;
  std::string log;        // each execution of a subtask is a line
  std::string killed_in;  // "SPECIALIST.SUBTASK"; empty: not killed
  std::uint64_t seed = 0;
};

// Executes the plan in this process. Returns the exit code.
int execute(const ProcessPlan& plan) {
  auto parts = std::make_shared<ResearchParts>(bundled_parts());
  parts->before_subtask = [&plan](const std::string& specialist,
                                  const std::string& subtask) -> Result<Done> {
    std::string name = specialist + "." + subtask;
    std::ofstream(plan.log, std::ios::app) << name + "\n";
    if (name == plan.killed_in) ::kill(::getpid(), SIGKILL);
    return Done{};
  };
  CheckpointStore store("sqlite:" + plan.store, plan.seed);
  Graph<Analysis> graph = analysis_graph(parts).value();
  store.runtime->add(graph);
  Analysis order = order_of("AAPL");
  StartOptions options;
  options.run.require_approval = false;
  options.user = store.owner;
  options.thread = kAnalysis;
  bool is_first = !store.wait(store.runtime->status(default_tenant(), kAnalysis)).ok();
  auto run = is_first
                 ? store.wait(store.runtime->start(graph, std::move(order), std::move(options)))
                 : store.wait(store.runtime->resume(default_tenant(), kAnalysis));
  return run.ok() && run->row.outcome == "complete" ? 0 : 1;
}

// Returns the status of waitpid().
int execute_in_process(const ProcessPlan& plan) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(execute(plan));
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The subtasks of a process that were committed: those before the last one of each specialist.
std::set<std::string> committed_in(const std::vector<std::string>& executed) {
  std::map<std::string, std::string> last;
  std::set<std::string> committed;
  for (const std::string& name : executed) {
    std::string& before = last[name.substr(0, name.find('.'))];
    if (!before.empty()) committed.insert(before);
    before = name;
  }
  return committed;
}

std::vector<std::string> subtasks_in_order() {
  std::vector<std::string> names;
  for (const Specialist& specialist : specialists()) {
    for (const Subtask& subtask : specialist.subtasks) {
      names.push_back(specialist.name + "." + subtask.name);
    }
  }
  return names;
}

TEST(KilledAnalysis, NeverExecutesACompletedSubtaskAgain) {
  std::vector<std::string> all = subtasks_in_order();
  ASSERT_THAT(all, SizeIs(53));
  std::size_t repeated = 0;
  std::size_t committed_before = 0;
  for (const std::string& victim : all) {
    conformance::TemporaryFolder folder;
    ProcessPlan plan{folder.file("killed.db"), folder.file("first.log"), victim, 1};
    int status = execute_in_process(plan);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << victim;
    std::vector<std::string> first = lines_of(plan.log);
    plan.killed_in.clear();
    plan.log = folder.file("second.log");
    plan.seed = 2;
    EXPECT_EQ(execute_in_process(plan), 0) << victim;
    std::vector<std::string> second = lines_of(plan.log);
    std::set<std::string> again(second.begin(), second.end());
    EXPECT_EQ(again.size(), second.size()) << "each once";
    std::set<std::string> whole = again;
    whole.insert(first.begin(), first.end());
    EXPECT_THAT(whole, SizeIs(53)) << victim;
    EXPECT_TRUE(again.contains(victim)) << "it was not completed";
    for (const std::string& name : committed_in(first)) {
      ++committed_before;
      EXPECT_FALSE(again.contains(name)) << name << " is executed again after a kill in " << victim;
    }
    for (const std::string& name : first) repeated += again.count(name);
  }
  std::cout << "53 kills, " << committed_before << " completed subtasks before them, none of them "
            << "repeated; " << repeated << " repetitions of subtasks in progress\n";
  EXPECT_GT(committed_before, 53u);
}

TEST(ParallelAnalyses, SixtyFourInOneProcessAreCompleteAndEqualToOneAlone) {
  conformance::TemporaryFolder folder;
  CheckpointStore store("sqlite:" + folder.file("parallel.db"));
  Graph<Analysis> graph = analysis_graph(std::make_shared<ResearchParts>(bundled_parts())).value();
  store.runtime->add(graph);
  constexpr int kAnalyses = 64;
  const std::vector<std::string> tickers = {"AAPL", "NVDA", "GOOGL", "JPM"};
  std::vector<Spawned> running;
  std::vector<RunView> done;
  for (int i = 0; i < kAnalyses; ++i) {
    Analysis order = order_of(tickers[static_cast<std::size_t>(i) % tickers.size()]);
    StartOptions options;
    options.run.require_approval = false;
    options.user = store.owner;
    options.thread = ThreadId("an-" + std::to_string(i));
    std::function<void(Result<RunView>)> keep = [&done, &store](Result<RunView> view) {
      done.push_back(std::move(view).value());
      if (done.size() == kAnalyses) store.loop->stop();
    };
    running.push_back(spawn<Result<RunView>>(
        *store.loop, store.runtime->start(graph, std::move(order), std::move(options)),
        std::move(keep)));
  }
  store.loop->run();
  ASSERT_THAT(done, SizeIs(kAnalyses));
  for (const RunView& view : done) EXPECT_EQ(view.row.outcome, "complete") << view.row.error;
  std::map<std::string, std::string> results;  // by company and subtask
  for (int i = 0; i < kAnalyses; ++i) {
    std::string ticker = tickers[static_cast<std::size_t>(i) % tickers.size()];
    std::unique_ptr<Records> records = store.runtime->records(default_tenant(), store.owner);
    for (const std::string& name : subtasks_in_order()) {
      std::string key = "an-" + std::to_string(i) + "/" + name;
      key[key.find('.')] = '/';
      auto made = store.wait(records->get<Deliverable>(std::move(key))).value();
      ASSERT_TRUE(made.has_value()) << i << " " << name;
      std::string text = to_json(made->results);
      auto [first, is_new] = results.emplace(ticker + "." + name, text);
      EXPECT_EQ(first->second, text) << i << " " << name;
    }
  }
  EXPECT_THAT(store.rows_in(AgentCheckpoint::collection), IsEmpty());
}

}  // namespace
}  // namespace belay::research
