// The graph of an agent: begin, model, tool, more, finish.
//
//     start -> begin -> model -> finish, if the reply has no calls -> end
//                         |                                        -> model, if messages wait
//                         |-> tool, one task for each call -> model, if all calls have results
//                         |                                -> more -> tool
//                         |-> model, if no call can be executed
//
// The node `finish` reads the steering messages after the commit of the answer: see steering.h.
//
// A reply is committed before its calls start, and a result before the model sees it. Results are
// stored once, in their own channel: conversation_of() puts them into the conversation.

#include "belay/agent.h"

#include <algorithm>

#include "agent/conversation.h"
#include "agent/steering.h"
#include "agent/tool_call.h"
#include "agent/turn.h"
#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "base/usage_sum.h"

namespace belay {
namespace agents {
namespace {

// The options of one agent, shared by its nodes.
struct Agent {
  std::string name;
  AgentOptions options;
  ToolRegistry tools;
  std::string head;  // without instructions of a state
};
using SharedAgent = std::shared_ptr<const Agent>;

Result<Update<AgentState>> begin(const AgentState& state, Context&) {
  if (trimmed(state.question).empty()) {
    return error(ErrorCode::invalid, "Missing question. Provide one as \"question\".");
  }
  AgentTurn turn;
  turn.question = state.question;
  return append(&AgentState::turns, std::move(turn))
      .set(&AgentState::answer, "")
      .set(&AgentState::outcome, "")
      .set(&AgentState::truncated, false)
      .set(&AgentState::steps, 0)
      .set(&AgentState::usage, Usage{});
}

// Returns whether the next request ends with the note of the limit. A first request has none: the
// model has not called a tool yet.
bool has_note(const AgentState& state, Limit limit) {
  return limit != Limit::none && state.steps > 0;
}

std::string head_for(const Agent& agent, const AgentState& state) {
  if (state.instructions.empty()) return agent.head;
  return head_of(agent.options, agent.tools, prompt_of(agent.options, state.instructions));
}

// `steering`: the text of the steering messages that this request contains first; empty: none.
ModelRequest request_of(const Agent& agent, const AgentState& state, const std::string& head,
                        Limit limit, const std::string& steering) {
  ModelRequest request;
  request.purpose = "agent/" + agent.name;
  std::string prompt = prompt_of(agent.options, state.instructions);
  if (!prompt.empty()) request.messages.push_back({Role::system, std::move(prompt)});
  std::vector<Message> conversation = conversation_of(state);
  std::move(conversation.begin(), conversation.end(), std::back_inserter(request.messages));
  if (!steering.empty()) add_to_question(request.messages, steering);
  if (has_note(state, limit)) add_to_question(request.messages, note_of(limit));
  // A changed prompt is a message that no earlier request has recorded.
  if (state.head == head) {
    request.recorded_messages = static_cast<std::size_t>(state.requested);
  }
  request.model = agent.options.model;
  request.tools = agent.tools.definitions();
  request.max_output_tokens = agent.options.max_output_tokens;
  request.temperature = agent.options.temperature;
  request.input = Value::object({{"question", state.question}});
  return request;
}

Update<AgentState> send_calls(Update<AgentState> update, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) update = std::move(update).send("tool", id);
  return update;
}

// Returns the update of a reply: its turn, and the next tasks. `steering`: the turn of the messages
// that the request contained.
Update<AgentState> update_of(const Agent& agent, const AgentState& state, ModelReply reply,
                             Limit limit, AgentTurn steering) {
  AgentTurn turn = turn_of(reply, state, agent.tools);
  bool is_after_note = has_note(state, limit);
  // After the last call of the model, nothing can be executed: calls without a result would remain.
  bool is_spent = is_after_note || (limit != Limit::none && !turn.calls.empty());
  if (limit != Limit::none) turn.calls.clear();
  Update<AgentState> update =
      set(&AgentState::steps, state.steps + 1)
          .set(&AgentState::usage, sum(state.usage, reply.usage.value_or(Usage())))
          .set(&AgentState::provider, std::move(reply.provider))
          .set(&AgentState::model, std::move(reply.model))
          .set(&AgentState::notice, std::move(reply.notice));
  if (!steering.question.empty()) {
    steering.is_note = true;
    update = std::move(update).append(&AgentState::turns, std::move(steering));
  }
  if (is_after_note) {
    AgentTurn note;
    note.question = note_of(limit);
    note.is_note = true;
    update = std::move(update).append(&AgentState::turns, std::move(note));
  }
  if (turn.calls.empty()) {
    std::string answer = turn.text;
    return std::move(update)
        .append(&AgentState::turns, std::move(turn))
        .set(&AgentState::outcome, std::string(outcome_of(is_spent ? limit : Limit::none)))
        .set(&AgentState::truncated, reply.stop_reason == StopReason::length)
        .set(&AgentState::answer, std::move(answer));
  }
  std::vector<std::string> ids = next_calls(turn, {}, agent.options, agent.tools);
  update = std::move(update).append(&AgentState::turns, std::move(turn));
  if (ids.empty()) return std::move(update).go_to("model");
  return send_calls(std::move(update), ids);
}

Task<Result<Update<AgentState>>> call_model(SharedAgent agent, const AgentState& state,
                                            Context& context) {
  auto steering = co_await waiting_messages(context, false);
  if (!steering.ok()) co_return std::move(steering).error();
  AgentTurn steered = turn_of(*steering);
  Limit limit = limit_of(state, agent->options);
  std::string head = head_for(*agent, state);
  ModelRequest request = request_of(*agent, state, head, limit, steered.question);
  auto requested = static_cast<std::int64_t>(request.messages.size());
  bool is_changed = !state.head.empty() && state.head != head;
  if (is_changed) context.emit("prompt_changed", head_change(state.head, head));
  request.on_text_delta = [&context](std::string_view piece) { context.stream(piece); };
  auto reply = co_await context.model().generate(std::move(request));
  if (!reply.ok()) co_return std::move(reply).error();
  if (reply->stop_reason == StopReason::refused) {
    co_return error(ErrorCode::invalid, "The model " + reply->model + " would not answer.");
  }
  if (!steering->empty()) use(*steering, state.steps + 1, context);
  auto update = update_of(*agent, state, *std::move(reply), limit, std::move(steered));
  update = std::move(update).set(&AgentState::requested, requested);
  if (state.head != head) update = std::move(update).set(&AgentState::head, std::move(head));
  co_return update;
}

const ToolCall* call_with_id(const AgentState& state, std::string_view id) {
  if (state.turns.empty()) return nullptr;
  for (const AgentCall& each : state.turns.back().calls) {
    if (each.call.id == id) return &each.call;
  }
  return nullptr;
}

Task<Result<Update<AgentState>>> call_tool(SharedAgent agent, const AgentState& state,
                                           Context& context) {
  auto id = context.input<std::string>();
  const ToolCall* call = call_with_id(state, id);
  if (!call) {
    co_return error(ErrorCode::invalid,
                    "The conversation has no call " + in_quotes(id) + ". The state was changed.");
  }
  auto result = co_await execute_call(*call, state, agent->options, agent->tools, context);
  if (!result.ok()) co_return std::move(result).error();
  co_return merge(&AgentState::results, std::move(id), *std::move(result));
}

Update<AgentState> start_more(const Agent& agent, const AgentState& state) {
  return send_calls(unchanged<AgentState>(),
                    next_calls(state.turns.back(), state.results, agent.options, agent.tools));
}

// Ends the run, or continues it with the messages that have come since the request of the answer.
Task<Result<Update<AgentState>>> finish(SharedAgent agent, const AgentState& state,
                                        Context& context) {
  context.outcome(state.outcome);
  // The model could not be called again: the messages stay unused.
  if (limit_of(state, agent->options) != Limit::none) co_return unchanged<AgentState>();
  auto steering = co_await waiting_messages(context, true);
  if (!steering.ok()) co_return std::move(steering).error();
  if (steering->empty()) co_return unchanged<AgentState>();
  use(*steering, state.steps + 1, context);
  co_return append(&AgentState::turns, turn_of(*steering)).go_to("model");
}

Result<SharedAgent> checked(std::string name, AgentOptions options) {
  auto agent = std::make_shared<Agent>();
  for (const Tool& tool : options.tools) BELAY_CHECK(agent->tools.add(tool));
  if (options.steps_max < 1) {
    return error(ErrorCode::invalid, "The agent " + in_quotes(name) + " has steps_max = " +
                                         std::to_string(options.steps_max) + ". Use at least 1.");
  }
  agent->name = std::move(name);
  agent->head = head_of(options, agent->tools, options.prompt);
  agent->options = std::move(options);
  return SharedAgent(std::move(agent));
}

RetryPolicy tool_retry(const AgentOptions& options) {
  RetryPolicy policy;
  for (const Tool& tool : options.tools) {
    policy.attempts = std::max(policy.attempts, tool.options().attempts);
  }
  return policy;
}

}  // namespace
}  // namespace agents

Result<Graph<AgentState>> agent_graph(std::string name, AgentOptions options) {
  BELAY_TRY(agents::SharedAgent agent, agents::checked(name, std::move(options)));
  GraphBuilder<AgentState> graph{std::move(name)};
  graph.node("begin", agents::begin);
  graph
      .node("model",
            [agent](const AgentState& state, Context& context) {
              return agents::call_model(agent, state, context);
            })
      .retry(agent->options.retry)
      .timeout(agent->options.model_timeout)
      .destinations({"tool", "model"});
  graph
      .node(agents::finish_node,
            [agent](const AgentState& state, Context& context) {
              return agents::finish(agent, state, context);
            })
      .destinations({"model"});
  graph
      .node("tool", [agent](const AgentState& state,
                            Context& context) { return agents::call_tool(agent, state, context); })
      .retry(agents::tool_retry(agent->options));
  graph
      .node("more", [agent](const AgentState& state,
                            Context&) { return agents::start_more(*agent, state); })
      .destinations({"tool"});
  graph.edge(start, "begin").edge("begin", "model").edge("more", "model");
  graph.edge("model", agents::finish_node).edge(agents::finish_node, end);
  graph.branch("tool",
               [agent](const AgentState& state) {
                 return agents::next_calls(state.turns.back(), state.results, agent->options,
                                           agent->tools)
                     .empty();
               },
               {"more", "model"});
  graph.accept_older_versions();
  return std::move(graph).build();
}

}  // namespace belay
