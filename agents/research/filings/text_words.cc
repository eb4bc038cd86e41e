#include "agents/research/filings/text_words.h"

namespace belay::research {
namespace {

bool is_vowel(char c) {
  switch (lower_ascii(c)) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
    case 'y':
      return true;
    default:
      return false;
  }
}

}  // namespace

bool starts_with_ignoring_case(std::string_view text, std::string_view start) {
  if (text.size() < start.size()) return false;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (lower_ascii(text[i]) != start[i]) return false;
  }
  return true;
}

std::size_t syllables(std::string_view word) {
  std::size_t count = 0;
  bool was_vowel = false;
  for (const char c : word) {
    const bool vowel = is_vowel(c);
    if (vowel && !was_vowel) ++count;
    was_vowel = vowel;
  }
  const bool ends_in_e = !word.empty() && lower_ascii(word.back()) == 'e';
  const bool ends_in_le =
      ends_in_e && word.size() >= 2 && lower_ascii(word[word.size() - 2]) == 'l';
  if (ends_in_e && !ends_in_le && count > 0) --count;
  return count == 0 ? 1 : count;
}

std::size_t count_sentence_ends(std::string_view line) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '.' && line[at] != '!' && line[at] != '?') continue;
    const bool ends = at + 1 == line.size() || line[at + 1] == ' ' || line[at + 1] == '\t';
    if (ends) ++count;
  }
  return count;
}

}  // namespace belay::research
