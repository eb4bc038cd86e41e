#include "agents/rules/training/training_days.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "agents/rules/words.h"
#include "belay/value.h"

namespace belay::rules {
namespace {

constexpr std::size_t kVariants = 15;

std::string text_in(const Value& value) {
  return value.as_string() == nullptr ? "" : *value.as_string();
}

Error bad_line(const std::string& path, std::size_t line, const std::string& why) {
  return error(ErrorCode::invalid, "Line " + std::to_string(line) + " of '" + path + "' " + why);
}

Result<TrainingDay> labelled_day(const std::string& path, std::size_t number,
                                 const std::string& line) {
  const auto value = parse_json(line);
  if (!value.ok()) return bad_line(path, number, "is not JSON: " + value.error().message);
  const auto* notes = (*value)["notes"].as_array();
  const bool* crisis = (*value)["crisis"].as_bool();
  const auto risk = (*value)["risk"].as_int();
  if (notes == nullptr || crisis == nullptr || !risk) {
    return bad_line(path, number, "lacks notes, crisis or risk.");
  }
  TrainingDay day{
      {}, *crisis, static_cast<int>(*risk), text_in((*value)["kind"]), text_in((*value)["lang"])};
  for (const Value& note : *notes) day.notes.push_back(text_in(note));
  return day;
}

Result<Done> append_labelled(const std::string& path, std::vector<TrainingDay>& out) {
  std::ifstream file(path);
  if (!file) return error(ErrorCode::not_found, "Cannot read '" + path + "'.");
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    BELAY_TRY(TrainingDay day, labelled_day(path, number, line));
    out.push_back(std::move(day));
  }
  return Done{};
}

Result<Done> append_templates(const std::string& path, const std::string& language,
                              std::vector<TrainingDay>& out) {
  std::ifstream file(path);
  if (!file) return error(ErrorCode::not_found, "Cannot read '" + path + "'.");
  std::string line;
  for (std::uint32_t number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with("+ ") && !line.starts_with("- ")) {
      return bad_line(path, number, "begins with neither '+ ' nor '- '.");
    }
    const bool crisis = line.starts_with('+');
    for (std::string& text : variants_of(std::string_view(line).substr(2), number, kVariants)) {
      out.push_back({{std::move(text)}, crisis, 0, "template", language});
    }
  }
  return Done{};
}

// Returns the alternatives of a group: the text between its braces, split at "|".
std::vector<std::string_view> alternatives_of(std::string_view group) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t end = group.find('|');
    out.push_back(group.substr(0, end));
    if (end == std::string_view::npos) return out;
    group.remove_prefix(end + 1);
  }
}

// A linear congruential generator; its upper bits choose.
class Choices {
 public:
  explicit Choices(std::uint32_t seed) : state_(seed * 2654435761U + 12345U) {}
  std::size_t below(std::size_t count) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<std::size_t>((std::uint64_t{state_} * count) >> 32U);
  }

 private:
  std::uint32_t state_;
};

}  // namespace

std::vector<std::string> variants_of(std::string_view pattern, std::uint32_t seed,
                                     std::size_t count) {
  std::vector<std::string> out;
  Choices choices(seed);
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    std::string_view rest = pattern;
    while (!rest.empty()) {
      const std::size_t open = std::min(rest.find('{'), rest.size());
      text += rest.substr(0, open);
      rest.remove_prefix(open);
      const std::size_t close = rest.find('}');
      if (close == std::string_view::npos) {
        text += rest;
        break;
      }
      const auto alternatives = alternatives_of(rest.substr(1, close - 1));
      text += alternatives[choices.below(alternatives.size())];
      rest.remove_prefix(close + 1);
    }
    if (!has(out, text)) out.push_back(std::move(text));
  }
  return out;
}

Result<std::vector<TrainingDay>> read_training_days(const std::string& folder) {
  std::vector<TrainingDay> days;
  BELAY_CHECK(append_labelled(folder + "/train_en.jsonl", days));
  BELAY_CHECK(append_labelled(folder + "/train_es.jsonl", days));
  BELAY_CHECK(append_templates(folder + "/templates_en.txt", "en", days));
  BELAY_CHECK(append_templates(folder + "/templates_es.txt", "es", days));
  return days;
}

}  // namespace belay::rules
