#pragma once
// models/json_answer.h - checks that a model's reply is the requested JSON text.

#include <optional>
#include <string>
#include <string_view>

#include "belay/model.h"

namespace belay::models {

// Returns the text without a code fence, which many models add even if instructed not to.
std::string_view without_fence(std::string_view text);

// Returns the fault as a sentence without a full stop; nullopt if the reply matches the schema.
std::optional<std::string> json_fault(const ModelReply& reply, const Value& schema);

}  // namespace belay::models
