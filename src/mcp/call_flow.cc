#include "mcp/call_flow.h"

#include <algorithm>
#include <set>

#include "base/in_quotes.h"
#include "mcp/input.h"
#include "mcp/tool_list.h"
#include "models/json_sanitizer.h"

namespace belay::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t progress_characters = 500;
constexpr std::size_t task_id_bytes_max = 1'024;
constexpr std::size_t request_state_bytes_max = 1u << 20;
constexpr milliseconds poll_interval_default{1'000};
constexpr milliseconds poll_interval_min{50};
constexpr milliseconds poll_interval_max{30'000};
constexpr milliseconds round_pause{100};  // before a round without input
constexpr int poll_faults_max = 5;        // without a reply between them

InputSetting input_setting(const CallSetting& setting) {
  return {setting.options.name, setting.tool, setting.on_input, setting.options.input_timeout};
}

std::string which_tool(const CallSetting& setting) {
  return "The tool " + in_quotes(setting.tool) + " of the MCP server " +
         in_quotes(setting.options.name);
}

Error too_many_rounds(const CallSetting& setting) {
  return error(ErrorCode::exhausted, which_tool(setting) + " asks for input more than " +
                                         std::to_string(setting.options.inputs_max) +
                                         " times in one call. It was not continued.");
}

// The outcome of a call that has started is not known after an error of a later request.
Error as_uncertain(Error fault) {
  if (fault.code == ErrorCode::unavailable) fault.code = ErrorCode::uncertain;
  return fault;
}

void report(const CallSetting& setting, Progress progress) {
  if (!setting.options.on_progress) return;
  progress.tool = setting.tool;
  setting.options.on_progress(progress);
}

std::string shown_message(const Value& text) {
  const std::string* message = text.as_string();
  return message ? models::quotable(*message, progress_characters) : std::string();
}

RequestFunctions functions_of(const CallSetting& setting, const Session& session) {
  RequestFunctions functions;
  functions.on_progress = [setting](const Value& params) {
    Progress progress;
    progress.progress = params["progress"].as_double().value_or(0);
    progress.total = params["total"].as_double();
    progress.message = shown_message(params["message"]);
    report(setting, std::move(progress));
  };
  // The modern era has no requests of a server.
  if (session.dialect.is_modern || !session.has_elicitation) return functions;
  functions.questions_max = setting.options.inputs_max;
  functions.on_question = [input = input_setting(setting)](Question question) {
    return answer_input(input, std::move(question.params));
  };
  return functions;
}

Request task_request(const CallSetting& setting, std::string method, const std::string& task) {
  Request request;
  request.method = std::move(method);
  request.params = Value::object({{"taskId", task}});
  request.timeout = setting.options.start_timeout;
  return request;
}

// Cancels the task at the server, unless it has ended.
class OpenTask {
 public:
  OpenTask(const CallSetting& setting, const Session& session, std::string id)
      : setting_(setting), session_(session), id_(std::move(id)) {}
  OpenTask(const OpenTask&) = delete;
  OpenTask& operator=(const OpenTask&) = delete;
  ~OpenTask() {
    if (!has_ended_) post(session_, task_request(setting_, "tasks/cancel", id_));
  }

  const std::string& id() const { return id_; }
  void use(const Session& session) { session_ = session; }
  void set_ended() { has_ended_ = true; }

 private:
  const CallSetting& setting_;
  Session session_;
  const std::string id_;
  bool has_ended_ = false;
};

// Follows a task, whose state at the server is polled.
class TaskPoll {
 public:
  TaskPoll(const CallSetting& setting, Session session, std::string id)
      : setting_(setting),
        session_(session),
        open_(setting, session, std::move(id)),
        end_(steady_clock::now() + setting.options.call_timeout_max) {}
  TaskPoll(const TaskPoll&) = delete;
  TaskPoll& operator=(const TaskPoll&) = delete;
  ~TaskPoll() = default;

  // `state`: as the server has created it.
  Task<Result<CallResult>> follow(Value state) {
    while (true) {
      if (auto ended = result_of(state)) co_return *std::move(ended);
      report_state(state);
      if (state["status"] == Value("input_required")) {
        BELAY_CO_CHECK(co_await give_input(state["inputRequests"]));
      }
      milliseconds pause = interval_of(state);
      auto left = std::chrono::ceil<milliseconds>(end_ - steady_clock::now());
      if (left.count() <= 0) {
        co_return error(ErrorCode::uncertain,
                        which_tool(setting_) + " did not end its task within " +
                            std::to_string(setting_.options.call_timeout_max.count()) +
                            " ms. The task was cancelled.");
      }
      co_await sleep_for(std::min(pause, left));
      BELAY_CO_TRY(state, co_await poll());
    }
  }

 private:
  // Returns the result of a task that has ended.
  std::optional<Result<CallResult>> result_of(const Value& state) {
    const std::string* status = state["status"].as_string();
    if (status && (*status == "working" || *status == "input_required")) return std::nullopt;
    open_.set_ended();
    if (status && *status == "completed") return call_result_of(state["result"]);
    std::string reason = shown_message(state["statusMessage"]);
    if (status && *status == "failed") {
      std::string fault = shown_message(state["error"]["message"]);
      if (!fault.empty()) reason = fault;
      return Result<CallResult>(
          error(ErrorCode::invalid, which_tool(setting_) + " has failed: " + reason + "."));
    }
    if (status && *status == "cancelled") {
      return Result<CallResult>(error(
          ErrorCode::invalid, which_tool(setting_) + " was cancelled by its server: " + reason));
    }
    return Result<CallResult>(
        error(ErrorCode::uncertain, which_tool(setting_) + " has a task without a known status."));
  }

  void report_state(const Value& state) {
    std::string message = shown_message(state["statusMessage"]);
    if (message.empty() || message == message_) return;
    message_ = message;
    Progress progress;
    progress.progress = ++reports_;
    progress.message = std::move(message);
    report(setting_, std::move(progress));
  }

  static milliseconds interval_of(const Value& state) {
    auto interval = state["pollIntervalMs"].as_int();
    milliseconds wanted =
        interval ? milliseconds(std::max<std::int64_t>(*interval, 0)) : poll_interval_default;
    return std::clamp(wanted, poll_interval_min, poll_interval_max);
  }

  // A request that was answered can still be listed, until the server has read the response.
  Task<Result<Done>> give_input(Value requests) {
    Value::Object open;
    const Value::Object* listed = requests.as_object();
    for (const auto& [key, request] : listed ? *listed : Value::Object()) {
      if (answered_.count(key) == 0) open.emplace(key, request);
    }
    if (open.empty()) co_return Done{};
    if (++rounds_ > setting_.options.inputs_max) co_return too_many_rounds(setting_);
    for (const auto& [key, request] : open) answered_.insert(key);
    auto began = steady_clock::now();
    auto answering = answer_inputs(input_setting(setting_), Value(std::move(open)));
    BELAY_CO_TRY(Value responses, co_await answering);
    end_ += steady_clock::now() - began;
    Request request = task_request(setting_, "tasks/update", open_.id());
    request.params.as_object()->emplace("inputResponses", std::move(responses));
    auto updated = co_await ask(session_, std::move(request));
    if (!updated.ok()) co_return as_uncertain(std::move(updated).error());
    co_return Done{};
  }

  // The task does not depend on a connection: another one continues.
  Task<Result<Value>> poll() {
    for (int faults = 0;; ++faults) {
      Request request = task_request(setting_, "tasks/get", open_.id());
      auto state = co_await ask(session_, std::move(request));
      if (state.ok()) co_return state;
      bool passes = state.error().code == ErrorCode::unavailable ||
                    state.error().code == ErrorCode::uncertain;
      if (!passes || faults == poll_faults_max || steady_clock::now() >= end_) {
        Error fault = std::move(state).error();
        fault.code = ErrorCode::uncertain;
        co_return fault;
      }
      co_await sleep_for(poll_interval_default);
      auto reopened = co_await setting_.reopen();
      if (!reopened.ok()) continue;
      reopened->has_elicitation = session_.has_elicitation;
      session_ = *std::move(reopened);
      open_.use(session_);
    }
  }

  const CallSetting& setting_;
  Session session_;
  OpenTask open_;
  steady_clock::time_point end_;
  std::set<std::string> answered_;  // keys of requests
  std::string message_;
  int reports_ = 0;
  int rounds_ = 0;
};

Task<Result<CallResult>> follow_task(const CallSetting& setting, Session session, Value created) {
  const std::string* id = created["taskId"].as_string();
  if (!id || id->empty() || id->size() > task_id_bytes_max) {
    co_return error(ErrorCode::uncertain, which_tool(setting) + " has a task without an id.");
  }
  TaskPoll poll(setting, std::move(session), *id);
  auto result = co_await poll.follow(std::move(created));
  co_return result;
}

// Returns the parameters of the next round.
Task<Result<Value>> next_round(const CallSetting& setting, const Value& result, Value params) {
  Value::Object& members = *params.as_object();
  members.erase("inputResponses");
  members.erase("requestState");
  const Value* state = result.find("requestState");
  const std::string* text = state ? state->as_string() : nullptr;
  if (state && (!text || text->size() > request_state_bytes_max)) {
    co_return error(ErrorCode::invalid, which_tool(setting) + " has a state that is not a text.");
  }
  if (text) members.emplace("requestState", *text);
  const Value* requests = result.find("inputRequests");
  if (!requests && !state) {
    co_return error(ErrorCode::invalid, which_tool(setting) + " requires input and names none.");
  }
  if (requests) {
    auto answering = answer_inputs(input_setting(setting), *requests);
    BELAY_CO_TRY(Value responses, co_await answering);
    members.emplace("inputResponses", std::move(responses));
  } else {
    co_await sleep_for(round_pause);
  }
  co_return params;
}

}  // namespace

Task<Result<CallResult>> perform_call(CallSetting setting, Session session, Request request,
                                      bool* headers_differ) {
  if (session.dialect.is_modern) session.has_elicitation = setting.on_input != nullptr;
  request.timeout = setting.options.call_timeout;
  request.timeout_max = setting.options.call_timeout_max;
  request.functions = functions_of(setting, session);
  for (int round = 0;; ++round) {
    bool* differ = round == 0 ? headers_differ : nullptr;
    auto result = co_await ask(session, request, differ);
    if (!result.ok() && round == 0) co_return std::move(result).error();
    if (!result.ok()) co_return as_uncertain(std::move(result).error());
    if (!session.dialect.is_modern) co_return call_result_of(*result);
    const Value& type = (*result)["resultType"];
    if (type == Value("task")) {
      auto followed = co_await follow_task(setting, session, *std::move(result));
      co_return followed;
    }
    if (type != Value("input_required")) co_return call_result_of(*result);
    if (round == setting.options.inputs_max) co_return too_many_rounds(setting);
    BELAY_CO_TRY(request.params, co_await next_round(setting, *result, request.params));
  }
}

}  // namespace belay::mcp
