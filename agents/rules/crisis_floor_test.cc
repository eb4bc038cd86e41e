#include "agents/rules/crisis_floor.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "agents/rules/audit_rules.h"
#include "agents/rules/statement.h"

namespace belay::rules {
namespace {

std::optional<int> minimum(std::string text) { return crisis_floor({std::move(text)}).minimum; }

TEST(CrisisFloor, FindsDirectWordings) {
  for (const char* text :
       {"I want to die", "I wanted to die last night", "i don't want to live anymore",
        "I dont want to live", "thinking of killing myself", "I’m going to end my life",
        "Quiero morir", "no quiero vivir más", "pensé en suicidarme", "quiero quitarme la vida",
        "ME QUIERO MORIR", "ojala no despertara", "Ojalá no despertara"}) {
    EXPECT_GE(minimum(text).value_or(0), 8) << text;
  }
}

TEST(CrisisFloor, FindsCommonIndirectWordings) {
  for (const char* text :
       {"Everyone would be better off without me", "I'm just a burden to them",
        "I gave away my things", "there's nothing left to live for", "I can't see no way out",
        "estarían mejor sin mí", "soy una carga para todos", "no le veo sentido a vivir",
        "quiero desaparecer", "me despedí de todos"}) {
    EXPECT_GE(minimum(text).value_or(0), 8) << text;
  }
}

TEST(CrisisFloor, APlanOrAnActIsTheHighestLevel) {
  EXPECT_EQ(minimum("I wrote the suicide note"), 10);
  EXPECT_EQ(minimum("He guardado las pastillas"), 10);
}

TEST(CrisisFloor, GoodNewsCancelNoStatement) {
  EXPECT_EQ(minimum("Wonderful, happy day! I want to die. Great dinner."), 9);
  EXPECT_EQ(minimum("Qué día tan feliz. Quiero morir. Cena estupenda con amigos."), 9);
}

TEST(CrisisFloor, HiddenCharactersAndOddSpellingHideNothing) {
  EXPECT_EQ(minimum("I want to d\u200Bie"), 9);
  EXPECT_EQ(minimum("I want to d\u00ADie"), 9);
  EXPECT_EQ(minimum("Ｉ ｗａｎｔ ｔｏ ｄｉｅ"), 9);
  EXPECT_EQ(minimum("I  want,   to -- die"), 9);
  EXPECT_EQ(minimum("quiero\nmorir"), 9);
}

TEST(CrisisFloor, CountsTheQuotationMarksOfTheWholeText) {
  const std::string text = "\"a\" \u00ABb\u00BB \u201Cc\u201D d";
  const QuotationMarks marks(text);
  EXPECT_EQ(marks.count(), 6u);
  for (std::size_t offset = 0; offset <= text.size(); ++offset) {
    const std::string_view rest = std::string_view(text).substr(offset);
    EXPECT_EQ(marks.count() - marks.before(offset), QuotationMarks(rest).count()) << offset;
  }
}

TEST(CrisisFloor, AQuotationIsNoStatement) {
  for (const char* quoted : {"The film: \"I want to die\" he cried. \"No\".",
                             "The film: \u201CI want to die\u201D he cried."}) {
    for (const CrisisPhrase& phrase : crisis_floor({quoted}).phrases) {
      EXPECT_FALSE(phrase.statement) << quoted;
    }
  }
}

TEST(CrisisFloor, IdiomsAreTheOnlyException) {
  for (const char* text :
       {"Casi quiero morirme de risa", "I'm dying to see you", "we were killing time",
        "I nearly died laughing", "I shot myself in the foot", "me muero de hambre",
        "me mato a estudiar", "La espalda me mata", "matar el tiempo", "I cut myself shaving"}) {
    EXPECT_EQ(minimum(text), std::nullopt) << text;
  }
}

TEST(CrisisFloor, AnIdiomElsewhereCoversNothing) {
  EXPECT_EQ(minimum("I nearly died laughing. Later I wanted to die."), 9);
  EXPECT_EQ(minimum("I want to die. Laughing hurts."), 9);
  EXPECT_EQ(minimum("Me muero de hambre. Quiero morirme."), 9);
}

TEST(CrisisFloor, QuotesThePhraseWithItsPlace) {
  const std::vector<std::string> texts = {"Nada.", "Año nuevo. ¡Quiero morir!"};
  const CrisisFloor floor = crisis_floor(texts);
  ASSERT_EQ(floor.phrases.size(), 1u);
  const CrisisPhrase& phrase = floor.phrases[0];
  EXPECT_EQ(phrase.text, "Quiero morir");
  EXPECT_EQ(phrase.text_index, 1u);
  EXPECT_EQ(texts[1].substr(phrase.span.begin, phrase.span.end - phrase.span.begin), phrase.text);
}

TEST(CrisisFloor, OrdinaryTextHasNone) {
  const CrisisFloor floor =
      crisis_floor({"I was tired and went to bed.", "Hoy comí con mi madre.", ""});
  EXPECT_EQ(floor.minimum, std::nullopt);
  EXPECT_TRUE(floor.phrases.empty());
  EXPECT_TRUE(floor.reasons.empty());
}

TEST(CrisisFloor, IsFoundInTextOfAnUnknownLanguage) {
  const AuditFindings findings =
      analyse({"Ich bin heute sehr müde und habe nicht geschlafen. I want to die."});
  EXPECT_TRUE(findings.assessed);
  EXPECT_EQ(findings.risk_level, 9);
}

TEST(CrisisFloor, OnlyRaises) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const auto level = *rc::gen::inRange(1, 11);
    RC_ASSERT(raised(level, crisis_floor({text})) >= level);
    RC_ASSERT(raised(level, crisis_floor({text + " I want to die"})) >= 9);
    RC_ASSERT(raised(level, CrisisFloor{}) == level);
  }));
}

TEST(CrisisFloor, NothingCheerfulAroundAStatementLowersIt) {
  EXPECT_TRUE(rc::check([] {
    const auto crisis = *rc::gen::element<std::string>(
        "I want to die", "quiero morir", "I am going to kill myself", "voy a suicidarme");
    const auto around = rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
        "happy", "wonderful", "feliz", "great day", "calm", "therapy", "slept 8 hours", ",", ".",
        "\n", "\n\n", "dormí bien", "thank you", "but", "pero"));
    std::string text;
    for (const std::string& word : *around) text += word + " ";
    text += crisis;
    for (const std::string& word : *around) text += " " + word;
    RC_ASSERT(minimum(text).value_or(0) >= 8);
    RC_ASSERT(analyse({text}).risk_level >= 8);
    RC_ASSERT(analyse({"A happy day with friends.", text}).risk_level >= 8);
  }));
}

}  // namespace
}  // namespace belay::rules
