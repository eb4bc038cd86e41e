// Renders the turns of a conversation as messages. Providers reject a conversation with a call
// that has no result, and some of them two messages of one role, or an empty one: all of these can
// follow from a run that was cancelled, has failed, or has expired.

#include "agent/conversation.h"

#include <algorithm>

namespace belay {
namespace agents {

std::size_t question_begin(const AgentState& state) {
  std::size_t begin = state.turns.size();
  auto is_question = [](const AgentTurn& turn) { return !turn.question.empty() && !turn.is_note; };
  while (begin > 0 && !is_question(state.turns[begin - 1])) --begin;
  return begin > 0 ? begin - 1 : 0;
}

void add_to_question(std::vector<Message>& messages, std::string_view text) {
  bool is_question = !messages.empty() && messages.back().role == Role::user;
  if (!is_question) return messages.push_back({Role::user, std::string(text)});
  messages.back().text.append("\n\n").append(text);
}

}  // namespace agents

namespace {

void add_reply(const AgentState& state, const AgentTurn& turn, std::vector<Message>& messages) {
  Message reply{Role::assistant, turn.text};
  for (const AgentCall& each : turn.calls) reply.tool_calls.push_back(each.call);
  if (reply.text.empty() && reply.tool_calls.empty()) reply.text = agents::empty_answer;
  messages.push_back(std::move(reply));
  for (const AgentCall& each : turn.calls) {
    Message result{Role::tool, std::string(agents::no_result)};
    result.tool_call_id = each.call.id;
    auto found = state.results.find(each.call.id);
    if (!each.fault.empty()) {
      result.text = each.fault;
    } else if (found != state.results.end()) {
      result.text = found->second.text;
    }
    messages.push_back(std::move(result));
  }
}

}  // namespace

bool is_untrusted(const AgentState& state) {
  return std::any_of(state.results.begin(), state.results.end(),
                     [](const auto& entry) { return entry.second.untrusted; });
}

std::vector<Message> conversation_of(const AgentState& state) {
  std::vector<Message> messages;
  for (const AgentTurn& turn : state.turns) {
    if (turn.question.empty()) {
      add_reply(state, turn, messages);
      continue;
    }
    if (turn.is_note) {
      agents::add_to_question(messages, turn.question);
      continue;
    }
    // Anthropic's protocol adds a question after results to the message with the results, whose
    // bytes must not change if an earlier request had it. A note is in the first request with them.
    if (!messages.empty() && messages.back().role != Role::assistant) {
      messages.push_back({Role::assistant, std::string(agents::no_answer)});
    }
    messages.push_back({Role::user, turn.question});
  }
  return messages;
}

}  // namespace belay
