#include "agents/wellbeing/sanitize.h"

#include <algorithm>
#include <array>
#include <optional>

#include "agents/wellbeing/code_points.h"

namespace belay::wellbeing {
namespace {

// In a phrase, a space matches one or more of white space, '_' and '-'; white space is also
// permitted before ':' and ']' and after '['.
constexpr auto kDelimiters = std::to_array<std::u32string_view>({
    U"[system instruction]",
    U"[user content]",
    U"[output format]",
    U"[inst]",
    U"[/inst]",
});
constexpr auto kOrders = std::to_array<std::u32string_view>({
    U"system:",
    U"assistant:",
    U"sistema:",
    U"asistente:",
    U"ignore previous",
    U"ignore all previous",
    U"ignore the previous",
    U"ignore the above",
    U"disregard previous",
    U"disregard all previous",
    U"ignora las instrucciones",
    U"ignora todas las instrucciones",
    U"ignora lo anterior",
    U"ignora todo lo anterior",
});

// Returns whether the character is invisible: it could hide a phrase from this filter, but not from
// a model.
bool is_invisible(char32_t c) {
  const bool control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0 && c != 0x85);
  const bool format = c == 0xAD || c == 0x034F || c == 0x061C || (c >= 0x200B && c <= 0x200F) ||
                      (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
  const bool tag = c >= 0xE0000 && c <= 0xE007F;
  return control || format || tag;
}

// Folds one code point to one code point, so that offsets do not change.
char32_t folded(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) c -= 0xFEE0;  // full-width forms of ASCII
  return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

bool is_tag_start(std::u32string_view text, std::size_t at) {
  if (text[at] != '<' || at + 1 >= text.size()) return false;
  const char32_t next = folded(text[at + 1]);
  return (next >= 'a' && next <= 'z') || next == '/' || next == '!' || next == '?';
}

// Finds the ends of tags. Stores whether a further closing bracket exists, so that a text with only
// opening brackets is scanned once and not once per bracket.
class TagReader {
 public:
  explicit TagReader(std::u32string_view text) : text_(text) {}

  // Returns the end of the tag or comment that starts at `at`; nullopt if it is not closed.
  std::optional<std::size_t> end_of(std::size_t at) {
    if (comments_close_ && text_.substr(at).starts_with(U"<!--")) {
      const std::size_t close = text_.find(U"-->", at);
      if (close != text_.npos) return close + 3;
      comments_close_ = false;
    }
    const std::size_t close = tags_close_ ? text_.find(U'>', at) : text_.npos;
    tags_close_ = close != text_.npos;
    if (!tags_close_) return std::nullopt;
    return close + 1;
  }

 private:
  std::u32string_view text_;
  bool comments_close_ = true;
  bool tags_close_ = true;
};

// Removes tags. The rest of nested tags ("<<b>b>") loses its bracket and is not scanned again, so
// that the time is linear.
std::u32string without_tags(std::u32string_view text, std::size_t& altered) {
  TagReader tags(text);
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = is_tag_start(text, at) ? tags.end_of(at) : std::optional<std::size_t>();
    if (end) {
      ++altered;
      at = *end;
    } else {
      out += text[at++];
    }
  }
  for (std::size_t at = 0; at + 1 < out.size(); ++at) {
    if (!is_tag_start(out, at) && !(out[at] == '<' && out[at + 1] == '|')) continue;
    out[at] = U'‹';
    ++altered;
  }
  return out;
}

bool separates(char32_t c) { return is_white(c) || c == '_' || c == '-'; }

std::size_t past_white(std::u32string_view text, std::size_t at) {
  while (at < text.size() && is_white(text[at])) ++at;
  return at;
}

// Returns the end of `phrase` if it starts at `at` of the folded text.
std::optional<std::size_t> phrase_end(std::u32string_view text, std::size_t at,
                                      std::u32string_view phrase) {
  for (std::size_t i = 0; i < phrase.size(); ++i) {
    const char32_t wanted = phrase[i];
    if (wanted == ' ') {
      if (at >= text.size() || !separates(text[at])) return std::nullopt;
      while (at < text.size() && separates(text[at])) ++at;
      continue;
    }
    if (wanted == ':' || wanted == ']') at = past_white(text, at);
    if (at >= text.size() || text[at] != wanted) return std::nullopt;
    ++at;
    if (wanted == '[') at = past_white(text, at);
  }
  return at;
}

template <std::size_t N>
std::optional<std::size_t> any_phrase_end(std::u32string_view text, std::size_t at,
                                          const std::array<std::u32string_view, N>& phrases) {
  for (const std::u32string_view phrase : phrases) {
    if (text[at] != phrase.front()) continue;
    if (const auto end = phrase_end(text, at, phrase)) return end;
  }
  return std::nullopt;
}

std::u32string folded_copy(std::u32string_view text) {
  std::u32string out(text);
  std::transform(out.begin(), out.end(), out.begin(), folded);
  return out;
}

std::u32string without_phrases(std::u32string_view text, std::size_t& altered) {
  const std::u32string folds = folded_copy(text);
  const std::u32string mark = code_points_of(kRemovedMark);
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    auto end = any_phrase_end(folds, at, kDelimiters);
    if (!end) end = any_phrase_end(folds, at, kOrders);
    if (!end) {
      out += text[at++];
      continue;
    }
    ++altered;
    out += mark;
    at = *end;
  }
  return out;
}

}  // namespace

Sanitized sanitize(std::string_view text, std::size_t characters_max) {
  Sanitized result;
  std::u32string points = code_points_of(text);
  const std::size_t invisible = std::erase_if(points, is_invisible);
  if (invisible > 0) ++result.altered;
  std::u32string clean = without_phrases(without_tags(points, result.altered), result.altered);
  if (clean.size() > characters_max) {
    result.characters_cut = clean.size() - characters_max;
    clean.resize(characters_max);
  }
  result.text = utf8_of(clean);
  return result;
}

bool repeats_delimiters(std::string_view text) {
  const std::u32string folds = folded_copy(code_points_of(text));
  for (std::size_t at = 0; at < folds.size(); ++at) {
    if (any_phrase_end(folds, at, kDelimiters)) return true;
  }
  return false;
}

}  // namespace belay::wellbeing
