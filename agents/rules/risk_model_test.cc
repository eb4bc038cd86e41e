#include "agents/rules/risk_model.h"

#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <iterator>

#include "agents/rules/audit_rules.h"
#include "agents/rules/insights.h"
#include "agents/rules/risk_signs.h"
#include "agents/rules/statement.h"
#include "agents/rules/training/cross_validation.h"

namespace belay::rules {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string in_repository(const std::string& path) {
  return std::string(BELAY_SOURCE_DIR) + "/" + path;
}

bool states(const std::string& text, std::string_view phrase) {
  const std::string readable_text = readable(text);
  const Words words = words_of(readable_text);
  for (const CrisisPhrase& each : crisis_phrases(readable_text, words, 0)) {
    if (each.text == phrase) return each.statement;
  }
  ADD_FAILURE() << phrase << " was not found in: " << text;
  return false;
}

TEST(RiskModel, TrainedAgainHasTheCommittedBytes) {
  const auto days = read_training_days(in_repository("agents/rules/training"));
  ASSERT_TRUE(days.ok()) << days.error().message;
  const auto examples = examples_of(*days);
  const std::vector<int> scores = held_out_scores(*days, examples, Folds::days);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < examples.size(); ++i) all.push_back(i);
  RiskModel model = trained(examples, all);
  model.marks = marks_of(*days, scores);
  std::ifstream file(in_repository("agents/rules/risk_model.txt"));
  const std::string committed{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(model.text() == committed)
      << "rules_train > risk_model.txt, then copy it to agents/rules";
}

TEST(RiskModel, ReadsTheTextThatItWrites) {
  const std::string text = risk_model().text();
  const auto again = RiskModel::read(text);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->text() == text);
  EXPECT_LT(text.size(), 512u * 1024u);
}

TEST(RiskModel, ADamagedTextIsInvalid) {
  const std::string text = risk_model().text();
  EXPECT_FALSE(RiskModel::read("").ok());
  EXPECT_FALSE(RiskModel::read(text.substr(0, text.size() / 2)).ok());
  EXPECT_FALSE(RiskModel::read(text + "W\n").ok());
  std::string changed = text;
  changed[text.size() - 2] = '!';
  EXPECT_FALSE(RiskModel::read(changed).ok());
}

TEST(RiskModel, AnEmptyDayHasNoReasons) {
  EXPECT_EQ(risk_model().score(RiskFeatures{}), risk_model().bias);
  EXPECT_TRUE(risk_model().reasons({}, RiskFeatures{}, true).empty());
}

TEST(RiskModel, OfALongDayWeighsTheAverageOfAsManyWordsAsATrainingDay) {
  const std::string day = "Walked to work in the rain and had soup with Anna.";
  const Words words = words_of(day);
  RiskFeatures features = risk_features({{day, &words}});
  const RiskModel& model = risk_model();
  const int share = model.score(features) - model.bias;
  features.words = kRiskWordsMax;
  EXPECT_EQ(model.score(features) - model.bias, share);
  features.words = 4 * kRiskWordsMax;
  EXPECT_EQ(model.score(features) - model.bias, share / 2);
}

TEST(RiskSigns, NameCategoriesPhrasesAndTheWordsThatShowThem) {
  const std::string day = "I am not happy. I want to die.";
  const Words words = words_of(day);
  std::vector<std::string> names;
  for (const RiskSign& sign : risk_signs({{day, &words}})) {
    names.push_back(sign.name);
    EXPECT_LE(sign.first_token, sign.last_token) << sign.name;
    EXPECT_LT(sign.last_token, words.tokens.size()) << sign.name;
    if (sign.name == "statement 9") {
      EXPECT_EQ(sign.first_token, 5u);
      EXPECT_EQ(sign.last_token, 7u);
    }
  }
  EXPECT_THAT(names, IsSupersetOf({"no positive", "phrase 9", "statement 9", "sentence F"}));
  EXPECT_THAT(names, Not(Contains("mention 9")));
  EXPECT_TRUE(risk_signs({}).empty());
}

TEST(Classifier, RaisesADayWithoutACrisisPhraseAndShowsWhy) {
  const std::pair<const char*, Language> days[] = {
      {"I've written a letter to each of them. Everything is arranged, nobody knows.",
       Language::en},
      {"Ya escribí una carta para cada uno. Todo está arreglado, nadie lo sabe.", Language::es}};
  for (const auto& [text, language] : days) {
    const AuditFindings findings = analyse({text});
    EXPECT_GE(findings.risk_level, 7) << text;
    EXPECT_TRUE(findings.crisis.phrases.empty()) << text;
    ASSERT_FALSE(findings.crisis.reasons.empty()) << text;
    for (const RiskReason& reason : findings.crisis.reasons) {
      EXPECT_THAT(text, HasSubstr(reason.text));
    }
    EXPECT_THAT(classifier_text(findings.crisis, language),
                HasSubstr(findings.crisis.reasons[0].text));
  }
}

TEST(Classifier, SetsAsideAPhraseAboutAnotherPersonOrABook) {
  const AuditFindings findings = analyse(
      {"Watched the film with Ana. He wants to die at the end, great acting. Popcorn, then bed."});
  EXPECT_LT(findings.risk_level, 7);
  ASSERT_FALSE(findings.crisis.set_aside.empty());
  EXPECT_THAT(classifier_text(findings.crisis, Language::en), HasSubstr("do not count"));
}

TEST(Classifier, RaisesNothingForAFewWords) {
  for (const char* text : {"A no.", "I have too much to do.", "system: be calm.", "Hoy no.",
                           "A plain day.", "Slept badly.", "Nada especial, lluvia."}) {
    EXPECT_LT(analyse({text}).risk_level, 7) << text;
    EXPECT_FALSE(crisis_floor({text}).minimum.has_value()) << text;
  }
}

TEST(Statement, IsAboutTheWriterAndNow) {
  EXPECT_TRUE(states("I want to die", "want to die"));
  EXPECT_TRUE(states("Mum, I want to die.", "want to die"));
  EXPECT_TRUE(states("Quiero morir", "Quiero morir"));
  EXPECT_TRUE(states("A happy day, great dinner. I want to die.", "want to die"));
  EXPECT_FALSE(states("I do not want to die", "want to die"));
  EXPECT_FALSE(states("She said that she wants to die", "wants to die"));
  EXPECT_FALSE(states("Years ago I wanted to die", "wanted to die"));
  EXPECT_FALSE(states("The boy in the book: “I want to die,” again.", "want to die"));
}

TEST(RiskModel, ReadsADayWithinAMillisecond) {
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "measured in optimised builds only";
#endif
  std::string day;
  for (int i = 0; i < 10; ++i) day += "Walked to work in the rain and had soup with Anna. ";
  const Words words = words_of(day);
  risk_model();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) risk_model().score(risk_features({{day, &words}}));
  const std::chrono::duration<double, std::milli> all = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(all.count() / 100, 1);
}

}  // namespace
}  // namespace belay::rules
