// The commands about the states of a thread.

#include <algorithm>

#include "langgraph/errors.h"
#include "langgraph/runs.h"
#include "langgraph/state.h"
#include "langgraph/v2_command.h"

namespace belay::langgraph {
namespace {

using server::Call;

constexpr std::int64_t kCheckpointsDefault = 10;
constexpr std::int64_t kCheckpointsMax = 100;

// Returns the namespace of the parameters as a text; empty: the thread's own graph.
Result<std::string> space_in(const Value& params) {
  BELAY_TRY(auto steps, texts_member(params, "namespace"));
  std::string space;
  if (!steps) return space;
  for (const std::string& step : *steps) space += (space.empty() ? "" : "|") + step;
  return space;
}

void keep_members(const std::vector<std::string>& names, Value& values) {
  if (!values.as_object()) return;
  std::erase_if(*values.as_object(), [&names](const auto& member) {
    return std::find(names.begin(), names.end(), member.first) == names.end();
  });
}

// Returns the state of a subgraph in progress.
Task<Result<Value>> state_inside(AgentServer& served, V2Command& command, std::string space) {
  ThreadId thread = command.thread;
  BELAY_CO_TRY(ThreadOfStates owner, co_await find_thread_of_states(served, command.call, thread));
  std::optional<ThreadCheckpoint> newest;
  if (owner.view.has_run()) {
    BELAY_CO_TRY(newest, co_await find_checkpoint(command.call, std::move(thread), std::nullopt));
  }
  Value whole;
  if (newest) {
    BELAY_CO_TRY(whole,
                 co_await state_document(served, command.call, owner, *std::move(newest), true));
  }
  const Value* inside = state_of_subgraph(whole, space);
  if (!inside) {
    command.code = "no_such_namespace";
    co_return error(ErrorCode::not_found, "No subgraph with this namespace is in progress.");
  }
  Value::Object result{{"values", (*inside)["values"]}};
  const Value& id = (*inside)["checkpoint"]["checkpoint_id"];
  if (!id.is_null()) {
    result.emplace("checkpoint", Value::object({{"id", id}, {"ns", std::move(space)}}));
  }
  co_return Value(std::move(result));
}

Task<Result<Value>> state_of_root(AgentServer& served, V2Command& command) {
  ThreadId thread = command.thread;
  BELAY_CO_TRY(ThreadView view, co_await find_thread(served.world, command.call, thread));
  Value::Object result{{"values", Value(Value::Object{})}};
  if (!view.has_run()) co_return Value(std::move(result));
  const Call& call = command.call;
  RunId run = view.listed->run->run;
  BELAY_CO_TRY(RunView current, co_await call.service.status(call.who, thread, std::nullopt, run));
  result.insert_or_assign("values", values_of(served, current));
  BELAY_CO_TRY(auto newest, co_await find_checkpoint(call, std::move(thread), std::nullopt));
  if (newest) {
    result.emplace("checkpoint", Value::object({{"id", newest->commit.id.text()}, {"ns", ""}}));
  }
  co_return Value(std::move(result));
}

Value summary_of(const ThreadOfStates& owner, const ThreadCheckpoint& checkpoint) {
  Value metadata = checkpoint_metadata(owner, checkpoint);
  Value step = std::as_const(metadata)["step"];
  Value::Object summary{{"id", checkpoint.commit.id.text()},
                        {"timestamp", to_text(checkpoint.commit.created_at)},
                        {"step", std::move(step)},
                        {"metadata", std::move(metadata)}};
  if (!checkpoint.commit.node.empty()) summary.emplace("node_name", checkpoint.commit.node);
  return Value(std::move(summary));
}

// Returns the assistant of the thread's newest run; its graph if the run has another origin.
std::string assistant_of(const ThreadView& view) {
  Value metadata = view.metadata();
  const std::string* named = std::as_const(metadata)["assistant_id"].as_string();
  return named && !named->empty() ? *named : view.listed->thread.graph;
}

}  // namespace

Task<Result<Value>> state_by_command(AgentServer& served, V2Command& command) {
  const Value& params = std::as_const(command.params);
  BELAY_CO_TRY(std::string space, space_in(params));
  BELAY_CO_TRY(auto keys, texts_member(params, "keys"));
  Value result;
  if (space.empty()) {
    BELAY_CO_TRY(result, co_await state_of_root(served, command));
  } else {
    BELAY_CO_TRY(result, co_await state_inside(served, command, std::move(space)));
  }
  if (keys) keep_members(*keys, (*result.as_object())["values"]);
  co_return std::move(result);
}

Task<Result<Value>> checkpoints_by_command(AgentServer& served, V2Command& command) {
  const Value& params = std::as_const(command.params);
  BELAY_CO_TRY(std::string space, space_in(params));
  if (!space.empty()) {
    command.code = "not_supported";
    co_return error(ErrorCode::invalid, "Only the namespace [] has a history.");
  }
  BELAY_CO_TRY(std::int64_t limit,
               int_member(params, "limit", kCheckpointsDefault, 1, kCheckpointsMax));
  BELAY_CO_TRY(NamedCheckpoint before, checkpoint_in(params["before"], "before"));
  ThreadId thread = command.thread;
  BELAY_CO_TRY(ThreadOfStates owner, co_await find_thread_of_states(served, command.call, thread));
  Value::Array list;
  CheckpointReader reader(command.call, std::move(thread));
  while (owner.view.has_run() && static_cast<std::int64_t>(list.size()) < limit) {
    BELAY_CO_TRY(auto checkpoint, co_await reader.next());
    if (!checkpoint) break;
    // Ids sort by time.
    bool is_later = before.id && !(checkpoint->commit.id < *before.id);
    if (!is_later) list.push_back(summary_of(owner, *checkpoint));
  }
  co_return Value::object({{"checkpoints", std::move(list)}});
}

Task<Result<Done>> note_checkpoint(AgentServer& served, V2Command& command, std::string id) {
  ThreadId thread = command.thread;
  auto view = co_await find_thread(served.world, command.call, std::move(thread));
  bool is_absent = !view.ok() && view.error().code == ErrorCode::not_found;
  if (!view.ok() && !is_absent) co_return std::move(view).error();
  if (!is_absent) {
    auto from = co_await commit_of_checkpoint(command.call, &*view, std::move(id), true);
    is_absent = !from.ok() && from.error().code == ErrorCode::not_found;
    if (!from.ok() && !is_absent) co_return std::move(from).error();
  }
  if (is_absent) command.code = "no_such_checkpoint";
  co_return Done{};
}

Task<Result<Value>> fork_by_command(AgentServer& served, V2Command& command) {
  BELAY_CO_CHECK(need(command.call, Permission::run));
  const Value& params = std::as_const(command.params);
  BELAY_CO_TRY(auto named, text_member(params, "checkpoint_id"));
  if (!named || !uuid_from(*named)) {
    co_return error(ErrorCode::invalid, "\"checkpoint_id\" must be the id of a checkpoint.");
  }
  std::string id = *std::move(named);
  std::string wanted = id;
  BELAY_CO_CHECK(co_await note_checkpoint(served, command, std::move(wanted)));
  if (!command.code.empty()) {
    co_return error(ErrorCode::not_found, "Checkpoint with ID " + id + " not found.");
  }
  BELAY_CO_CHECK(co_await count_start(command.call));
  ThreadId thread = command.thread;
  BELAY_CO_TRY(ThreadView view,
               co_await find_thread(served.world, command.call, std::move(thread)));
  Value::Object body{{"assistant_id", assistant_of(view)}, {"input", params["input"]}};
  for (std::string_view name : {"config", "metadata", "multitask_strategy"}) {
    copy_member(params, name, body);
  }
  body.insert_or_assign("checkpoint_id", std::move(id));
  command.call.body = Value(std::move(body));
  ThreadId of = command.thread;
  BELAY_CO_TRY(BegunRun begun, co_await begin_protocol_fork(served, command.call, std::move(of)));
  co_return Value::object({{"run_id", begun.run.record.id}, {"thread_id", command.thread.text}});
}

}  // namespace belay::langgraph
