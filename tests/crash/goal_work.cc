#include "tests/crash/fleet_work.h"
#include "tests/crash/sent_messages.h"

namespace belay::crash {
namespace {

constexpr std::size_t kStepsWithCalls = 3;

// Messages that come late add steps: 3 with calls, and at least one without.
bool is_reached(const std::string&, const Value& run) {
  const Value& state = run["state"];
  auto steps = state["step"].as_int();
  const Value::Array* memory = state["memory"].as_array();
  std::size_t guided = 0;
  for (std::size_t i = 0; memory && i < memory->size(); ++i) {
    const std::string* text = (*memory)[i]["text"].as_string();
    guided += text && text->starts_with("guided by ask ");
  }
  return run["status"] == Value("completed") && run["outcome"] == Value("finished") &&
         state["summary"] == Value("Guided.") && steps &&
         *steps > static_cast<std::int64_t>(kStepsWithCalls) && guided == kStepsWithCalls;
}

}  // namespace

FleetWork goal_work() {
  FleetWork work = agent_work();
  work.binary = BELAY_GOAL_FLEET_BINARY;
  work.environment = {};
  work.receivers = {{.name = "look", .keys = kStepsWithCalls, .may_repeat = true},
                    {.name = "charge", .keys = kStepsWithCalls, .may_repeat = true},
                    {.name = "ask", .keys = kStepsWithCalls, .may_repeat = true},
                    {.name = "send", .keys = kStepsWithCalls}};
  work.repeated_nodes = {"plan",   "act",         "record",         "summarize",
                         "finish", "agent_guide", "act,agent_guide"};
  work.input = [](const std::string& thread) {
    Value goal = Value::object(
        {{"id", thread}, {"objective", thread}, {"params", Value::object({{"stepBudget", 100}})}});
    return "goal=" + to_json(goal);
  };
  work.is_well = is_reached;
  work.messages_in = [](const Value& run) { return used_messages(run["state"]); };
  return work;
}

}  // namespace belay::crash
