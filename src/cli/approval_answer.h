#pragma once
// cli/approval_answer.h - the answer of an approval from the words of the command line.
//
// Threading: any thread.

#include <optional>
#include <string>
#include <vector>

#include "belay/result.h"
#include "belay/value.h"

namespace belay::cli {

// Combines the JSON object `whole` with the pairs "member=value"; a pair overrides. The value is a
// text if the schema's member is a text, otherwise JSON. Null if both are empty. `invalid`, with
// the member's name, for a member that the schema does not have.
Result<Value> answer_from(const Value& schema, const std::optional<std::string>& whole,
                          const std::vector<std::string>& pairs);

// The words "--set amount=..." for each member of the schema.
std::vector<std::string> answer_words(const Value& schema);

}  // namespace belay::cli
