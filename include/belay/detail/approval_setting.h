#pragma once
// belay/detail/approval_setting.h - ApprovalSetting: the options of an approval that was just added
// to a graph; see graph.h.

#include "belay/detail/graph_definition.h"

namespace belay {

template <typename State>
class ApprovalSetting {
 public:
  // A bool of the state: a member of a struct, or a channel of a JSON object by name.
  using Flag = std::conditional_t<std::is_same_v<State, Value>, std::string, bool State::*>;
  // `definition` must outlive it.
  ApprovalSetting(GraphDefinition& definition, std::size_t index)
      : definition_(definition), index_(index) {}

  // The next node after an approval; the payload might be edited.
  ApprovalSetting& approved(std::string_view target) {
    approval().approved = target;
    return *this;
  }
  // The next node after a rejection, and after an expiry unless when_expired is another choice.
  ApprovalSetting& rejected(std::string_view target) {
    approval().rejected = target;
    return *this;
  }
  // A choice in addition to, or instead of, approving and rejecting: it leads to `target`, or to
  // the node that has its name. `label` is shown to the decider.
  ApprovalSetting& choice(std::string_view name, std::string_view target = {},
                          std::string_view label = {}) {
    std::string next(target.empty() ? name : target);
    approval().choices.push_back({std::string(name), std::move(next), std::string(label)});
    return *this;
  }
  // Each decision that approves needs an answer that fits the plain struct T. The next node reads
  // it by context.decision()->answer_as<T>().
  template <typename T>
  ApprovalSetting& answer() {
    approval().answer_schema = json_schema<T>(RequiredMembers::all);
    approval().read_answer = [](const Value& given) { return detail::checked_answer<T>(given); };
    return *this;
  }
  // Approves after `count` approving decisions, each of another person, for the same choice. The
  // first rejection ends it. Such an approval accepts no edited payload.
  ApprovalSetting& needs(std::int64_t count) {
    approval().needs = count;
    return *this;
  }
  // Requests the approval only if this returns true; otherwise continues as if approved.
  ApprovalSetting& when(std::function<bool(const State&)> condition) {
    approval().when = detail::on_state<State>(std::move(condition));
    return *this;
  }
  // Makes the question from the state, instead of the fixed text.
  ApprovalSetting& question(std::function<std::string(const State&)> question) {
    approval().question = detail::on_state<State>(std::move(question));
    return *this;
  }
  // Rejects an edited payload if this returns an Error for the edited state.
  ApprovalSetting& validate(std::function<Result<Done>(const State&)> validate) {
    approval().validate = detail::on_state<State>(std::move(validate));
    return *this;
  }
  // A member that is true while the decision is pending, if no other task runs in parallel.
  ApprovalSetting& pending_flag(Flag member) {
    GraphDefinition::Approval& asked = approval();
    detail::bind_flag(member, asked.pending_flag, asked.set_awaiting, asked.names.pending_flag);
    return *this;
  }
  // A member that is set to the decision: true for approved and for each choice, false for rejected
  // and for an expiry that rejects.
  ApprovalSetting& decision_flag(Flag member) {
    GraphDefinition::Approval& asked = approval();
    detail::bind_flag(member, asked.decision_flag, asked.set_answer, asked.names.decision_flag);
    return *this;
  }

 private:
  GraphDefinition::Approval& approval() { return *definition_.nodes[index_].approval; }
  GraphDefinition& definition_;
  std::size_t index_;
};

}  // namespace belay
