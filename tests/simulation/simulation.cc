// Long on purpose: the machine, its faults, and the checks at the end.

#include "tests/simulation/simulation.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "belay/check.h"
#include "tests/simulation/judge_protocol.h"
#include "tests/simulation/judge_requests.h"
#include "tests/simulation/one_thread.h"
#include "tests/simulation/people.h"

namespace belay::simulation {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const Instant kBegins = *instant_from("2026-01-01T09:00:00Z");
constexpr ProcessId kNobody = -1;
constexpr auto kHealingMax = 90min;
constexpr auto kLastStart = 15s;
constexpr auto kStrokeWait = 60s;
constexpr auto kDrainMax = 10min;
// The time after which a draining process is stopped.
constexpr auto kDrainPatience = 30s;
constexpr std::uint64_t kStepsMax = 20'000'000;
constexpr std::size_t kTroublesMax = 20;

class Simulation {
 public:
  Simulation(const Plan& plan, std::uint64_t seed, std::string folder)
      : plan_(plan),
        random_(seed),
        agenda_(kBegins, random_.bits()),
        log_(agenda_),
        outside_(agenda_, log_, sightings_, played_.coverage, random_.bits()),
        folder_(std::move(folder)),
        machine_{agenda_,
                 log_,
                 sightings_,
                 outside_,
                 disk_,
                 folder_ + "/store.db",
                 [this] { return disk_time(); },
                 plan_.has_service(),
                 plan_.threads > 0,
                 plan_.loses_run_records},
        people_(machine_, plan_, random_.bits()),
        clients_(machine_, plan_, seed, [this] { return any_process(); }) {
    log_.leave_out(folder_);
    machine_.trouble = [this](std::string what) { trouble(std::move(what)); };
    disk_.listen([this](disk::Operation operation) { cut_.apply(std::move(operation)); });
    if (plan_.disk_lies) disk_.lie_about_syncs();
    outside_.set_chances(plan_.chances);
    slots_.resize(static_cast<std::size_t>(plan_.workers) + 1);
  }

  Played play(std::function<void(const std::string&)> listener) {
    log_.listen(std::move(listener));
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) start(slot, microseconds(0));
    write_script();
    Instant end = kBegins + plan_.length;
    run_until(end, [] { return false; });
    heal();
    drain();
    judge();
    played_.events = log_.events();
    played_.digest = log_.digest();
    played_.runs = people_.runs();
    played_.commits = machine_.acknowledged.size();
    played_.simulated = std::chrono::duration_cast<std::chrono::seconds>(agenda_.now() - kBegins);
    for (std::uint64_t struck : played_.coverage.struck) played_.faults += struck;
    return std::move(played_);
  }

 private:
  // A slot for a process: the first is the users', the others are workers'.
  struct Slot {
    std::unique_ptr<Process> process;
    FaultKind dies_of = FaultKind::count;  // the fault to count when the process dies
    bool starts = false;                   // a start is scheduled
    bool drains = false;
  };
  static constexpr std::size_t kPeople = 0;

  void trouble(std::string what) {
    log_.tell(kOutside, "TROUBLE " + what);
    if (played_.troubles.size() < kTroublesMax) played_.troubles.push_back(std::move(what));
  }

  microseconds any(microseconds max) {
    return microseconds(static_cast<std::int64_t>(
        random_.bits() % static_cast<std::uint64_t>(std::max<std::int64_t>(1, max.count()))));
  }

  microseconds disk_time() {
    microseconds time = 50us + any(400us);
    return is_slow_ ? time * 5'000 : time;
  }

  // Executes steps until `until`, or until `is_enough` returns true; destroys dead processes after
  // each step.
  void run_until(Instant until, const std::function<bool()>& is_enough) {
    while (!is_enough() && agenda_.step(until)) {
      if (++steps_ > kStepsMax) return trouble("It never comes to rest.");
      if (!strokes_.empty() && looked_at_ != sightings_.version()) strike_whom_it_waits_for();
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        if (slots_[slot].process && slots_[slot].process->is_over()) bury(slot, 100ms + any(4s));
      }
    }
  }

  // ---- Processes

  void start(std::size_t slot, microseconds delay, std::optional<std::uint64_t> seed = {}) {
    slots_[slot].starts = true;
    std::uint64_t chance = random_.bits();
    agenda_.after(kOutside, delay, [this, slot, seed = seed.value_or(chance)] {
      if (is_closing_) return;  // no more starts: the new process would not be drained
      slots_[slot].starts = false;
      if (!slots_[slot].process) bring_up(slot, seed);
    });
  }

  void bring_up(std::size_t slot, std::uint64_t seed) {
    ProcessId id = ++last_process_;
    ++played_.processes;
    auto process = std::make_unique<Process>(machine_, id, seed);
    auto opened = process->open();
    log_.tell(id, std::string(slot == kPeople ? "people's process " : "a worker ") +
                      (opened.ok() ? "begins" : "can't begin: " + opened.error().message));
    if (!opened.ok()) {
      bool is_promised = opened.error().code == ErrorCode::unavailable ||
                         opened.error().code == ErrorCode::conflict ||
                         opened.error().code == ErrorCode::uncertain;
      if (!is_promised) trouble("The store can't be opened: " + opened.error().message);
      disk_.kill(id);
      process.reset();
      return start(slot, 500ms + any(2s));
    }
    slots_[slot].process = std::move(process);
    slots_[slot].drains = false;
    if (slot == kPeople) {
      people_.use(slots_[slot].process.get());
    } else {
      slots_[slot].process->work();
    }
  }

  // Destroys the process with all its memory, and schedules its successor.
  void bury(std::size_t slot, microseconds until_next, std::optional<std::uint64_t> seed = {}) {
    Slot& at = slots_[slot];
    ProcessId id = at.process->id();
    if (at.dies_of != FaultKind::count) met(at.dies_of, id);
    at.dies_of = FaultKind::count;
    log_.tell(id, "is gone");
    disk_.kill(id);
    if (slot == kPeople) people_.use(nullptr);
    at.process.reset();
    if (!at.starts) start(slot, until_next, seed);
  }

  // Returns a random live worker, or kPeople if there is none.
  std::size_t any_worker() {
    std::vector<std::size_t> living;
    for (std::size_t slot = 1; slot < slots_.size(); ++slot) {
      if (slots_[slot].process) living.push_back(slot);
    }
    return living.empty() ? kPeople : living[random_.bits() % living.size()];
  }

  // ---- Faults

  // Counts the runs that a fault meets: those that the process owns and those without an owner; all
  // runs if the fault affects every process.
  void met(FaultKind fault, ProcessId process) {
    auto row = static_cast<std::size_t>(fault);
    ++played_.coverage.struck[row];
    log_.tell(kOutside, "FAULT " + std::string(name_of(fault)) +
                            (process == kNobody ? "" : " of p" + std::to_string(process)));
    for (const auto& sight : sightings_.all()) {
      if (process != kNobody && sight.holder != process && sight.holder != kOutside) continue;
      ++played_.coverage.met[row][static_cast<std::size_t>(sight.state)];
    }
  }

  // Schedules all actions and faults of the first phase at random times.
  void write_script() {
    microseconds length = plan_.length;
    for (int i = 0; i < plan_.runs; ++i) {
      agenda_.after(kOutside, any(length * 8 / 10), [this] { people_.want_run(); });
    }
    for (int i = 0; i < plan_.cancels; ++i) {
      agenda_.after(kOutside, any(length), [this] { people_.cancel_something(); });
    }
    for (int i = 0; i < plan_.forks; ++i) {
      agenda_.after(kOutside, any(length), [this] { people_.fork_something(); });
    }
    for (int i = 0; i < plan_.schedules; ++i) {
      agenda_.after(kOutside, any(length / 2), [this] { people_.want_schedule(); });
    }
    for (int i = 0; i < plan_.messages; ++i) {
      agenda_.after(kOutside, any(length), [this] { people_.send_message(); });
    }
    for (const auto& [fault, times] : plan_.faults) {
      for (int i = 0; i < times; ++i) {
        auto state = static_cast<RunState>(random_.bits() % kRunStates);
        agenda_.after(kOutside, any(length), [this, kind = fault, state] {
          strokes_.push_back({kind, state, agenda_.now() + kStrokeWait});
          strike_whom_it_waits_for();
        });
      }
    }
    clients_.write_script();
    look_around();
  }

  // Returns null if no process is alive.
  Process* any_process() {
    std::vector<Process*> living;
    for (const Slot& slot : slots_) {
      if (slot.process && !slot.process->is_over()) living.push_back(slot.process.get());
    }
    return living.empty() ? nullptr : living[random_.bits() % living.size()];
  }

  void look_around() {
    people_.look_around(is_healed_);
    if (plan_.threads > 0) clients_.look_around();
    agenda_.after(kOutside, is_healed_ ? microseconds(2s) : 1s + any(3s),
                  [this] { look_around(); });
  }

  // A fault is delayed until some run is in the drawn state, so that every fault meets every state;
  // after kStrokeWait it is injected anyway.
  void strike_whom_it_waits_for() {
    looked_at_ = sightings_.version();
    auto sights = sightings_.all();
    for (auto stroke = strokes_.begin(); stroke != strokes_.end();) {
      auto wanted = std::find_if(sights.begin(), sights.end(), [&](const auto& sight) {
        return sight.state == stroke->state &&
               (sight.holder != kOutside || is_at_rest(sight.state));
      });
      bool is_late = agenda_.now() >= stroke->latest;
      if (wanted == sights.end() && !is_late) {
        ++stroke;
        continue;
      }
      FaultKind fault = stroke->fault;
      strokes_.erase(stroke);
      // One at a time: the fault can change the states of all runs.
      return strike(fault, wanted == sights.end() ? kOutside : wanted->holder);
    }
  }

  static bool is_at_rest(RunState state) {
    return state == RunState::queued || state == RunState::asking || state == RunState::sleeping;
  }

  std::size_t slot_of(ProcessId process) {
    for (std::size_t slot = 1; slot < slots_.size(); ++slot) {
      if (slots_[slot].process && slots_[slot].process->id() == process) return slot;
    }
    return any_worker();
  }

  // `holder` is the process whose run the fault is meant for, if a process owns it.
  void strike(FaultKind fault, ProcessId holder) {
    if (is_healed_) return;
    if (fault == FaultKind::power_cut) return cut_power();
    if (fault == FaultKind::slow_disk) return slow_down();
    if (fault == FaultKind::full_disk) return fill_up();
    if (fault == FaultKind::failed_sync) return fail_sync();
    std::size_t slot = fault == FaultKind::kill_people ? kPeople : slot_of(holder);
    Slot& at = slots_[slot];
    if (!at.process || (slot == kPeople && fault != FaultKind::kill_people)) return;
    ProcessId id = at.process->id();
    switch (fault) {
      case FaultKind::kill_worker:
      case FaultKind::kill_people:
        met(fault, id);
        return bury(slot, 100ms + any(4s));
      case FaultKind::kill_in_commit:
        at.dies_of = fault;
        return disk_.kill_after(id, 1 + random_.bits() % 30);
      case FaultKind::lose_reply:
        at.dies_of = fault;
        return at.process->lose_next_reply();
      case FaultKind::drain_worker:
        met(fault, id);
        return drain_for_a_while(slot);
      case FaultKind::stop_worker:
        met(fault, id);
        return at.process->stop();
      case FaultKind::pause_worker:
        met(fault, id);
        return agenda_.pause(id, agenda_.now() + 200ms + any(20s));
      case FaultKind::clock_jump:
        met(fault, id);
        return at.process->clock().jump(any(20min) - microseconds(10min));
      case FaultKind::zombie:
        return make_zombie(slot);
      case FaultKind::twin:
        return make_twin(slot);
      default:
        return;
    }
  }

  void drain_for_a_while(std::size_t slot) {
    ProcessId id = slots_[slot].process->id();
    slots_[slot].process->runtime().drain();
    agenda_.after(kOutside, kDrainPatience, [this, slot, id] {
      if (slots_[slot].process && slots_[slot].process->id() == id) slots_[slot].process->stop();
    });
  }

  // Pauses a worker, marks its session as dead for the others, and lets it continue for a while
  // after the pause. One in two is not paused: it writes between the reads and the slow claims of
  // the others. Not a worker that has a twin: see make_twin().
  void make_zombie(std::size_t slot) {
    Process& process = *slots_[slot].process;
    ProcessId id = process.id();
    if (twins_.contains(process.seed())) return;
    zombies_.insert(process.seed());
    met(FaultKind::zombie, id);
    bool works_on = any(2us) == 0us;
    if (works_on) {
      machine_.claims_take = any(2s);
      agenda_.after(kOutside, 10s, [this] { machine_.claims_take = microseconds(0); });
    } else {
      agenda_.pause(id, agenda_.now() + 1s + any(20s));
    }
    std::string session = process.runtime().session().text();
    session.erase(std::remove(session.begin(), session.end(), '-'), session.end());
    agenda_.after(kOutside, any(100ms), [this, session, id] {
      if (tell_database(
              "UPDATE sessions SET boot_id = zeroblob(16) WHERE hex(session_id) = upper('" +
              session + "')")) {
        outside_.take_for_dead(id);
        log_.tell(kOutside, "p" + std::to_string(id) + " is taken for dead");
      }
    });
    agenda_.after(kOutside, 22s + any(5s), [this, slot, id] {
      if (slots_[slot].process && slots_[slot].process->id() == id) bury(slot, 100ms + any(4s));
    });
  }

  bool tell_database(const std::string& sql) {
    disk_.opens_for(kOutside);
    sqlite3* database = nullptr;
    int code = sqlite3_open(machine_.store_path.c_str(), &database);
    if (code == SQLITE_OK) code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    sqlite3_close(database);
    return code == SQLITE_OK;
  }

  // Replaces a process by one that draws the same session id as another live process. Not as a
  // zombie: another process may have pruned the row of its session, and then nothing prevents that
  // two processes have one session. No machine has both faults: the id is random, 128 bits.
  void make_twin(std::size_t slot) {
    std::size_t other = any_worker();
    if (other == slot) other = kPeople;
    if (!slots_[other].process) return;
    std::uint64_t seed = slots_[other].process->seed();
    if (zombies_.contains(seed)) return;
    twins_.insert(seed);
    met(FaultKind::twin, slots_[slot].process->id());
    bury(slot, 100ms, seed);
  }

  void slow_down() {
    met(FaultKind::slow_disk, kNobody);
    is_slow_ = true;
    agenda_.after(kOutside, 1s + any(8s), [this] { is_slow_ = false; });
  }

  void fill_up() {
    met(FaultKind::full_disk, kNobody);
    disk_.fail(disk::Fault::full, 0, true);
    agenda_.after(kOutside, 500ms + any(6s), [this] { disk_.heal(); });
  }

  void fail_sync() {
    met(FaultKind::failed_sync, kNobody);
    disk_.fail(disk::Fault::sync_error, 0, false);
  }

  void cut_power() {
    met(FaultKind::power_cut, kNobody);
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      slots_[slot].dies_of = FaultKind::count;
      if (slots_[slot].process) bury(slot, 1s + any(3s));
    }
    constexpr disk::Image kImages[] = {
        disk::Image::all_kept, disk::Image::unsynced_dropped, disk::Image::unsynced_reordered,
        disk::Image::torn_512, disk::Image::torn_4096,        disk::Image::failed_sync_dropped};
    disk::Image image = kImages[random_.bits() % std::size(kImages)];
    disk::Files left = cut_.files(image, random_.bits());
    for (const char* name : {"store.db", "store.db-wal", "store.db-shm"}) {
      fs::remove(folder_ + "/" + name);
    }
    disk::lay_out(left, folder_);
    cut_ = disk::PowerCut(left);
    disk_.heal();
    log_.tell(kOutside, "the disk has " + std::string(disk::name_of(image)));
  }

  // ---- The end

  void heal() {
    is_healed_ = true;
    strokes_.clear();
    is_slow_ = false;
    disk_.heal();
    outside_.set_chances({});
    log_.tell(kOutside, "HEAL");
    for (Slot& slot : slots_) {
      slot.dies_of = FaultKind::count;
      if (slot.process) slot.process->clock().set_right();
    }
    people_.end_schedules();
    people_.look_anew();
    clients_.end();
    auto has_ended = [this] {
      return people_.has_started_all() && clients_.is_empty() && people_.unfinished() &&
             people_.unfinished()->empty();
    };
    Instant latest = agenda_.now() + kHealingMax;
    run_until(latest, has_ended);
    // A worker can be starting the run of the last tick of a schedule.
    while (plan_.schedules > 0 && has_ended() && agenda_.now() < latest) {
      run_until(agenda_.now() + kLastStart, [] { return false; });
      if (has_ended()) break;
      run_until(latest, has_ended);
    }
    if (has_ended()) return;
    if (!clients_.is_empty()) trouble("P: not all requests of clients have a response.");
    if (!people_.has_started_all()) trouble("I6: not all runs could be begun.");
    if (!people_.unfinished()) return trouble("I6: people can't see how the runs stand.");
    for (const std::string& each : *people_.unfinished()) {
      trouble("I6: it never came to its end: " + each);
    }
  }

  void drain() {
    is_closing_ = true;
    for (std::size_t slot = 1; slot < slots_.size(); ++slot) {
      slots_[slot].starts = true;  // prevents a new start
      if (slots_[slot].process) drain_for_a_while(slot);
    }
    bool is_empty = false;
    run_until(agenda_.now() + kDrainMax, [&] {
      is_empty = true;
      for (std::size_t slot = 1; slot < slots_.size(); ++slot) {
        is_empty = is_empty && !slots_[slot].process;
      }
      return is_empty;
    });
    if (!is_empty) trouble("I6: a worker that was asked to go never went.");
    slots_[kPeople].starts = true;
    if (slots_[kPeople].process) bury(kPeople, microseconds(0));
  }

  template <typename T>
  Result<T> wait(Process& process, Task<Result<T>> task) {
    std::optional<Result<T>> result;
    process.begin<T>(std::move(task), [&](Result<T> value) { result.emplace(std::move(value)); });
    run_until(agenda_.now() + 1h, [&] { return result.has_value(); });
    if (!result) return error(ErrorCode::exhausted, "It waits without end.");
    return *std::move(result);
  }

  void judge() {
    Process judge(machine_, ++last_process_, random_.bits());
    auto opened = judge.open();
    if (!opened.ok()) return trouble("The store can't be opened: " + opened.error().message);
    CheckScope scope;
    for (const Workload& each : workloads()) {
      scope.graphs.push_back(each.graph(outside_, judge.id()));
    }
    scope.acknowledged = clients_.without_deleted(machine_.acknowledged);
    scope.done_effects = machine_.done_effects;
    scope.collections = collections_of(plan_);
    auto report = wait(judge, check_store(judge.store(), std::move(scope)));
    if (!report.ok()) return trouble("The store can't be read: " + report.error().message);
    for (const Violation& each : report->violations) {
      trouble(each.rule + " " + each.subject + ": " + each.message);
    }
    judge_runs(judge);
    for (std::string& each : faults_of(outside_.calls())) trouble(std::move(each));
  }

  // The runs of schedules have the default timeout, which the jump of a clock can exceed.
  bool is_too_long(const RunRow& row) const {
    const auto& names = people_.requests().schedules();
    if (row.status != RunStatus::failed || !row.error.starts_with("The run worked for longer")) {
      return false;
    }
    return clients_.is_known(row.thread.text) ||
           std::any_of(names.begin(), names.end(), [&](const std::string& name) {
             return row.thread.text.starts_with(name + " ");
           });
  }

  void judge_runs(Process& judge) {
    std::function<Result<std::vector<RunRow>>(Snapshot&)> reader = [](Snapshot& view) {
      RunFilter all;
      all.tenant = default_tenant();
      all.limit = 1'000;
      return view.runs(all);
    };
    auto rows = wait(judge, read<std::vector<RunRow>>(judge.store(), std::move(reader)));
    if (!rows.ok()) return trouble("The runs can't be read: " + rows.error().message);
    std::size_t shipped = 0;
    for (const RunRow& row : *rows) {
      if (row.outcome == "shipped") ++shipped;
      bool may_be_cancelled =
          people_.may_be_cancelled(row.thread.text) || clients_.may_be_cancelled(row.thread.text);
      if (row.status == RunStatus::cancelled && may_be_cancelled) continue;
      auto view = wait(judge, judge.runtime().status(default_tenant(), row.thread, row.run));
      if (!view.ok()) {
        trouble(row.thread.text + " can't be read: " + view.error().message);
        continue;
      }
      if (is_too_long(row)) continue;
      std::string wrong = workload_of(row.graph)->wrong(*view);
      if (!wrong.empty()) trouble(row.thread.text + " came to " + wrong);
    }
    if (plan_.threads > 0) judge_protocol(judge, *rows);
    if (plan_.has_service()) judge_requests(judge, *rows);
    // A copy of an ended run has not shipped a message itself.
    if (outside_.messages().size() > shipped) trouble("I16: more messages than parcels shipped.");
  }

  void judge_protocol(Process& judge, std::vector<RunRow> runs) {
    auto rows = wait(judge, read_protocol(judge, clients_, std::move(runs)));
    if (!rows.ok()) return trouble("The threads can't be read: " + rows.error().message);
    for (std::string& each : protocol_faults(*rows, clients_)) trouble(std::move(each));
  }

  void judge_requests(Process& judge, std::vector<RunRow> runs) {
    const Requests& requests = people_.requests();
    auto rows = wait(judge, read_requested(judge, requests.schedules(), std::move(runs)));
    if (!rows.ok()) return trouble("The requests can't be read: " + rows.error().message);
    for (std::string& each : requested_faults(*rows, requests.accepted())) trouble(std::move(each));
  }

  const Plan& plan_;
  testing::SeededRandom random_;
  Played played_;
  Agenda agenda_;
  EventLog log_;
  RunObservations sightings_;
  Outside outside_;
  std::set<std::uint64_t> zombies_;  // seeds of processes that were marked as dead,
  std::set<std::uint64_t> twins_;    // and of those that have a twin
  std::string folder_;
  disk::RecordingDisk disk_;
  disk::PowerCut cut_;
  Machine machine_;
  People people_;
  ProtocolClients clients_;
  std::vector<Slot> slots_;
  struct Stroke {
    FaultKind fault;
    RunState state;  // the state of some run when the fault is injected
    Instant latest;
  };
  std::vector<Stroke> strokes_;  // faults that wait for a run in their state
  std::uint64_t looked_at_ = 0;  // the version of the observations
  ProcessId last_process_ = 0;
  std::uint64_t steps_ = 0;
  bool is_slow_ = false;
  bool is_healed_ = false;
  bool is_closing_ = false;  // the workers are drained and not replaced
};

}  // namespace

Played simulate(const Plan& plan, std::uint64_t seed, const std::string& folder,
                std::function<void(const std::string&)> listener) {
  set_for_one_thread();
  return Simulation(plan, seed, folder).play(std::move(listener));
}

}  // namespace belay::simulation
