#include "engine/edited_payload.h"

#include "belay/limits.h"
#include "engine/decision.h"
#include "graph/call_guarded.h"

namespace belay::engine {
namespace {

// The task that waits for an interrupt, and its frame: the run itself or a subgraph task.
struct WaitingTask {
  const GraphDefinition* graph = nullptr;
  const Run* frame = nullptr;
  const NodeTask* task = nullptr;
};

std::optional<WaitingTask> find_waiting(const Run& run, const GraphDefinition& graph,
                                        const InterruptId& interrupt) {
  for (const NodeTask& task : run.tasks) {
    if (task.interrupt == interrupt) return WaitingTask{&graph, &run, &task};
    if (!task.inner) continue;
    auto inside = find_waiting(*task.inner, *task.node->subgraph->graph, interrupt);
    if (inside) return inside;
  }
  return std::nullopt;
}

// Finds the graph that has the approval node: this one or a subgraph, at any depth.
const GraphDefinition* graph_with_approval(const GraphDefinition& graph, const std::string& node) {
  const GraphDefinition::Node* found = graph.find(node);
  if (found && found->approval) return &graph;
  for (const GraphDefinition::Node& each : graph.nodes) {
    if (!each.subgraph) continue;
    if (const auto* inner = graph_with_approval(*each.subgraph->graph, node)) return inner;
  }
  return nullptr;
}

// Re-encodes the edited payload with the type of its channel: equal edits then have equal hashes.
// nullopt if the result equals the payload that was shown. `asking` is null for an interrupt raised
// within a node: it belongs to no channel, and its edit is kept unchanged.
Result<std::optional<Value>> canonical_edit(const GraphDefinition* asking,
                                            const ApprovalRow& approval, const Value& edited) {
  Encoder out;
  if (!asking) {
    out.write_value(edited);
  } else {
    const ChannelType& channel =
        asking->state->channels[asking->find(approval.node)->approval->channel];
    std::shared_ptr<void> state = asking->state->make();
    Decoder in;
    Unknown unknown;
    in.path.emplace_back(channel.name);
    if (!channel.decode(edited, state.get(), in, &unknown)) {
      return error(ErrorCode::invalid, "The edited payload does not fit: " + in.problem);
    }
    if (!unknown.empty()) {
      std::string name = unknown.members.empty() ? "a nested member"
                                                 : "\"" + unknown.members.begin()->first + "\"";
      return error(ErrorCode::invalid,
                   "The edited payload has " + name + ", which the payload does not have.");
    }
    channel.encode(state.get(), out, nullptr);
  }
  if (out.text.size() > limits::value_bytes_max) {
    return error(ErrorCode::invalid, "The edited payload is longer than " +
                                         std::to_string(limits::value_bytes_max) + " bytes.");
  }
  if (!out.problem.empty()) return error(ErrorCode::invalid, out.problem);
  if (sha256(out.text) == approval.payload_hash) return std::optional<Value>();
  BELAY_TRY(Value canonical, parse_json(out.text));
  return std::optional(std::move(canonical));
}

// canonical_edit() for an open approval: uses the graph version that the run continues with. Fails
// if the approval's own validate() function rejects the edited state.
Result<std::optional<Value>> open_edit(const Run& run, const GraphDefinition& graph,
                                       const ApprovalRow& approval, const Value& edited) {
  auto asking = find_waiting(run, graph, approval.interrupt);
  bool is_node = asking && asking->task->node->approval;
  BELAY_TRY(auto canonical, canonical_edit(is_node ? asking->graph : nullptr, approval, edited));
  if (!canonical || !is_node || !asking->task->node->approval->validate) return canonical;
  const GraphDefinition::Approval& asked = *asking->task->node->approval;
  std::shared_ptr<void> tried = asking->graph->state->copy(asking->frame->state.get());
  Decoder in;
  asking->graph->state->channels[asked.channel].decode(*canonical, tried.get(), in, nullptr);
  BELAY_CHECK(
      call_guarded<Done>("The check of the edited payload at \"" + asking->task->node->name + "\"",
                         [&]() { return asked.validate(tried.get()); }));
  return canonical;
}

// Returns the canonical form of an answer. `asked`: null if the approval is not known.
Result<Value> read_answer(const GraphDefinition::Approval* asked, Value answer) {
  if (!asked || !asked->read_answer || answer.is_null()) return answer;
  return asked->read_answer(answer);
}

}  // namespace

Result<Done> check_shown_and_edit(const Run& run, const GraphDefinition& graph, Decided& event) {
  BELAY_CHECK(check_shown(event.approval));
  if (!event.answer.is_null()) {
    auto asking = find_waiting(run, graph, event.approval.interrupt);
    const auto* asked =
        asking && asking->task->node->approval ? &*asking->task->node->approval : nullptr;
    BELAY_TRY(event.answer, read_answer(asked, std::move(event.answer)));
  }
  if (!event.edited) return Done{};
  BELAY_TRY(event.edited, open_edit(run, graph, event.approval, *event.edited));
  return Done{};
}

Result<bool> is_same_decision(const GraphDefinition* graph, const ApprovalRow& recorded,
                              const Decided& event) {
  std::optional<Value> edited = event.edited;
  const GraphDefinition* asking = graph ? graph_with_approval(*graph, recorded.node) : nullptr;
  if (edited && graph) {
    BELAY_TRY(edited, canonical_edit(asking, recorded, *edited));
  }
  const auto* asked = asking ? &*asking->find(recorded.node)->approval : nullptr;
  BELAY_TRY(Value answer, read_answer(asked, event.answer));
  std::string choice = event.choice;
  if (choice.empty()) choice = event.verdict == Decided::Verdict::approved ? "approve" : "reject";
  BELAY_TRY(ApprovalReply reply, reply_of(recorded));
  auto text_of = [](const std::optional<Value>& value) { return value ? to_json(*value) : ""; };
  return choice == choice_of(recorded) && text_of(edited) == text_of(reply.edited) &&
         answer == reply.answer;
}

}  // namespace belay::engine
