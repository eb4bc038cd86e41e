#pragma once
// graph/question.h - returns the identity of a question: its name and the hash of its payload.

#include <string>
#include <string_view>

namespace belay {

std::string question_key(std::string_view name, std::string_view payload_json);

}  // namespace belay
