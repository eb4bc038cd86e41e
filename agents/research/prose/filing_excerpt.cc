#include "agents/research/prose/filing_excerpt.h"

#include <array>
#include <utility>

#include "agents/research/filings/item_headings.h"
#include "agents/research/filings/text_words.h"
#include "agents/research/prose/phrase_words.h"

namespace belay::research {
namespace {

// A filing has no reason to address a model.
constexpr std::array<std::string_view, 16> kInstructionPhrases = {
    "ignore previous",     "ignore all previous", "ignore the above",      "ignore all the above",
    "ignore prior",        "ignore your",         "disregard previous",    "disregard all previous",
    "disregard the above", "disregard your",      "previous instructions", "prior instructions",
    "your instructions",   "system prompt",       "you are an ai",         "as a language model"};

std::size_t words_in(std::string_view text) {
  std::size_t words = 0;
  for_each_word(text, [&words](TextSpan) { ++words; });
  return words;
}

TextSpan trimmed_span(std::string_view text, TextSpan line) {
  while (line.size() > 0) {
    const std::size_t blank = blank_size(text.substr(0, line.end), line.begin);
    if (blank == 0) break;
    line.begin += blank;
  }
  line.end = line.begin + trimmed_blanks(line.of(text)).size();
  return line;
}

// Returns the first sentences of a long paragraph; empty if the first one is too long.
TextSpan first_sentences(std::string_view text, TextSpan paragraph) {
  const std::string_view start =
      text.substr(0, std::min(paragraph.end, paragraph.begin + kExcerptParagraphBytesMax + 1));
  TextSpan taken{paragraph.begin, paragraph.begin};
  TextSpan rest{paragraph.begin, start.size()};
  while (const auto sentence = next_sentence(start, rest)) {
    if (sentence->end == start.size()) break;  // it might continue
    taken.end = rest.begin = sentence->end;
  }
  return taken;
}

// Returns the paragraph of a line as it is shown to a model; empty if it is not shown.
TextSpan shown_paragraph(std::string_view text, TextSpan line) {
  if (!is_prose(line.of(text)) || is_part_line(line.of(text))) return {line.begin, line.begin};
  TextSpan paragraph = trimmed_span(text, line);
  if (paragraph.size() > kExcerptParagraphBytesMax) paragraph = first_sentences(text, paragraph);
  const std::string_view bytes = paragraph.of(text);
  const bool is_shown = is_quotable(bytes) && words_in(bytes) >= kParagraphWordsMin;
  return is_shown ? paragraph : TextSpan{line.begin, line.begin};
}

// Returns the bytes of the blank or line break at `at`, otherwise 0.
std::size_t any_blank_size(std::string_view text, std::size_t at) {
  if (at >= text.size()) return 0;
  if (text[at] == '\n' || text[at] == '\r') return 1;
  return wide_blank_size(text, at);
}

// Returns the end of the run of blanks at `at`.
std::size_t after_blanks(std::string_view text, std::size_t at) {
  while (const std::size_t size = any_blank_size(text, at)) at += size;
  return at;
}

std::string_view without_outer_blanks(std::string_view quote) {
  quote.remove_prefix(after_blanks(quote, 0));
  std::size_t end = 0;
  for (std::size_t at = 0; at < quote.size();) {
    const std::size_t size = any_blank_size(quote, at);
    at += size != 0 ? size : 1;
    if (size == 0) end = at;
  }
  return quote.substr(0, end);
}

// Returns the end of the quote if the text contains it at `at`, otherwise 0.
std::size_t match_end(std::string_view text, std::size_t at, std::string_view quote) {
  for (std::size_t in_quote = 0; in_quote < quote.size();) {
    const std::size_t next = after_blanks(quote, in_quote);
    if (next != in_quote) {
      const std::size_t after = after_blanks(text, at);
      if (after == at) return 0;
      at = after;
      in_quote = next;
    } else if (at < text.size() && text[at] == quote[in_quote]) {
      ++at;
      ++in_quote;
    } else {
      return 0;
    }
  }
  return at;
}

bool is_alphanumeric(char c) { return is_ascii_letter(c) || is_ascii_digit(c); }

// Returns whether the byte is of a Latin letter with a sign, or of a Greek or Cyrillic one.
bool is_in_other_letter(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < 3 && (text[begin] & 0xC0) == 0x80) --begin;
  const auto first = static_cast<unsigned char>(text[begin]);
  return first >= 0xC3 && first <= 0xD4;
}

bool is_in_word(std::string_view text, std::size_t at) {
  return is_alphanumeric(text[at]) || is_in_other_letter(text, at);
}

bool is_digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && is_ascii_digit(text[at]);
}

// Returns whether a cut before `at` divides a word, or removes a part or the sign of a number.
bool divides(std::string_view text, std::size_t at) {
  if (at == 0 || at == text.size()) return false;
  const char before = text[at - 1];
  if (is_in_word(text, at - 1) && is_in_word(text, at)) return true;
  const bool is_separator = before == '.' || before == ',';
  if (is_separator && at > 1 && is_digit_at(text, at - 2) && is_digit_at(text, at)) return true;
  const bool has_next = text[at] == '.' || text[at] == ',';
  if (has_next && is_ascii_digit(before) && is_digit_at(text, at + 1)) return true;
  if (is_ascii_digit(before) && text[at] == '%') return true;
  const bool is_sign = before == '-' || before == '(' || before == '$';
  return is_sign && is_ascii_digit(text[at]) && (at == 1 || !is_in_word(text, at - 2));
}

}  // namespace

FilingExcerpt excerpt_of(const TenKText* text, std::string_view item, std::size_t bytes_max) {
  FilingExcerpt excerpt{std::string(item), {}, true, 0};
  const TenKItem* found = text != nullptr ? text->item(item) : nullptr;
  if (found == nullptr) return excerpt;
  const std::string_view until_end = std::string_view(text->bytes()).substr(0, found->text.end);
  std::size_t taken = 0;
  for (std::size_t at = found->text.begin; at < found->text.end;) {
    const TextLine line = line_at(until_end, at);
    at = line.next;
    const TextSpan paragraph = shown_paragraph(until_end, line.span);
    if (paragraph.size() == 0) continue;
    const std::string_view bytes = paragraph.of(until_end);
    if (contains_phrase(spaced_words(bytes), kInstructionPhrases)) {
      ++excerpt.instructions;
      continue;
    }
    // Half of the bytes are available from the beginning; the others become so on the way.
    const double part = static_cast<double>(paragraph.end - found->text.begin) /
                        static_cast<double>(found->text.size());
    const double limit = static_cast<double>(bytes_max) * (0.5 + 0.5 * part);
    if (static_cast<double>(taken + bytes.size()) > limit) {
      excerpt.is_whole = false;
      continue;
    }
    taken += bytes.size();
    excerpt.paragraphs.push_back({std::string(bytes), paragraph.begin});
  }
  return excerpt;
}

std::optional<QuotePlace> find_in_excerpt(const FilingExcerpt& excerpt, std::string_view quote) {
  if (quote.size() > kModelQuoteBytesMax) return std::nullopt;
  quote = without_outer_blanks(quote);
  if (!is_valid_utf8(quote) || words_in(quote) < kModelQuoteWordsMin) return std::nullopt;
  for (const ExcerptParagraph& paragraph : excerpt.paragraphs) {
    const std::string_view text = paragraph.text;
    for (std::size_t at = text.find(quote[0]); at != text.npos; at = text.find(quote[0], at + 1)) {
      const std::size_t end = match_end(text, at, quote);
      if (end == 0 || divides(text, at) || divides(text, end)) continue;
      return QuotePlace{&paragraph, {at, end}};
    }
  }
  return std::nullopt;
}

}  // namespace belay::research
