// finish_attempt(): prepares the result and the effects of an attempt for the engine.

#include "driver/run_driver.h"
#include "graph/call_guarded.h"

namespace belay {

NodeOutcome finish_attempt(const GraphDefinition::Node& node, const std::string& checkpoint_ns,
                           const engine::AttemptId& attempt, NodeOutcome outcome,
                           NodeEffects& left) {
  std::string text = std::exchange(left.text, {});
  if (std::holds_alternative<NodeUpdate>(outcome) && first_invalid_utf8(text)) {
    outcome = error(ErrorCode::invalid, "The node \"" + node.name +
                                            "\" ended in the middle of a character of its text.");
  }
  // A node that waits for a decision has not ended: it can still refuse the model's replies.
  if (auto answers = std::exchange(left.answers, nullptr)) {
    if (std::holds_alternative<NodeUpdate>(outcome)) answers->accept();
    if (std::holds_alternative<Error>(outcome)) answers->refuse();
  }
  if (auto* failure = std::get_if<Error>(&outcome)) {
    *failure = with_sentence(std::move(*failure));
    left.records.clear();
    left.messages.clear();
    left.outcome.clear();
  }
  if (text.empty() || !std::holds_alternative<NodeUpdate>(outcome)) return outcome;
  Value::Object body{{"node", node.name},
                     {"task", attempt.task.text()},
                     {"attempt", attempt.attempt},
                     {"text", std::move(text)}};
  if (!checkpoint_ns.empty()) body["space"] = checkpoint_ns;
  left.events.push_back({"", Value(std::move(body)), "message"});
  return outcome;
}

}  // namespace belay
