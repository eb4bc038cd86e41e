#pragma once
// belay/detail/scripted_answer.h - the functions that a ScriptedModel accepts as replies.

#include <concepts>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "belay/model.h"

namespace belay::testing::detail {

// A function of the request that returns a text, a ModelReply, or a Result of one of them.
class ScriptedAnswer {
 public:
  ScriptedAnswer() = default;
  template <std::invocable<const ModelRequest&> Function>
    requires(!std::same_as<std::remove_cvref_t<Function>, ScriptedAnswer>)
  ScriptedAnswer(Function function) {
    using Returned = std::invoke_result_t<Function&, const ModelRequest&>;
    if constexpr (std::convertible_to<Returned, Result<std::string>>) {
      reply_ = [function = std::move(function)](
                   const ModelRequest& request) mutable -> Result<ModelReply> {
        Result<std::string> text = function(request);
        if (!text.ok()) return std::move(text).error();
        ModelReply reply;
        reply.text = *std::move(text);
        return reply;
      };
    } else {
      reply_ = std::move(function);
    }
  }

  explicit operator bool() const { return reply_ != nullptr; }
  Result<ModelReply> operator()(const ModelRequest& request) const { return reply_(request); }

 private:
  std::function<Result<ModelReply>(const ModelRequest&)> reply_;
};

}  // namespace belay::testing::detail
