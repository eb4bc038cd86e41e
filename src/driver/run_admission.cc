#include "driver/run_admission.h"

#include "belay/limits.h"

namespace belay {

std::vector<RunAdmission::Group> RunAdmission::groups_of(const RunRow& run) const {
  const std::string& tenant = run.tenant.text;
  std::string within = std::to_string(tenant.size()) + ":" + tenant;
  std::vector<Group> groups;
  if (limits_.per_tenant > 0) {
    groups.push_back({"tenant " + within, limits_.per_tenant, "tenant \"" + tenant + "\""});
  }
  if (limits_.per_user > 0) {
    groups.push_back(
        {"user " + within + run.user.text, limits_.per_user, "user \"" + run.user.text + "\""});
  }
  if (limits_.per_graph > 0) {
    groups.push_back(
        {"graph " + within + run.graph, limits_.per_graph, "graph \"" + run.graph + "\""});
  }
  return groups;
}

Result<RunAdmission::Permit> RunAdmission::enter(const RunRow& run) {
  if (!held_.contains(run.run)) {
    for (const Group& group : groups_of(run)) {
      auto count = counts_.find(group.key);
      if (count == counts_.end() || count->second < group.limit) continue;
      Error full = error(ErrorCode::unavailable,
                         "Process limit reached: " + std::to_string(group.limit) + " runs of " +
                             group.name + " are in progress. Try again later.");
      full.retry_after = limits::busy_retry_after;
      return full;
    }
  }
  return enter_anyway(run);
}

RunAdmission::Permit RunAdmission::enter_anyway(const RunRow& run) {
  if (!is_limited()) return Permit();
  Held& held = held_[run.run];
  if (held.times++ == 0) {
    for (Group& group : groups_of(run)) {
      ++counts_[group.key];
      held.keys.push_back(std::move(group.key));
    }
  }
  return Permit(*this, run.run);
}

void RunAdmission::leave(const RunId& run) {
  auto held = held_.find(run);
  if (--held->second.times > 0) return;
  for (const std::string& key : held->second.keys) {
    auto count = counts_.find(key);
    if (--count->second == 0) counts_.erase(count);
  }
  held_.erase(held);
}

}  // namespace belay
