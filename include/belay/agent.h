#pragma once
// belay/agent.h - an agent with tools, as a graph or as one node of a graph.
//
//     AgentOptions options;
//     options.prompt = "You answer questions about the weather.";
//     options.tools = {forecast};
//     Result<Graph<AgentState>> agent = agent_graph("weather", options);
//
//     graph.agent("ask", options, &Trip::question, &Trip::advice);   // as a node
//
// The agent calls the model, executes the calls of tools that it requests, in parallel, and calls
// it again with the results, until it answers without a call. Each of these steps is a commit:
// after a crash, neither a reply of the model nor a call whose result is committed is repeated.
//
// Guarantees:
// - Approvals. Calls that need one wait at the same time, and can be decided in any order; the
//   payload of an approval has the tool, its arguments, which can be edited, and the version of the
//   tool. The model is called again when all are settled. A decision counts for this call and this
//   payload only.
// - The conversation is valid for every provider whenever it is read, also after a cancellation, a
//   crash or an expiry: conversation_of() adds a result for each call that has none.
// - A request begins with the bytes of the previous one of its conversation, unless the prompt or
//   the tools have changed; that is recorded as the event "prompt_changed", with the offset of the
//   first different byte and its cause.
// - A call that repeats an earlier one twice with the same result is not executed; the model
//   receives a note.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belay/graph.h"
#include "belay/tool.h"

namespace belay {

struct AgentOptions;

// An agent that another one calls with a question: see sub_agent().
struct SubAgent {
  std::string name = {};         // as that of a tool
  std::string description = {};  // for the calling model: when to call it
  std::shared_ptr<const AgentOptions> options = nullptr;
};

struct AgentOptions {
  std::string model = {};   // see ModelRequest::model; empty: the model of the run
  std::string prompt = {};  // the system prompt; empty: none
  std::vector<Tool> tools = {};
  std::vector<SubAgent> agents = {};  // that the model can call like tools
  // Maximum number of model calls for one question. The model is asked to answer in the last one.
  int steps_max = 10;
  // After so many tokens for one question, the model is asked to answer; 0: unlimited. A run can
  // have a hard limit: RunOptions::budget.
  std::int64_t tokens_max = 0;
  std::size_t calls_max = 8;                 // calls of tools that run in parallel
  std::size_t result_bytes_max = 64 * 1024;  // of a result; the rest is cut off
  std::optional<std::int64_t> max_output_tokens = std::nullopt;  // of each reply
  std::optional<double> temperature = std::nullopt;
  RetryPolicy retry{.attempts = 3};  // of a model call
  std::chrono::milliseconds model_timeout{std::chrono::minutes(10)};
  // Groups of materials, such as "model": a run that was stored with others is refused, and waits.
  // See GraphBuilder::on_changed_materials().
  std::vector<std::string> refused_changes = {};
};

// Returns an agent for AgentOptions::agents. A call of it is a part of the same run: it shares its
// budget, is cancelled with it, and its answer is committed to the caller's conversation once. Each
// call starts a new conversation. Its tokens count for the caller's tokens_max. If its model fails
// after all attempts, the run fails.
SubAgent sub_agent(std::string name, std::string description, AgentOptions options);

struct AgentCall {
  ToolCall call{};
  std::string fault{};  // why it is not executed; empty: it is
};

// A message of the user, or a reply of the model with its calls.
struct AgentTurn {
  std::string question{};  // not empty: a message of the user
  // The question is part of an earlier one: a note of the agent, or a steering message (service.h).
  bool is_note = false;
  std::string text{};
  std::vector<AgentCall> calls{};
  // Of a reply: streamed_message_id() of the attempt that received it. Of the question of a run:
  // question_id(). Empty in older turns.
  std::string message_id{};
};

struct AgentState {
  std::string question{};      // the input of a run
  std::string instructions{};  // added to AgentOptions::prompt
  std::string answer{};
  std::string outcome{};           // of the run: see agent_graph()
  bool truncated = false;          // the answer was cut off at the maximum length of a reply
  std::vector<AgentTurn> turns{};  // of all runs of the thread
  std::map<std::string, ToolResult> results{};  // by ToolCall::id
  int steps = 0;                                // model calls for this question
  Usage usage{};                                // for this question
  std::string provider{}, model{}, notice{};    // of the last reply: see ModelReply
  std::string head{};             // settings, prompt and tools of the last request, as JSON
  std::int64_t requested = 0;     // messages in the last request
  std::string call{};             // of a sub-agent: the id of the caller's call
  std::int64_t agent_tokens = 0;  // of sub-agents, for this question
};

// Builds an agent as a graph with the input AgentState::question. Runs of one thread continue the
// conversation. Outcomes: "answered", "steps_spent", "tokens_spent". Runs of earlier versions
// continue with a newer one; a call of a tool that no longer exists is not executed, and the model
// receives an error as its result. Fails with `invalid` for tools of one name or with a name that
// providers do not accept.
Result<Graph<AgentState>> agent_graph(std::string name, AgentOptions options);

// Returns whether the conversation contains a result of an untrusted tool.
bool is_untrusted(const AgentState& state);

// The conversation so far, without the system prompt: valid for every provider.
std::vector<Message> conversation_of(const AgentState& state);

// For graphs that call a model themselves: a sub-agent as a graph with the input
// AgentState::question, for GraphBuilder::subgraph(); it uses no steering messages. And its
// definition for the model, with the argument "question": the tool itself is never called.
Result<Graph<AgentState>> sub_agent_graph(const SubAgent& agent);
Tool sub_agent_tool(const SubAgent& agent);
// Returns the input of a sub-agent for the call with this id. `is_untrusted`: the caller has read
// results of untrusted tools; the question can repeat them, and the agent's calls need approvals.
AgentState sub_agent_input(std::string call, std::string question, bool is_untrusted);

// For graphs that call a model themselves: the id of the message as which chats show the text that
// this attempt streams. If the state has the text as a message with this id, chats show it once.
std::string streamed_message_id(const Context& context);

// For graphs that keep the questions of earlier runs: the id that the client of a chat has given
// the message which the run answers. If the state has the question as a message with this id, chats
// show it once. Empty: none.
std::string question_id(const Context& context);

// For graphs that call a model themselves: the steering messages (service.h) of the run. Messages
// are accepted until the run has ended, except while the node `finish_node` is scheduled. A graph
// whose last node has this name, and is followed by others if messages wait, uses every message.
struct SteeringMessage;
using SteeringMessages = std::vector<Versioned<SteeringMessage>>;
inline constexpr std::string_view finish_node = "finish";

// Returns the waiting messages for the next call of a model, or all, in the order of their
// acceptance; in a replay, those that this task used. At most limits::steering_waiting_max.
Task<Result<SteeringMessages>> waiting_messages(Context& context, bool all);
// The texts of the messages, with blank lines between them; empty without messages.
std::string steering_text(const SteeringMessages& messages);
// Marks the messages as used by this task, in the node's commit, and adds the event "steered" with
// their ids and the number of the call that contains them. Nothing without messages.
void use_messages(const SteeringMessages& messages, int call, Context& context);

template <GraphState State>
template <typename Input, typename Output>
typename GraphBuilder<State>::NodeSetting GraphBuilder<State>::agent(std::string_view name,
                                                                     const AgentOptions& options,
                                                                     Input question,
                                                                     Output answer) {
  auto built = agent_graph(std::string(name), options);
  if (!built.ok()) {
    faults_.push_back(built.error().message);
    built = agent_graph(std::string(name), AgentOptions{});
  }
  return subgraph(
      name, built.value(),
      [question](const State& state) {
        return AgentState{.question = std::invoke(question, state)};
      },
      [answer](const AgentState& inner) {
        if constexpr (std::is_member_pointer_v<Output>) {
          return belay::set(answer, inner.answer);
        } else {
          return answer(inner);
        }
      });
}

}  // namespace belay
