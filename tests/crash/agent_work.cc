#include <algorithm>
#include <fstream>

#include "tests/crash/fleet_work.h"

namespace belay::crash {
namespace {

constexpr std::size_t kRounds = 3;
constexpr std::size_t kCalls = 13;  // in all rounds

std::vector<std::string> agent_decision(const Value& approval, const std::string& folder) {
  std::string id = *approval["interruptId"].as_string();
  const Value& payload = approval["payload"];
  bool is_of_call = payload.find("call") != nullptr;
  const std::string* key = payload["key"].as_string();
  bool has_happened = key && (calls_of(folder, "send").contains(*key) ||
                              calls_of(folder, "release").contains(*key));
  std::string verdict = is_of_call ? "approve" : has_happened ? "happened" : "redo";
  return {"approvals", verdict, id, "--by", "ana"};
}

bool is_answered(const std::string& thread, const Value& run) {
  const Value& state = run["state"];
  const Value::Array* turns = state["turns"].as_array();
  const Value::Object* results = state["results"].as_object();
  return run["status"] == Value("completed") && run["outcome"] == Value("answered") &&
         state["answer"] == Value("done with " + thread) && turns && turns->size() == kRounds + 2 &&
         results && results->size() == kCalls;
}

// The journal has each request of the model and each call of a tool in their order, "thread step".
// A step begins when the replies and results of those before it are committed: none of these may
// occur again. The program lists each conversation that a provider would reject.
std::vector<std::string> journal_faults(const std::string& folder) {
  std::vector<std::string> faults;
  std::map<std::string, int> steps;
  std::ifstream journal(folder + "/journal");
  std::string thread;
  for (int step = 0; journal >> thread >> step;) {
    int& last = steps[thread];
    if (step < last) {
      faults.push_back(thread + " repeated step " + std::to_string(step) + " after step " +
                       std::to_string(last));
    }
    last = std::max(last, step);
  }
  if (steps.empty()) faults.emplace_back("the model was never called");
  std::ifstream invalid(folder + "/invalid");
  for (std::string line; std::getline(invalid, line);) faults.push_back(line);
  return faults;
}

}  // namespace

FleetWork agent_work(std::string defect) {
  FleetWork work;
  work.binary = BELAY_AGENT_FLEET_BINARY;
  work.environment = {{"FLEET_DEFECT", std::move(defect)}};
  work.receivers = {{.name = "look", .keys = 2 * kRounds, .may_repeat = true},
                    {.name = "charge", .keys = kRounds, .may_repeat = true},
                    {.name = "send", .keys = kRounds},
                    {.name = "release"}};
  work.repeated_nodes = {"model", "tool", "more"};
  // The question has the name of the thread, by which the program lists the model's requests.
  work.input = [](const std::string& thread) { return "question=" + thread; };
  work.decision_on = agent_decision;
  work.is_well = is_answered;
  work.faults_in = journal_faults;
  return work;
}

}  // namespace belay::crash
