#include "belay/route.h"

#include <algorithm>
#include <optional>

#include "base/trimmed.h"

namespace belay {
namespace {

bool equal_letters(std::string_view one, std::string_view other) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

// Parses "0", "0.25" or "1.000" into thousandths; nullopt if the text is not a weight.
std::optional<int> weight_from(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  int weight = (text[0] - '0') * 1000;
  if (text.size() == 1) return weight;
  if (text[1] != '.') return std::nullopt;
  int unit = 100;
  for (char digit : text.substr(2)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    weight += (digit - '0') * unit;
    unit /= 10;
  }
  if (weight > 1000) return std::nullopt;
  return weight;
}

// Returns the weight in "es-AR;q=0.5"; zero if it is not valid.
int weight_of(std::string_view parameters) {
  constexpr int whole = 1000;
  std::string_view text = trimmed(parameters);
  if (text.empty()) return whole;
  bool is_weight = text.starts_with("q=") || text.starts_with("Q=");
  return is_weight ? weight_from(text.substr(2)).value_or(0) : 0;
}

}  // namespace

std::string_view accepted_language(std::string_view header,
                                   std::initializer_list<std::string_view> known) {
  std::string_view best;
  int best_weight = 0;
  while (!header.empty()) {
    std::size_t comma = std::min(header.find(','), header.size());
    std::string_view one = header.substr(0, comma);
    header.remove_prefix(std::min(comma + 1, header.size()));
    std::size_t semicolon = std::min(one.find(';'), one.size());
    std::string_view range = trimmed(one.substr(0, semicolon));
    int weight = weight_of(one.substr(std::min(semicolon + 1, one.size())));
    std::string_view language = range.substr(0, range.find('-'));
    for (std::string_view each : known) {
      if (weight <= best_weight || !equal_letters(language, each)) continue;
      best = each;
      best_weight = weight;
    }
  }
  return best;
}

}  // namespace belay
