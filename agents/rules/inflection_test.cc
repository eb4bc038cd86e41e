#include "agents/rules/inflection.h"

#include <gtest/gtest.h>

#include "agents/rules/audit_rules.h"
#include "agents/rules/lexicon.h"

namespace belay::rules {
namespace {

bool matches(Language language, const char* word, const char* listed) {
  return is_form_of(language, word, listed_word(language, listed));
}

// Returns the categories of the entries that a single word matches.
std::string met_by(Language language, const char* word) {
  const Words words = words_of(word);
  const LexiconView view(lexicon_of(language), words);
  const auto match = view.longest(0, words.tokens.size(), [](const Entry& entry, std::size_t) {
    return !entry.phrase.empty();
  });
  return match ? std::string(name_of(match->entry->category)) : "";
}

TEST(Inflection, FindsTheFormsOfAnEnglishWord) {
  const auto form = [](const char* word, const char* listed) {
    return matches(Language::en, word, listed);
  };
  for (auto [word, listed] : {std::pair("nightmares", "nightmare"),
                              {"wanted", "want"},
                              {"wanting", "want"},
                              {"cries", "cry"},
                              {"cried", "crying"},
                              {"dying", "die"},
                              {"died", "dying"},
                              {"hoped", "hope"},
                              {"hoping", "hope"},
                              {"quarrelling", "quarrel"},
                              {"stopped", "stop"},
                              {"diseases", "disease"},
                              {"headache", "headaches"},
                              {"goes", "go"}}) {
    EXPECT_TRUE(form(word, listed)) << word << " " << listed;
  }
}

TEST(Inflection, FindsTheFormsOfASpanishWord) {
  const auto form = [](const char* word, const char* listed) {
    return matches(Language::es, word, listed);
  };
  for (auto [word, listed] : {std::pair("pesadillas", "pesadilla"),
                              {"dolores", "dolor"},
                              {"luces", "luz"},
                              {"cansadas", "cansado"},
                              {"cansada", "cansados"},
                              {"llorando", "llorar"},
                              {"lloraba", "lloré"},
                              {"discutian", "discutí"},
                              {"discutimos", "discutiendo"},
                              {"gritaron", "gritó"},
                              {"lloré", "lloré"}}) {
    EXPECT_TRUE(form(fold(word).c_str(), listed)) << word << " " << listed;
  }
}

TEST(Inflection, IsNotASharedStem) {
  for (auto [word, listed] : {std::pair("poor", "poorly"),
                              {"likely", "like"},
                              {"justly", "just"},
                              {"lately", "late"},
                              {"wonder", "wonderful"},
                              {"succession", "success"},
                              {"manager", "managed"},
                              {"emerging", "emergency"},
                              {"politeness", "political"},
                              {"bed", "be"},
                              {"his", "hi"}}) {
    EXPECT_FALSE(matches(Language::en, word, listed)) << word << " " << listed;
  }
  for (auto [word, listed] : {std::pair("marido", "mareado"),
                              {"mar", "mareado"},
                              {"hospitalidad", "hospital"},
                              {"recado", "recaída"},
                              {"recado", "recaí"},
                              {"caso", "casa"},
                              {"bronce", "bronca"},
                              {"serio", "sería"},
                              {"libro", "libre"},
                              {"morado", "morir"},
                              {"fatalidad", "fatal"}}) {
    EXPECT_FALSE(matches(Language::es, fold(word).c_str(), listed)) << word << " " << listed;
  }
}

TEST(Inflection, OfAnExactWordIsItself) {
  EXPECT_TRUE(matches(Language::en, "fired", "=fired"));
  EXPECT_FALSE(matches(Language::en, "fire", "=fired"));
  EXPECT_FALSE(matches(Language::es, "solos", "=solo"));
}

TEST(LexiconWords, ThatShareAStemAloneMeetNothing) {
  for (const char* word : {"poor", "fire", "fires", "rest", "journal", "garden", "tear", "please",
                           "wonder", "likely", "manager", "succession", "uttered"}) {
    EXPECT_EQ(met_by(Language::en, word), "") << word;
  }
  for (const char* word : {"marido", "mar", "hospitalidad", "recado", "bronce", "cocina", "camino",
                           "gracia", "término", "ópera", "fatalidad", "serio", "graciosas"}) {
    EXPECT_EQ(met_by(Language::es, word), "") << word;
  }
}

TEST(LexiconWords, ThatMeanTheSameAreListed) {
  for (auto [word, category] : {std::pair("poorly", "illness"),
                                {"hopelessness", "low_mood"},
                                {"anxiously", "anxiety"},
                                {"fired", "conflict"},
                                {"tearful", "low_mood"},
                                {"rejection", "isolation"},
                                {"enjoyment", "positive"}}) {
    EXPECT_EQ(met_by(Language::en, word), category) << word;
  }
  for (auto [word, category] : {std::pair("mareado", "illness"),
                                {"hospital", "illness"},
                                {"hospitales", "illness"},
                                {"recaí", "substance"},
                                {"asusta", "anxiety"},
                                {"dolorosa", "illness"},
                                {"tristemente", "low_mood"}}) {
    EXPECT_EQ(met_by(Language::es, word), category) << word;
  }
}

TEST(LexiconWords, LeaveACalmDayCalm) {
  EXPECT_EQ(analyse({"Gave a coin to a poor man on the bridge."}).risk_level, 1);
  EXPECT_EQ(analyse({"Le dejé un recado a mi marido."}).risk_level, 1);
  EXPECT_EQ(analyse({"La hospitalidad de la casa fue grande. Fuimos al mar."}).risk_level, 1);
}

}  // namespace
}  // namespace belay::rules
