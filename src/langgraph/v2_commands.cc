#include "langgraph/v2_commands.h"

#include <algorithm>

#include "conversation/interrupt_id.h"
#include "langgraph/errors.h"
#include "langgraph/runs.h"
#include "langgraph/sent_before.h"
#include "langgraph/state.h"
#include "langgraph/v2_command.h"
#include "langgraph/v2_events.h"

namespace belay::langgraph {
namespace {

using server::Call;

constexpr std::string_view kInvalidArgument = "invalid_argument";

std::string_view code_of(const Error& failed) {
  switch (failed.code) {
    case ErrorCode::invalid:
    case ErrorCode::not_found:
      return kInvalidArgument;
    case ErrorCode::forbidden:
      return "permission_denied";
    default:
      return "unknown_error";
  }
}

// Moves config.configurable.checkpoint_id to the member that names it in the body of a run.
void add_checkpoint_id(Value::Object& body) {
  auto config = body.find("config");
  if (config == body.end()) return;
  const Value& id = std::as_const(config->second)["configurable"]["checkpoint_id"];
  if (!id.is_null()) body.insert_or_assign("checkpoint_id", id);
}

Task<Result<bool>> has_open_interrupts(const Call& call, const ThreadView& view) {
  bool is_paused = view.has_run() && view.listed->run->status == RunStatus::paused;
  if (!is_paused) co_return false;
  RunId run = view.listed->run->run;
  ThreadId thread = view.id;
  BELAY_CO_TRY(RunView current,
               co_await call.service.status(call.who, std::move(thread), std::nullopt, run));
  co_return !current.approvals.empty();
}

// Whether the input of a start answers an open interrupt. A command that is sent again does as at
// the first time. An input at an earlier checkpoint does not concern the interrupts of the newest
// one.
Task<Result<bool>> is_reply(AgentServer& served, const Call& call, ThreadId thread,
                            const Value& checkpoint) {
  auto view = co_await find_thread(served.world, call, std::move(thread));
  bool is_absent = !view.ok() && view.error().code == ErrorCode::not_found;
  if (is_absent) co_return false;
  if (!view.ok()) co_return std::move(view).error();
  BELAY_CO_TRY(SentBefore before, co_await sent_before(call, *view));
  if (before.has_continued || before.started) co_return before.has_continued;
  if (const std::string* id = checkpoint.as_string()) {
    std::string named = *id;
    BELAY_CO_TRY(auto from, co_await commit_of_checkpoint(call, &*view, std::move(named), false));
    if (from) co_return false;
  }
  co_return co_await has_open_interrupts(call, *view);
}

Task<Result<Value>> begin_by_command(AgentServer& served, V2Command& command, Value::Object body) {
  command.call.body = Value(std::move(body));
  std::optional<ThreadId> thread = command.thread;
  BELAY_CO_TRY(BegunRun begun,
               co_await begin_protocol_run(served, command.call, std::move(thread)));
  co_return Value::object({{"run_id", begun.run.record.id}});
}

Task<Result<Value>> start_by_command(AgentServer& served, V2Command& command) {
  BELAY_CO_CHECK(need(command.call, Permission::run));
  const Value& params = std::as_const(command.params);
  Value::Object body{{"if_not_exists", "create"}, {"multitask_strategy", "enqueue"}};
  for (std::string_view name : {"assistant_id", "config", "metadata", "multitask_strategy",
                                "interrupt_before", "interrupt_after"}) {
    copy_member(params, name, body);
  }
  const Value& strategy = params["multitaskStrategy"];
  if (!strategy.is_null()) body.insert_or_assign("multitask_strategy", strategy);
  add_checkpoint_id(body);
  const Value& input = params["input"];
  ThreadId thread = command.thread;
  bool replies = false;
  if (!input.is_null()) {
    auto checkpoint = body.find("checkpoint_id");
    const Value named = checkpoint == body.end() ? Value() : checkpoint->second;
    auto answers = co_await is_reply(served, command.call, std::move(thread), named);
    bool may_lack_it = !answers.ok() && answers.error().code == ErrorCode::not_found;
    if (may_lack_it && named.as_string()) {
      std::string id = *named.as_string();
      BELAY_CO_CHECK(co_await note_checkpoint(served, command, std::move(id)));
    }
    BELAY_CO_TRY(replies, std::move(answers));
  }
  if (replies) {
    body.emplace("command", Value::object({{"resume", input}}));
  } else {
    BELAY_CO_CHECK(co_await count_start(command.call));
    body.emplace("input", input);
  }
  auto named = body.find("checkpoint_id");
  const std::string* id = named == body.end() ? nullptr : named->second.as_string();
  std::string checkpoint = id ? *id : "";
  auto begun = co_await begin_by_command(served, command, std::move(body));
  bool may_lack_it =
      !begun.ok() && begun.error().code == ErrorCode::not_found && !checkpoint.empty();
  if (may_lack_it) {
    BELAY_CO_CHECK(co_await note_checkpoint(served, command, std::move(checkpoint)));
  }
  co_return std::move(begun);
}

// Reads the replies of an input.respond, by interrupt id.
Result<Value::Object> replies_in(const Value& params) {
  Value::Array one{params};
  const Value::Array* entries = &one;
  if (!params["responses"].is_null()) entries = params["responses"].as_array();
  if (!entries || entries->empty()) {
    return error(ErrorCode::invalid, "\"responses\" must be an array of replies.");
  }
  Value::Object replies;
  for (const Value& each : *entries) {
    const std::string* id = each["interrupt_id"].as_string();
    if (!id || !conversation::interrupt_id_from(*id)) {
      return error(ErrorCode::invalid, "\"interrupt_id\" must be the id of an interrupt.");
    }
    if (!replies.emplace(*id, each["response"]).second) {
      return error(ErrorCode::invalid, "Interrupt \"" + *id + "\" has two replies.");
    }
  }
  return replies;
}

Task<Result<Value>> respond_by_command(AgentServer& served, V2Command& command) {
  BELAY_CO_CHECK(need(command.call, Permission::decide));
  const Value& params = std::as_const(command.params);
  BELAY_CO_TRY(Value::Object replies, replies_in(params));
  ThreadId thread = command.thread;
  BELAY_CO_TRY(ThreadView view, co_await find_thread(served.world, command.call, thread));
  if (!view.listed) co_return error(ErrorCode::conflict, "The thread has no interrupt.");
  Value::Object decision{{"resume", Value(std::move(replies))}};
  copy_member(params, "update", decision);
  copy_member(params, "goto", decision);
  Value::Object body{{"assistant_id", view.listed->thread.graph},
                     {"command", Value(std::move(decision))}};
  copy_member(params, "config", body);
  copy_member(params, "metadata", body);
  BELAY_CO_CHECK(co_await begin_by_command(served, command, std::move(body)));
  co_return Value(Value::Object{});
}

Task<Result<Value>> inject_by_command(AgentServer&, V2Command& command) {
  BELAY_CO_CHECK(need(command.call, Permission::run));
  const Value& message = std::as_const(command.params)["message"];
  BELAY_CO_TRY(auto content, text_member(message, "content"));
  if (!content || content->empty()) {
    co_return error(ErrorCode::invalid, "\"message\" must have a \"content\" that is a text.");
  }
  Steer steer;
  steer.text = *std::move(content);
  steer.by = command.call.who.user.text;
  ThreadId thread = command.thread;
  BELAY_CO_CHECK(
      co_await command.call.service.steer(command.call.who, std::move(thread), std::move(steer)));
  co_return Value(Value::Object{});
}

std::string_view tree_status(const RunRow& run) {
  if (run.status == RunStatus::completed) return "completed";
  if (run.status == RunStatus::paused || run.status == RunStatus::cancelled) return "interrupted";
  return is_final(run.status) || run.status == RunStatus::quarantined ? "failed" : "running";
}

Task<Result<Value>> tree_by_command(AgentServer& served, V2Command& command) {
  ThreadId thread = command.thread;
  BELAY_CO_TRY(ThreadView view,
               co_await find_thread(served.world, command.call, std::move(thread)));
  if (!view.has_run()) co_return error(ErrorCode::conflict, "The thread has no run.");
  const RunRow& run = *view.listed->run;
  Value root = Value::object({{"namespace", Value(Value::Array{})},
                              {"status", tree_status(run)},
                              {"graph_name", run.graph},
                              {"children", Value(Value::Array{})}});
  co_return Value::object({{"tree", std::move(root)}});
}

using Execute = Task<Result<Value>> (*)(AgentServer& served, V2Command& command);

struct V2Method {
  std::string_view name;
  Execute execute;
  std::string_view conflict = "unknown_error";  // the code of a conflict
};

constexpr V2Method kMethods[] = {
    {"run.start", start_by_command},
    {"input.respond", respond_by_command, "no_such_interrupt"},
    {"input.inject", inject_by_command, "no_such_run"},
    {"state.get", state_by_command},
    {"state.listCheckpoints", checkpoints_by_command},
    {"state.fork", fork_by_command},
    {"agent.getTree", tree_by_command, "no_such_run"},
};

bool can_be_repeated(const Error& failed) { return failed.code == ErrorCode::unavailable; }

// Returns the number before the events of the oldest run that has not ended, or of the newest one;
// nullopt if it cannot be read. 0 without a run.
Task<std::optional<std::uint64_t>> applied_through(const Call& call, ThreadId thread) {
  auto current = co_await call.service.run_of(call.who, std::move(thread), std::nullopt);
  if (current.ok()) co_return v2_seq_before(*current);
  if (current.error().code == ErrorCode::not_found) co_return 0;
  co_return std::nullopt;
}

}  // namespace

Result<Done> need(const Call& call, Permission permission) {
  if (call.who.permission >= permission) return Done{};
  return error(ErrorCode::forbidden,
               "This API key lacks the permission " + std::string(name_of(permission)) + ".");
}

void copy_member(const Value& params, std::string_view name, Value::Object& body) {
  const Value& member = params[name];
  if (!member.is_null()) body.insert_or_assign(std::string(name), member);
}

Task<Result<Done>> count_start(Call& call) {
  if (!call.count_start) co_return Done{};
  bool is_known = co_await server::finds_run_of_header(call);
  if (is_known) co_return Done{};
  BELAY_CO_TRY(call.start, co_await call.count_start());
  co_return Done{};
}

bool is_of_subscriptions(std::string_view method) {
  return method == "subscription.subscribe" || method == "subscription.unsubscribe" ||
         method == "subscription.reconnect";
}

Value command_success(const Value& id, const ThreadId& thread, Value result,
                      std::optional<std::uint64_t> applied) {
  Value::Object meta{{"thread_id", thread.text}};
  if (applied) meta.emplace("applied_through_seq", static_cast<std::int64_t>(*applied));
  return Value::object({{"type", "success"},
                        {"id", id},
                        {"result", std::move(result)},
                        {"meta", Value(std::move(meta))}});
}

Value command_error(const Value& id, std::string code, std::string message) {
  return Value::object(
      {{"type", "error"}, {"id", id}, {"error", std::move(code)}, {"message", std::move(message)}});
}

Value command_error(const Value& id, const Error& failed) {
  return command_error(id, std::string(code_of(failed)), failed.message);
}

Task<Result<Value>> answer_command(AgentServer& served, Call call, ThreadId thread, Value command) {
  const Value id = std::as_const(command)["id"].as_int() ? std::as_const(command)["id"] : Value();
  const std::string* method = std::as_const(command)["method"].as_string();
  if (!method || id.is_null()) {
    co_return command_error(id, std::string(kInvalidArgument),
                            "A command must have an \"id\", a whole number, and a \"method\".");
  }
  const Value& params = std::as_const(command)["params"];
  bool has_params = params.is_null() || params.as_object();
  if (!has_params) {
    co_return command_error(id, std::string(kInvalidArgument), "\"params\" must be an object.");
  }
  auto found = std::find_if(std::begin(kMethods), std::end(kMethods),
                            [&](const V2Method& each) { return each.name == *method; });
  if (found == std::end(kMethods)) {
    bool is_known = is_of_subscriptions(*method);
    co_return command_error(id, is_known ? "not_supported" : "unknown_command",
                            "\"" + method->substr(0, 100) + "\" is not supported here.");
  }
  V2Command executed{std::move(call), thread, params.is_null() ? Value(Value::Object{}) : params};
  auto result = co_await found->execute(served, executed);
  if (result.ok()) {
    ThreadId of = thread;
    auto applied = co_await applied_through(executed.call, std::move(of));
    co_return command_success(id, thread, *std::move(result), applied);
  }
  if (can_be_repeated(result.error())) co_return std::move(result).error();
  if (executed.code.empty() && result.error().code == ErrorCode::conflict) {
    executed.code = found->conflict;
  }
  if (!executed.code.empty()) {
    co_return command_error(id, std::string(executed.code), result.error().message);
  }
  co_return command_error(id, result.error());
}

}  // namespace belay::langgraph
