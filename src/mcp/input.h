#pragma once
// mcp/input.h - forms that a server asks a person to fill in: reads them, and checks the responses.
// Pure functions, except answer_inputs().

#include "belay/mcp.h"

namespace belay::mcp {

// Reads the parameters of elicitation/create, which are untrusted. Fails with `invalid` for a form
// that is malformed or too large, and for another mode than "form".
Result<InputRequest> input_request_of(const Value& params);

// Returns the result of elicitation/create: with the defaults of the form, if members are missing.
// Fails with `invalid` if the content does not fit the form.
Result<Value> input_result_of(const InputRequest& request, InputResponse response);

// One line about a form, for a model or a person.
std::string text_of(const InputRequest& request);

// The functions and limits of one call.
struct InputSetting {
  std::string server{}, tool{};
  InputFunction on_input = nullptr;
  std::chrono::milliseconds timeout{0};
};

// Asks for one form, within the timeout. `params`: those of elicitation/create. Fails with
// `invalid` if `on_input` is null: the error names that which is asked.
Task<Result<Value>> answer_input(InputSetting setting, Value params);

// Returns the responses to the requests of a result that requires input, by their keys.
Task<Result<Value>> answer_inputs(InputSetting setting, Value requests);

}  // namespace belay::mcp
