#include "conversation/agent_turns.h"

#include "agent/conversation.h"
#include "agent/turn.h"
#include "base/text_in.h"
#include "conversation/call_arguments.h"
#include "conversation/entry_id.h"

namespace belay::conversation {
namespace {

// A note of a turn is a steering message of the person, or the agent's own request to answer.
Author author_of_question(const Value& turn, std::string_view question) {
  bool is_own = question == agents::note_of(agents::Limit::steps) ||
                question == agents::note_of(agents::Limit::tokens);
  return is_own && turn["is_note"] == Value(true) ? Author::system : Author::person;
}

std::vector<ChatCall> calls_of(const Value& turn) {
  std::vector<ChatCall> calls;
  const Value::Array* items = turn["calls"].as_array();
  if (!items) return calls;
  for (const Value& item : *items) {
    const Value& call = item["call"];
    if (!call["id"].as_string()) continue;
    calls.push_back(
        {text_in(call, "id"), text_in(call, "name"), call_arguments(call["arguments"])});
  }
  return calls;
}

// The entries of a state are added turn by turn.
class TurnReader {
 public:
  TurnReader(std::string_view thread, const Value& results) : thread_(thread), results_(results) {}

  // `is_passed`: a call that has no result will not get one.
  void add(const Value& turn, std::size_t index, bool is_passed) {
    std::string place = std::to_string(index);
    ChatEntry entry;
    entry.id = text_in(turn, "message_id");
    if (entry.id.empty()) entry.id = entry_id(thread_, "turn", place);
    entry.text = text_in(turn, "question");
    if (!entry.text.empty()) {
      entry.author = author_of_question(turn, entry.text);
      return entries_.push_back(std::move(entry));
    }
    entry.text = text_in(turn, "text");
    entry.calls = calls_of(turn);
    entries_.push_back(std::move(entry));
    const Value::Array* calls = turn["calls"].as_array();
    for (std::size_t i = 0; calls && i < calls->size(); ++i) {
      add_result((*calls)[i], place + "." + std::to_string(i), is_passed);
    }
  }

  std::vector<ChatEntry> take() && { return std::move(entries_); }

 private:
  void add_result(const Value& call, const std::string& place, bool is_passed) {
    const std::string* id = call["call"]["id"].as_string();
    if (!id) return;
    ChatEntry entry;
    // By the place of the call: results arrive in any order.
    entry.id = entry_id(thread_, "result", place);
    entry.author = Author::tool;
    entry.call_id = *id;
    entry.tool = text_in(call["call"], "name");
    entry.text = text_in(call, "fault");
    entry.is_error = true;
    const Value* result = results_.find(*id);
    if (entry.text.empty() && result) {
      entry.text = text_in(*result, "text");
      entry.is_error = (*result)["is_error"] == Value(true);
    } else if (entry.text.empty()) {
      if (!is_passed) return;
      entry.text = agents::no_result;
    }
    entries_.push_back(std::move(entry));
  }

  std::string_view thread_;
  const Value& results_;
  std::vector<ChatEntry> entries_;
};

}  // namespace

bool is_agent_state(const Value& state) {
  return state["turns"].as_array() && state["results"].as_object();
}

std::vector<ChatEntry> turn_entries(std::string_view thread, const Value& state, bool ended) {
  TurnReader reader(thread, state["results"]);
  const Value::Array& turns = *state["turns"].as_array();
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (turns[i].as_object()) reader.add(turns[i], i, ended || i + 1 < turns.size());
  }
  return std::move(reader).take();
}

}  // namespace belay::conversation
