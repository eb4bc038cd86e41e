#include "agents/research/prose/phrase_words.h"

#include <algorithm>

#include "agents/research/filings/text_words.h"

namespace belay::research {

std::string spaced_words(std::string_view text) {
  std::string words = " ";
  for (const char c : text) {
    if (is_ascii_letter(c)) {
      words += lower_ascii(c);
    } else if (words.back() != ' ') {
      words += ' ';
    }
  }
  if (words.back() != ' ') words += ' ';
  return words;
}

bool contains_phrase(std::string_view words, std::span<const std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [words](std::string_view phrase) {
    for (std::size_t at = words.find(phrase); at != words.npos; at = words.find(phrase, at + 1)) {
      const std::size_t end = at + phrase.size();
      if (at > 0 && words[at - 1] == ' ' && end < words.size() && words[end] == ' ') return true;
    }
    return false;
  });
}

std::string shown_text(std::string_view text, std::size_t bytes_max) {
  std::string shown;
  const std::size_t limit = std::min(bytes_max, text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = code_point_size(text, at);
    if (size == 0) return {};
    if (at + size > limit) break;
    const auto first = static_cast<unsigned char>(text[at]);
    shown.append(first < 0x20 || first == 0x7F ? std::string_view(" ") : text.substr(at, size));
    at += size;
  }
  return shown;
}

}  // namespace belay::research
