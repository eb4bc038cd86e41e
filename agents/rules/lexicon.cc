#include "agents/rules/lexicon.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "agents/rules/lexicon_text.h"

namespace belay::rules {
namespace {

constexpr std::array<std::string_view, kCategories> kNames = {
    "crisis",  "low_mood",  "anxiety",   "sleep",    "conflict", "exhaustion",
    "illness", "substance", "isolation", "positive", "coping",   "idiom"};

constexpr std::size_t kGapWordsMax = 2;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool in_range(Category category, double weight) {
  if (category == Category::idiom) return weight == 0;
  if (category == Category::crisis) return weight == 8 || weight == 9 || weight == 10;
  return weight >= 0.3 && weight <= 3;
}

Error bad_line(Language language, std::size_t line, std::string_view why) {
  return error(ErrorCode::invalid, "Line " + std::to_string(line) + " of the lexicon for '" +
                                       std::string(name_of(language)) + "' " + std::string(why) +
                                       ".");
}

// Returns the words of a phrase; an empty word for a gap.
std::vector<ListedWord> words_of_phrase(Language language, std::string_view phrase) {
  std::vector<ListedWord> listed;
  for (const std::string_view part : split(phrase, ' ')) {
    if (part == "..") {
      listed.emplace_back();
      continue;
    }
    const bool exact = part.starts_with('=');
    const Words words = words_of(exact ? part.substr(1) : part);
    for (const Token& token : words.tokens) {
      const std::string& word = words.vocabulary[token.word];
      const bool is_whole = words.tokens.size() == 1;  // accents are significant
      listed.push_back(listed_word(language, exact ? "=" + word : is_whole ? part : word));
    }
  }
  return listed;
}

Lexicon compiled_in(Language language, std::string_view tsv) {
  auto lexicon = Lexicon::read(language, tsv);
  // The files are compiled in, and lexicon_test reads them: an invalid file is never released.
  BELAY_ASSERT(lexicon.ok());
  return *std::move(lexicon);
}

}  // namespace

std::string_view name_of(Category category) { return kNames[static_cast<std::size_t>(category)]; }

std::optional<Category> category_named(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Category>(found - kNames.begin());
}

bool is_burden(Category category) {
  return category != Category::crisis && category != Category::positive &&
         category != Category::coping && category != Category::idiom;
}

Result<Lexicon> Lexicon::read(Language language, std::string_view tsv) {
  Lexicon lexicon(language);
  std::set<std::vector<std::int32_t>> seen;
  std::size_t number = 0;
  for (const std::string_view line : split(tsv, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const auto fields = split(line, '\t');
    if (fields.size() != 3) return bad_line(language, number, "has not three fields");
    const auto category = category_named(fields[1]);
    if (!category) return bad_line(language, number, "names an unknown category");
    double weight = -1;
    const char* end = fields[2].data() + fields[2].size();
    const auto parsed = std::from_chars(fields[2].data(), end, weight);
    if (parsed.ptr != end || !in_range(*category, weight)) {
      return bad_line(language, number, "has a weight out of the category's range");
    }
    Entry entry{std::string(fields[0]), *category, weight, {}};
    for (ListedWord& word : words_of_phrase(language, fields[0])) {
      entry.elements.push_back(word.folded.empty() ? kGap : lexicon.number_of(std::move(word)));
    }
    if (entry.elements.empty() || entry.elements.front() == kGap || entry.elements.back() == kGap) {
      return bad_line(language, number, "has no word at its start or its end");
    }
    // Two phrases of one category with the same words are one entry.
    auto identity = entry.elements;
    identity.push_back(static_cast<std::int32_t>(*category));
    if (seen.insert(std::move(identity)).second) lexicon.entries_.push_back(std::move(entry));
  }
  lexicon.index();
  return lexicon;
}

std::int32_t Lexicon::number_of(ListedWord word) {
  const auto next = static_cast<std::int32_t>(words_.size());
  // "grito" and "gritó" have the same folded text but different forms.
  std::string name = word.folded;
  for (const std::string& key : word.keys) name += " " + key;
  const auto [place, is_new] = numbers_.try_emplace(std::move(name), next);
  if (is_new) words_.push_back(std::move(word));
  return place->second;
}

void Lexicon::index() {
  for (std::size_t number = 0; number < words_.size(); ++number) {
    for (const std::string& key : words_[number].keys) {
      std::vector<std::int32_t>& numbers = by_key_[key];
      const auto same = static_cast<std::int32_t>(number);
      if (!has(numbers, same)) numbers.push_back(same);
    }
  }
  by_first_.resize(words_.size());
  for (std::uint32_t number = 0; number < entries_.size(); ++number) {
    by_first_[static_cast<std::size_t>(entries_[number].elements.front())].push_back(number);
  }
  for (auto& numbers : by_first_) {
    std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::size_t a_size = entries_[a].elements.size();
      const std::size_t b_size = entries_[b].elements.size();
      return a_size != b_size ? a_size > b_size : a < b;
    });
  }
}

std::vector<std::int32_t> Lexicon::numbers_of(std::string_view word) const {
  std::vector<std::int32_t> numbers;
  if (word.empty()) return numbers;
  for (const std::string& key : keys_of(language_, word)) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) continue;
    for (const std::int32_t number : found->second) {
      if (!has(numbers, number)) numbers.push_back(number);
    }
  }
  return numbers;
}

const Lexicon& lexicon_of(Language language) {
  static const Lexicon english = compiled_in(Language::en, kLexiconEn);
  static const Lexicon spanish = compiled_in(Language::es, kLexiconEs);
  BELAY_ASSERT(language != Language::unknown);
  return language == Language::en ? english : spanish;
}

LexiconView::LexiconView(const Lexicon& lexicon, const Words& words)
    : lexicon_(lexicon), words_(words) {
  listed_.reserve(words.vocabulary.size());
  for (const std::string& word : words.vocabulary) listed_.push_back(lexicon.numbers_of(word));
}

std::optional<std::size_t> LexiconView::end_of(const Entry& entry, std::size_t at,
                                               std::size_t limit) const {
  return end_from(entry, 0, at, limit);
}

std::optional<std::size_t> LexiconView::end_from(const Entry& entry, std::size_t element,
                                                 std::size_t at, std::size_t limit) const {
  if (element == entry.elements.size()) return at;
  if (at >= limit) return std::nullopt;
  if (entry.elements[element] != Lexicon::kGap) {
    if (!has(listed_[words_.tokens[at].word], entry.elements[element])) return std::nullopt;
    return end_from(entry, element + 1, at + 1, limit);
  }
  for (std::size_t skipped = 0; skipped <= kGapWordsMax; ++skipped) {
    if (const auto end = end_from(entry, element + 1, at + skipped, limit)) return end;
  }
  return std::nullopt;
}

}  // namespace belay::rules
