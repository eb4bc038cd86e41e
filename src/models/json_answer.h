#pragma once
// models/json_answer.h - whether an answer is the JSON text that was asked for.

#include <optional>
#include <string>
#include <string_view>

#include "belay/model.h"

namespace belay::models {

// Many models put a fence around it, whatever they are told.
std::string_view without_fence(std::string_view text);

// What is wrong with the answer, as a sentence without its end; nothing if it obeys the schema.
std::optional<std::string> json_fault(const ModelReply& reply, const Value& schema);

}  // namespace belay::models
