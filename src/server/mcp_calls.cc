// Calls of tools: the start of a run, and the wait for it.

#include "http/ascii.h"
#include "server/mcp_endpoint.h"
#include "server/mcp_progress.h"
#include "server/mcp_tasks.h"
#include "server/problem.h"
#include "service/run_request.h"

namespace belay::server {
namespace {

const std::string* name_in(const Value& document) { return document["name"].as_string(); }

// Sets the header of a request that has not come over HTTP, or not with it.
void set_header(http::Request& request, std::string_view name, std::string_view value) {
  auto is_named = [name](const http::Header& header) {
    return http::equal_letters(header.name, name);
  };
  std::erase_if(request.headers, is_named);
  request.headers.push_back({std::string(name), std::string(value)});
}

// Takes the names that the client gives to the run of its call, if any: its key and its thread.
Result<Done> take_names(const Value& meta, Call& call, ThreadId& named) {
  if (const Value& key = meta[kMcpIdempotencyKey]; !key.is_null()) {
    const std::string* text = key.as_string();
    if (!text) return error(ErrorCode::invalid, "\"belay/idempotencyKey\" must be a text.");
    set_header(call.request, "Idempotency-Key", *text);
  }
  if (const Value& thread = meta[kMcpThread]; !thread.is_null()) {
    const std::string* text = thread.as_string();
    if (!text) return error(ErrorCode::invalid, "\"belay/threadId\" must be a text.");
    BELAY_CHECK(check_name("belay/threadId", *text));
    named = ThreadId(*text);
  }
  return Done{};
}

// A client sends the call again after a limit or a failure of the store. All other errors are those
// of the call, for its model.
McpReply refused_start(const McpMessage& message, const Error& failed) {
  if (failed.code != ErrorCode::unavailable) return mcp_result(message, tool_error(failed));
  McpReply refused = mcp_fault(message, McpFault::refused, failed.message);
  refused.status = status_of(failed);
  return refused;
}

// Answers a call of which nothing else owns the parts.
Task<McpReply> answer_owned(McpEndpoint& endpoint, Call call, McpMessage message, ThreadId fresh) {
  co_return co_await endpoint.call_tool(call, message, std::move(fresh));
}

}  // namespace

Task<McpReply> McpEndpoint::call_with_progress(Call call, McpMessage message) {
  ThreadId fresh(random_uuid(world_.parts.random).text());
  ThreadId unnamed = fresh;
  ThreadId thread = co_await thread_of_call(call, message, std::move(unnamed));
  FollowedRun run{call.service, call.who, std::move(thread)};
  Value token = progress_token_of(message);
  auto stream = std::make_unique<ProgressStream>(world_.parts.executor, std::move(token),
                                                 std::move(run), call.start);
  Task<McpReply> reply = answer_owned(*this, std::move(call), std::move(message), std::move(fresh));
  // A reply without progress is sent unchanged: over HTTP, an error then has its status.
  auto at_once = co_await stream->begin(std::move(reply));
  McpReply streamed;
  streamed.stream = std::move(stream);
  if (at_once) streamed = *std::move(at_once);
  co_return std::move(streamed);
}

// Returns the thread whose run a call starts or continues; empty: it can do neither.
Task<ThreadId> McpEndpoint::thread_of_call(Call& call, const McpMessage& message, ThreadId fresh) {
  ThreadId none;
  if (const Value* state = message.params.find("requestState")) {
    auto id = state->as_string() ? uuid_from(*state->as_string()) : std::nullopt;
    if (!id) co_return none;
    auto row = co_await call.service.run(call.who, RunId(*id));
    if (row.ok()) none = row->thread;
    co_return none;
  }
  ThreadId named;
  if (!take_names(message.params["_meta"], call, named).ok()) co_return none;
  bool is_fresh = named.empty() && call.request.header("Idempotency-Key").empty();
  if (is_fresh) co_return fresh;
  UserId user = call.who.user;
  auto thread = co_await thread_to_begin(world_, call, std::move(named), std::move(user));
  if (thread.ok()) none = *std::move(thread);
  co_return none;
}

Task<McpReply> McpEndpoint::call_tool(Call& call, const McpMessage& message, ThreadId fresh) {
  if (call.who.permission < Permission::run) co_return mcp_forbidden(message, Permission::run);
  const std::string* name = name_in(message.params);
  const Value& arguments = message.params["arguments"];
  bool is_sound = name && (arguments.is_null() || arguments.as_object());
  if (!is_sound) {
    co_return mcp_fault(message, McpFault::invalid_params,
                        "tools/call requires a name, and arguments that are an object.");
  }
  // Also in the older era: a call with a state is not counted as a start.
  if (message.params.find("requestState")) co_return co_await continue_call(call, message);
  auto agents = co_await call.service.agents(call.who);
  if (!agents.ok()) co_return mcp_failed(message, agents.error());
  if (!find_agent(**agents, *name))
    co_return mcp_fault(message, McpFault::invalid_params, "Unknown tool.");
  std::string agent = *name;
  auto view = co_await started(call, message, std::move(agent), std::move(fresh));
  if (!view.ok()) co_return refused_start(message, view.error());
  co_return reply_of(*view, message);
}

// Starts the run of a call, and waits for it: with a limit, after which it continues.
Task<Result<RunView>> McpEndpoint::started(Call& call, const McpMessage& message, std::string agent,
                                           ThreadId fresh) {
  StartRun start;
  start.agent = std::move(agent);
  start.input = message.params["arguments"];
  if (start.input.is_null()) start.input = Value(Value::Object());
  start.user = call.who.user;
  BELAY_CO_CHECK(take_names(message.params["_meta"], call, start.thread));
  bool is_named = !start.thread.empty() || !call.request.header("Idempotency-Key").empty();
  // A cancellation names the request; the thread is therefore known before the run starts.
  bool is_cancellable = options_.has_one_client && !is_named;
  if (is_cancellable && fresh.empty()) fresh = ThreadId(random_uuid(world_.parts.random).text());
  if (!is_named) start.thread = std::move(fresh);
  std::string id = to_json(message.id);
  if (is_cancellable) under_way_.insert_or_assign(id, start.thread);
  Patience patience;
  patience.limit = message.has_tasks ? options_.task_after : options_.answer_within;
  auto view = co_await begun_run(world_, call, std::move(start), patience);
  under_way_.erase(id);
  co_return std::move(view);
}

// The same call again, with the decisions that it required.
Task<McpReply> McpEndpoint::continue_call(Call& call, const McpMessage& message) {
  const std::string* state = message.params["requestState"].as_string();
  auto id = state ? uuid_from(*state) : std::nullopt;
  Result<RunRow> run = error(ErrorCode::not_found, "Unknown state of a request.");
  if (id) run = co_await call.service.run(call.who, RunId(*id));
  bool is_of_tool = run.ok() && *name_in(message.params) == run->graph;
  if (!is_of_tool) {
    co_return mcp_fault(message, McpFault::invalid_params, "Unknown requestState.");
  }
  if (call.who.permission < Permission::decide) {
    co_return mcp_forbidden(message, Permission::decide);
  }
  Value responses = message.params["inputResponses"];
  auto decided = co_await decide_inputs(call, *run, std::move(responses));
  if (!decided.ok()) co_return mcp_failed(message, decided.error());
  ThreadId thread = run->thread;
  auto task = call.service.wait_for(call.who, thread, run->run);
  auto limit = message.has_tasks ? options_.task_after : options_.answer_within;
  auto settled = co_await world_.waiting.within<Result<RunView>>(limit, std::move(task));
  if (settled && settled->ok()) co_return reply_of(**settled, message);
  auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt, run->run);
  if (!view.ok()) co_return mcp_failed(message, view.error());
  co_return reply_of(*view, message);
}

Task<Done> McpEndpoint::cancel_call(Call& call, const McpMessage& message) {
  auto found = under_way_.find(to_json(message.params["requestId"]));
  if (found == under_way_.end()) co_return Done{};
  ThreadId thread = found->second;
  std::string by = call.who.user.text;
  std::string on_behalf_of;
  // A run that has ended, or has not started, is not cancelled.
  auto cancelled = co_await call.service.cancel(call.who, std::move(thread), std::move(by),
                                                std::move(on_behalf_of), std::nullopt);
  (void)cancelled;
  co_return Done{};
}

McpReply McpEndpoint::reply_of(const RunView& view, const McpMessage& message) const {
  if (has_result(view.row)) return mcp_result(message, tool_result(view));
  if (message.has_tasks) {
    Value::Object task = task_of(view, message);
    task.emplace("resultType", "task");
    return mcp_result(message, std::move(task));
  }
  if (!requires_input(view, message)) return mcp_result(message, tool_result(view));
  return mcp_result(message, {{"inputRequests", input_requests(view)},
                              {"requestState", view.row.run.text()},
                              {"resultType", "input_required"}});
}

}  // namespace belay::server
