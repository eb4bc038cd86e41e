// Plays random histories of threads: starts with every policy, decisions, cancels, workers, pruned
// runs, two processes at the same time, and processes that end after any commit. After each history
// the runs that are left form one line: each starts from the state of the one before it, and every
// rule of the checkers holds.
//
// Long on purpose: the actions of one history, and the check of its result.
//
// BELAY_THREAD_SEEDS: number of histories on each kind of store; default 25.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <set>

#include "belay/check.h"
#include "belay/limits.h"
#include "belay/runtime.h"
#include "belay/storage.h"
#include "belay/testing.h"
#include "store/forwarding_store.h"
#include "testing/inline_store.h"
#include "tests/conformance/temporary_folder.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

struct Diary {
  int number = 0;
  std::vector<int> entries{};
  std::map<std::string, int> marks{};
  int count = 0;
  int last = 0;
  int remark = 0;
};

Update<Diary> write(const Diary& diary, Context&) {
  return append(&Diary::entries, 1'000 + diary.number).set(&Diary::last, diary.number);
}

Task<Result<Update<Diary>>> judge(const Diary& diary, Context&) {
  co_await sleep_for(50ms);
  if (diary.number % 4 == 1) co_return error(ErrorCode::invalid, "It must fail.");
  co_return unchanged<Diary>();
}

Graph<Diary> diary_graph() {
  GraphBuilder<Diary> graph{"diary"};
  graph.accumulate(&Diary::entries).accumulate(&Diary::marks).accumulate(&Diary::count);
  graph.node("write", write);
  graph.approval("review", &Diary::last, {.question = "Keep it?", .expires = 1h})
      .approved("split")
      .rejected(end);
  graph.node("split", [](const Diary&, Context&) { return unchanged<Diary>(); });
  graph.node("judge", judge);
  graph.node("remark", [](const Diary& diary, Context&) {
    return set(&Diary::remark, diary.number).append(&Diary::entries, 2'000 + diary.number);
  });
  graph.edge(start, "write");
  graph.branch("write",
               [](const Diary& diary) -> std::string {
                 if (diary.number % 3 == 0) return "review";
                 return diary.number % 3 == 1 ? "split" : std::string(end);
               },
               {"review", "split", end});
  graph.edge("split", "judge").edge("split", "remark");
  graph.edge("judge", end).edge("remark", end);
  return std::move(graph).build().value();
}

// The process ends after a number of commits: the reply of the last one is lost, or it was never
// written. Each commit takes some milliseconds, so that another process can precede it.
class EndingStore final : public ForwardingStore {
 public:
  EndingStore(Store& inner, Random& random) : ForwardingStore(inner), random_(random) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (left == 0) co_return ended();
    co_await sleep_for(std::chrono::milliseconds(random_.bits() % 8));
    if (left > 0) --left;
    auto outcome = co_await inner().commit(std::move(commit));
    if (left == 0 && loses_reply) co_return ended();
    co_return std::move(outcome);
  }
  int left = -1;  // commits until then; negative: never
  bool loses_reply = false;

 private:
  Random& random_;

  static Error ended() { return error(ErrorCode::unavailable, "The process has ended."); }
};

std::unique_ptr<Store> open_store_of(const std::string& kind, const std::string& folder,
                                     Clock& clock, Random& random) {
  if (kind == "memory") return open_memory_store(clock, random);
  auto sqlite = open_sqlite_store(folder, clock, random).value();
  return std::make_unique<testing::InlineStore>(std::move(sqlite));
}

class History {
 public:
  History(const std::string& kind, std::uint64_t seed)
      : random_(seed),
        bare_(open_store_of(kind, folder_.file("threads.db"), clock_, random_)),
        sealed_(kind == "encrypted" ? sealed(*bare_, random_) : nullptr),
        whole_(sealed_ ? *sealed_ : *bare_) {
    for (Process& process : processes_) begin(process);
  }
  ~History() {
    for (Process& process : processes_) process.runtime.reset();
  }

  void play() {
    std::uint64_t steps = 12 + any(20);
    for (std::uint64_t step = 0; step < steps; ++step) {
      here_ = &processes_[any(2)];
      act();
    }
    for (Process& process : processes_) begin(process);
    settle();
  }

  // All faults of the store's contents, as text.
  std::string faults() {
    std::string found;
    CheckScope scope;
    scope.graphs = {graph_.definition()};
    CheckReport report = block_on(loop_, check_store(whole_, scope)).value();
    for (const Violation& each : report.violations) {
      found += each.rule + " " + each.subject + ": " + each.message + "\n";
    }
    for (const char* thread : {"a", "b"}) found += faults_of(ThreadId(thread));
    return found;
  }
  std::size_t later_runs() const { return later_runs_; }

 private:
  static std::unique_ptr<Store> sealed(Store& inner, Random& random) {
    EncryptionOptions options;
    options.keys = KeyRing::from_text("k1:" + std::string(64, 'a')).value();
    return make_encrypted_store(inner, random, std::move(options));
  }
  std::uint64_t any(std::uint64_t count) { return random_.bits() % count; }

  struct Process {
    std::unique_ptr<EndingStore> store;
    std::unique_ptr<Runtime> runtime;
  };
  // Ends the process, and starts another one in its place.
  void begin(Process& process) {
    process.runtime.reset();
    process.store = std::make_unique<EndingStore>(whole_, random_);
    process.store->left = any(3) == 0 ? static_cast<int>(any(25)) : -1;
    process.store->loses_reply = any(2) == 0;
    process.runtime =
        Runtime::open(RuntimeParts{*process.store, loop_, clock_, random_, model_}).value();
    process.runtime->add(graph_);
  }
  Runtime& runtime() { return *here_->runtime; }

  // A call of a process that has ended, or that waits for longer than a minute, has no result.
  template <typename T>
  std::optional<Result<T>> call(Task<Result<T>> task) {
    std::optional<Result<T>> ended;
    std::function<void(Result<T>)> done = [&](Result<T> result) { ended = std::move(result); };
    Spawned running = spawn<Result<T>>(loop_, std::move(task), std::move(done));
    loop_.run_until(clock_.now() + 1min);
    running.reset();
    if (here_->store->left == 0) begin(*here_);
    return ended;
  }

  // Two starts at the same time, in two processes.
  void begin_two_runs() {
    raced_ = true;
    std::vector<Spawned> running;
    for (Process& process : processes_) {
      std::uint64_t number = ++numbers_;
      auto task = process.runtime->start(graph_, input_of(number), options_for(number));
      std::function<void(Result<RunView>)> done = [](const Result<RunView>&) {};
      running.push_back(spawn<Result<RunView>>(loop_, std::move(task), std::move(done)));
    }
    loop_.run_until(clock_.now() + 1min);
    running.clear();
    for (Process& process : processes_) {
      if (process.store->left == 0) begin(process);
    }
  }

  void act() {
    switch (any(10)) {
      case 0:
      case 1:
      case 2:
        return begin_run();
      case 3:
        return begin_two_runs();
      case 4:
        return decide();
      case 5:
        return cancel();
      case 6:
        return prune();
      case 7:
        return begin(*here_);
      default:
        return work();
    }
  }

  StartOptions options_for(std::uint64_t number) {
    StartOptions options;
    options.thread = ThreadId(any(3) == 0 ? "b" : "a");
    options.idempotency_key = "run " + std::to_string(number);
    options.if_busy = static_cast<BusyThread>(any(4));
    return options;
  }

  void begin_run() {
    std::uint64_t number = ++numbers_;
    StartOptions options = options_for(number);
    for (std::uint64_t repeated = 0; repeated <= any(2); ++repeated) {
      if (any(2) == 0) {
        call(runtime().start(graph_, input_of(number), options));
      } else {
        call(runtime().enqueue(graph_, input_of(number), options, clock_.now()));
      }
    }
  }
  static Diary input_of(std::uint64_t number) {
    Diary input;
    input.number = static_cast<int>(number);
    input.entries = {input.number};
    input.marks = {{std::to_string(number), 1}};
    input.count = 1;
    return input;
  }

  template <typename T>
  T look(std::function<Result<T>(Snapshot&)> reader) {
    return block_on(loop_, read<T>(whole_, std::move(reader))).value();
  }

  std::vector<RunRow> runs(std::optional<ThreadId> thread = std::nullopt) {
    return look<std::vector<RunRow>>([thread](Snapshot& view) {
      RunFilter filter;
      filter.tenant = default_tenant();
      filter.thread = thread;
      filter.limit = limits::list_rows_max;
      return view.runs(filter);
    });
  }

  void decide() {
    auto open = look<std::vector<ApprovalRow>>([](Snapshot& view) {
      ApprovalFilter filter;
      filter.tenant = default_tenant();
      filter.only_open = true;
      return view.approvals(filter);
    });
    if (open.empty()) return;
    Decision decision;
    decision.approved = any(2) == 0;
    decision.decided_by = "ana";
    call(runtime().decide(default_tenant(), open[any(open.size())].interrupt, decision));
  }

  void cancel() {
    std::vector<RunRow> rows = runs();
    if (rows.empty()) return;
    const RunRow& row = rows[any(rows.size())];
    call(runtime().cancel(default_tenant(), row.thread, "ana", "", row.run));
  }

  // As retention does: never the newest run that has started while the thread keeps another one.
  void prune() {
    std::vector<RunRow> rows = runs(ThreadId("a"));
    auto begun = std::find_if(rows.begin(), rows.end(), has_started);
    if (begun == rows.end() || rows.size() < 2) return;
    const RunRow& row = rows[any(rows.size())];
    if (row.run == begun->run) return;
    pruned_.insert(row.ordinal);
    Commit commit;
    commit.tenant = default_tenant();
    commit.rows.prune.push_back({row.run, std::nullopt});
    call(here_->store->commit(std::move(commit)));
  }

  void work() {
    WorkerOptions options;
    options.until_idle = true;
    call(runtime().run_worker(std::move(options)));
  }

  // Lets everything end: approvals expire, and no process dies any more.
  void settle() {
    for (int round = 0; round < 60; ++round) {
      for (Process& process : processes_) process.store->left = -1;
      call(runtime().process_due(default_tenant()));
      work();
      bool all_ended = true;
      for (const RunRow& row : runs()) all_ended = all_ended && is_final(row.status);
      if (all_ended) return;
      loop_.run_until(clock_.now() + 2h);
    }
    unsettled_ = "not all runs have ended\n";
  }

  static std::vector<std::int64_t> numbers(const Value& list) {
    std::vector<std::int64_t> all;
    for (const Value& each : *list.as_array()) all.push_back(each.as_int().value());
    return all;
  }

  std::string faults_of(const ThreadId& thread) {
    std::string found = std::exchange(unsettled_, {});
    std::vector<RunRow> rows = runs(thread);
    std::reverse(rows.begin(), rows.end());
    std::optional<RunView> before;
    for (const RunRow& row : rows) {
      std::string run = thread.text + " " + std::to_string(row.ordinal) + ": ";
      auto view = block_on(loop_, runtime().status(default_tenant(), thread, row.run));
      if (!view.ok()) {
        found += run + view.error().message + "\n";
        continue;
      }
      found += replay_fault(run, row);
      if (!has_started(row)) continue;
      later_runs_ += row.ordinal > 0;
      if (before && must_follow(thread, before->row, row)) {
        found += line_fault(run, *before, *view);
      }
      before = *std::move(view);
    }
    return found;
  }

  // A run that is missing between the two might have left its entries: it was pruned, or the later
  // run started while another process was about to roll it back.
  bool must_follow(const ThreadId& thread, const RunRow& before, const RunRow& row) const {
    if (row.ordinal == before.ordinal + 1) return true;
    bool was_pruned =
        thread.text == "a" && std::any_of(pruned_.begin(), pruned_.end(), [&](auto ordinal) {
          return ordinal > before.ordinal && ordinal < row.ordinal;
        });
    return !was_pruned && !raced_;
  }

  // The state contains the entries of the run before, then those of this run alone.
  static std::string line_fault(const std::string& run, const RunView& before,
                                const RunView& view) {
    std::vector<std::int64_t> old = numbers(before.state["entries"]);
    std::vector<std::int64_t> now = numbers(view.state["entries"]);
    std::int64_t number = view.state["number"].as_int().value();
    bool extends = now.size() > old.size() && std::equal(old.begin(), old.end(), now.begin());
    if (!extends || now[old.size()] != number) {
      return run + "does not continue run " + std::to_string(before.row.ordinal) + ": " +
             to_json(view.state["entries"]) + " after " + to_json(before.state["entries"]) + "\n";
    }
    for (std::size_t i = old.size(); i < now.size(); ++i) {
      if (now[i] % 1'000 != number) return run + "has the entry of another run\n";
    }
    if (view.state["count"].as_int() != before.state["count"].as_int().value() + 1) {
      return run + "has not counted its input once\n";
    }
    if (view.state["marks"].as_object()->size() != before.state["marks"].as_object()->size() + 1) {
      return run + "has not merged its input once\n";
    }
    bool remarked = view.state["remark"] == view.state["number"];
    bool unchanged = view.state["remark"] == before.state["remark"];
    if (!remarked && !unchanged) return run + "has a remark that no run has made\n";
    return "";
  }

  std::string replay_fault(const std::string& run, const RunRow& row) {
    if (!has_started(row)) return "";
    ReplayOptions options;
    options.thread = row.thread;
    options.run = row.run;
    auto report = block_on(loop_, runtime().replay(options));
    if (!report.ok()) return run + "cannot be replayed: " + report.error().message + "\n";
    if (!report->divergence) return "";
    return run + "diverges at commit " + std::to_string(report->divergence->seq) + ": " +
           report->divergence->what + " " + report->divergence->recorded + " / " +
           report->divergence->replayed + "\n";
  }

  conformance::TemporaryFolder folder_;
  testing::SimulatedClock clock_{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random_;
  testing::SimulatedLoop loop_{clock_};
  testing::ScriptedModel model_;
  std::unique_ptr<Store> bare_;
  std::unique_ptr<Store> sealed_;
  Store& whole_;  // as observers use it, who outlive every process
  Graph<Diary> graph_ = diary_graph();
  std::array<Process, 2> processes_;
  Process* here_ = &processes_[0];  // the process of the current call
  std::uint64_t numbers_ = 0;
  std::size_t later_runs_ = 0;
  std::string unsettled_;
  bool raced_ = false;             // two processes have started runs at the same time
  std::set<std::int64_t> pruned_;  // ordinals of runs of thread "a"
};

struct ThreadCampaign : ::testing::TestWithParam<std::string> {};

TEST_P(ThreadCampaign, TheRunsOfAThreadFormOneLineWhateverEndsTheirProcesses) {
  const char* wanted = std::getenv("BELAY_THREAD_SEEDS");
  std::uint64_t seeds = wanted ? std::strtoull(wanted, nullptr, 10) : 25;
  std::size_t later_runs = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    History history(GetParam(), seed);
    history.play();
    ASSERT_EQ(history.faults(), "") << "seed " << seed;
    later_runs += history.later_runs();
  }
  EXPECT_GT(later_runs, seeds) << "the histories must have later runs";
  std::printf("evidence: threads on %s: %llu histories, %zu later runs, 0 faults\n",
              GetParam().c_str(), static_cast<unsigned long long>(seeds), later_runs);
}

INSTANTIATE_TEST_SUITE_P(Stores, ThreadCampaign, ::testing::Values("memory", "sqlite", "encrypted"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace belay
