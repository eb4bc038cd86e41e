#include <algorithm>
#include <array>
#include <charconv>

#include "agents/rules/hits.h"

namespace belay::rules {
namespace {

constexpr std::size_t kFillersMax = 4;

constexpr auto kSleepVerbs =
    std::to_array<std::string_view>({"sleep", "slept", "sleeping", "dormi", "dormir", "dormido",
                                     "duermo", "durmiendo", "dormimos"});
constexpr auto kSleepNouns = std::to_array<std::string_view>({"sleep", "sueño", "rest", "dormir"});
constexpr auto kFillers = std::to_array<std::string_view>(
    {"only",     "barely", "about", "like", "just",    "for",     "almost", "maybe",
     "under",    "less",   "than",  "some", "at",      "most",    "a",      "the",
     "scarcely", "hardly", "not",   "even", "around",  "perhaps", "over",   "more",
     "solo",     "apenas", "unas",  "como", "casi",    "menos",   "mas",    "de",
     "ni",       "nada",   "unos",  "tan",  "escasas", "las",     "en",     "durante"});
constexpr auto kHourWords =
    std::to_array<std::string_view>({"hour", "hours", "hora", "horas", "h", "hr", "hrs"});
constexpr auto kWithout = std::to_array<std::string_view>({"without", "sin", "no", "not", "never"});

struct Numeral {
  std::string_view word;
  double value;
};
constexpr auto kNumerals = std::to_array<Numeral>(
    {{"one", 1},     {"two", 2},     {"three", 3}, {"four", 4},  {"five", 5},
     {"six", 6},     {"seven", 7},   {"eight", 8}, {"nine", 9},  {"ten", 10},
     {"eleven", 11}, {"twelve", 12}, {"an", 1},    {"una", 1},   {"dos", 2},
     {"tres", 3},    {"cuatro", 4},  {"cinco", 5}, {"seis", 6},  {"siete", 7},
     {"ocho", 8},    {"nueve", 9},   {"diez", 10}, {"once", 11}, {"doce", 12}});

// Reads words one by one, up to a pause: no statement of hours continues across punctuation.
class Reader {
 public:
  Reader(const Words& words, std::size_t at, std::size_t limit)
      : words_(&words), at_(at), limit_(limit), first_(at) {}

  std::size_t at() const { return at_; }
  std::string_view word() const {
    if (at_ >= limit_ || (at_ > first_ && words_->tokens[at_].pause_before)) return "";
    return words_->vocabulary[words_->tokens[at_].word];
  }
  void advance() { ++at_; }
  template <typename List>
  bool take(const List& list) {
    if (word().empty() || !has(list, word())) return false;
    advance();
    return true;
  }

 private:
  const Words* words_;
  std::size_t at_;
  std::size_t limit_;
  std::size_t first_;
};

struct Quantity {
  double value = 0;
  bool names_hours = false;  // "4h"
};

std::optional<Quantity> number_in(std::string_view word) {
  for (const Numeral& numeral : kNumerals) {
    if (numeral.word == word) return Quantity{numeral.value, false};
  }
  std::string digits(word);
  std::replace(digits.begin(), digits.end(), ',', '.');
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value, std::chars_format::fixed);
  if (parsed.ec != std::errc() || value < 0) return std::nullopt;
  const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  if (unit.empty()) return Quantity{value, false};
  if (has(kHourWords, unit)) return Quantity{value, true};
  return std::nullopt;
}

// "four", "4.5 hours", "cuatro horas y media", "four and a half hours".
std::optional<double> hours(Reader& reader) {
  const auto number = number_in(reader.word());
  if (!number) return std::nullopt;
  reader.advance();
  double value = number->value;
  const auto half = [&] {
    constexpr auto kAnd = std::to_array<std::string_view>({"and", "y"});
    constexpr auto kArticle = std::to_array<std::string_view>({"a"});
    constexpr auto kHalf = std::to_array<std::string_view>({"half", "media"});
    Reader ahead = reader;
    if (!ahead.take(kAnd)) return;
    ahead.take(kArticle);
    if (!ahead.take(kHalf)) return;
    reader = ahead;
    value += 0.5;
  };
  half();
  constexpr auto kOr = std::to_array<std::string_view>({"or", "o", "to", "a"});
  if (!number->names_hours) {
    Reader ahead = reader;
    if (ahead.take(kOr)) {
      if (const auto other = number_in(ahead.word())) {
        ahead.advance();
        reader = ahead;
        value = (value + other->value) / 2;
      }
    }
    if (!reader.take(kHourWords)) return std::nullopt;
  }
  half();
  return value;
}

}  // namespace

std::optional<SleepHours> sleep_hours_at(const Words& words, std::size_t at, std::size_t limit) {
  Reader reader(words, at, limit);
  if (reader.take(kSleepVerbs)) {
    for (std::size_t i = 0; i < kFillersMax && !number_in(reader.word()); ++i) {
      if (!reader.take(kFillers)) return std::nullopt;
    }
    const auto value = hours(reader);
    if (!value) return std::nullopt;
    // "I have not slept for thirty hours."
    const bool denied = at > 0 && has(kWithout, words.vocabulary[words.tokens[at - 1].word]);
    const bool denied_before = at > 1 && has(kWithout, words.vocabulary[words.tokens[at - 2].word]);
    return SleepHours{*value, (denied || denied_before) && *value >= 12, reader.at()};
  }
  const auto value = hours(reader);
  if (!value) return std::nullopt;
  constexpr auto kOf = std::to_array<std::string_view>({"of", "de"});
  const bool awake = reader.take(kWithout);
  if (!awake) reader.take(kOf);
  if (!reader.take(kSleepNouns) && !(awake && reader.take(kSleepVerbs))) return std::nullopt;
  return SleepHours{*value, awake, reader.at()};
}

}  // namespace belay::rules
