#include "server/mcp_endpoint.h"

#include <algorithm>

#include "server/mcp_progress.h"
#include "server/mcp_tasks.h"

namespace belay::server {
namespace {

constexpr std::size_t kToolsInOneList = 100;
constexpr std::int64_t kListTtlMs = 60'000;
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

// The same for a task: one of another user is answered like one that does not exist.
McpReply failed_task(const McpMessage& message, const Error& failed) {
  if (failed.code != ErrorCode::not_found) return mcp_failed(message, failed);
  return mcp_fault(message, McpFault::invalid_params, "Unknown task.");
}

// Returns the run of the task that the message names.
Task<Result<RunRow>> run_of_task(Call& call, const McpMessage& message) {
  const std::string* text = message.params["taskId"].as_string();
  auto id = text ? uuid_from(*text) : std::nullopt;
  if (!id) co_return error(ErrorCode::not_found, "Unknown task.");
  co_return co_await call.service.run(call.who, RunId(*id));
}

}  // namespace

Task<McpReply> McpEndpoint::answer(Call call, McpMessage message) {
  if (message.is_notification) {
    bool cancels = options_.has_one_client && message.method == "notifications/cancelled";
    if (cancels) co_await cancel_call(call, message);
    McpReply accepted;
    accepted.status = 202;
    co_return accepted;
  }
  // A person whose decision the service refuses is not asked for one.
  if (call.who.permission < Permission::decide) message.has_elicitation = false;
  const Value& token = progress_token_of(message);
  if (!token.is_null() && !is_mcp_token(token)) {
    co_return mcp_fault(message, McpFault::invalid_params,
                        "The progressToken is neither a string nor a number.");
  }
  bool reports_progress = message.method == "tools/call" && !token.is_null();
  if (reports_progress && message.takes_stream) {
    co_return co_await call_with_progress(std::move(call), std::move(message));
  }
  co_return co_await answer_request(call, message);
}

Task<McpReply> McpEndpoint::answer_request(Call& call, const McpMessage& message) {
  if (message.method == "tools/list") co_return co_await list_tools(call, message);
  if (message.method == "tools/call") co_return co_await call_tool(call, message, ThreadId());
  if (message.is_modern) {
    if (message.method == "server/discover") co_return discover(message);
    if (message.method.starts_with("tasks/")) co_return co_await answer_task(call, message);
    if (message.method == "subscriptions/listen") co_return co_await listen(call, message);
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
  if (!message.has_tasks) co_return mcp_without_tasks(message);
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
  if (!agents.ok()) co_return mcp_failed(message, agents.error());
  std::map<std::string, Value> tools;
  for (const Value& agent : **agents) {
    const std::string* name = agent["name"].as_string();
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

Task<McpReply> McpEndpoint::get_task(Call& call, const McpMessage& message) {
  auto row = co_await run_of_task(call, message);
  if (!row.ok()) co_return failed_task(message, row.error());
  ThreadId thread = row->thread;
  auto view = co_await call.service.status(call.who, std::move(thread), std::nullopt, row->run);
  if (!view.ok()) co_return mcp_failed(message, view.error());
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
  if (!decided.ok()) co_return mcp_failed(message, decided.error());
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
  if (!view.ok() && !has_ended) co_return mcp_failed(message, view.error());
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

}  // namespace belay::server
