// The choices of an approval node: what it offers, and where each leads.

#include "belay/detail/graph_definition.h"

namespace belay {

ApprovalTerms terms_of(const GraphDefinition::Approval& approval) {
  ApprovalTerms terms;
  if (!approval.approved.empty()) terms.choices.push_back({"approve", "", true});
  for (const auto& each : approval.choices) terms.choices.push_back({each.name, each.label, true});
  if (!approval.rejected.empty()) terms.choices.push_back({"reject", "", false});
  terms.answer_schema = approval.answer_schema;
  terms.needs = approval.needs;
  terms.when_expired = approval.options.when_expired;
  terms.on_expiry = approval.options.on_expiry;
  return terms;
}

std::string target_of(const GraphDefinition::Approval& approval, std::string_view choice) {
  if (choice == "approve") return approval.approved;
  if (choice == "reject") return approval.rejected;
  for (const auto& each : approval.choices) {
    if (each.name == choice) return each.target;
  }
  return {};
}

std::vector<std::string> targets_of(const GraphDefinition::Approval& approval) {
  std::vector<std::string> targets;
  if (!approval.approved.empty()) targets.push_back(approval.approved);
  if (!approval.rejected.empty()) targets.push_back(approval.rejected);
  for (const auto& each : approval.choices) targets.push_back(each.target);
  return targets;
}

namespace detail {

Result<Value> canonical_answer(std::string text, std::string problem, const Unknown& unknown) {
  if (!problem.empty()) {
    return error(ErrorCode::invalid, "The answer does not fit: " + std::move(problem));
  }
  if (!unknown.empty()) {
    std::string name =
        unknown.members.empty() ? "a nested member" : "\"" + unknown.members.begin()->first + "\"";
    return error(ErrorCode::invalid,
                 "The answer does not fit: it has " + name + ", which is not a member of it.");
  }
  return parse_json(text);
}

}  // namespace detail
}  // namespace belay
