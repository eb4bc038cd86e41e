#include "agents/research/filings/phrases.h"

#include <algorithm>

#include "agents/research/filings/item_headings.h"
#include "agents/research/filings/text_words.h"

namespace belay::research {
namespace {

// Returns the bytes of the white space at `at`: ASCII white space or U+00A0; otherwise 0.
std::size_t white_size(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\n' || c == '\v' || c == '\f' || c == '\r') return 1;
  return blank_size(text, at);
}

// Calls `visit(c, range)` for each byte of the form that is searched, with its bytes in `text`,
// until it returns false.
template <typename Visit>
void normalize(std::string_view text, TextSpan part, PartLines part_lines, Visit visit) {
  const std::string_view until_end = text.substr(0, part.end);
  bool after_white = false;
  for (std::size_t at = part.begin; at < part.end;) {
    const TextLine line = line_at(until_end, at);
    const bool skip = part_lines == PartLines::left_out && is_part_line(line.span.of(text));
    if (skip) at = line.next;
    while (at < line.next) {
      const std::size_t white = white_size(until_end, at);
      const std::size_t end = at + std::max<std::size_t>(white, 1);
      if (white == 0 || !after_white) {
        const char c = white == 0 ? lower_ascii(text[at]) : ' ';
        if (!visit(c, TextSpan{at, end})) return;
      }
      after_white = white != 0;
      at = end;
    }
  }
}

}  // namespace

PhraseText::PhraseText(std::string_view document)
    : PhraseText(document, {0, document.size()}, PartLines::kept) {}

PhraseText::PhraseText(std::string_view document, const TenKItem& item)
    : PhraseText(document, item.text, PartLines::left_out) {}

PhraseText::PhraseText(std::string_view document, TextSpan part, PartLines part_lines)
    : document_(document), part_(part), part_lines_(part_lines) {
  text_.reserve(part.size());
  normalize(document_, part_, part_lines_, [this](char c, TextSpan) {
    text_ += c;
    return true;
  });
}

std::uint64_t PhraseText::count(std::string_view phrase) const {
  if (phrase.empty()) return 0;
  std::uint64_t count = 0;
  for (std::size_t at = text_.find(phrase); at != std::string::npos;
       at = text_.find(phrase, at + phrase.size())) {
    ++count;
  }
  return count;
}

std::optional<TextSpan> PhraseText::first(std::string_view phrase) const {
  const std::size_t found = phrase.empty() ? std::string::npos : text_.find(phrase);
  if (found == std::string::npos) return std::nullopt;
  const std::size_t last = found + phrase.size() - 1;
  TextSpan range;
  std::size_t number = 0;
  normalize(document_, part_, part_lines_, [&](char, TextSpan bytes) {
    if (number == found) range.begin = bytes.begin;
    range.end = bytes.end;
    return number++ < last;
  });
  return range;
}

}  // namespace belay::research
