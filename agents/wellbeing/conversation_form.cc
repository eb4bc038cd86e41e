#include "agents/wellbeing/conversation_form.h"

#include "agents/wellbeing/localized_text.h"
#include "agents/wellbeing/options.h"

namespace belay::wellbeing {
namespace {

bool is_word_character(char c) {
  return c == '-' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Returns the one day that the text names. Two of them are not decided by a guess.
Result<std::string> day_in(std::string_view text) {
  std::string day;
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < text.size(); begin = end + 1) {
    end = begin;
    while (end < text.size() && is_word_character(text[end])) ++end;
    std::string word(text.substr(begin, end - begin));
    if (!word.empty() && word[0] >= 'A' && word[0] <= 'Z') {
      word[0] = static_cast<char>(word[0] - 'A' + 'a');
    }
    if (!names_a_day(word) || word == day) continue;
    if (!day.empty()) {
      return error(ErrorCode::invalid,
                   "The text names two days: \"" + day + "\" and \"" + word + "\". Name one.");
    }
    day = std::move(word);
  }
  if (!day.empty()) return day;
  return error(ErrorCode::invalid,
               "The text names no day. Name one as YYYY-MM-DD, today, yesterday or tomorrow.");
}

void add_line(const Value& text, std::string_view before, std::string& answer) {
  const std::string* line = text.as_string();
  if (!line || line->empty()) return;
  if (!answer.empty()) answer += "\n";
  answer.append(before).append(*line);
}

void add_list(const Value& list, std::string& answer) {
  const Value::Array* items = list.as_array();
  if (!items) return;
  for (const Value& item : *items) add_line(item, "- ", answer);
}

// A result that was not assessed must not be read as one without a risk.
std::string risk_line(const Value& made, const Words& words) {
  auto risk = made["riskLevel"].as_int();
  if (risk && *risk >= 1) {
    return std::string(words.risk) + " " + std::to_string(*risk) + " " + std::string(words.of_ten);
  }
  if (!made.find("assessed")) return "";
  return std::string(words.risk) + ": " + std::string(words.not_assessed);
}

std::string answer_of(const Value& made, belay::Language language) {
  std::string answer;
  add_line(risk_line(made, words_of(language)), "", answer);
  add_line(made["localHelp"], "", answer);
  add_line(made["summary"], "", answer);
  add_list(made["keyInsights"], answer);
  if (const Value::Array* activities = made["activities"].as_array()) {
    for (const Value& each : *activities) {
      const std::string* time = each["time"].as_string();
      add_line(each["activity"], time ? *time + "  " : "", answer);
      add_line(each["expectedBenefit"], "  ", answer);
    }
  }
  add_list(made["remarks"], answer);
  add_line(made["notice"], "", answer);
  add_line(made["disclaimer"], "", answer);
  return answer;
}

}  // namespace

ConversationForm conversation_form(std::string_view made) {
  ConversationForm form;
  form.input_of = [](std::string_view text) -> Result<Value> {
    BELAY_TRY(std::string day, day_in(text));
    return Value::object({{"date", std::move(day)}});
  };
  form.messages_of = [made](const Value& state, const std::string& question_id) {
    std::vector<FormMessage> messages;
    const std::string* date = state["date"].as_string();
    if (date && !date->empty()) {
      messages.push_back({.message = {Role::user, *date}, .id = question_id});
    }
    bool is_spanish = state["language"] == Value("es");
    std::string answer =
        answer_of(state[made], is_spanish ? belay::Language::es : belay::Language::en);
    if (!answer.empty()) {
      messages.push_back({.message = {Role::assistant, std::move(answer)}});
    }
    return messages;
  };
  return form;
}

}  // namespace belay::wellbeing
