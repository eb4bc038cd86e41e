// The graph of an agent: begin, model, tool, more, finish.
//
//     start -> begin -> model -> finish, if the reply has no calls -> end
//                         |                                        -> model, if messages wait
//                         |-> tool, one task for each call -> model, if all calls have results
//                         |                                -> more -> tool
//                         |-> model, if no call can be executed
//
// The node `finish` reads the steering messages after the commit of the answer: see steering.cc.
// A sub-agent has no such node: its caller uses the messages.
//
// A reply is committed before its calls start, and a result before the model sees it. Results are
// stored once, in their own channel: conversation_of() puts them into the conversation.

#include "belay/agent.h"

#include <algorithm>

#include "agent/conversation.h"
#include "agent/materials.h"
#include "agent/turn.h"
#include "base/in_quotes.h"
#include "base/trimmed.h"
#include "base/usage_sum.h"
#include "belay/service.h"

namespace belay {
namespace agents {
namespace {

// The arguments of a call of a sub-agent.
struct Question {
  std::string question{};
  static void describe(Described<Question>& arguments) {
    arguments.member(&Question::question)
        .text("The whole task: the agent sees nothing else of this conversation");
  }
};

// The options of one agent, shared by its nodes.
struct Agent {
  std::string name;
  AgentOptions options;
  ToolRegistry tools;   // and the sub-agents
  std::string head;     // without instructions of a state
  bool is_sub = false;  // called by another agent
};
using SharedAgent = std::shared_ptr<const Agent>;

Result<Update<AgentState>> begin(const AgentState& state, Context& context) {
  if (trimmed(state.question).empty()) {
    return error(ErrorCode::invalid, "Missing question. Provide one as \"question\".");
  }
  AgentTurn turn;
  turn.question = state.question;
  bool is_sub = !state.call.empty();
  if (!is_sub) turn.message_id = question_id(context);
  return append(&AgentState::turns, std::move(turn))
      .set(&AgentState::answer, "")
      .set(&AgentState::outcome, "")
      .set(&AgentState::truncated, false)
      .set(&AgentState::steps, 0)
      .set(&AgentState::agent_tokens, 0)
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

const ToolCall* call_with_id(const AgentTurn& turn, std::string_view id) {
  for (const AgentCall& each : turn.calls) {
    if (each.call.id == id) return &each.call;
  }
  return nullptr;
}
const ToolCall* call_with_id(const AgentState& state, std::string_view id) {
  return state.turns.empty() ? nullptr : call_with_id(state.turns.back(), id);
}

std::string node_of(const SubAgent& agent) { return "agent_" + agent.name; }

// Returns the node that executes the calls of this tool or sub-agent.
std::string node_of_calls(const Agent& agent, std::string_view name) {
  for (const SubAgent& each : agent.options.agents) {
    if (each.name == name) return node_of(each);
  }
  return "tool";
}

// Schedules a task for each of these calls of the turn.
Update<AgentState> send_calls(const Agent& agent, const AgentTurn& turn, Update<AgentState> update,
                              const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    const ToolCall* call = call_with_id(turn, id);
    if (call) update = std::move(update).send(node_of_calls(agent, call->name), id);
  }
  return update;
}

// Returns the update of a reply: its turn, and the next tasks. `steering`: the turn of the messages
// that the request contained. `message`: the id of the reply.
Update<AgentState> update_of(const Agent& agent, const AgentState& state, ModelReply reply,
                             Limit limit, AgentTurn steering, std::string message) {
  AgentTurn turn = turn_of(reply, state, agent.tools);
  turn.message_id = std::move(message);
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
  update = send_calls(agent, turn, std::move(update), ids);
  update = std::move(update).append(&AgentState::turns, std::move(turn));
  if (ids.empty()) return std::move(update).go_to("model");
  return update;
}

// A sub-agent uses no messages: they go to its caller.
Task<Result<SteeringMessages>> messages_for_call(const Agent& agent, Context& context) {
  if (agent.is_sub) co_return SteeringMessages();
  co_return co_await waiting_messages(context, false);
}

Task<Result<Update<AgentState>>> call_model(SharedAgent agent, const AgentState& state,
                                            Context& context) {
  auto steering = co_await messages_for_call(*agent, context);
  if (!steering.ok()) co_return std::move(steering).error();
  AgentTurn steered;
  steered.question = steering_text(*steering);
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
  use_messages(*steering, state.steps + 1, context);
  auto update = update_of(*agent, state, *std::move(reply), limit, std::move(steered),
                          streamed_message_id(context));
  update = std::move(update).set(&AgentState::requested, requested);
  if (state.head != head) update = std::move(update).set(&AgentState::head, std::move(head));
  co_return update;
}

Task<Result<Update<AgentState>>> call_tool(SharedAgent agent, const AgentState& state,
                                           Context& context) {
  auto id = context.input<std::string>();
  const ToolCall* call = call_with_id(state, id);
  if (!call) {
    co_return error(ErrorCode::invalid,
                    "The conversation has no call " + in_quotes(id) + ". The state was changed.");
  }
  ToolCallOptions options;
  options.is_untrusted = is_untrusted(state);
  options.version = to_hex(sha256(state.head));
  options.result_bytes_max = agent->options.result_bytes_max;
  ToolCall wanted = *call;
  auto result = co_await call_tool(agent->tools, std::move(wanted), std::move(options), context);
  if (!result.ok()) co_return std::move(result).error();
  co_return merge(&AgentState::results, std::move(id), *std::move(result));
}

Update<AgentState> start_more(const Agent& agent, const AgentState& state) {
  const AgentTurn& turn = state.turns.back();
  return send_calls(agent, turn, unchanged<AgentState>(),
                    next_calls(turn, state.results, agent.options, agent.tools));
}

AgentState question_of(const AgentState& state, const Value& sent) {
  const ToolCall* call = call_with_id(state, *sent.as_string());
  const std::string* question = call ? call->arguments["question"].as_string() : nullptr;
  return sub_agent_input(*sent.as_string(), question ? *question : "", is_untrusted(state));
}

Update<AgentState> answer_of(const AgentState& inner, std::size_t bytes_max) {
  ToolResult result;
  result.text = result_text(inner.answer, bytes_max);
  result.untrusted = is_untrusted(inner);
  std::int64_t tokens = inner.usage.input_tokens + inner.usage.output_tokens + inner.agent_tokens;
  return merge(&AgentState::results, inner.call, std::move(result))
      .add(&AgentState::agent_tokens, tokens);
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
  use_messages(*steering, state.steps + 1, context);
  AgentTurn turn;
  turn.question = steering_text(*steering);
  co_return append(&AgentState::turns, std::move(turn)).go_to("model");
}

Result<Done> check_options(const SubAgent& agent) {
  if (agent.options) return Done{};
  return error(ErrorCode::invalid,
               "The agent " + in_quotes(agent.name) + " has no options. Make it with sub_agent().");
}

Result<SharedAgent> checked(std::string name, AgentOptions options, bool is_sub) {
  auto agent = std::make_shared<Agent>();
  agent->is_sub = is_sub;
  for (const Tool& tool : options.tools) BELAY_CHECK(agent->tools.add(tool));
  for (const SubAgent& each : options.agents) {
    BELAY_CHECK(check_options(each));
    BELAY_CHECK(agent->tools.add(sub_agent_tool(each)));
  }
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

// Adds the nodes that execute calls, and their way back to the model.
Result<Done> add_calls(GraphBuilder<AgentState>& graph, const SharedAgent& agent);

Result<Graph<AgentState>> build_graph(std::string name, AgentOptions options, bool is_sub) {
  BELAY_TRY(SharedAgent agent, checked(name, std::move(options), is_sub));
  GraphBuilder<AgentState> graph{std::move(name)};
  std::vector<std::string> calls{"tool"};
  for (const SubAgent& each : agent->options.agents) calls.push_back(node_of(each));
  std::vector<std::string_view> targets(calls.begin(), calls.end());
  graph.node("begin", begin);
  auto model = graph.node("model", [agent](const AgentState& state, Context& context) {
    return call_model(agent, state, context);
  });
  model.retry(agent->options.retry).timeout(agent->options.model_timeout);
  auto more = graph.node(
      "more", [agent](const AgentState& state, Context&) { return start_more(*agent, state); });
  more.destinations(targets);
  targets.push_back("model");
  model.destinations(targets);
  graph.edge(start, "begin").edge("begin", "model").edge("more", "model");
  BELAY_CHECK(add_calls(graph, agent));
  if (is_sub) {
    graph.edge("model", end);
  } else {
    graph
        .node(finish_node, [agent](const AgentState& state,
                                   Context& context) { return finish(agent, state, context); })
        .destinations({"model"});
    graph.edge("model", finish_node).edge(finish_node, end);
  }
  graph.accept_older_versions();
  std::vector<std::string_view> refused(agent->options.refused_changes.begin(),
                                        agent->options.refused_changes.end());
  graph.on_changed_materials(MaterialChange::refuse, std::move(refused));
  BELAY_TRY(Graph<AgentState> built, std::move(graph).build());
  auto definition = std::make_shared<GraphDefinition>(*built.definition());
  definition->materials = materials_of(agent->options, agent->tools.definitions());
  return Graph<AgentState>(std::move(definition));
}

Result<Done> add_calls(GraphBuilder<AgentState>& graph, const SharedAgent& agent) {
  graph
      .node("tool", [agent](const AgentState& state,
                            Context& context) { return call_tool(agent, state, context); })
      .retry(tool_retry(agent->options));
  auto is_complete = [agent](const AgentState& state) {
    return next_calls(state.turns.back(), state.results, agent->options, agent->tools).empty();
  };
  graph.branch("tool", is_complete, {"more", "model"});
  for (const SubAgent& each : agent->options.agents) {
    BELAY_TRY(Graph<AgentState> inner, build_graph(each.name, *each.options, true));
    std::size_t bytes_max = agent->options.result_bytes_max;
    graph.subgraph(node_of(each), inner, question_of,
                   [bytes_max](const AgentState& state) { return answer_of(state, bytes_max); });
    graph.branch(node_of(each), is_complete, {"more", "model"});
  }
  return Done{};
}

}  // namespace

}  // namespace agents

SubAgent sub_agent(std::string name, std::string description, AgentOptions options) {
  return {std::move(name), std::move(description),
          std::make_shared<const AgentOptions>(std::move(options))};
}

Result<Graph<AgentState>> sub_agent_graph(const SubAgent& agent) {
  BELAY_CHECK(agents::check_options(agent));
  return agents::build_graph(agent.name, *agent.options, true);
}

AgentState sub_agent_input(std::string call, std::string question, bool is_untrusted) {
  AgentState input;
  input.call = std::move(call);
  input.question = std::move(question);
  // The id "" is that of no call.
  if (is_untrusted) input.results[""].untrusted = true;
  return input;
}

// The call is executed by a node.
Tool sub_agent_tool(const SubAgent& agent) {
  ToolOptions options;
  options.name = agent.name;
  options.description = agent.description;
  options.effect = ToolEffect::reads;
  options.approval = ToolApproval::never;
  return make_tool<agents::Question>(
      std::move(options), [](const agents::Question&, ToolContext&) -> Result<std::string> {
        return error(ErrorCode::invalid, "A sub-agent is not called as a tool.");
      });
}

Result<Graph<AgentState>> agent_graph(std::string name, AgentOptions options) {
  return agents::build_graph(std::move(name), std::move(options), false);
}

}  // namespace belay
