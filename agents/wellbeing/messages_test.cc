#include "agents/wellbeing/messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace belay::wellbeing {
namespace {

std::multiset<std::string> places_of(std::string_view text) {
  std::multiset<std::string> places;
  for (std::size_t open = text.find('{'); open != text.npos; open = text.find('{', open + 1)) {
    const std::size_t close = text.find('}', open);
    if (close == text.npos) break;
    places.emplace(text.substr(open + 1, close - open - 1));
  }
  return places;
}

TEST(Messages, AreCompleteInBothLanguages) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < kTexts; ++i) {
    const auto text = static_cast<Text>(i);
    const std::string_view en = wording(text, Language::en);
    const std::string_view es = wording(text, Language::es);
    EXPECT_FALSE(en.empty()) << i;
    EXPECT_FALSE(es.empty()) << i;
    EXPECT_NE(en, es) << en;
    EXPECT_EQ(places_of(en), places_of(es)) << en;
    EXPECT_TRUE(seen.insert(en).second) << en;
    EXPECT_TRUE(seen.insert(es).second) << es;
    EXPECT_EQ(en.find('\n'), en.npos) << en;
    EXPECT_EQ(es.find('\n'), es.npos) << es;
  }
}

TEST(Messages, KeepTheWordsThatTheAgentsAreKnownBy) {
  EXPECT_EQ(wording(Text::no_previous_data, Language::es), "No hay datos previos.");
  EXPECT_EQ(wording(Text::first_recommendation, Language::es),
            "Establecer rutina básica de bienestar");
  EXPECT_EQ(wording(Text::audit_paused, Language::es), "Análisis completado, esperando aprobación");
  EXPECT_EQ(wording(Text::audit_completed, Language::es), "Auditoría diaria completada");
  EXPECT_EQ(wording(Text::approved_and_completed, Language::es), "Ejecución aprobada y completada");
  EXPECT_EQ(wording(Text::rejected_and_completed, Language::es), "Ejecución cancelada");
}

TEST(Messages, FillTheirPlacesOnce) {
  EXPECT_EQ(filled("a {x} {y} {x}", {{"x", "{y}"}, {"y", "2"}}), "a {y} 2 {y}");
  EXPECT_EQ(filled("{unknown} { {}", {{"x", "1"}}), "{unknown} { {}");
  EXPECT_EQ(filled("", {}), "");
}

TEST(Messages, KnowTheirLanguages) {
  EXPECT_EQ(language_named("en", Language::es), Language::en);
  EXPECT_EQ(language_named("es", Language::en), Language::es);
  EXPECT_EQ(language_named("fr", Language::es), Language::es);
  EXPECT_EQ(name_of(Language::en), "en");
  EXPECT_EQ(name_of(Language::es), "es");
}

}  // namespace
}  // namespace belay::wellbeing
