#include "tests/crash/fleet.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "belay/testing.h"
#include "tests/crash/process_state.h"
#include "tests/crash/scenario.h"
#include "tests/crash/steering_sender.h"
#include "tests/crash/store_files.h"
#include "tests/crash/zombies.h"

namespace belay::crash {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kHealingRoundsMax = 200;
constexpr std::size_t kFaultBytesMax = 1'000;
constexpr milliseconds kLookAgain{5};
constexpr int kUnavailable = 6;  // the exit code for an unavailable store
constexpr int kAskedAgainMax = 5;
constexpr int kListedAgainMax = 300;
constexpr int kBeginsWithin = 60'000 / 5;  // checks, kLookAgain apart
constexpr int kWorksWithin = 5'000 / 5;
constexpr std::size_t kMessagesARound = 3;
constexpr std::size_t kStrikesARound = 4;
// Times for zombies: until their last write has arrived, at most until they have runs or have lost
// them, and from their wake-up to their kill.
constexpr milliseconds kArrivesWithin{100};
constexpr milliseconds kIsRobbedWithin{2'000};
constexpr milliseconds kAwakeMin{400};
constexpr std::uint64_t kAwakeMoreMs = 1'100;

class Fleet {
 public:
  Fleet(const FleetPlan& plan, const std::string& folder)
      : plan_(plan), folder_(folder), random_(plan.seed), zombies_(plan.site, folder, report_) {
    std::filesystem::create_directories(folder_);
    setting_ = setting_for(folder_);
    setting_.binary = plan_.work.binary;
    for (const auto& [name, value] : plan_.work.environment) setting_.environment[name] = value;
    setting_.environment["FLEET_RECEIVERS"] = folder_;
    setting_.environment["BELAY_TEST_TELL_FENCED"] = "true";
    if (is_elsewhere()) setting_.environment["BELAY_STORE"] = plan_.site.store;
    for (const auto& [name, value] : plan_.site.environment) setting_.environment[name] = value;
  }

  FleetReport run() {
    for (std::size_t i = 0; i < plan_.workers; ++i) workers_.push_back(start_worker());
    for (std::size_t stroke = 1; !has_had_enough() && report_.faults.empty(); ++stroke) {
      revive();
      if (!plan_.kills_all) top_up();
      pause_between_strokes();
      if (plan_.work.messages_in) {
        strike_after_messages();
      } else {
        strike();
      }
      if (plan_.site.disturb && stroke % plan_.site.disturb_every == 0) {
        report_.disturbances += plan_.site.disturb();
      }
    }
    heal();
    judge();
    return std::move(report_);
  }

 private:
  using Process = std::unique_ptr<Belay>;

  bool is_elsewhere() const { return !plan_.site.store.empty(); }
  bool has_had_enough() const {
    return report_.kills >= plan_.kills && report_.zombies >= plan_.zombies &&
           report_.drains >= plan_.drains && report_.disturbances >= plan_.disturbances;
  }

  void fault(std::string text) {
    if (text.size() > kFaultBytesMax) text.resize(kFaultBytesMax);
    report_.faults.push_back(std::move(text));
  }

  Process start_worker() {
    Words words = {"worker", "--max-runs", "4", "--quiet"};
    if (!plan_.worker_name.empty()) words.insert(words.end(), {"--name", plan_.worker_name});
    return std::make_unique<Belay>(words, setting_);
  }
  // Restarts ended workers, as a supervisor does: they end if the store is unavailable for long.
  void revive() {
    for (Process& worker : workers_) {
      if (has_ended(worker->process())) see_killed(worker);
    }
  }
  Outcome finish(Process& worker) {
    pid_t process = worker->process();
    Outcome ended = worker->finish();
    zombies_.ended(process, ended.err);
    return ended;
  }
  // Retries a command if a remote store was unavailable, as a user would.
  Outcome tell(const Words& words, int again_max = kAskedAgainMax) const {
    Outcome told = cli::tests::run_belay(words, setting_);
    for (int i = 0; is_elsewhere() && told.code == kUnavailable && i < again_max; ++i) {
      std::this_thread::sleep_for(kArrivesWithin);
      told = cli::tests::run_belay(words, setting_);
    }
    return told;
  }

  // Keeps `plan_.runs` runs that have not ended, so that workers always have runs to claim.
  void top_up() {
    for (std::size_t open = open_threads().size(); open < plan_.runs; ++open) {
      std::string thread = "parcel-" + std::to_string(report_.runs++);
      Words words = {"enqueue", "--thread", thread, "--input", plan_.work.input(thread)};
      Outcome queued = tell(words);
      if (queued.code != 0) {
        return fault("enqueue " + thread + ": " + std::to_string(queued.code) + " " + queued.err);
      }
      threads_.push_back(thread);
    }
  }

  std::vector<std::string> open_threads() {
    return threads_whose([](const std::string& status) {
      return status != "completed" && status != "failed" && status != "cancelled";
    });
  }

  // Returns the threads with that status of their run. Waits for a store that is unavailable: a
  // fault can have hit it just before, and no reply must not count as "all have ended".
  template <typename Condition>
  std::vector<std::string> threads_whose(Condition status_is) {
    Outcome told = tell({"threads", "--limit", "1000", "--json"}, kListedAgainMax);
    Value listed = told.json()["threads"];
    std::vector<std::string> threads;
    if (!listed.as_array()) fault("threads: " + std::to_string(told.code) + " " + told.err);
    if (!listed.as_array()) return threads;
    for (const Value& each : *listed.as_array()) {
      if (status_is(*each["run"]["status"].as_string())) {
        threads.push_back(*each["threadId"].as_string());
      }
    }
    return threads;
  }

  // Sends messages, then kills while one of them waits, and counts these kills.
  void strike_after_messages() {
    std::vector<std::string> open = open_threads();
    std::set<std::string> sent_to;
    for (std::size_t i = 0; i < kMessagesARound; ++i) sent_to.insert(sender_.send(open));
    sent_to.erase("");
    report_.messages = sender_.accepted();
    auto waits = [&](const std::string& thread) { return sender_.waits(thread); };
    for (std::size_t i = 0; i < kStrikesARound; ++i) {
      std::size_t kills = report_.kills;
      strike();
      if (std::none_of(sent_to.begin(), sent_to.end(), waits)) return;
      report_.waiting += report_.kills - kills;
      pause_between_strokes();
    }
    resume_quarantined();
  }

  void pause_between_strokes() {
    std::this_thread::sleep_for(milliseconds(5 + random_.bits() % 90));
  }

  // A run that has lost too many owners in a row is quarantined until a person resumes it.
  void resume_quarantined() {
    auto is_quarantined = [](const std::string& status) { return status == "quarantined"; };
    for (const std::string& thread : threads_whose(is_quarantined)) tell({"resume", thread});
  }

  void strike() {
    if (plan_.zombie_every > 0 && random_.bits() % plan_.zombie_every == 0) {
      make_zombies();
    } else if (plan_.kills_all) {
      kill_all_at_work();
    } else if (report_.drains < plan_.drains && random_.bits() % 4 != 0) {
      drain_worker();
    } else if (random_.bits() % 4 == 0) {
      decide_and_kill();
    } else {
      kill_worker(workers_[random_.bits() % workers_.size()]);
    }
  }

  void kill_worker(Process& worker) {
    worker->send(SIGKILL);
    see_killed(worker);
  }

  // Waits for the end of a killed worker and starts another one.
  void see_killed(Process& worker) {
    if (finish(worker).code == 128 + SIGKILL) ++report_.kills;
    worker = start_worker();
  }

  void kill_all() {
    for (Process& worker : workers_) worker->send(SIGKILL);
    for (Process& worker : workers_) report_.kills += finish(worker).code == 128 + SIGKILL;
  }
  void start_all() {
    for (Process& worker : workers_) worker = start_worker();
  }
  // Kills all workers twice: the second time while they execute the runs that they have claimed.
  void kill_all_at_work() {
    kill_all();
    if (2 * decisions().size() >= plan_.runs) decide_and_kill();
    top_up();
    start_all();
    for (int i = 0; i < kWorksWithin && !plan_.site.is_at_work(); ++i) {
      std::this_thread::sleep_for(kLookAgain);
    }
    kill_all();
    start_all();
  }

  // Its running runs return to the queue, from which the other workers claim meanwhile. The worker
  // must handle SIGTERM before it is sent, otherwise the signal kills it.
  void drain_worker() {
    Process& worker = workers_[random_.bits() % workers_.size()];
    for (int i = 0; i < kBeginsWithin && !heeds_sigterm(worker->process()); ++i) {
      std::this_thread::sleep_for(kLookAgain);
    }
    worker->send(SIGTERM);
    Outcome ended = finish(worker);
    if (ended.code != 0) fault("a worker that was to drain ended with " + ended.err);
    ++report_.drains;
    worker = start_worker();
  }

  // Stops some of the workers while they execute runs; different ones each time.
  void make_zombies() {
    std::rotate(workers_.begin(), workers_.begin() + 1, workers_.end());
    std::vector<Process*> stopped;
    for (Process& worker : workers_) {
      if (stopped.size() < plan_.zombies_at_once) stopped.push_back(&worker);
    }
    wait_for(stopped, stopped.size(), [&](pid_t id) { return zombies_.has_lease(id); });
    if (2 * decisions().size() >= plan_.runs) decide_and_kill();
    top_up();
    wait_for(stopped, 1, [&](pid_t id) { return zombies_.is_at_work(id); });
    for (Process* worker : stopped) (*worker)->send(SIGSTOP);
    std::this_thread::sleep_for(kArrivesWithin);
    for (Process* worker : stopped) zombies_.stopped((*worker)->process());
    for (Process* worker : stopped) zombies_.end_lease((*worker)->process());
    if (random_.bits() % 4 != 0) {
      wait_for(stopped, 1, [&](pid_t id) { return zombies_.is_robbed(id); });
    }
    std::this_thread::sleep_for(milliseconds(random_.bits() % 100));
    for (Process* worker : stopped) {
      zombies_.wakes((*worker)->process());
      (*worker)->send(SIGCONT);
    }
    let_live(stopped);
  }

  // Waits until the condition holds for `count` of the workers, at most kIsRobbedWithin.
  template <typename Condition>
  static void wait_for(const std::vector<Process*>& workers, std::size_t count, Condition is_so) {
    auto end = std::chrono::steady_clock::now() + kIsRobbedWithin;
    auto is_one = [&](Process* worker) { return is_so((*worker)->process()); };
    while (std::chrono::steady_clock::now() < end) {
      auto found = std::count_if(workers.begin(), workers.end(), is_one);
      if (static_cast<std::size_t>(found) >= count) return;
      std::this_thread::sleep_for(kLookAgain);
    }
  }

  // Kills a third of the workers shortly after the wake-up, a third later, and a third never.
  void let_live(const std::vector<Process*>& awake) {
    std::vector<Process*> later;
    for (Process* worker : awake) {
      std::uint64_t fate = random_.bits() % 3;
      if (fate == 0) {
        std::this_thread::sleep_for(milliseconds(random_.bits() % 100));
        kill_worker(*worker);
      } else if (fate == 1) {
        later.push_back(worker);
      } else {
        zombies_.goes_on((*worker)->process());
      }
    }
    if (later.empty()) return;
    std::this_thread::sleep_for(kAwakeMin + milliseconds(random_.bits() % kAwakeMoreMs));
    for (Process* worker : later) kill_worker(*worker);
  }

  std::vector<Words> decisions() const {
    std::vector<Words> all;
    Value listed = tell({"approvals", "list", "--json"}).json()["approvals"];
    if (!listed.as_array()) return all;
    for (const Value& each : *listed.as_array())
      all.push_back(plan_.work.decision_on(each, folder_));
    return all;
  }

  // Decides all open approvals. Each deciding process continues its run; kills some of them.
  void decide_and_kill() {
    for (const Words& words : decisions()) {
      Belay process(words, setting_);
      if (random_.bits() % 3 != 0) {
        process.finish();
        continue;
      }
      std::this_thread::sleep_for(milliseconds(random_.bits() % 60));
      process.send(SIGKILL);
      if (process.finish().code == 128 + SIGKILL) ++report_.kills;
    }
  }

  // Stops killing: every run must end within a bounded number of rounds.
  void heal() {
    for (std::size_t round = 0; round < kHealingRoundsMax; ++round) {
      revive();
      std::vector<std::string> open = open_threads();
      if (open.empty()) break;
      for (const Words& words : decisions()) tell(words);
      resume_quarantined();
      std::this_thread::sleep_for(milliseconds(50));
    }
    for (Process& worker : workers_) {
      worker->send(SIGTERM);
      Outcome ended = finish(worker);
      if (ended.code != 0) fault("a worker that was to drain ended with " + ended.err);
    }
    for (const std::string& thread : open_threads()) fault(thread + " never came to its end");
  }

  void judge() {
    for (const std::string& thread : threads_) judge_run(thread);
    for (const FleetReceiver& receiver : plan_.work.receivers) {
      report_.count(receiver, calls_of(folder_, receiver.name));
    }
    if (plan_.work.faults_in) {
      for (const std::string& each : plan_.work.faults_in(folder_)) fault(each);
    }
    Outcome checked = tell({"check", "--json"});
    if (checked.code != 0) fault("check: " + checked.out + checked.err);
    if (is_elsewhere()) return;
    for (const std::string& each : integrity_faults(folder_)) fault(each);
  }

  void judge_run(const std::string& thread) {
    Value run = tell({"state", thread, "--json"}).json();
    if (!plan_.work.is_well(thread, run)) fault(thread + " came to " + to_json(run));
    if (plan_.work.messages_in) {
      for (const std::string& each : sender_.faults(thread, plan_.work.messages_in(run))) {
        fault(thread + " " + each);
      }
    }
    Value history = tell({"history", thread, "--limit", "1000", "--json"}).json();
    std::multiset<std::string> ended;
    if (!history["checkpoints"].as_array()) return fault(thread + " has no history");
    for (const Value& each : *history["checkpoints"].as_array()) {
      if (each["kind"] == Value("claim")) ++report_.takeovers;
      if (each["kind"] == Value("node")) ended.insert(*each["node"].as_string());
    }
    for (const std::string& node : ended) {
      bool is_repeated = ended.count(node) > 1 && !plan_.work.repeated_nodes.contains(node);
      if (is_repeated) fault(thread + " has committed " + node + " more than once");
    }
  }

  const FleetPlan& plan_;
  const std::string& folder_;
  testing::SeededRandom random_;
  Setting setting_;
  std::vector<Process> workers_;
  std::vector<std::string> threads_;
  SteeringSender sender_{setting_, [this](const Words& words) { return tell(words); }, plan_.seed};
  FleetReport report_;
  Zombies zombies_;
};

}  // namespace

FleetReport run_fleet(const FleetPlan& plan, const std::string& folder) {
  return Fleet(plan, folder).run();
}

}  // namespace belay::crash
