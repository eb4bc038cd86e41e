#include "agents/research/filings/word_lists.h"

#include <algorithm>

#include "agents/research/filings/text_lines.h"
#include "agents/research/filings/text_words.h"
#include "agents/research/filings/word_lists_text.h"

namespace belay::research {
namespace {

// Returns the number of the list, or kWordLists if no list has this name.
std::size_t list_named(std::string_view name) {
  const auto found = std::find(kWordListNames.begin(), kWordListNames.end(), name);
  return static_cast<std::size_t>(found - kWordListNames.begin());
}

bool is_listable(std::string_view word) {
  return word.size() >= 2 &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

WordLists WordLists::read(std::string_view text) {
  WordLists lists;
  std::size_t list = kWordLists;
  const auto fail = [&lists](std::size_t line, std::string_view what) {
    lists.error_ = "line " + std::to_string(line) + ": " + std::string(what);
    return lists;
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take_line(text);
    if (line.starts_with('#')) continue;
    if (line.starts_with('[') && line.ends_with(']')) {
      list = list_named(line.substr(1, line.size() - 2));
      if (list == kWordLists) return fail(number, "an unknown list");
      continue;
    }
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      if (list == kWordLists) return fail(number, "words before the name of their list");
      if (!is_listable(word)) {
        return fail(number, "'" + std::string(word) + "' is not a word of small letters");
      }
      lists.add(word, list);
    }
  }
  return lists;
}

void WordLists::add(std::string_view word, std::size_t list) {
  WordListSet& known = lists_[std::string(word)];
  if ((known & bit_of(list)) != 0) return;
  known |= bit_of(list);
  ++sizes_[list];
  longest_ = std::max(longest_, word.size());
}

const WordLists& WordLists::built_in() {
  static const WordLists lists = read(word_lists_text());
  return lists;
}

WordListSet WordLists::lists_with(std::string_view word) const {
  if (word.size() > longest_) return 0;
  std::string lower(word);  // at most longest_ letters
  for (char& c : lower) c = lower_ascii(c);
  const auto found = lists_.find(lower);
  return found == lists_.end() ? 0 : found->second;
}

}  // namespace belay::research
