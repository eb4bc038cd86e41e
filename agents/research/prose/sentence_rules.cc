#include "agents/research/prose/sentence_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "agents/research/filings/text_words.h"
#include "agents/research/prose/phrase_words.h"

namespace belay::research {
namespace {

constexpr std::size_t kSentenceWordsMin = 4;

constexpr auto kAdvice = std::to_array<std::string_view>({"buy",
                                                          "sell",
                                                          "overweight",
                                                          "underweight",
                                                          "outperform",
                                                          "outperforms",
                                                          "outperformed",
                                                          "underperform",
                                                          "underperforms",
                                                          "underperformed",
                                                          "undervalued",
                                                          "overvalued",
                                                          "undervaluation",
                                                          "overvaluation",
                                                          "mispriced",
                                                          "bullish",
                                                          "bearish",
                                                          "price target",
                                                          "target price",
                                                          "price objective",
                                                          "intrinsic value",
                                                          "upside potential",
                                                          "investors should",
                                                          "shareholders should",
                                                          "stockholders should",
                                                          "should invest",
                                                          "worth investing",
                                                          "attractive investment",
                                                          "good investment",
                                                          "hold rating",
                                                          "hold the shares",
                                                          "hold the stock",
                                                          "we recommend",
                                                          "i recommend",
                                                          "take profits"});

constexpr std::array<std::string_view, 12> kMarkup = {"http", "www.", "<", ">", "`", "|",
                                                      "[",    "]",    "{", "}", "*", "#"};

constexpr auto kNumberWords = std::to_array<std::string_view>(
    {"one",      "two",       "three",     "four",      "five",     "six",       "seven",
     "eight",    "nine",      "ten",       "eleven",    "twelve",   "thirteen",  "fourteen",
     "fifteen",  "sixteen",   "seventeen", "eighteen",  "nineteen", "twenty",    "thirty",
     "forty",    "fifty",     "sixty",     "seventy",   "eighty",   "ninety",    "hundred",
     "hundreds", "thousand",  "thousands", "million",   "millions", "billion",   "billions",
     "trillion", "trillions", "dozen",     "dozens",    "half",     "double",    "doubled",
     "doubles",  "doubling",  "triple",    "tripled",   "triples",  "quadruple", "quadrupled",
     "twice",    "thrice",    "twofold",   "threefold", "tenfold",  "first",     "second",
     "third",    "fourth",    "fifth",     "sixth",     "seventh",  "eighth",    "ninth",
     "tenth"});

constexpr std::array<std::string_view, 5> kScales = {"thousand", "million", "billion", "trillion",
                                                     "percent"};
constexpr std::array<std::string_view, 3> kCurrencies = {"\u20AC", "\u00A3", "\u00A5"};
constexpr std::string_view kMinus = "\u2212";

// A number as written, with the words and signs next to it.
struct WrittenNumber {
  std::string_view digits;    // "391.0", "H100"
  std::string_view currency;  // "$"; empty: none
  bool is_negative = false;
  std::string_view unit;  // "billion"; "percent" also for "%"; empty: none

  bool operator==(const WrittenNumber&) const = default;
};

bool is_part_of_number(char c) { return is_ascii_letter(c) || is_ascii_digit(c); }

// Returns the end of the run of letters, digits, and separators between digits at `begin`.
std::size_t run_end(std::string_view text, std::size_t begin) {
  std::size_t at = begin;
  while (at < text.size()) {
    const bool is_between = (text[at] == '.' || text[at] == ',') && at > begin &&
                            is_ascii_digit(text[at - 1]) && at + 1 < text.size() &&
                            is_ascii_digit(text[at + 1]);
    if (!is_part_of_number(text[at]) && !is_between) break;
    ++at;
  }
  return at;
}

std::string_view unit_at(std::string_view text, std::size_t at) {
  std::size_t begin = at + blank_size(text, at);
  if (begin < text.size() && text[begin] == '%') return "percent";
  if (begin == at && begin < text.size() && text[begin] == '-') ++begin;
  const std::string_view rest = text.substr(begin);
  for (const std::string_view scale : kScales) {
    const bool ends = rest.size() == scale.size() ||
                      (rest.size() > scale.size() && !is_ascii_letter(rest[scale.size()]));
    if (starts_with_ignoring_case(rest, scale) && ends) return scale;
  }
  return {};
}

void read_prefix(std::string_view text, std::size_t begin, WrittenNumber& number) {
  std::string_view before = text.substr(0, begin);
  if (before.ends_with('$')) {
    number.currency = "$";
    before.remove_suffix(1);
  }
  for (const std::string_view currency : kCurrencies) {
    if (!before.ends_with(currency)) continue;
    number.currency = currency;
    before.remove_suffix(currency.size());
  }
  const std::size_t minus = before.ends_with('-')      ? 1
                            : before.ends_with(kMinus) ? kMinus.size()
                                                       : 0;
  if (minus == 0) return;
  before.remove_suffix(minus);
  number.is_negative = before.empty() || !is_part_of_number(before.back());
}

// Returns the numbers that begin within `part`; their units may be after it.
std::vector<WrittenNumber> numbers_in(std::string_view text, TextSpan part) {
  std::vector<WrittenNumber> numbers;
  for (std::size_t at = part.begin; at < part.end;) {
    if (!is_part_of_number(text[at])) {
      ++at;
      continue;
    }
    const std::size_t end = run_end(text, at);
    WrittenNumber number{text.substr(at, end - at), {}, false, {}};
    if (std::any_of(number.digits.begin(), number.digits.end(), is_ascii_digit)) {
      number.unit = unit_at(text, end);
      read_prefix(text, at, number);
      numbers.push_back(number);
    }
    at = end;
  }
  return numbers;
}

bool is_punctuation(std::string_view character) {
  if (character == "\u00A0" || character == "\u00AE") return true;
  if (!character.starts_with("\xE2\x80")) return false;
  return static_cast<unsigned char>(character[2]) <= 0xAF;  // spaces, dashes, quotation marks
}

std::string words_of_quotes(const std::vector<QuotePlace>& quotes) {
  std::string words;
  for (const QuotePlace& quote : quotes) words += spaced_words(quote.text());
  return words;
}

}  // namespace

bool is_plain_sentence(std::string_view sentence) {
  if (sentence.size() > kSentenceBytesMax || !is_quotable(sentence)) return false;
  std::size_t words = 0;
  for_each_word(sentence, [&words](TextSpan) { ++words; });
  if (words < kSentenceWordsMin) return false;
  return std::none_of(kMarkup.begin(), kMarkup.end(), [sentence](std::string_view sign) {
    return sentence.find(sign) != sentence.npos;
  });
}

bool has_advice(std::string_view sentence) {
  return contains_phrase(spaced_words(sentence), kAdvice);
}

bool numbers_are_quoted(std::string_view sentence, const std::vector<QuotePlace>& quotes) {
  std::vector<WrittenNumber> quoted;
  for (const QuotePlace& quote : quotes) {
    const auto more = numbers_in(quote.paragraph->text, quote.span);
    quoted.insert(quoted.end(), more.begin(), more.end());
  }
  const auto is_quoted = [&quoted](const WrittenNumber& number) {
    return std::find(quoted.begin(), quoted.end(), number) != quoted.end();
  };
  const std::vector<WrittenNumber> stated = numbers_in(sentence, {0, sentence.size()});
  if (!std::all_of(stated.begin(), stated.end(), is_quoted)) return false;
  const std::string words = spaced_words(sentence);
  const std::string quoted_words = words_of_quotes(quotes);
  return std::all_of(kNumberWords.begin(), kNumberWords.end(), [&](const std::string_view& word) {
    const std::span<const std::string_view> one(&word, 1);
    return !contains_phrase(words, one) || contains_phrase(quoted_words, one);
  });
}

bool characters_are_quoted(std::string_view sentence, const std::vector<QuotePlace>& quotes) {
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t size = code_point_size(sentence, at);
    if (size == 0) return false;
    const std::string_view character = sentence.substr(at, size);
    at += size;
    if (size == 1 || is_punctuation(character)) continue;
    const bool is_quoted = std::any_of(quotes.begin(), quotes.end(), [&](const QuotePlace& quote) {
      return quote.text().find(character) != std::string_view::npos;
    });
    if (!is_quoted) return false;
  }
  return true;
}

}  // namespace belay::research
