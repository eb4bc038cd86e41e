#include "agents/rules/insights.h"

#include <algorithm>
#include <array>

#include "agents/rules/summary.h"

namespace belay::rules {
namespace {

constexpr std::size_t kQuotesMax = 3;
constexpr std::size_t kQuoteCodePointsMax = 60;

struct Label {
  std::string_view en;
  std::string_view es;
};

// By Category.
constexpr std::array<Label, kCategories> kLabels = {{
    {"Words that may speak of suicide or self-harm",
     "Palabras que pueden hablar de suicidio o "
     "autolesión"},
    {"Low mood", "Ánimo bajo"},
    {"Anxiety", "Ansiedad"},
    {"Poor sleep", "Mal sueño"},
    {"Conflict", "Conflicto"},
    {"Exhaustion", "Agotamiento"},
    {"Illness or pain", "Enfermedad o dolor"},
    {"Alcohol, drugs or sedatives", "Alcohol, drogas o sedantes"},
    {"Isolation", "Aislamiento"},
    {"Good moments", "Buenos momentos"},
    {"Things that help", "Cosas que ayudan"},
    {"Turns of speech", "Giros"},
}};

std::vector<std::string> quotes_of(const Insight& insight) {
  std::vector<std::string> quotes;
  std::vector<std::string> seen;
  for (const Evidence& evidence : insight.evidence) {
    std::string key = fold(evidence.quote);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(std::move(key));
    quotes.push_back(shortened(evidence.quote, 0, kQuoteCodePointsMax));
    if (quotes.size() == kQuotesMax) break;
  }
  return quotes;
}

// Returns “one”, “two”: the texts of phrases or reasons.
template <typename Items>
std::string quoted(const Items& items, bool spanish) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += spanish ? "«" + item.text + "»" : "“" + item.text + "”";
  }
  return text;
}

}  // namespace

std::string insight_text(const Insight& insight, Language language) {
  const bool spanish = language == Language::es;
  const Label& label = kLabels[static_cast<std::size_t>(insight.category)];
  std::string text(spanish ? label.es : label.en);
  text += ", " + std::to_string(insight.count);
  if (spanish) {
    text += insight.count == 1 ? " mención: " : " menciones: ";
  } else {
    text += insight.count == 1 ? " mention: " : " mentions: ";
  }
  bool first = true;
  for (const std::string& quote : quotes_of(insight)) {
    if (!first) text += ", ";
    first = false;
    text += spanish ? "«" : "“";
    text += quote;
    text += spanish ? "»" : "”";
  }
  return text + ".";
}

std::string classifier_text(const CrisisFloor& floor, Language language) {
  if (floor.reasons.empty()) return "";
  const bool spanish = language == Language::es;
  std::string text;
  if (floor.resembles) {
    text = spanish ? "Se parece a los días de crisis con los que se entrenaron las reglas"
                   : "Resembles the days of crisis that the rules were trained from";
  } else {
    text = spanish ? "Palabras de crisis que no cuentan, por el resto del texto: "
                   : "Words of crisis that do not count, because of the rest of the text: ";
    text += quoted(floor.set_aside, spanish);
  }
  text += spanish ? "; lo que más pesó: " : "; weighed most: ";
  return text + quoted(floor.reasons, spanish) + ".";
}

std::string not_assessed_text(bool has_text, Language language) {
  if (language == Language::es) {
    return has_text ? "Sin evaluar: las reglas no reconocen el idioma de estas notas; conviene que "
                      "las lea una persona."
                    : "Sin evaluar: no hay texto en las notas de este día.";
  }
  return has_text ? "Not assessed: the rules do not recognise the language of these notes; a "
                    "person should read them."
                  : "Not assessed: this day's notes have no text.";
}

std::string unread_notes_text(std::size_t count, Language language) {
  if (language == Language::es) {
    return count == 1 ? "Una nota quedó sin evaluar: las reglas no reconocen su idioma."
                      : std::to_string(count) +
                            " notas quedaron sin evaluar: las reglas no "
                            "reconocen su idioma.";
  }
  return count == 1 ? "One note was not assessed: the rules do not recognise its language."
                    : std::to_string(count) +
                          " notes were not assessed: the rules do not recognise their language.";
}

}  // namespace belay::rules
