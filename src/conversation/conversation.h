#pragma once
// conversation/conversation.h - the thread of an agent as messages: a view for protocols of chats.
//
//   Result<Value> input = conversations.input_of("weather", document, messages);
//   std::vector<ChatEntry> entries = conversations.entries_of("weather", thread, state, ended);
//
// A thread's state is the only source: no message is stored a second time, and each protocol
// (LangGraph, A2A, AG-UI) shows the same entries with the same ids. The rules, in this order:
//   1. A module has declared the form of its agent (ConversationForm of belay/module.h).
//   2. The state has a channel `messages`, an array of messages in LangChain's form (`type` or
//      `role`, `content`, `id`, `tool_calls`, `tool_call_id`): these are the entries. Items of
//      another form are left out.
//   3. The state is an AgentState (belay/agent.h: `turns` and `results`): each turn is a message of
//      the person, or of the agent with its calls, and each result is a message of the tool. A call
//      without a result has a message of its failure when the conversation has passed it.
//   4. Otherwise: one entry of the agent with the state as JSON, when the run has ended.
//
// Threading: values; any thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "belay/approval.h"
#include "belay/module.h"
#include "belay/result.h"
#include "belay/value.h"

namespace belay::conversation {

enum class Author { person, agent, tool, system };

struct ChatCall {
  std::string id;
  std::string tool;
  Value arguments;  // an object; a text that a model sent instead is its member "input"
};

struct ChatEntry {
  // Stable: the same entry has the same id whenever the thread is read. That of the stored message,
  // or that by which the client sent it; otherwise derived from the thread and from the entry's
  // position. No two entries of a thread have the same id.
  std::string id;
  Author author = Author::agent;
  std::string text;
  std::vector<ChatCall> calls = {};  // of the agent
  std::string call_id = {};          // of a tool: ChatCall::id
  std::string tool = {};             // of a tool
  bool is_error = false;             // of a tool: the call failed
  // The blocks of a message that contains more than text, such as an image; null: `text` is all.
  Value content = {};
};

// True if the agent's document (Service::agents()) lists this channel.
bool has_channel(const Value& document, std::string_view name);

class Conversations {
 public:
  using Forms = std::map<std::string, ConversationForm, std::less<>>;  // by the agent's name
  explicit Conversations(Forms forms = {}) : forms_(std::move(forms)) {}

  // True if the input of the agent has messages as a client sends them: in a channel `messages` of
  // an agent that has neither a form nor the state of an agent with tools.
  bool takes_messages(std::string_view agent, const Value& document) const;
  // Returns the input of the agent's next run for new messages. `document` is the agent's document
  // of Service::agents(). By the rules: the result of the form; {"messages": [...]};
  // {"question": text}; the JSON object that the text contains. Except in the second, the text is
  // that of the messages of the person, joined with blank lines; there must be one.
  // `invalid`, with the expected form, if the agent does not accept the messages.
  Result<Value> input_of(std::string_view agent, const Value& document,
                         const std::vector<ChatEntry>& messages) const;
  // True if the form of the agent makes the entries, also of a state with a channel `messages`.
  bool makes_entries(std::string_view agent) const;
  // Returns the entries of a thread, oldest first. `ended`: the current run has ended.
  // `question_id`: that of the run whose state it is (question_id.h).
  std::vector<ChatEntry> entries_of(std::string_view agent, std::string_view thread,
                                    const Value& state, bool ended,
                                    const std::string& question_id = {}) const;

 private:
  // The form that makes the agent's input; null if it has none.
  const ConversationForm* form_of_input(std::string_view agent) const;

  Forms forms_;
};

// LangChain's flat form of an entry: {"type":"human","id":...,"content":...}; and the entry of such
// a message (`type` or `role`; `content` a text or a list of blocks), without an id if it has none.
// `invalid` if it is not a message.
Value langchain_message(const ChatEntry& entry);
Result<ChatEntry> entry_of_message(const Value& message);

// The reply of a person to one approval, in the forms that chats send: true, false, a text such as
// "approve" or "reject", {"type":"accept|edit|response|ignore","args":...}, such an object in a
// list, {"decisions":[...]}, or {"approved":bool,"comment":text,"edited":value}. With choices, also
// the name of one as a text, or {"choice":name} instead of "approved"; with a form, "answer".
// docs/front-doors.md lists them. `invalid` for a value that neither approves nor rejects, for
// several decisions, for a choice that `terms` do not have, and for a member that is not known:
// nothing is decided by a guess.
struct ChatDecision {
  bool approved = false;
  std::string choice = {};  // empty: `approved` decides
  std::string comment = {};
  Value edited = {};  // null: unchanged
  // The edit is only the arguments of the call of a tool that waits ("args" of an "edit"), or the
  // payload of an approval without a call.
  bool edits_arguments = false;
  Value answer = {};
};
Result<ChatDecision> decision_of_reply(const Value& reply, const ApprovalTerms& terms = {});
// Returns the decision of a reply to this approval, without a decider.
Result<Decision> decision_of_reply(const Value& reply, const ApprovalRow& approval);

// Adds `choices` and `answerSchema` to the members by which a chat shows an approval, unless it
// offers only to approve and reject.
void add_offered(const ApprovalRow& approval, Value::Object& shown);

// Returns the edited payload of an approval for Service::decide(); null if nothing is edited. In
// the payload of a call (`tool`, `arguments`), an edit of the arguments replaces only these.
Value edited_payload(const ChatDecision& decision, const Value& payload);

}  // namespace belay::conversation
