#include "tests/crash/fleet.h"

namespace belay::crash {

void FleetReport::add(const FleetReport& other) {
  kills += other.kills;
  zombies += other.zombies;
  robbed += other.robbed;
  revived += other.revived;
  claiming += other.claiming;
  fenced += other.fenced;
  drains += other.drains;
  disturbances += other.disturbances;
  takeovers += other.takeovers;
  runs += other.runs;
  messages += other.messages;
  waiting += other.waiting;
  repeated += other.repeated;
  faults.insert(faults.end(), other.faults.begin(), other.faults.end());
}

void FleetReport::count(const FleetReceiver& receiver,
                        const std::map<std::string, std::size_t>& calls) {
  std::size_t late_calls = 0;
  for (const auto& [key, times] : calls) {
    if (receiver.name == "probe") late_calls += times - 1;
    bool is_late = times == 2 && late_calls > 0 && late_calls <= zombies;
    if (times > 1 && !receiver.may_repeat && !is_late) {
      faults.push_back(receiver.name + " was called " + std::to_string(times) + " times with " +
                       key);
    }
    repeated += times - 1;
  }
  std::size_t wanted = receiver.keys * runs;
  if (calls.size() > wanted || (calls.size() < wanted && !receiver.may_be_missing)) {
    faults.push_back(receiver.name + " has seen " + std::to_string(calls.size()) + " keys, not " +
                     std::to_string(wanted));
  }
}

std::string FleetReport::evidence(const std::string& fleet, std::uint64_t seed) const {
  auto counted = [](std::size_t count, const std::string& words) {
    return count == 0 ? std::string() : std::to_string(count) + words;
  };
  std::string text = "evidence: " + fleet + ": " + counted(disturbances, " faults of a server, ") +
                     counted(drains, " drains, ") + std::to_string(kills) + " kills, ";
  if (zombies > 0) {
    text += std::to_string(zombies) + " zombies beyond their lease - " + std::to_string(robbed) +
            " woke up with runs that others had taken over, " + std::to_string(fenced) +
            " of their commits for these were fenced, " + std::to_string(revived) +
            " went on as workers, and " + std::to_string(claiming) + " of those claimed again - ";
  }
  if (messages > 0) {
    text += std::to_string(waiting) + " of them while one of " + std::to_string(messages) +
            " messages waited, ";
  }
  return text + "over " + std::to_string(runs) + " runs with " + std::to_string(takeovers) +
         " take-overs; " + std::to_string(repeated) + " calls repeated as their class allows, " +
         std::to_string(faults.size()) + " losses, seed " + std::to_string(seed);
}

}  // namespace belay::crash
