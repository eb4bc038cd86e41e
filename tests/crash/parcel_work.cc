#include <fstream>

#include "tests/crash/fleet_work.h"

namespace belay::crash {
namespace {

constexpr int kItems = 6;
constexpr int kTotal = 10 + 20 + 30 + 40 + 50 + 60;

std::vector<std::string> parcel_decision(const Value& approval, const std::string& folder) {
  std::string id = *approval["interruptId"].as_string();
  if (approval["node"] == Value("release")) return {"approvals", "approve", id, "--by", "ana"};
  const std::string* key = approval["payload"]["key"].as_string();
  bool has_happened = key && calls_of(folder, "ask").contains(*key);
  std::vector<std::string> words = {"approvals", has_happened ? "happened" : "redo", id, "--by",
                                    "ana"};
  if (has_happened) {
    Value payload = approval["payload"];
    payload.as_object()->insert_or_assign("result", Value(1));
    std::string file = folder + "/answer-" + id + ".json";
    std::ofstream(file) << to_json(payload);
    words.insert(words.end(), {"--edit", file});
  }
  return words;
}

bool is_shipped(const std::string& thread, const Value& run) {
  Value::Array weights;
  for (int item = 1; item <= kItems; ++item) weights.emplace_back(item);
  const Value& state = run["state"];
  return run["status"] == Value("completed") && run["outcome"] == Value("shipped") &&
         state["weights"] == Value(weights) && state["total"] == Value(kTotal) &&
         state["receipt"] == Value("paid") && state["mails"] == Value(4) &&
         state["label"] == Value("label of " + thread);
}

}  // namespace

std::map<std::string, std::size_t> calls_of(const std::string& folder, const std::string& name) {
  std::map<std::string, std::size_t> calls;
  std::ifstream file(folder + "/" + name);
  for (std::string thread, key; file >> thread >> key;) ++calls[key];
  return calls;
}

FleetWork parcel_work() {
  FleetWork work;
  work.binary = BELAY_FLEET_BINARY;
  work.receivers = {{.name = "scale", .keys = kItems, .may_repeat = true},
                    {.name = "charge", .may_repeat = true},
                    {.name = "retry", .may_repeat = true},
                    {.name = "probe"},
                    {.name = "ask"},
                    {.name = "skip", .may_be_missing = true}};
  work.input = [](const std::string&) { return "items=" + std::to_string(kItems); };
  work.decision_on = parcel_decision;
  work.is_well = is_shipped;
  return work;
}

}  // namespace belay::crash
