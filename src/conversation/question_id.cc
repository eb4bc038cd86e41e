#include "conversation/question_id.h"

#include "agent/message_id.h"
#include "base/text_in.h"

namespace belay::conversation {
namespace {

// A longer one is not an id: clients send UUIDs.
constexpr std::size_t kIdBytesMax = 256;

}  // namespace

std::string question_id_of(const std::vector<ChatEntry>& messages) {
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    if (message->author == Author::person) return message->id;
  }
  return {};
}

std::string with_question_id(std::string configuration, const std::string& id) {
  if (id.empty() || id.size() > kIdBytesMax) return configuration;
  Value all = Value::Object();
  if (!configuration.empty()) all = parse_json(configuration).value_or(Value());
  // The start refuses a configuration that is not an object.
  if (!all.as_object()) return configuration;
  all.as_object()->insert_or_assign(std::string(agents::kQuestionId), id);
  return to_json(all);
}

std::string question_id_of(const RunRow& run) {
  // Most runs have no such id, and their options need not be read.
  if (run.options.find(agents::kQuestionId) == run.options.npos) return {};
  Value options = parse_json(run.options).value_or(Value());
  const std::string* configuration = std::as_const(options)["configuration"].as_string();
  if (!configuration) return {};
  return text_in(parse_json(*configuration).value_or(Value()), agents::kQuestionId);
}

}  // namespace belay::conversation
