#include "agents/rules/concepts.h"

#include <algorithm>
#include <utility>

#include "agents/rules/lexicon_text.h"
#include "agents/rules/words.h"

namespace belay::rules {
namespace {

constexpr std::size_t kStartBytesMin = 2;

// Returns the text up to the separator, and removes both from `rest`.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

Result<Concepts> Concepts::read(std::string_view tsv) {
  Concepts out;
  std::uint32_t number = 0;
  for (std::size_t line = 1; !tsv.empty(); ++line) {
    std::string_view rest = next_part(tsv, '\n');
    if (rest.empty() || rest.starts_with('#')) continue;
    const std::string_view name = next_part(rest, '\t');
    if (name.empty() || rest.empty()) {
      return error(ErrorCode::invalid, "Line " + std::to_string(line) +
                                           " of the concepts lacks a name, a tab or words.");
    }
    while (!rest.empty()) {
      std::string word = fold(next_part(rest, ' '));
      if (word.empty()) continue;
      const bool start = word.ends_with('*');
      if (start) word.pop_back();
      (start ? out.starts_ : out.words_).try_emplace(std::move(word), number);
    }
    ++number;
  }
  return out;
}

std::optional<std::uint32_t> Concepts::of(std::string_view word) const {
  const auto whole = words_.find(std::string(word));
  if (whole != words_.end()) return whole->second;
  for (std::size_t length = word.size(); length >= kStartBytesMin; --length) {
    const auto start = starts_.find(std::string(word.substr(0, length)));
    if (start != starts_.end()) return start->second;
  }
  return std::nullopt;
}

const Concepts& concepts() {
  static const Concepts kConcepts = [] {
    auto read = Concepts::read(kConceptsText);
    BELAY_ASSERT(read.ok());
    return *std::move(read);
  }();
  return kConcepts;
}

}  // namespace belay::rules
