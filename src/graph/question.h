#pragma once
// graph/question.h - what makes two questions the same: their name and the text of what is shown.

#include <string>
#include <string_view>

namespace belay {

std::string question_key(std::string_view name, std::string_view payload_json);

}  // namespace belay
