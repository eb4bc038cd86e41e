#include "agents/rules/words.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "belay/value.h"

namespace belay::rules {
namespace {

constexpr std::size_t kWordBytesMax = 64;

struct CodePoint {
  UChar32 value = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

CodePoint decode(std::string_view text, std::size_t at) {
  auto index = static_cast<std::int32_t>(0);
  const std::string_view rest = text.substr(at, 4);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(rest.data());
  UChar32 value = 0;
  U8_NEXT(bytes, index, static_cast<std::int32_t>(rest.size()), value);
  return {value < 0 ? 0xFFFD : value, at, at + static_cast<std::size_t>(index)};
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
}

// Soft hyphens and zero-width characters: invisible, and therefore ignored within words.
bool is_invisible(UChar32 c) {
  return c == 0xAD || (c >= 0x200B && c <= 0x200D) || c == 0x2060 || c == 0xFEFF;
}

bool is_word_character(UChar32 c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_invisible(c) || u_isalnum(c) || (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
}

bool is_apostrophe(UChar32 c) { return c == '\'' || c == 0x2019 || c == 0x2018 || c == 0x02BC; }

bool is_pause(UChar32 c) {
  constexpr std::u32string_view marks =
      U",;:.!?()[]\n\"\u2013\u2014\u2026\u00A1\u00BF\u00AB\u00BB\u201C\u201D";
  return marks.find(static_cast<char32_t>(c)) != std::u32string_view::npos;
}

// Returns whether `c` is part of a word if word characters surround it: the apostrophe of "don't",
// the point of "4.5".
bool joins(UChar32 before, UChar32 c, UChar32 after) {
  if (is_apostrophe(c)) return u_isalpha(before) && u_isalpha(after);
  return (c == '.' || c == ',') && u_isdigit(before) && u_isdigit(after);
}

// Returns the end of the word that starts at `begin`.
std::size_t word_end(std::string_view text, std::size_t begin) {
  CodePoint last = decode(text, begin);
  while (last.end < text.size()) {
    const CodePoint next = decode(text, last.end);
    if (is_word_character(next.value)) {
      last = next;
      continue;
    }
    if (next.end >= text.size()) break;
    const CodePoint after = decode(text, next.end);
    if (!joins(last.value, next.value, after.value)) break;
    last = after;
  }
  return last.end;
}

struct Contraction {
  std::string_view written;
  std::string_view first;
  std::string_view second;
};

// Contractions that the rules below do not cover, and those that are written without an apostrophe.
constexpr std::array<Contraction, 31> kContractions = {{
    {"can't", "can", "not"},        {"cant", "can", "not"},
    {"cannot", "can", "not"},       {"won't", "will", "not"},
    {"shan't", "shall", "not"},     {"dont", "do", "not"},
    {"didnt", "did", "not"},        {"doesnt", "does", "not"},
    {"isnt", "is", "not"},          {"wasnt", "was", "not"},
    {"couldnt", "could", "not"},    {"wouldnt", "would", "not"},
    {"havent", "have", "not"},      {"hasnt", "has", "not"},
    {"hadnt", "had", "not"},        {"wont", "will", "not"},
    {"arent", "are", "not"},        {"im", "i", "am"},
    {"ive", "i", "have"},           {"it's", "it", "is"},
    {"that's", "that", "is"},       {"there's", "there", "is"},
    {"he's", "he", "is"},           {"she's", "she", "is"},
    {"what's", "what", "is"},       {"everything's", "everything", "is"},
    {"nothing's", "nothing", "is"}, {"who's", "who", "is"},
    {"where's", "where", "is"},     {"thats", "that", "is"},
    {"shouldnt", "should", "not"},
}};

struct Ending {
  std::string_view written;
  std::string_view second;
};
constexpr std::array<Ending, 6> kEndings = {{{"n't", "not"},
                                             {"'m", "am"},
                                             {"'ve", "have"},
                                             {"'ll", "will"},
                                             {"'re", "are"},
                                             {"'d", "would"}}};

// Returns the word, or two words if it is a contraction. A possessive loses its ending.
std::pair<std::string, std::optional<std::string>> spelled_out(std::string word) {
  for (const Contraction& contraction : kContractions) {
    if (word == contraction.written) {
      return {std::string(contraction.first), std::string(contraction.second)};
    }
  }
  if (word.find('\'') == std::string::npos) return {std::move(word), std::nullopt};
  for (const Ending& ending : kEndings) {
    if (word.size() > ending.written.size() && word.ends_with(ending.written)) {
      return {word.substr(0, word.size() - ending.written.size()), std::string(ending.second)};
    }
  }
  if (word.ends_with("'s")) word.resize(word.size() - 2);
  return {std::move(word), std::nullopt};
}

// Collects tokens, and folds each distinct spelling once.
class Collector {
 public:
  void add(std::string_view spelling, Span span, bool pause_before) {
    const auto [entry, is_new] = spellings_.try_emplace(spelling);
    if (is_new) {
      auto [first, second] = spelled_out(spelling.size() > kWordBytesMax ? "" : fold(spelling));
      entry->second.first = index_of(std::move(first));
      if (second) entry->second.second = index_of(*std::move(second));
    }
    words_.tokens.push_back({span, entry->second.first, pause_before});
    if (entry->second.second) words_.tokens.push_back({span, *entry->second.second, false});
  }
  Words take() { return std::move(words_); }

 private:
  struct Indices {
    std::uint32_t first = 0;
    std::optional<std::uint32_t> second;
  };

  std::uint32_t index_of(std::string word) {
    const auto next = static_cast<std::uint32_t>(words_.vocabulary.size());
    const auto [entry, is_new] = indices_.try_emplace(word, next);
    if (is_new) words_.vocabulary.push_back(std::move(word));
    return entry->second;
  }

  Words words_;
  std::unordered_map<std::string_view, Indices> spellings_;  // views of the text
  std::unordered_map<std::string, std::uint32_t> indices_;
};

// Removes differences of spelling: marks and forms of the apostrophe. Keeps n with tilde.
std::string without_marks(const icu::UnicodeString& decomposed) {
  icu::UnicodeString kept;
  for (std::int32_t i = 0; i < decomposed.length(); i = decomposed.moveIndex32(i, 1)) {
    const UChar32 c = decomposed.char32At(i);
    const bool tilde_of_n = c == 0x303 && i > 0 && decomposed.charAt(i - 1) == 'n';
    if (tilde_of_n) {
      kept.setCharAt(kept.length() - 1, 0xF1);
    } else if ((U_GET_GC_MASK(c) & U_GC_M_MASK) == 0) {
      kept.append(is_apostrophe(c) ? UChar32{'\''} : c);
    }
  }
  std::string out;
  kept.toUTF8String(out);
  return out;
}

}  // namespace

std::string readable(std::string_view text) {
  std::string out(text);
  std::size_t checked = 0;
  while (const auto bad = first_invalid_utf8(std::string_view(out).substr(checked))) {
    out[checked + *bad] = '?';
    checked += *bad + 1;
  }
  const auto breaks_line = [&](std::size_t i) { return i < text.size() && text[i] == '\n'; };
  std::size_t newest_break = text.size();  // the last line break seen; text.size(): none
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '\0' || out[i] == '\r') out[i] = ' ';
    if (!breaks_line(i)) continue;
    const bool carriage = i + 1 < text.size() && text[i + 1] == '\r';
    const bool before =
        newest_break != text.size() && text.find_first_not_of('\r', newest_break + 1) == i;
    if (!before && !breaks_line(i + (carriage ? 2 : 1))) out[i] = ' ';
    newest_break = i;
  }
  return out;
}

Words words_of(std::string_view text) {
  Collector collector;
  bool pause = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint here = decode(text, at);
    if (!is_word_character(here.value)) {
      pause = pause || is_pause(here.value);
      at = here.end;
      continue;
    }
    const std::size_t end = word_end(text, at);
    collector.add(text.substr(at, end - at), {at, end}, pause);
    pause = false;
    at = end;
  }
  return collector.take();
}

std::string fold(std::string_view word) {
  if (is_ascii(word)) {
    std::string out(word);
    for (char& c : out) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
  }
  UErrorCode status = U_ZERO_ERROR;
  const auto* casefold = icu::Normalizer2::getNFKCCasefoldInstance(status);
  const auto* decompose = icu::Normalizer2::getNFDInstance(status);
  const auto length = static_cast<std::int32_t>(std::min<std::size_t>(word.size(), 1 << 20));
  const auto original = icu::UnicodeString::fromUTF8(icu::StringPiece(word.data(), length));
  if (U_FAILURE(status)) return std::string(word);
  const icu::UnicodeString folded = casefold->normalize(original, status);
  const icu::UnicodeString decomposed = decompose->normalize(folded, status);
  if (U_FAILURE(status)) return std::string(word);
  return without_marks(decomposed);
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace belay::rules
