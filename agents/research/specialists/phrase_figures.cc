// Figures and findings of phrases: red flags of the whole text, and controls of Item 9A.

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "agents/research/filings/phrases.h"
#include "agents/research/specialists/text_figures.h"
#include "agents/research/specialists/text_subtask.h"

namespace belay::research {
namespace {

struct RedFlagPhrase {
  const char* name;
  std::string_view phrase;
  bool is_finding;  // if it occurs
};

constexpr std::array<RedFlagPhrase, 10> kRedFlagPhrases = {{
    {"going_concern", "going concern", true},
    {"substantial_doubt", "substantial doubt", true},
    {"material_weakness", "material weakness", false},
    {"not_effective", "not effective", true},
    {"subpoena", "subpoena", true},
    {"restatement", "restatement", false},
    {"antitrust", "antitrust", true},
    {"impairment", "impairment", false},
    {"related_party", "related party", false},
    {"significant_customer", "10% or more", false},
}};

constexpr std::array<std::string_view, 4> kEffective = {"was effective", "were effective",
                                                        "is effective", "are effective"};
constexpr std::string_view kNotEffective = "not effective";
constexpr std::string_view kMaterialWeakness = "material weakness";

// Returns the occurrences in a part; no_text if it is not there.
template <std::size_t kSize>
Quantity occurrences(const std::optional<PhraseText>& text, const std::string& reason,
                     const std::array<std::string_view, kSize>& phrases) {
  if (!text) return Quantity::missing(Missing::no_text, reason);
  std::uint64_t count = 0;
  for (const std::string_view phrase : phrases) count += text->count(phrase);
  return Quantity::of(static_cast<double>(count));
}

}  // namespace

Results red_flag_phrases(const TextContext& context) {
  TextSubtask subtask(context, "financial", "red_flag_detection");
  const MeasuredPart document = measured_document(context);
  std::optional<PhraseText> text;
  if (context.text != nullptr) text.emplace(context.text->bytes());
  for (const RedFlagPhrase& flag : kRedFlagPhrases) {
    const std::string metric = std::string("phrase_") + flag.name;
    subtask.add(metric, "count", occurrences(text, document.reason, std::array{flag.phrase}));
    const auto first = text && flag.is_finding ? text->first(flag.phrase) : std::nullopt;
    if (first) subtask.add_finding(metric, Severity::medium, metric, *first);
  }
  return subtask.take();
}

Results controls(const TextContext& context) {
  TextSubtask subtask(context, "governance", "controls");
  const MeasuredPart part = measured_item(context, "9A");
  const TenKItem* item = context.text != nullptr ? context.text->item("9A") : nullptr;
  std::optional<PhraseText> text;
  if (item != nullptr) text.emplace(context.text->bytes(), *item);
  subtask.add("controls_effective_mentions", "count", occurrences(text, part.reason, kEffective));
  subtask.add("controls_not_effective_mentions", "count",
              occurrences(text, part.reason, std::array{kNotEffective}));
  subtask.add("material_weakness_mentions", "count",
              occurrences(text, part.reason, std::array{kMaterialWeakness}));
  const auto ineffective = text ? text->first(kNotEffective) : std::nullopt;
  const auto weakness = text ? text->first(kMaterialWeakness) : std::nullopt;
  const bool quote_weakness = weakness && (!ineffective || weakness->begin < ineffective->begin);
  if (ineffective || weakness) {
    subtask.add_finding(
        "control_weakness_disclosed", Severity::high,
        quote_weakness ? "material_weakness_mentions" : "controls_not_effective_mentions",
        quote_weakness ? *weakness : *ineffective);
  }
  return subtask.take();
}

}  // namespace belay::research
