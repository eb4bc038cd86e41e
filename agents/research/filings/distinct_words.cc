#include "agents/research/filings/distinct_words.h"

#include <algorithm>

#include "agents/research/filings/text_words.h"

namespace belay::research {
namespace {

constexpr std::size_t kShortWordLetters = 12;

// Letters are 1 to 26: words of different length have different keys.
std::uint64_t key_of(std::string_view word) {
  std::uint64_t key = 0;
  for (const char c : word) key = key << 5 | static_cast<std::uint64_t>(lower_ascii(c) - 'a' + 1);
  return key;
}

bool is_less_ignoring_case(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return lower_ascii(x) < lower_ascii(y);
  });
}

bool is_equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower_ascii(x) == lower_ascii(y); });
}

}  // namespace

void DistinctWords::add(std::string_view word) {
  if (word.size() <= kShortWordLetters) {
    short_.push_back(key_of(word));
    if (short_.size() >= short_limit_) compact_short();
  } else {
    long_.push_back(word);
    if (long_.size() >= long_limit_) compact_long();
  }
}

std::uint64_t DistinctWords::count() {
  compact_short();
  compact_long();
  return short_.size() + long_.size();
}

void DistinctWords::compact_short() {
  std::sort(short_.begin(), short_.end());
  short_.erase(std::unique(short_.begin(), short_.end()), short_.end());
  short_limit_ = std::max(kKeptMin, 2 * short_.size());
}

void DistinctWords::compact_long() {
  std::sort(long_.begin(), long_.end(), is_less_ignoring_case);
  long_.erase(std::unique(long_.begin(), long_.end(), is_equal_ignoring_case), long_.end());
  long_limit_ = std::max(kKeptMin, 2 * long_.size());
}

}  // namespace belay::research
