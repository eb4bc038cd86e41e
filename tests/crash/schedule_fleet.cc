#include "tests/crash/schedule_fleet.h"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <thread>

#include "belay/testing.h"
#include "tests/crash/fleet_work.h"
#include "tests/crash/process_state.h"
#include "tests/crash/scenario.h"
#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kStrokesOfAJump = 12;
constexpr int kSettlingRoundsMax = 1'200;  // 50 ms apart

struct Planned {
  std::string name;
  const char* expression;
  const char* agent;
  const char* overlap;
  std::chrono::seconds period;
  std::chrono::seconds catch_up;
};
// Several of each kind, so that many ticks are due while workers are killed.
constexpr int kOfAKind = 3;
std::vector<Planned> planned_schedules() {
  const std::vector<Planned> kinds = {{"each", "* * * * * *", "quick", "allow", 1s, 10s},
                                      {"others", "*/2 * * * * *", "slow", "cancel_other", 2s, 10s},
                                      {"next", "*/2 * * * * *", "slow", "buffer_one", 2s, 600s},
                                      {"alone", "*/3 * * * * *", "slow", "skip", 3s, 10s},
                                      {"abroad", "*/5 * * * * *", "quick", "allow", 5s, 600s}};
  std::vector<Planned> all;
  for (int i = 0; i < kOfAKind; ++i) {
    for (Planned each : kinds) {
      each.name += "-" + std::to_string(i);
      all.push_back(std::move(each));
    }
  }
  return all;
}

class ScheduleFleet {
 public:
  ScheduleFleet(const ScheduleFleetPlan& plan, const std::string& folder)
      : plan_(plan), folder_(folder), random_(plan.seed) {
    std::filesystem::create_directories(folder_);
    setting_ = setting_for(folder_);
    setting_.binary = BELAY_SCHEDULE_FLEET_BINARY;
    setting_.environment["FLEET_RECEIVERS"] = folder_;
  }

  ScheduleFleetReport run() {
    set_clock();
    add_schedules();
    for (std::size_t i = 0; i < plan_.workers; ++i) workers_.push_back(start_worker());
    for (std::size_t stroke = 1; report_.faults.empty() && !has_enough(); ++stroke) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + random_.bits() % 90));
      kill(workers_[random_.bits() % workers_.size()]);
      if (stroke % kStrokesOfAJump == 0) jump();
    }
    for (const Planned& each : schedules_) tell({"schedules", "pause", each.name});
    heal();
    judge();
    return std::move(report_);
  }

 private:
  using Process = std::unique_ptr<Belay>;

  bool has_enough() const { return report_.kills >= plan_.kills && report_.jumps >= plan_.jumps; }
  void fault(std::string text) { report_.faults.push_back(std::move(text)); }

  Outcome tell(const Words& words) {
    Outcome told = cli::tests::run_belay(words, setting_);
    if (told.code != 0) fault(words[0] + " " + words[1] + ": " + told.err);
    return told;
  }

  void add_schedules() {
    for (const Planned& each : schedules_) {
      Words words = {"schedules",  "add",
                     each.name,    each.expression,
                     "--agent",    each.agent,
                     "--overlap",  each.overlap,
                     "--catch-up", std::to_string(each.catch_up.count()) + "s"};
      if (each.name.starts_with("abroad")) {
        words.insert(words.end(), {"--zone", "Europe/Madrid"});
      }
      tell(words);
    }
  }

  Process start_worker() {
    return std::make_unique<Belay>(Words{"worker", "--max-runs", "8", "--quiet"}, setting_);
  }
  void kill(Process& worker) {
    worker->send(SIGKILL);
    Outcome ended = worker->finish();
    if (ended.code == 128 + SIGKILL) {
      ++report_.kills;
    } else {
      fault("a worker ended with " + std::to_string(ended.code) + ": " + ended.err);
    }
    worker = start_worker();
  }

  // A rename replaces the file in one step: a process reads this value or the one before.
  void set_clock() {
    std::string file = folder_ + "/clock";
    std::ofstream(file + ".new") << std::chrono::microseconds(wrong_by_).count();
    std::filesystem::rename(file + ".new", file);
  }
  // Most jumps are short: back over ticks that were decided, or ahead over a few. Some are beyond
  // the catch-up window.
  void jump() {
    auto any = [this](std::uint64_t most) {
      return std::chrono::milliseconds(static_cast<std::int64_t>(random_.bits() % most));
    };
    std::uint64_t kind = random_.bits() % 8;
    if (kind < 4) {
      wrong_by_ -= any(4'000);
    } else if (kind < 7) {
      wrong_by_ += any(6'000);
    } else {
      wrong_by_ += any(40'000);
    }
    set_clock();
    ++report_.jumps;
  }

  std::vector<std::string> rows(const std::string& sql) {
    auto found = rows_behind_its_back(folder_, sql);
    if (found.ok()) return *std::move(found);
    fault("the store can't be read: " + found.error().message);
    return {};
  }

  // Lets all runs end. Of the schedules, none starts a run after it has started the last one.
  void heal() {
    for (int round = 0; round < kSettlingRoundsMax; ++round) {
      for (Process& worker : workers_) {
        if (has_ended(worker->process())) worker = start_worker();
      }
      auto open = rows(
          "SELECT status || ' ' || thread_id FROM runs JOIN threads USING (thread_number)"
          " WHERE status NOT IN ('completed', 'failed', 'cancelled')");
      if (open.empty() && collect_ticks()) return stop();
      for (const std::string& run : open) {
        const std::string quarantined = "quarantined ";
        if (run.starts_with(quarantined)) tell({"resume", run.substr(quarantined.size())});
      }
      std::this_thread::sleep_for(50ms);
    }
    fault("not all runs came to their end");
    collect_ticks();
    stop();
  }
  void stop() {
    for (Process& worker : workers_) {
      worker->send(SIGTERM);
      Outcome ended = worker->finish();
      if (ended.code != 0) fault("a worker that was to drain ended with " + ended.err);
    }
  }

  // Reads the schedules, and returns whether each has decided the ticks before its pause.
  bool collect_ticks() {
    decided_.clear();
    bool is_complete = true;
    for (const Planned& each : schedules_) {
      DecidedTicks decided{each.name, each.period, each.catch_up, Value(), {}};
      decided.schedule = tell({"schedules", "show", each.name, "--json"}).json();
      std::string after;
      do {
        Words words = {"schedules", "ticks", each.name, "--limit", "1000", "--json"};
        if (!after.empty()) words.insert(words.end(), {"--after", after});
        Value page = tell(words).json();
        if (!page["ticks"].as_array()) return false;
        for (const Value& tick : *page["ticks"].as_array()) decided.ticks.push_back(tick);
        after = page["next"].as_string() ? *page["next"].as_string() : "";
      } while (!after.empty());
      is_complete = is_complete && judge_ticks(decided).faults.empty();
      decided_.push_back(std::move(decided));
    }
    return is_complete;
  }

  void judge() {
    std::set<std::string> started;
    for (const DecidedTicks& decided : decided_) {
      TickVerdict verdict = judge_ticks(decided);
      for (std::string& each : verdict.faults) fault(std::move(each));
      for (const std::string& run : verdict.runs) {
        if (!started.insert(run).second) fault("two ticks have the run " + run);
      }
      report_.ticks.started += verdict.counts.started;
      report_.ticks.skipped += verdict.counts.skipped;
      report_.ticks.missed += verdict.counts.missed;
    }
    judge_runs(started);
    Outcome checked = cli::tests::run_belay({"check", "--json"}, setting_);
    if (checked.code != 0) fault("check: " + checked.out + checked.err);
    for (const std::string& each : integrity_faults(folder_)) fault(each);
  }

  // Each run is that of a tick; a completed one has made its call with one key.
  void judge_runs(const std::set<std::string>& started) {
    std::set<std::string> completed;
    for (const std::string& row : rows("SELECT lower(hex(run_id)) || ' ' || status FROM runs")) {
      ++report_.runs;
      std::string run = uuid_text(row.substr(0, 32));
      std::string status = row.substr(33);
      if (!started.contains(run)) fault("no tick has the run " + run);
      if (status == "completed") completed.insert(run);
      if (status == "failed") fault("the run " + run + " failed");
    }
    if (report_.runs != started.size()) {
      fault(std::to_string(started.size()) + " ticks have started " + std::to_string(report_.runs) +
            " runs");
    }
    std::map<std::string, std::set<std::string>> keys;
    std::ifstream calls(folder_ + "/charge");
    std::size_t count = 0;
    for (std::string run, key; calls >> run >> key; ++count) keys[run].insert(key);
    report_.repeated = count - keys.size();
    for (const auto& [run, used] : keys) {
      if (used.size() > 1) fault("the run " + run + " made its call with several keys");
      completed.erase(run);
    }
    for (const std::string& run : completed) fault("the run " + run + " made no call");
  }

  static std::string uuid_text(std::string digits) {
    for (std::size_t at : {20u, 16u, 12u, 8u}) digits.insert(at, "-");
    return digits;
  }

  const ScheduleFleetPlan& plan_;
  const std::string& folder_;
  const std::vector<Planned> schedules_ = planned_schedules();
  testing::SeededRandom random_;
  Setting setting_;
  std::vector<Process> workers_;
  std::chrono::milliseconds wrong_by_{0};
  std::vector<DecidedTicks> decided_;
  ScheduleFleetReport report_;
};

}  // namespace

void ScheduleFleetReport::add(const ScheduleFleetReport& other) {
  kills += other.kills;
  jumps += other.jumps;
  ticks.started += other.ticks.started;
  ticks.skipped += other.ticks.skipped;
  ticks.missed += other.ticks.missed;
  runs += other.runs;
  repeated += other.repeated;
  faults.insert(faults.end(), other.faults.begin(), other.faults.end());
}

std::string ScheduleFleetReport::evidence(std::uint64_t seed) const {
  return "evidence: schedules with three workers: " + std::to_string(kills) + " kills, " +
         std::to_string(jumps) + " jumps of the clock, " + std::to_string(ticks.all()) +
         " ticks: " + std::to_string(ticks.started) + " started, " + std::to_string(ticks.skipped) +
         " skipped, " + std::to_string(ticks.missed) + " missed; " + std::to_string(runs) +
         " runs, " + std::to_string(repeated) + " calls repeated as their class allows, " +
         std::to_string(faults.size()) + " faults, seed " + std::to_string(seed);
}

ScheduleFleetReport run_schedule_fleet(const ScheduleFleetPlan& plan, const std::string& folder) {
  return ScheduleFleet(plan, folder).run();
}

}  // namespace belay::crash
