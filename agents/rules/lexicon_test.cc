#include "agents/rules/lexicon.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "agents/rules/lexicon_text.h"
#include "belay/value.h"

namespace belay::rules {
namespace {

using ::testing::HasSubstr;

TEST(Lexicon, BothFilesAreWellFormed) {
  for (const auto& [language, text] :
       {std::pair{Language::en, kLexiconEn}, std::pair{Language::es, kLexiconEs}}) {
    EXPECT_FALSE(first_invalid_utf8(text).has_value());
    const auto lexicon = Lexicon::read(language, text);
    ASSERT_TRUE(lexicon.ok()) << lexicon.error().message;
    EXPECT_GT(lexicon->entries().size(), 500u);
  }
}

TEST(Lexicon, EachLanguageHasEveryCategory) {
  for (const Language language : {Language::en, Language::es}) {
    std::map<Category, int> counts;
    for (const Entry& entry : lexicon_of(language).entries()) ++counts[entry.category];
    EXPECT_EQ(counts.size(), kCategories);
    for (const auto& [category, count] : counts) EXPECT_GE(count, 10) << name_of(category);
  }
}

TEST(Lexicon, NoPhraseIsListedTwiceInAFile) {
  for (const Language language : {Language::en, Language::es}) {
    std::set<std::string> seen;
    for (const Entry& entry : lexicon_of(language).entries()) {
      EXPECT_TRUE(seen.insert(entry.phrase).second) << entry.phrase;
    }
  }
}

TEST(Lexicon, EveryCrisisPhraseIsFoundAsWritten) {
  for (const Language language : {Language::en, Language::es}) {
    for (const Entry& entry : lexicon_of(language).entries()) {
      if (entry.category != Category::crisis) continue;
      std::string text = entry.phrase;
      std::erase(text, '=');
      while (text.find("..") != std::string::npos) text.replace(text.find(".."), 2, "x");
      const Words words = words_of(text);
      const LexiconView view(lexicon_of(language), words);
      const auto match = view.longest(0, words.tokens.size(), [](const Entry& each, std::size_t) {
        return each.category == Category::crisis;
      });
      EXPECT_TRUE(match.has_value()) << entry.phrase;
    }
  }
}

TEST(Lexicon, ABadLineIsNamed) {
  const auto message = [](std::string_view text) {
    const auto lexicon = Lexicon::read(Language::en, text);
    return lexicon.ok() ? std::string() : lexicon.error().message;
  };
  EXPECT_EQ(message("# comment\n\nsad\tlow_mood\t1\n"), "");
  EXPECT_THAT(message("sad\tlow_mood\n"), HasSubstr("Line 1"));
  EXPECT_THAT(message("#\nsad\tmood\t1\n"), HasSubstr("unknown category"));
  EXPECT_THAT(message("sad\tlow_mood\t9\n"), HasSubstr("range"));
  EXPECT_THAT(message("die\tcrisis\t7\n"), HasSubstr("range"));
  EXPECT_THAT(message(".. die\tcrisis\t8\n"), HasSubstr("no word"));
}

TEST(Words, AreFoldedAndSpelledOut) {
  const auto list = [](std::string_view text) {
    const Words words = words_of(text);
    std::string out;
    for (const Token& token : words.tokens) out += words.vocabulary[token.word] + "|";
    return out;
  };
  EXPECT_EQ(list("I CAN'T, don’t wont!"), "i|can|not|do|not|will|not|");
  EXPECT_EQ(list("Dormí MAÑANA o man\u0303ana"), "dormi|mañana|o|mañana|");
  EXPECT_EQ(list("cafe\u0301 4,5 h"), "cafe|4,5|h|");
  EXPECT_EQ(list("mother's ¿qué?"), "mother|que|");
  EXPECT_EQ(list(""), "");
}

}  // namespace
}  // namespace belay::rules
