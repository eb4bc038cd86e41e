#include "mcp/input.h"

#include "base/executor_timer.h"
#include "base/in_quotes.h"
#include "belay/models.h"
#include "mcp/json_rpc.h"
#include "models/json_sanitizer.h"

namespace belay::mcp {
namespace {

constexpr std::size_t input_message_bytes_max = 8 * 1024;
constexpr std::size_t input_schema_bytes_max = 64 * 1024;
constexpr std::size_t input_members_max = 100;
constexpr std::size_t input_requests_max = 16;  // of one result
constexpr std::size_t quoted_message_characters = 300;
constexpr std::size_t quoted_member_characters = 60;
constexpr std::size_t named_members_max = 10;

Error malformed_input(std::string_view fault) {
  return error(ErrorCode::invalid, "The MCP server asks for input not as the protocol defines: " +
                                       std::string(fault) + ".");
}

// A form has no levels: each member is a text, a number, a boolean, or choices.
bool is_form_member(const Value& member) {
  const std::string* type = member["type"].as_string();
  if (!type) return false;
  if (*type == "array") return member["items"].as_object() != nullptr;
  return *type == "string" || *type == "number" || *type == "integer" || *type == "boolean";
}

std::optional<std::string> form_fault(const Value& schema) {
  const Value::Object* members = schema["properties"].as_object();
  if (schema["type"] != Value("object") || !members) return "its schema is not one of an object";
  if (members->size() > input_members_max) return "its form has too many members";
  if (to_json(schema).size() > input_schema_bytes_max) return "its schema is too long";
  for (const auto& [name, member] : *members) {
    if (!is_form_member(member)) return "a member of its form is neither a value nor a choice";
  }
  return std::nullopt;
}

Value with_defaults(const Value& schema, Value content) {
  if (!content.as_object()) content = Value(Value::Object());
  for (const auto& [name, member] : *schema["properties"].as_object()) {
    const Value* preset = member.find("default");
    if (preset) content.as_object()->emplace(name, *preset);
  }
  return content;
}

std::string_view name_of_action(InputAction action) {
  switch (action) {
    case InputAction::accept:
      return "accept";
    case InputAction::decline:
      return "decline";
    case InputAction::cancel:
      return "cancel";
  }
  return "cancel";
}

// The outcome of a function that can throw.
struct Given {
  Result<InputResponse> response = InputResponse();
  std::exception_ptr thrown = nullptr;
};

Task<Given> guarded_input(InputFunction function, InputRequest request) {
  Given given;
  try {
    auto task = function(std::move(request));
    auto response = co_await task;
    given.response = std::move(response);
  } catch (...) {
    given.thrown = std::current_exception();
  }
  co_return given;
}

}  // namespace

Result<InputRequest> input_request_of(const Value& params) {
  InputRequest request;
  const Value& mode = params["mode"];
  if (!mode.is_null() && mode != Value("form")) {
    return malformed_input("it has no form, which is the only mode that this client has");
  }
  const std::string* message = params["message"].as_string();
  if (!message || message->size() > input_message_bytes_max) {
    return malformed_input("its message is missing or too long");
  }
  request.message = *message;
  request.schema = params["requestedSchema"];
  if (auto fault = form_fault(request.schema)) return malformed_input(*fault);
  return request;
}

Result<Value> input_result_of(const InputRequest& request, InputResponse response) {
  Value::Object result{{"action", name_of_action(response.action)}};
  if (response.action == InputAction::accept) {
    Value content = with_defaults(request.schema, std::move(response.content));
    if (auto fault = schema_violation(request.schema, content)) {
      return error(ErrorCode::invalid, "The input for the tool " + in_quotes(request.tool) +
                                           " does not fit its form: " + *fault + ".");
    }
    result.emplace("content", std::move(content));
  }
  return Value(std::move(result));
}

std::string text_of(const InputRequest& request) {
  std::string text = in_quotes(models::quotable(request.message, quoted_message_characters));
  std::string members;
  std::size_t count = 0;
  for (const auto& [name, member] : *request.schema["properties"].as_object()) {
    if (++count > named_members_max) continue;
    members += (members.empty() ? "" : ", ") + models::quotable(name, quoted_member_characters) +
               " (" + *member["type"].as_string() + ")";
  }
  if (count > named_members_max) members += ", ...";
  return members.empty() ? text : text + " with " + members;
}

Task<Result<Value>> answer_input(InputSetting setting, Value params) {
  BELAY_CO_TRY(InputRequest request, input_request_of(params));
  request.server = setting.server;
  request.tool = setting.tool;
  if (!setting.on_input) {
    co_return error(ErrorCode::invalid, "The tool " + in_quotes(setting.tool) +
                                            " of the MCP server " + in_quotes(setting.server) +
                                            " asks for input, which this program cannot give: " +
                                            text_of(request) + ". The call did not end.");
  }
  Executor& executor = co_await this_executor();
  Completion<Given> first;
  Spawned asking = spawn<Given>(executor, guarded_input(setting.on_input, request),
                                [first](Given given) { first.complete(std::move(given)); });
  ExecutorTimer timer(executor, setting.timeout, [first] { first.complete(Given()); });
  Given given = co_await first;
  if (given.thrown) std::rethrow_exception(given.thrown);
  if (!given.response.ok()) co_return std::move(given.response).error();
  co_return input_result_of(request, *std::move(given.response));
}

Task<Result<Value>> answer_inputs(InputSetting setting, Value requests) {
  const Value::Object* asked = requests.as_object();
  if (!asked || asked->size() > input_requests_max) {
    co_return malformed_input("its requests are missing or too many");
  }
  Value::Object responses;
  for (const auto& [key, request] : *asked) {
    const std::string* method = request["method"].as_string();
    if (!method || *method != elicitation_method) {
      co_return malformed_input("a request is not one of elicitation");
    }
    auto answering = answer_input(setting, request["params"]);
    BELAY_CO_TRY(Value response, co_await answering);
    responses.emplace(key, std::move(response));
  }
  co_return Value(std::move(responses));
}

}  // namespace belay::mcp
