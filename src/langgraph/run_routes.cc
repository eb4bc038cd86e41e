// Routes of runs: starts, results and streams.

#include "langgraph/errors.h"
#include "langgraph/runs.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

constexpr std::size_t kBatchMax = limits::bounded(100);

std::optional<ThreadId> thread_in_path(const Call& call) {
  auto found = call.path.find("threadId");
  if (found == call.path.end()) return std::nullopt;
  return ThreadId(found->second);
}

void add_run_headers(Reply& reply, const RunRecord& record, bool has_location) {
  std::string path = run_path(record);
  if (has_location) reply.headers.push_back({"Location", path + "/stream"});
  reply.headers.push_back({"Content-Location", std::move(path)});
}

Task<Result<Reply>> create_run(AgentServer& served, Call call) {
  std::optional<ThreadId> thread = thread_in_path(call);
  BELAY_CO_TRY(BegunRun begun, co_await begin_protocol_run(served, call, std::move(thread)));
  Reply reply = server::reply_with(run_document(begun.run));
  add_run_headers(reply, begun.run.record, false);
  FollowedRun run = followed(std::move(begun));
  if (run.after.deletes_thread) delete_after_end(served, call, std::move(run.run.row));
  co_return std::move(reply);
}

using FollowedReply = Task<Result<Reply>> (*)(AgentServer& served, const Call& call,
                                              FollowedRun run);

Task<Result<Reply>> follow_new_run(AgentServer& served, Call call, FollowedReply reply_of,
                                   bool is_stream) {
  std::optional<ThreadId> thread = thread_in_path(call);
  BELAY_CO_TRY(BegunRun begun, co_await begin_protocol_run(served, call, std::move(thread)));
  RunRecord record = begun.run.record;
  FollowedRun run = followed(std::move(begun));
  BELAY_CO_TRY(Reply reply, co_await reply_of(served, call, std::move(run)));
  add_run_headers(reply, record, is_stream);
  co_return std::move(reply);
}

Task<Result<Reply>> stream_new_run(AgentServer& served, Call call) {
  return follow_new_run(served, std::move(call), stream_reply, true);
}

Task<Result<Reply>> await_new_run(AgentServer& served, Call call) {
  return follow_new_run(served, std::move(call), result_reply, false);
}

// Reads the list of bodies of a batch.
std::optional<Reply> read_list(Call& call) {
  auto json = parse_json(call.request.body);
  std::string().swap(call.request.body);
  if (!json.ok())
    return error_reply(400, std::string(name_of(json.error().code)), json.error().message);
  call.body = *std::move(json);
  const Value::Array* list = call.body.as_array();
  if (list && !list->empty() && list->size() <= kBatchMax) return std::nullopt;
  return error_reply(error(ErrorCode::invalid, "The body must be a list of 1 to " +
                                                   std::to_string(kBatchMax) + " runs."));
}

// Starts all runs of the list; none if one of them is faulty.
Task<Result<Reply>> create_batch(AgentServer& served, Call call) {
  Value::Array bodies = std::move(*call.body.as_array());
  std::string key(call.request.header("Idempotency-Key"));
  for (Value& body : bodies) {
    call.body = body;
    BELAY_CO_CHECK(co_await check_protocol_run(served, call));
  }
  Value::Array documents;
  for (Value& body : bodies) {
    call.body = std::move(body);
    if (!key.empty()) replace_key(call, key + "-" + std::to_string(documents.size()));
    BELAY_CO_TRY(BegunRun begun, co_await begin_protocol_run(served, call, std::nullopt));
    documents.push_back(run_document(begun.run));
    FollowedRun run = followed(std::move(begun));
    if (run.after.deletes_thread) delete_after_end(served, call, std::move(run.run.row));
  }
  co_return server::reply_with(Value(std::move(documents)));
}

Task<Result<ProtocolRun>> named_run(const Call& call) {
  std::string id = call.path.at("runId");
  auto thread = thread_in_path(call);
  if (thread) co_return co_await find_run(call, *std::move(thread), std::move(id));
  co_return co_await find_run_by_id(call, std::move(id));
}

// The run of a request that joins it; its stream modes are those with which it was started.
Task<Result<FollowedRun>> joined_run(const Call& call) {
  FollowedRun followed_run;
  BELAY_CO_TRY(followed_run.run, co_await named_run(call));
  const Value& kwargs = std::as_const(followed_run.run.record.kwargs);
  BELAY_CO_TRY(followed_run.modes, stream_modes_of(kwargs["stream_mode"]));
  followed_run.subgraphs = kwargs["stream_subgraphs"] == Value(true);
  auto cancels = call.query.find("cancel_on_disconnect");
  followed_run.after.cancels =
      cancels != call.query.end() && (cancels->second == "1" || cancels->second == "true");
  if (followed_run.after.cancels && call.who.permission < Permission::run) {
    co_return error(ErrorCode::forbidden, "This API key lacks the permission run.");
  }
  co_return std::move(followed_run);
}

Task<Result<Reply>> join_run(AgentServer& served, Call call) {
  BELAY_CO_TRY(FollowedRun run, co_await joined_run(call));
  RunRecord record = run.run.record;
  BELAY_CO_TRY(Reply reply, co_await result_reply(served, call, std::move(run)));
  add_run_headers(reply, record, false);
  co_return std::move(reply);
}

// The modes that the query names, each in its own parameter, or all in one as a JSON list.
Result<std::optional<StreamModes>> modes_in_query(const Call& call) {
  BELAY_TRY(auto parameters, http::query_parameters(call.request.query));
  Value::Array named;
  for (auto& [name, text] : parameters) {
    if (name != "stream_mode" || text.empty()) continue;
    auto list = text.starts_with('[') ? parse_json(text) : Result<Value>(Value());
    if (list.ok() && list->as_array()) {
      for (Value& each : *list->as_array()) named.push_back(std::move(each));
    } else {
      named.emplace_back(std::move(text));
    }
  }
  if (named.empty()) return std::optional<StreamModes>();
  Value all(std::move(named));
  BELAY_TRY(StreamModes modes, stream_modes_of(all));
  return std::optional(std::move(modes));
}

// The number of the last event that the client has received; nullopt: none.
Result<std::optional<std::uint64_t>> last_event_id_in(const Call& call) {
  std::string_view text = call.request.header("Last-Event-ID");
  bool is_all = text.empty() || text == "-1" || text == "-";
  if (is_all) return std::optional<std::uint64_t>();
  auto number = server::number_from(text);
  if (number && *number >= 0) return std::optional(static_cast<std::uint64_t>(*number));
  return error(ErrorCode::invalid, "Last-Event-ID must be the number of an event, or -1 for all.");
}

Task<Result<Reply>> join_stream(AgentServer& served, Call call) {
  BELAY_CO_TRY(auto modes, modes_in_query(call));
  BELAY_CO_TRY(auto received, last_event_id_in(call));
  BELAY_CO_TRY(FollowedRun run, co_await joined_run(call));
  if (modes) run.modes = *std::move(modes);
  run.received = received;
  RunRecord record = run.run.record;
  BELAY_CO_TRY(Reply reply, co_await stream_reply(served, call, std::move(run)));
  add_run_headers(reply, record, true);
  co_return std::move(reply);
}

Value run_members() {
  Value text = Value::object({{"type", "string"}});
  Value object = Value::object({{"type", "object"}});
  return Value::object({{"assistant_id", text},
                        {"command", object},
                        {"config", object},
                        {"context", object},
                        {"interrupt_before", Value(Value::Object{})},
                        {"interrupt_after", Value(Value::Object{})},
                        {"metadata", std::move(object)},
                        {"multitask_strategy", text},
                        {"on_disconnect", text},
                        {"on_completion", text},
                        {"webhook", text},
                        {"if_not_exists", text},
                        {"durability", std::move(text)},
                        {"stream_subgraphs", Value::object({{"type", "boolean"}})},
                        {"after_seconds", Value::object({{"type", "number"}})}});
}

Route run_route(const AgentServerPointer& served, const char* method, const std::string& path,
                const char* id, const char* summary, Answer answer) {
  Route route = protocol_route(method, path, id, summary);
  route.answers = {{200, "Done"}};
  route.handle = answering(served, answer);
  return route;
}

// A resume is a decision, unless it begins another run at a checkpoint.
bool decides_only(const Value& body) {
  bool has_checkpoint = !body["checkpoint"].is_null() || !body["checkpoint_id"].is_null();
  return !body["command"]["resume"].is_null() && !has_checkpoint;
}

Route starting_route(const AgentServerPointer& served, const std::string& path, const char* id,
                     const char* summary, Answer answer) {
  Route route = run_route(served, "POST", path, id, summary, answer);
  route.permission = Permission::run;
  route.begins_run = true;
  route.begins_run_by = [](const Call& call) { return !decides_only(call.body); };
  route.finds_run = server::finds_run_of_header;
  route.parameters.push_back(
      server::idempotency_key_parameter("The same request with the same key starts one run."));
  accept_body(route, run_members(), {"assistant_id"});
  return route;
}

Route batch_route(const AgentServerPointer& served) {
  Route route = starting_route(served, "/runs/batch", "agentServerCreateRunBatch",
                               "Starts of several runs, each on a new thread", create_batch);
  Value item = std::move(route.body);
  route.body = Value::object({{"type", "array"}, {"items", std::move(item)}});
  route.read = read_list;
  return route;
}

}  // namespace

std::vector<Route> run_routes(const AgentServerPointer& served) {
  const std::string of_thread = "/threads/{threadId}/runs", one = of_thread + "/{runId}";
  const std::vector<ResponseSpec> stream{{200, "Events", "", "text/event-stream"}};
  std::vector<Route> routes;
  routes.push_back(starting_route(served, of_thread, "agentServerCreateRun",
                                  "Start of a run on the thread", create_run));
  routes.push_back(starting_route(served, "/runs", "agentServerCreateStatelessRun",
                                  "Start of a run on a new thread", create_run));
  routes.push_back(batch_route(served));
  routes.push_back(starting_route(served, of_thread + "/stream", "agentServerStreamRun",
                                  "Start of a run, and its events", stream_new_run));
  routes.back().answers = stream;
  routes.push_back(starting_route(served, "/runs/stream", "agentServerStreamStatelessRun",
                                  "Start of a run on a new thread, and its events",
                                  stream_new_run));
  routes.back().answers = stream;
  routes.push_back(starting_route(served, of_thread + "/wait", "agentServerWaitForNewRun",
                                  "Start of a run, and its result", await_new_run));
  routes.push_back(starting_route(served, "/runs/wait", "agentServerWaitForNewStatelessRun",
                                  "Start of a run on a new thread, and its result", await_new_run));
  routes.push_back(run_route(served, "GET", one + "/join", "agentServerJoinRun",
                             "The result of a run, when it has ended", join_run));
  routes.push_back(run_route(served, "GET", one + "/stream", "agentServerJoinRunStream",
                             "The events of a run, after Last-Event-ID", join_stream));
  routes.back().answers = stream;
  routes.push_back(run_route(served, "GET", "/runs/{runId}/stream",
                             "agentServerJoinStatelessRunStream",
                             "The events of a run, after Last-Event-ID", join_stream));
  routes.back().answers = stream;
  routes.back().same_as = {"agentServerJoinRunStream"};  // also matches /runs/crons/{cronId}
  return routes;
}

}  // namespace belay::langgraph
