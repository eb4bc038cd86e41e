#include "tests/simulation/event_log.h"

#include <algorithm>
#include <cstdio>

namespace belay::simulation {
namespace {

constexpr std::array<std::string_view, kRunStates> kStateNames{
    "queued", "working", "calling", "thinking", "committing", "asking", "sleeping"};
constexpr std::array<std::string_view, kFaultKinds> kFaultNames{
    "kill_worker", "kill_in_commit", "lose_reply",  "drain_worker", "stop_worker",  "pause_worker",
    "zombie",      "twin",           "kill_people", "slow_disk",    "full_disk",    "failed_sync",
    "power_cut",   "clock_jump",     "call_lost",   "reply_lost",   "call_refused", "model_hangs",
    "model_drips", "model_lies",     "model_fails"};

// Returns whether a fault can meet a run in a state: faults of an effect call occur only during a
// call, faults of the model only during a model call, and a reply is lost only of a commit.
bool can_meet(FaultKind fault, RunState state) {
  switch (fault) {
    case FaultKind::call_lost:
    case FaultKind::reply_lost:
    case FaultKind::call_refused:
      return state == RunState::calling;
    case FaultKind::model_hangs:
    case FaultKind::model_drips:
    case FaultKind::model_lies:
    case FaultKind::model_fails:
      return state == RunState::thinking;
    default:
      return true;
  }
}

}  // namespace

std::string_view name_of(RunState state) { return kStateNames[static_cast<std::size_t>(state)]; }
std::string_view name_of(FaultKind fault) { return kFaultNames[static_cast<std::size_t>(fault)]; }

std::optional<FaultKind> fault_of(std::string_view name) {
  auto found = std::find(kFaultNames.begin(), kFaultNames.end(), name);
  if (found == kFaultNames.end()) return std::nullopt;
  return static_cast<FaultKind>(found - kFaultNames.begin());
}

void Coverage::add(const Coverage& other) {
  for (std::size_t fault = 0; fault < kFaultKinds; ++fault) {
    struck[fault] += other.struck[fault];
    for (std::size_t state = 0; state < kRunStates; ++state) {
      met[fault][state] += other.met[fault][state];
    }
  }
}

std::string Coverage::table() const {
  std::array<char, 64> text{};
  auto cell = [&](const char* format, auto value) {
    std::snprintf(text.data(), text.size(), format, value);
    return std::string(text.data());
  };
  std::string table = cell("%-16s", "fault") + cell("%9s", "struck");
  for (std::string_view state : kStateNames) table += cell("%12s", std::string(state).c_str());
  table += "\n";
  for (std::size_t fault = 0; fault < kFaultKinds; ++fault) {
    table += cell("%-16s", std::string(kFaultNames[fault]).c_str());
    table += cell("%9llu", static_cast<unsigned long long>(struck[fault]));
    for (std::size_t state = 0; state < kRunStates; ++state) {
      bool possible = can_meet(static_cast<FaultKind>(fault), static_cast<RunState>(state));
      table += possible ? cell("%12llu", static_cast<unsigned long long>(met[fault][state]))
                        : cell("%12s", "-");
    }
    table += "\n";
  }
  return table;
}

std::vector<std::string> Coverage::rarer_than(std::uint64_t times) const {
  std::vector<std::string> rare;
  for (std::size_t fault = 0; fault < kFaultKinds; ++fault) {
    for (std::size_t state = 0; state < kRunStates; ++state) {
      bool possible = can_meet(static_cast<FaultKind>(fault), static_cast<RunState>(state));
      if (!possible || met[fault][state] >= times) continue;
      rare.push_back(std::string(kFaultNames[fault]) + " x " + std::string(kStateNames[state]) +
                     " (" + std::to_string(met[fault][state]) + ")");
    }
  }
  return rare;
}

void EventLog::tell(ProcessId process, std::string_view what) {
  auto since = (agenda_.now() - begins_).count();
  std::array<char, 48> head{};
  std::string who = process == kOutside ? "world" : "p" + std::to_string(process);
  std::snprintf(head.data(), head.size(), "%6lld.%06lld %-6s ",
                static_cast<long long>(since / 1'000'000),
                static_cast<long long>(since % 1'000'000), who.c_str());
  std::string line = head.data() + std::string(what);
  if (!folder_.empty()) {
    for (std::size_t at = line.find(folder_); at != std::string::npos; at = line.find(folder_)) {
      line.erase(at, folder_.size());
    }
  }
  ++events_;
  for (char byte : line + "\n") {
    digest_ = (digest_ ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  }
  if (listener_) listener_(line);
}

}  // namespace belay::simulation
