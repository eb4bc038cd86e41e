// Routes of the states of a thread: the current one, that of a checkpoint, and the history.

#include "base/json_bytes.h"
#include "langgraph/search.h"
#include "langgraph/state.h"
#include "langgraph/state_update.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

constexpr std::int64_t kStatesDefault = 10;
// A page of a history ends early when its states are that large.
constexpr std::size_t kHistoryBytesMax = 32u << 20;

Error no_checkpoint(std::string_view id) {
  return error(ErrorCode::not_found,
               "Checkpoint \"" + std::string(id.substr(0, 200)) + "\" of the thread not found.");
}

Task<Result<ThreadOfStates>> named_thread_of_states(AgentServer& served, const Call& call) {
  ThreadId thread(call.path.at("threadId"));
  co_return co_await find_thread_of_states(served, call, std::move(thread));
}

// The members of a body that the query of a GET has: a repeated `select` is a list.
Result<Value> members_of_query(const Call& call) {
  BELAY_TRY(auto parameters, http::query_parameters(call.request.query));
  Value::Object members;
  Value::Array select;
  for (auto& [name, text] : parameters) {
    if (name == "select") {
      select.emplace_back(std::move(text));
    } else if (name == "limit") {
      auto number = server::number_from(text);
      members[name] = number ? Value(*number) : Value(std::move(text));
    } else if (name == "subgraphs") {
      members[name] = Value(text == "true" || text == "1");
    } else if (name == "before" && text.starts_with('{')) {
      BELAY_TRY(members[name], parse_json(text));
    } else if (name == "before") {
      members[name] = Value(std::move(text));
    }
  }
  if (!select.empty()) members["select"] = Value(std::move(select));
  return Value(std::move(members));
}

// Reads `limit` and `select`.
Result<SearchPage> state_page_in(const Value& body) {
  return search_page_in(body, {}, kStatesDefault);
}

// The state of the checkpoint; the current one without an id. Of a subgraph, only the current one
// is known, while it is in progress.
Task<Result<Reply>> state_reply(AgentServer& served, const Call& call, Value body,
                                NamedCheckpoint named) {
  BELAY_CO_TRY(SearchPage page, state_page_in(body));
  BELAY_CO_TRY(auto subgraphs, bool_member(body, "subgraphs"));
  BELAY_CO_TRY(ThreadOfStates thread, co_await named_thread_of_states(served, call));
  bool is_inside = !named.checkpoint_ns.empty();
  std::optional<CheckpointId> wanted;
  if (!is_inside) wanted = named.id;
  std::optional<ThreadCheckpoint> found;
  if (thread.view.has_run()) {
    ThreadId id = thread.view.id;
    BELAY_CO_TRY(found, co_await find_checkpoint(call, std::move(id), wanted));
  }
  if (!found && is_inside) co_return no_checkpoint(named.checkpoint_ns);
  if (!found && wanted) co_return no_checkpoint(wanted->text());
  if (!found) co_return server::reply_with(selected(page, empty_state()));
  BELAY_CO_TRY(Value state, co_await state_document(served, call, thread, *std::move(found),
                                                    is_inside || subgraphs.value_or(false)));
  if (!is_inside) co_return server::reply_with(selected(page, std::move(state)));
  const Value* inside = state_of_subgraph(state, named.checkpoint_ns);
  if (!inside) co_return no_checkpoint(named.checkpoint_ns);
  bool is_other = named.id && (*inside)["checkpoint"]["checkpoint_id"] != Value(named.id->text());
  if (is_other) co_return no_checkpoint(named.id->text());
  co_return server::reply_with(selected(page, *inside));
}

Task<Result<Reply>> show_state(AgentServer& served, Call call) {
  BELAY_CO_TRY(Value body, members_of_query(call));
  NamedCheckpoint current;
  co_return co_await state_reply(served, call, std::move(body), std::move(current));
}

Task<Result<Reply>> show_state_at(AgentServer& served, Call call) {
  BELAY_CO_TRY(Value body, members_of_query(call));
  BELAY_CO_CHECK(co_await named_thread_of_states(served, call));
  const std::string& text = call.path.at("checkpointId");
  auto uuid = uuid_from(text);
  if (!uuid) co_return no_checkpoint(text);
  NamedCheckpoint named;
  named.id = CheckpointId(*uuid);
  co_return co_await state_reply(served, call, std::move(body), std::move(named));
}

Task<Result<Reply>> show_state_of_checkpoint(AgentServer& served, Call call) {
  BELAY_CO_TRY(NamedCheckpoint named, checkpoint_in(call.body["checkpoint"], "checkpoint"));
  Value body = std::move(call.body);
  co_return co_await state_reply(served, call, std::move(body), std::move(named));
}

struct HistoryQuery {
  SearchPage page;
  std::optional<CheckpointId> before, checkpoint;
  Value metadata;
};

Result<HistoryQuery> history_query_in(const Value& body) {
  HistoryQuery query;
  BELAY_TRY(query.page, state_page_in(body));
  BELAY_TRY(NamedCheckpoint before, checkpoint_in(body["before"], "before"));
  BELAY_TRY(NamedCheckpoint checkpoint, checkpoint_in(body["checkpoint"], "checkpoint"));
  if (!before.checkpoint_ns.empty() || !checkpoint.checkpoint_ns.empty()) {
    return error(ErrorCode::invalid,
                 "A subgraph has no history here: only its current state can be read.");
  }
  query.before = before.id;
  query.checkpoint = checkpoint.id;
  BELAY_TRY(query.metadata, object_member(body, "metadata"));
  return query;
}

bool is_wanted(const ThreadOfStates& thread, const ThreadCheckpoint& checkpoint,
               const HistoryQuery& query) {
  const CheckpointId& id = checkpoint.commit.id;
  if (query.checkpoint && id != *query.checkpoint) return false;
  // Ids sort by time, as their texts do.
  if (query.before && !(id < *query.before)) return false;
  return contains_value(checkpoint_metadata(thread, checkpoint), query.metadata);
}

Task<Result<Reply>> history_reply(AgentServer& served, const Call& call, Value body) {
  BELAY_CO_TRY(HistoryQuery query, history_query_in(body));
  BELAY_CO_TRY(ThreadOfStates thread, co_await named_thread_of_states(served, call));
  Value::Array states;
  if (!thread.view.has_run()) co_return server::reply_with(std::move(states));
  CheckpointReader reader(call, thread.view.id);
  std::size_t bytes = 0;
  while (states.size() < query.page.limit && bytes < kHistoryBytesMax) {
    BELAY_CO_TRY(std::optional<ThreadCheckpoint> checkpoint, co_await reader.next());
    if (!checkpoint) break;
    if (!is_wanted(thread, *checkpoint, query)) continue;
    BELAY_CO_TRY(Value document,
                 co_await state_document(served, call, thread, *std::move(checkpoint), false));
    bytes += json_bytes(document);
    states.push_back(selected(query.page, std::move(document)));
    if (query.checkpoint) break;
  }
  co_return server::reply_with(std::move(states));
}

Task<Result<Reply>> list_states(AgentServer& served, Call call) {
  BELAY_CO_TRY(Value body, members_of_query(call));
  co_return co_await history_reply(served, call, std::move(body));
}

Task<Result<Reply>> search_states(AgentServer& served, Call call) {
  Value body = std::move(call.body);
  co_return co_await history_reply(served, call, std::move(body));
}

Value state_members() {
  return Value::object({{"checkpoint", Value::object({{"type", "object"}})},
                        {"subgraphs", Value::object({{"type", "boolean"}})},
                        {"select", Value::object({{"type", "array"}})}});
}

Value history_members() {
  return Value::object({{"limit", Value::object({{"type", "integer"}})},
                        {"before", Value(Value::Object{})},
                        {"metadata", Value::object({{"type", "object"}})},
                        {"checkpoint", Value::object({{"type", "object"}})},
                        {"select", Value::object({{"type", "array"}})}});
}

Value update_members() {
  return Value::object({{"values", Value(Value::Object{})},
                        {"as_node", Value::object({{"type", "string"}})},
                        {"checkpoint", Value::object({{"type", "object"}})},
                        {"checkpoint_id", Value::object({{"type", "string"}})}});
}

}  // namespace

std::vector<Route> state_routes(const AgentServerPointer& served) {
  const std::string one = "/threads/{threadId}";
  std::vector<Route> routes;
  auto add = [&](const char* method, const std::string& path, const char* id, const char* summary,
                 Answer answer) -> Route& {
    Route route = protocol_route(method, path, id, summary);
    route.answers = {{200, "Done"}};
    route.handle = answering(served, answer);
    routes.push_back(std::move(route));
    return routes.back();
  };
  add("GET", one + "/state", "agentServerGetState", "The current state of a thread", show_state);
  add("GET", one + "/state/{checkpointId}", "agentServerGetStateAt",
      "The state of a thread at a checkpoint", show_state_at);
  accept_body(add("POST", one + "/state/checkpoint", "agentServerGetStateOfCheckpoint",
                  "The state of a thread at a checkpoint", show_state_of_checkpoint),
              state_members());
  add("GET", one + "/history", "agentServerGetHistory", "States of a thread, newest first",
      list_states);
  accept_body(add("POST", one + "/history", "agentServerSearchHistory",
                  "States of a thread, newest first", search_states),
              history_members());
  Route& update = add("POST", one + "/state", "agentServerUpdateState",
                      "Change of the state of a thread, as the result of a node", update_state);
  update.permission = Permission::run;
  update.begins_run = true;
  update.finds_run = server::finds_run_of_header;
  update.parameters.push_back(
      server::idempotency_key_parameter("The same request with the same key makes one change."));
  accept_body(update, update_members());
  return routes;
}

}  // namespace belay::langgraph
