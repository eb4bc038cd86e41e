#include "agents/research/specialists/extractive_summary.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "agents/research/filings/item_headings.h"
#include "agents/research/filings/text_words.h"

namespace belay::research {
namespace {

constexpr std::size_t kInformativeWordsMin = 8;

// Sentences with these describe the filing, not the company.
constexpr std::array<std::string_view, 9> kReferences = {
    "forward-looking", "in conjunction with", "incorporated by reference",
    "annual report",   "form 10-k",           "refer to",
    "this section",    "following risk",      "risk factors"};

bool contains_reference(std::string_view sentence) {
  std::string lower(sentence);
  for (char& c : lower) c = lower_ascii(c);
  return std::any_of(kReferences.begin(), kReferences.end(), [&lower](std::string_view reference) {
    return lower.find(reference) != std::string::npos;
  });
}

bool is_informative(std::string_view sentence, bool must_be_negative) {
  if (sentence.size() > kSummarySentenceBytesMax || !is_quotable(sentence)) return false;
  const char first = sentence.front();
  if (is_ascii_letter(first) && lower_ascii(first) == first) return false;  // a rest after a page
  std::size_t words = 0;
  bool is_negative = false;
  for_each_word(sentence, [&](TextSpan word) {
    ++words;
    const WordListSet lists = WordLists::built_in().lists_with(word.of(sentence));
    is_negative = is_negative || (lists & bit_of(kNegative)) != 0;
  });
  if (words < kInformativeWordsMin || (must_be_negative && !is_negative)) return false;
  return !contains_reference(sentence);
}

std::vector<Quote> informative_sentences(std::string_view text, const TenKItem& item,
                                         std::size_t sentences_max) {
  std::vector<Quote> sentences;
  const bool must_be_negative = item.name == "1A";
  const std::string_view until_end = text.substr(0, item.text.end);
  for (std::size_t at = item.text.begin; at < item.text.end;) {
    const TextLine line = line_at(until_end, at);
    at = line.next;
    if (!is_prose(line.span.of(text)) || is_part_line(line.span.of(text))) continue;
    TextSpan rest = line.span;
    while (const auto sentence = next_sentence(text, rest)) {
      if (sentences.size() >= sentences_max) return sentences;
      rest.begin = sentence->end;
      const std::string_view bytes = sentence->of(text);
      if (!is_informative(bytes, must_be_negative)) continue;
      sentences.push_back({std::string(bytes), sentence->begin});
    }
  }
  return sentences;
}

}  // namespace

ExtractiveSummary extractive_summary(const TenKText* text, std::string_view item,
                                     std::size_t sentences_max) {
  ExtractiveSummary summary{std::string(item), {}, {}};
  if (text == nullptr) {
    summary.note = "There is no text of an annual report.";
    return summary;
  }
  const TenKItem* found = text->item(item);
  if (found == nullptr) {
    summary.note = "The filing has no Item " + summary.item + ".";
    return summary;
  }
  summary.sentences = informative_sentences(text->bytes(), *found, sentences_max);
  summary.note = summary.sentences.empty()
                     ? "Item " + summary.item + " has no sentences for an extractive summary."
                     : "Extractive, without a model: sentences of Item " + summary.item +
                           " as filed, the first ones that are informative.";
  return summary;
}

}  // namespace belay::research
