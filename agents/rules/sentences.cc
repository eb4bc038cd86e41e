#include "agents/rules/sentences.h"

#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>

#include <limits>
#include <memory>
#include <optional>

namespace belay::rules {
namespace {

std::unique_ptr<icu::BreakIterator> sentence_iterator(Language language) {
  const char* name = language == Language::es ? "es@ss=standard" : "en@ss=standard";
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<icu::BreakIterator> iterator(
      icu::BreakIterator::createSentenceInstance(icu::Locale(name), status));
  if (U_FAILURE(status)) return nullptr;
  return iterator;
}

std::optional<Span> trimmed(std::string_view text, Span span) {
  constexpr std::string_view white = " \t\r\n\f\v";
  const std::string_view inside = text.substr(span.begin, span.end - span.begin);
  const std::size_t first = inside.find_first_not_of(white);
  if (first == std::string_view::npos) return std::nullopt;
  return Span{span.begin + first, span.begin + inside.find_last_not_of(white) + 1};
}

// Adds the sentences of the part of `text` that starts at `offset`.
void append_sentences(icu::BreakIterator& iterator, std::string_view text, std::size_t offset,
                      std::vector<Span>& out) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<UText, decltype(&utext_close)> utext(
      utext_openUTF8(nullptr, text.data() + offset, static_cast<std::int64_t>(text.size() - offset),
                     &status),
      &utext_close);
  if (U_SUCCESS(status)) iterator.setText(utext.get(), status);
  std::size_t begin = offset;
  if (U_SUCCESS(status)) {
    for (auto end = iterator.next(); end != icu::BreakIterator::DONE; end = iterator.next()) {
      const std::size_t stop = offset + static_cast<std::size_t>(end);
      if (const auto span = trimmed(text, {begin, stop})) out.push_back(*span);
      begin = stop;
    }
  }
  if (const auto rest = trimmed(text, {begin, text.size()})) out.push_back(*rest);
}

}  // namespace

std::vector<Span> sentences_of(std::string_view text, Language language) {
  std::vector<Span> out;
  if (text.empty()) return out;
  const auto iterator = sentence_iterator(language);
  // ICU's offsets have 32 bits. A longer text, or one without ICU's data, is one sentence.
  const bool fits =
      text.size() < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (!iterator || !fits) {
    if (const auto span = trimmed(text, {0, text.size()})) out.push_back(*span);
    return out;
  }
  append_sentences(*iterator, text, 0, out);
  return out;
}

}  // namespace belay::rules
