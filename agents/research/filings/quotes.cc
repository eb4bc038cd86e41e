#include "agents/research/filings/quotes.h"

#include <algorithm>
#include <array>

#include "agents/research/filings/text_words.h"

namespace belay::research {
namespace {

constexpr std::size_t kBytesBeforeMax = 150;

// Words whose full stop ends no sentence, in lower case.
constexpr std::array<std::string_view, 17> kAbbreviations = {
    "inc", "corp", "co", "ltd", "llc", "no", "nos",    "mr",    "ms",
    "mrs", "dr",   "jr", "sr",  "vs",  "st", "approx", "messrs"};

// Returns whether the full stop at `at` is part of an abbreviation: "Inc.", "U.S.", "J. Smith".
bool is_abbreviation(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < 10 && is_ascii_letter(text[begin - 1])) --begin;
  const std::string_view word = text.substr(begin, at - begin);
  if (word.size() == 1) return true;
  return std::any_of(kAbbreviations.begin(), kAbbreviations.end(), [word](std::string_view known) {
    return word.size() == known.size() && starts_with_ignoring_case(word, known);
  });
}

// Returns the bytes of a quotation mark or bracket that closes at `at`, otherwise 0.
std::size_t closing_size(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 5> kClosing = {"\"", "'", ")", "\u201D", "\u2019"};
  for (const std::string_view mark : kClosing) {
    if (text.substr(at, mark.size()) == mark) return mark.size();
  }
  return 0;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (const std::size_t size = wide_blank_size(text, at)) at += size;
  return at;
}

// Returns where the sentence at `at` starts, after blanks and the signs of lists.
std::size_t skip_bullets(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 4> kBullets = {"\u2022", "\u25CF", "\u00B7", "\u25AA"};
  while (true) {
    at = skip_blanks(text, at);
    const auto here = [text, at](std::string_view sign) {
      return text.substr(at, sign.size()) == sign;
    };
    const auto bullet = std::find_if(kBullets.begin(), kBullets.end(), here);
    if (bullet == kBullets.end()) return at;
    at += bullet->size();
  }
}

// Returns the end of the sentence whose ".", "!" or "?" is at `at`; 0 if it ends none there.
std::size_t sentence_end(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c != '.' && c != '!' && c != '?') return 0;
  std::size_t end = at + 1;
  while (end < text.size()) {
    const std::size_t closing = closing_size(text, end);
    if (closing == 0) break;
    end += closing;
  }
  if (end == text.size()) return end;
  if (wide_blank_size(text, end) == 0) return 0;
  return c == '.' && is_abbreviation(text, at) ? 0 : end;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

// Returns the bytes of the code point at `at` that a quote may contain, otherwise 0.
std::size_t quotable_size(std::string_view text, std::size_t at) {
  return is_control(text[at]) ? 0 : code_point_size(text, at);
}

// Returns `at`, or the start of the code point that it is in.
std::size_t code_point_begin(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < 3 && (text[begin] & 0xC0) == 0x80) --begin;
  return begin;
}

// Returns where the quote of a part at `begin` starts: at its sentence, its line, or else at a
// word.
std::size_t quote_begin(std::string_view text, std::size_t begin) {
  const std::size_t from =
      begin > kBytesBeforeMax ? code_point_begin(text, begin - kBytesBeforeMax) : 0;
  const std::string_view before = text.substr(0, begin);
  std::size_t start = from;
  bool is_cut = from > 0 && text[from - 1] != '\n';  // within a word or a sentence
  for (std::size_t at = from; at < begin;) {
    const std::size_t size = quotable_size(before, at);
    if (size == 0) {
      start = ++at;
      is_cut = false;
      continue;
    }
    const std::size_t end = sentence_end(before, at);
    const bool ends = end != 0 && end < begin;
    const bool is_next_word = is_cut && wide_blank_size(before, at) != 0;
    at = ends ? end : at + size;
    if (ends || is_next_word) {
      start = at;
      is_cut = false;
    }
  }
  return is_cut ? begin : std::min(skip_blanks(text, start), begin);
}

// Returns the end of a quote that starts at `start` and contains the bytes up to `end`: the end of
// the sentence or line, or else of a word.
std::size_t quote_end(std::string_view text, std::size_t start, std::size_t end) {
  const std::size_t limit = std::min(text.size(), start + kQuoteBytesMax);
  if (end > limit) return code_point_begin(text, limit);
  std::optional<std::size_t> word_end;
  std::size_t at = end;
  bool is_cut = false;
  while (at < text.size()) {
    const std::size_t size = quotable_size(text, at);
    if (size == 0) break;
    is_cut = at + size > limit;
    if (is_cut) break;
    if (blank_size(text, at) != 0) word_end = at;
    const std::size_t stop = sentence_end(text.substr(0, std::min(text.size(), limit + 1)), at);
    at += size;
    if (stop != 0 && stop <= limit) return stop;
  }
  if (is_cut && word_end && blank_size(text, at) == 0) at = *word_end;
  while (at > end && blank_size(text, at - 1) == 1) --at;
  return at;
}

}  // namespace

Quote quote_around(std::string_view text, TextSpan part) {
  const std::size_t begin = quote_begin(text, part.begin);
  const std::size_t end = quote_end(text, begin, part.end);
  return {std::string(text.substr(begin, end - begin)), begin};
}

std::optional<TextSpan> next_sentence(std::string_view text, TextSpan line) {
  const std::string_view until_end = text.substr(0, line.end);
  const std::size_t begin = skip_bullets(until_end, line.begin);
  for (std::size_t at = begin; at < line.end; ++at) {
    if (const std::size_t end = sentence_end(until_end, at)) return TextSpan{begin, end};
  }
  return std::nullopt;
}

bool is_quotable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = quotable_size(text, at);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

std::optional<std::uint64_t> find_quote(const TenKText& text, const TenKItem& item,
                                        std::string_view quote) {
  if (quote.empty()) return std::nullopt;
  const std::size_t found = item.text.of(text.bytes()).find(quote);
  if (found == std::string_view::npos) return std::nullopt;
  return item.text.begin + found;
}

}  // namespace belay::research
