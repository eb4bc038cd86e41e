#include "agents/research/filings/text_words.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "agents/research/filings/distinct_words.h"
#include "agents/research/filings/word_lists.h"
#include "agents/research/filings/word_lists_text.h"

namespace belay::research {
namespace {

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](TextSpan span) { words.emplace_back(span.of(text)); });
  return words;
}

using WordTexts = std::vector<std::string>;

TEST(TextWords, AWordIsARunOfTwoLettersOrMore) {
  EXPECT_EQ(words_in("The company's 10-K, a I don't"), (WordTexts{"The", "company", "don"}));
  EXPECT_EQ(words_in("e-mail B2B R&D 3rd"), (WordTexts{"mail", "rd"}));
  EXPECT_EQ(words_in(""), WordTexts{});
  EXPECT_EQ(words_in("a"), WordTexts{});
  EXPECT_EQ(words_in("ab"), WordTexts{"ab"});
}

TEST(TextWords, OnlyAsciiLettersAreLetters) {
  EXPECT_EQ(words_in("company\xE2\x80\x99s na\xC3\xAFve"), (WordTexts{"company", "na", "ve"}));
  EXPECT_EQ(words_in(std::string_view("ab\0cd\xFF"
                                      "ef",
                                      8)),
            (WordTexts{"ab", "cd", "ef"}));
  EXPECT_EQ(words_in("ab@[`{cd"), (WordTexts{"ab", "cd"}));
}

TEST(TextWords, SyllablesAreRunsOfVowelsLessAFinalE) {
  EXPECT_EQ(syllables("company"), 3u);   // o, a, y
  EXPECT_EQ(syllables("Business"), 3u);  // u, i, e: the rule knows no silent letters inside
  EXPECT_EQ(syllables("table"), 2u);     // a, and the e of "le"
  EXPECT_EQ(syllables("revenue"), 2u);   // e, e, ue, less one
  EXPECT_EQ(syllables("Software"), 2u);  // o, a, e, less one
  EXPECT_EQ(syllables("the"), 1u);
  EXPECT_EQ(syllables("THE"), 1u);
  EXPECT_EQ(syllables("queue"), 1u);
  EXPECT_EQ(syllables("llc"), 1u);
  EXPECT_EQ(syllables("le"), 1u);
  EXPECT_EQ(syllables("ee"), 1u);
  EXPECT_EQ(syllables("idea"), 2u);
  EXPECT_EQ(syllables("ASSEMBLE"), 3u);
}

TEST(TextWords, ASentenceEndsBeforeABlankOrTheEndOfTheLine) {
  EXPECT_EQ(count_sentence_ends("One. Two! Three?"), 3u);
  EXPECT_EQ(count_sentence_ends("One.\tTwo."), 2u);
  EXPECT_EQ(count_sentence_ends("The U.S. and Inc. at 3.5 percent"), 2u);
  EXPECT_EQ(count_sentence_ends("Wait... what?!"), 2u);
  EXPECT_EQ(count_sentence_ends("He said \"no.\" Then"), 0u);
  EXPECT_EQ(count_sentence_ends("One.\xC2\xA0Two"), 0u);
  EXPECT_EQ(count_sentence_ends("One.\rTwo"), 0u);
  EXPECT_EQ(count_sentence_ends("One.\xFF"), 0u);
  EXPECT_EQ(count_sentence_ends("."), 1u);
  EXPECT_EQ(count_sentence_ends(""), 0u);
}

TEST(DistinctWords, CountsEachWordOnceWhateverItsCase) {
  DistinctWords words;
  for (const char* word : {"risk", "Risk", "RISK", "risks", "ri", "zz", "ZZ"}) words.add(word);
  for (const char* word :
       {"internationalization", "InternationaliZation", "internationalizations"}) {
    words.add(word);
  }
  EXPECT_EQ(words.count(), 6u);
  EXPECT_EQ(DistinctWords().count(), 0u);
}

TEST(DistinctWords, WordsAtTheLimitOfShortWordsAreDifferent) {
  DistinctWords words;
  for (const char* word : {"aaaaaaaaaaaa", "aaaaaaaaaaaaa", "aaaaaaaaaaab", "zzzzzzzzzzzz",
                           "aaaaaaaaaaa", "zzzzzzzzzzzzz", "AAAAAAAAAAAA", "AAAAAAAAAAAAA"}) {
    words.add(word);
  }
  EXPECT_EQ(words.count(), 6u);
}

TEST(DistinctWords, CountsMoreWordsThanAreKeptBetweenSorts) {
  std::string letters;
  std::vector<TextSpan> spans;
  for (int round = 0; round < 2; ++round) {
    for (char a = 'a'; a <= 'z'; ++a) {
      for (char b = 'a'; b <= 'z'; ++b) {
        for (char c = 'a'; c <= 'z'; ++c) {
          const std::string word{a, b, c};
          for (const std::string& each : {word, word + "abcdefghijk"}) {
            spans.push_back({letters.size(), letters.size() + each.size()});
            letters += each;
          }
        }
      }
    }
  }
  DistinctWords words;
  for (const TextSpan span : spans) words.add(span.of(letters));
  EXPECT_EQ(words.count(), 2u * 26 * 26 * 26);
}

TEST(WordLists, TheBuiltInListsHaveTheSizesOfTheDocumentation) {
  const WordLists& lists = WordLists::built_in();
  EXPECT_EQ(lists.error(), "");
  const std::size_t sizes[kWordLists] = {111, 90, 87, 79, 65, 18, 16, 10, 15, 9,
                                         11,  13, 14, 12, 17, 12, 13, 13, 11};
  for (std::size_t list = 0; list < kWordLists; ++list) {
    EXPECT_EQ(lists.size(list), sizes[list]) << kWordListNames[list];
  }
}

TEST(WordLists, AWordMayBeInSeveralLists) {
  const WordLists& lists = WordLists::built_in();
  EXPECT_EQ(lists.lists_with("claims"), bit_of(kNegative) | bit_of(13));
  EXPECT_EQ(lists.lists_with("LawSuits"), bit_of(kNegative) | bit_of(kLitigious) | bit_of(13));
  EXPECT_EQ(lists.lists_with("uncertain"), bit_of(kUncertainty) | bit_of(kModalWeak));
  EXPECT_EQ(lists.lists_with("predictability"), bit_of(kUncertainty));
  EXPECT_EQ(lists.lists_with("ai"), bit_of(10));
  EXPECT_EQ(lists.lists_with("taxes"), bit_of(18));
  EXPECT_EQ(lists.lists_with("against"), bit_of(kNegative));
}

TEST(WordLists, OtherWordsAreInNone) {
  const WordLists& lists = WordLists::built_in();
  for (const char* word : {"", "the", "company", "adversel", "adverselyy"}) {
    EXPECT_EQ(lists.lists_with(word), 0u) << word;
  }
  EXPECT_EQ(lists.lists_with(std::string(1'000'000, 'a')), 0u);
}

TEST(WordLists, AWrongFileNamesItsLine) {
  EXPECT_EQ(WordLists::read("# text\n[negative]\nbad  worse\n").error(), "");
  EXPECT_EQ(WordLists::read("bad\n").error(), "line 1: words before the name of their list");
  EXPECT_EQ(WordLists::read("[negative]\n[anger]\n").error(), "line 2: an unknown list");
  EXPECT_EQ(WordLists::read("[negative]\nbad\nBad\n").error(),
            "line 3: 'Bad' is not a word of small letters");
  EXPECT_EQ(WordLists::read("[negative]\na").error(), "line 2: 'a' is not a word of small letters");
}

}  // namespace
}  // namespace belay::research
