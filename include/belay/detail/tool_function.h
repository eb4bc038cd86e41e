#pragma once
// belay/detail/tool_function.h - converts the function of a tool to one of JSON, for belay/tool.h.

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "belay/task.h"
#include "belay/value.h"

namespace belay {

class ToolContext;

namespace detail {

// Converts the value that a tool's function returns to the text for the model.
template <typename T>
Result<std::string> tool_text(T value) {
  if constexpr (std::is_convertible_v<T, std::string>) {
    return std::string(std::move(value));
  } else if constexpr (std::is_same_v<T, Done>) {
    return std::string("done");
  } else if constexpr (std::is_same_v<T, Value>) {
    return to_json(value);
  } else {
    return encode_json(value);
  }
}
template <typename T>
Result<std::string> tool_text(Result<T> result) {
  if (!result.ok()) return std::move(result).error();
  return tool_text(std::move(*result));
}

template <typename Arguments, typename F>
Task<Result<std::string>> call_tool(std::shared_ptr<const F> function, Value given,
                                    ToolContext& call) {
  auto arguments = decode_json<Arguments>(given);
  if (!arguments.ok()) co_return std::move(arguments).error();
  using Returned = std::invoke_result_t<const F&, const Arguments&, ToolContext&>;
  if constexpr (requires(Returned returned) { returned.operator co_await(); }) {
    auto task = (*function)(*arguments, call);
    auto returned = co_await task;
    co_return tool_text(std::move(returned));
  } else {
    co_return tool_text((*function)(*arguments, call));
  }
}

template <typename Arguments, typename F>
std::function<Task<Result<std::string>>(Value, ToolContext&)> tool_function(F function) {
  auto shared = std::make_shared<const F>(std::move(function));
  return [shared](Value given, ToolContext& call) {
    return call_tool<Arguments, F>(shared, std::move(given), call);
  };
}

}  // namespace detail
}  // namespace belay
