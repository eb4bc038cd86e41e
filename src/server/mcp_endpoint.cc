#include "server/mcp_endpoint.h"

#include <algorithm>

#include "server/mcp_tasks.h"
#include "service/run_request.h"

namespace belay::server {
namespace {

constexpr std::size_t kToolsInOneList = 100;
constexpr std::int64_t kListTtlMs = 60'000;
constexpr std::string_view kThreadKey = "belay/threadId";
constexpr std::string_view kIdempotencyKey = "belay/idempotencyKey";
constexpr std::string_view kInstructions =
    "Each tool is an agent, and a call starts a run of it. A run is durable: it continues if the "
    "connection ends, and can wait for the approval of a person.";

Value capabilities_of(const McpMessage& message) {
  Value none{Value::Object()};
  Value::Object all{{"tools", none}};
  if (message.is_modern) {
    all.emplace("extensions", Value::object({{std::string(kMcpTasks), none}}));
  }
  return Value(std::move(all));
}

McpReply discover(const McpMessage& message) {
  return mcp_result(message, {{"cacheScope", "private"},
                              {"capabilities", capabilities_of(message)},
                              {"instructions", kInstructions},
                              {"ttlMs", kListTtlMs}});
}

McpReply initialize(const McpMessage& message) {
  const std::string* version = message.params["protocolVersion"].as_string();
  return mcp_result(message, {{"capabilities", capabilities_of(message)},
                              {"instructions", kInstructions},
                              {"protocolVersion", legacy_mcp_version(version ? *version : "")},
                              {"serverInfo", mcp_server_info()}});
}

McpReply unknown_method(const McpMessage& message) {
  return mcp_fault(message, McpFault::unknown_method, "Unknown method.");
}

// The reply for an operation of the service that failed, except a call of a tool.
McpReply failed_reply(const McpMessage& message, const Error& failed) {
  McpFault code = failed.code == ErrorCode::invalid     ? McpFault::invalid_params
                  : failed.code == ErrorCode::forbidden ? McpFault::refused
                                                        : McpFault::internal;
  return mcp_fault(message, code, failed.message);
}

// The same for a task: one of another user is answered like one that does not exist.
McpReply failed_task(const McpMessage& message, const Error& failed) {
  if (failed.code != ErrorCode::not_found) return failed_reply(message, failed);
  return mcp_fault(message, McpFault::invalid_params, "Unknown task.");
}

// Returns the run of the task that the message names.
Task<Result<RunRow>> run_of_task(Call& call, const McpMessage& message) {
  const std::string* text = message.params["taskId"].as_string();
  auto id = text ? uuid_from(*text) : std::nullopt;
  if (!id) co_return error(ErrorCode::not_found, "Unknown task.");
  co_return co_await call.service.run(call.who, RunId(*id));
}

const std::string* name_in(const Value& document) { return document["name"].as_string(); }

// Sets the header of a request that has not come over HTTP, or not with it.
void set_header(http::Request& request, std::string_view name, std::string_view value) {
  auto is_named = [name](const http::Header& header) { return header.name == name; };
  std::erase_if(request.headers, is_named);
  request.headers.push_back({std::string(name), std::string(value)});
}

// Names the run of the call, if the client does.
Result<Done> take_names(const Value& meta, Call& call, StartRun& start) {
  if (const Value& key = meta[kIdempotencyKey]; !key.is_null()) {
    const std::string* text = key.as_string();
    if (!text) return error(ErrorCode::invalid, "\"belay/idempotencyKey\" must be a text.");
    set_header(call.request, "Idempotency-Key", *text);
  }
  if (const Value& thread = meta[kThreadKey]; !thread.is_null()) {
    const std::string* text = thread.as_string();
    if (!text) return error(ErrorCode::invalid, "\"belay/threadId\" must be a text.");
    BELAY_CHECK(check_name("belay/threadId", *text));
    start.thread = ThreadId(*text);
  }
  return Done{};
}

}  // namespace

Task<McpReply> McpEndpoint::answer(Call call) {
  McpMessage message;
  Value document = std::move(call.body);
  std::string version(call.request.header("MCP-Protocol-Version"));
  if (auto refused = read_mcp_message(document, version, message)) co_return *std::move(refused);
  if (message.is_notification) {
    bool cancels = options_.has_one_client && message.method == "notifications/cancelled";
    if (cancels) co_await cancel_call(call, message);
    McpReply accepted;
    accepted.status = 202;
    co_return accepted;
  }
  // A person whose decision the service refuses is not asked for one.
  if (call.who.permission < Permission::decide) message.has_elicitation = false;
  co_return co_await answer_request(call, message);
}

Task<McpReply> McpEndpoint::answer_request(Call& call, const McpMessage& message) {
  if (message.method == "tools/list") co_return co_await list_tools(call, message);
  if (message.method == "tools/call") co_return co_await call_tool(call, message);
  if (message.is_modern) {
    if (message.method == "server/discover") co_return discover(message);
    if (message.method.starts_with("tasks/")) co_return co_await answer_task(call, message);
    co_return unknown_method(message);
  }
  if (message.method == "initialize") co_return initialize(message);
  if (message.method == "ping") co_return mcp_result(message, {});
  co_return unknown_method(message);
}

Task<McpReply> McpEndpoint::answer_task(Call& call, const McpMessage& message) {
  bool is_get = message.method == "tasks/get";
  bool is_update = message.method == "tasks/update";
  if (!is_get && !is_update && message.method != "tasks/cancel") co_return unknown_method(message);
  if (!message.has_tasks) {
    Value extensions = Value::object({{std::string(kMcpTasks), Value(Value::Object())}});
    Value capabilities = Value::object({{"extensions", std::move(extensions)}});
    co_return mcp_fault(message, McpFault::missing_capability,
                        "The client has not declared the extension for tasks.",
                        Value::object({{"requiredCapabilities", std::move(capabilities)}}));
  }
  Permission needed = is_get ? Permission::read : is_update ? Permission::decide : Permission::run;
  if (call.who.permission < needed) co_return mcp_forbidden(message, needed);
  if (is_get) co_return co_await get_task(call, message);
  if (is_update) co_return co_await update_task(call, message);
  co_return co_await cancel_task(call, message);
}

Task<McpReply> McpEndpoint::list_tools(Call& call, const McpMessage& message) {
  const Value& cursor = message.params["cursor"];
  const std::string* after = cursor.as_string();
  if (!cursor.is_null() && !after) {
    co_return mcp_fault(message, McpFault::invalid_params, "The cursor is not a text.");
  }
  auto agents = co_await call.service.agents(call.who);
  if (!agents.ok()) co_return failed_reply(message, agents.error());
  std::map<std::string, Value> tools;
  for (const Value& agent : *agents) {
    const std::string* name = name_in(agent);
    if (name && (!after || *name > *after)) tools.emplace(*name, mcp_tool(agent));
  }
  Value::Array page;
  std::string last;
  for (auto& [name, tool] : tools) {
    if (page.size() == kToolsInOneList) break;
    last = name;
    page.push_back(std::move(tool));
  }
  Value::Object result;
  if (page.size() < tools.size()) result.emplace("nextCursor", last);
  result.emplace("tools", std::move(page));
  if (message.is_modern) {
    result.emplace("cacheScope", "private");
    result.emplace("ttlMs", kListTtlMs);
  }
  co_return mcp_result(message, std::move(result));
}

Task<McpReply> McpEndpoint::call_tool(Call& call, const McpMessage& message) {
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
  if (!agents.ok()) co_return failed_reply(message, agents.error());
  bool is_known = std::any_of(agents->begin(), agents->end(),
                              [name](const Value& each) { return each["name"] == Value(*name); });
  if (!is_known) co_return mcp_fault(message, McpFault::invalid_params, "Unknown tool.");
  std::string agent = *name;
  auto view = co_await started(call, message, std::move(agent));
  if (!view.ok()) co_return mcp_result(message, tool_error(view.error()));
  co_return reply_of(*view, message);
}

// Starts the run of a call, and waits for it: with a limit, after which it continues.
Task<Result<RunView>> McpEndpoint::started(Call& call, const McpMessage& message,
                                           std::string agent) {
  StartRun start;
  start.agent = std::move(agent);
  start.input = message.params["arguments"];
  if (start.input.is_null()) start.input = Value(Value::Object());
  start.user = call.who.user;
  BELAY_CO_CHECK(take_names(message.params["_meta"], call, start));
  bool is_named = !start.thread.empty() || !call.request.header("Idempotency-Key").empty();
  // A cancellation names the request; the thread is therefore known before the run starts.
  bool is_cancellable = options_.has_one_client && !is_named;
  if (is_cancellable) start.thread = ThreadId(random_uuid(world_.parts.random).text());
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
  if (!decided.ok()) co_return failed_reply(message, decided.error());
  ThreadId thread = run->thread;
  auto task = call.service.wait_for(call.who, thread, run->run);
  auto limit = message.has_tasks ? options_.task_after : options_.answer_within;
  auto settled = co_await world_.waiting.within<Result<RunView>>(limit, std::move(task));
  if (settled && settled->ok()) co_return reply_of(**settled, message);
  auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt, run->run);
  if (!view.ok()) co_return failed_reply(message, view.error());
  co_return reply_of(*view, message);
}

Task<McpReply> McpEndpoint::get_task(Call& call, const McpMessage& message) {
  auto row = co_await run_of_task(call, message);
  if (!row.ok()) co_return failed_task(message, row.error());
  ThreadId thread = row->thread;
  auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt, row->run);
  if (!view.ok()) co_return failed_reply(message, view.error());
  Value::Object task = task_of(*view, message);
  add_details(*view, message, task);
  co_return mcp_result(message, std::move(task));
}

Task<McpReply> McpEndpoint::update_task(Call& call, const McpMessage& message) {
  auto row = co_await run_of_task(call, message);
  if (!row.ok()) co_return failed_task(message, row.error());
  Value responses = message.params["inputResponses"];
  if (!responses.as_object()) {
    co_return mcp_fault(message, McpFault::invalid_params, "inputResponses is not an object.");
  }
  auto decided = co_await decide_inputs(call, *row, std::move(responses));
  if (!decided.ok()) co_return failed_reply(message, decided.error());
  co_return mcp_result(message, {});
}

Task<McpReply> McpEndpoint::cancel_task(Call& call, const McpMessage& message) {
  auto row = co_await run_of_task(call, message);
  if (!row.ok()) co_return failed_task(message, row.error());
  if (is_final(row->status)) co_return mcp_result(message, {});
  ThreadId thread = row->thread;
  std::string by = call.who.user.text;
  std::string on_behalf_of;
  auto view = co_await call.service.cancel(call.who, std::move(thread), std::move(by),
                                           std::move(on_behalf_of), row->run);
  // The run can have ended meanwhile.
  bool has_ended = !view.ok() && view.error().code == ErrorCode::conflict;
  if (!view.ok() && !has_ended) co_return failed_reply(message, view.error());
  co_return mcp_result(message, {});
}

// Decides the approvals of the run that `responses` name; other names are ignored.
Task<Result<Done>> McpEndpoint::decide_inputs(Call& call, const RunRow& run, Value responses) {
  Value::Object none;
  const Value::Object& members = responses.as_object() ? *responses.as_object() : none;
  for (const auto& [name, response] : members) {
    if (!uuid_from(name)) continue;
    std::string wanted = name;
    Whose any;
    auto row = co_await call.service.approval(call.who, std::move(wanted), std::move(any));
    bool is_of_run = row.ok() && row->run == run.run;
    if (!is_of_run) continue;
    BELAY_CO_TRY(std::optional<Decision> decision, decision_of_input(response));
    if (!decision) continue;
    decision->decided_by = call.who.user.text;
    // The reply does not wait for the run, only for the durable decision.
    Patience none_at_all;
    Decision made = *std::move(decision);
    BELAY_CO_TRY(DecisionResult answer,
                 co_await decided(world_, call.service, call.who, row->interrupt, std::move(made),
                                  none_at_all));
    if (!is_made(answer)) co_return error(ErrorCode::invalid, refusal_text(answer) + ".");
  }
  co_return Done{};
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
