#include "tests/simulation/plan.h"

#include <toml++/toml.h>
#include <filesystem>

#include "langgraph/agent_server.h"
#include "tests/simulation/workloads.h"

namespace belay::simulation {
namespace {

Error fault_in(const std::string& path, const std::string& what) {
  return error(ErrorCode::invalid, path + ": " + what);
}

Result<std::map<std::string, int>> numbers(const toml::node& node, const std::string& where) {
  const toml::table* table = node.as_table();
  if (!table) return fault_in(where, "is no table.");
  std::map<std::string, int> found;
  for (const auto& [key, value] : *table) {
    auto number = value.value_exact<std::int64_t>();
    if (!number || *number < 0) {
      return fault_in(where + "." + std::string(key.str()), "is no natural number.");
    }
    found.emplace(std::string(key.str()), static_cast<int>(*number));
  }
  return found;
}

Result<FaultKind> known_fault(const std::string& path, const std::string& name, bool of_a_call) {
  auto fault = fault_of(name);
  bool is_of_a_call = fault && *fault >= FaultKind::call_lost;
  if (fault && is_of_a_call == of_a_call) return *fault;
  return fault_in(path, "\"" + name + "\" is no fault " +
                            (of_a_call ? "of a call." : "that strikes by itself."));
}

// Returns how often people do this; null for an unknown name.
int* people_number(Plan& plan, const std::string& name) {
  if (name == "cancels") return &plan.cancels;
  if (name == "forks") return &plan.forks;
  if (name == "schedules") return &plan.schedules;
  return name == "messages" ? &plan.messages : nullptr;
}

// The same, of the clients of the Agent Server API.
int* protocol_number(Plan& plan, const std::string& name) {
  if (name == "threads") return &plan.threads;
  if (name == "thread_cancels") return &plan.thread_cancels;
  if (name == "copies") return &plan.copies;
  return name == "deletions" ? &plan.deletions : nullptr;
}

Result<Done> read_table(Plan& plan, const std::string& path, const std::string& key,
                        const toml::node& node) {
  BELAY_TRY(auto found, numbers(node, path + ": " + key));
  for (const auto& [name, number] : found) {
    if (key == "workloads") {
      if (!workload_of(name)) return fault_in(path, "\"" + name + "\" is no workload.");
      plan.workloads[name] = number;
    } else if (key == "faults") {
      BELAY_TRY(FaultKind fault, known_fault(path, name, false));
      plan.faults[fault] = number;
    } else if (key == "chances") {
      BELAY_TRY(FaultKind fault, known_fault(path, name, true));
      plan.chances[fault] = static_cast<std::uint64_t>(number);
    } else if (key == "people" && people_number(plan, name)) {
      *people_number(plan, name) = number;
    } else if (key == "protocol" && protocol_number(plan, name)) {
      *protocol_number(plan, name) = number;
    } else {
      return fault_in(path, "nothing is known of " + key + "." + name + ".");
    }
  }
  return Done{};
}

Result<Done> read_entry(Plan& plan, const std::string& path, const std::string& key,
                        const toml::node& node) {
  if (node.is_table()) return read_table(plan, path, key, node);
  if (key == "about" && node.is_string()) {
    plan.about = *node.value<std::string>();
    return Done{};
  }
  auto number = node.value_exact<std::int64_t>();
  if (!number || *number < 1) return fault_in(path, key + " is no number from 1.");
  if (key == "workers") {
    plan.workers = static_cast<int>(*number);
  } else if (key == "runs") {
    plan.runs = static_cast<int>(*number);
  } else if (key == "seconds") {
    plan.length = std::chrono::seconds(*number);
  } else {
    return fault_in(path, "nothing is known of " + key + ".");
  }
  return Done{};
}

}  // namespace

std::vector<std::string> collections_of(const Plan& plan) {
  std::vector<std::string> names{kLabels};
  if (!plan.has_service()) return names;
  for (const char* each :
       {"schedules", "schedule_ticks", "steering_messages", "goal_steps", "goal_results"}) {
    names.emplace_back(each);
  }
  for (std::string& each : langgraph::collections()) {
    if (plan.threads > 0) names.push_back(std::move(each));
  }
  return names;
}

Result<Plan> read_plan(const std::string& path) {
  Plan plan;
  plan.name = std::filesystem::path(path).stem();
  toml::table file;
  try {
    file = toml::parse_file(path);
  } catch (const toml::parse_error& why) {
    return fault_in(path, std::string(why.description()) + ", line " +
                              std::to_string(why.source().begin.line) + ".");
  }
  for (const auto& [key, node] : file) {
    BELAY_CHECK(read_entry(plan, path, std::string(key.str()), node));
  }
  if (plan.about.empty()) return fault_in(path, "it does not say what it is about.");
  if (plan.workloads.empty()) return fault_in(path, "it has no workloads.");
  return plan;
}

}  // namespace belay::simulation
