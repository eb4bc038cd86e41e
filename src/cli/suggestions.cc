#include "cli/suggestions.h"

#include <algorithm>
#include <numeric>

namespace belay::cli {
namespace {

constexpr std::size_t kComparedMax = 60;

// Edit distance: characters to insert, delete or replace.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t k = 0; k < other.size(); ++k) {
      std::size_t replaced = diagonal + (one[i] == other[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({replaced, row[k] + 1, row[k + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  std::string_view nearest;
  std::size_t best = std::max<std::size_t>(1, (name.size() + 1) / 3);
  for (const std::string& each : known) {
    if (name.size() > kComparedMax || each.size() > kComparedMax) continue;
    std::size_t apart = distance(name, each);
    if (apart > best || (apart == best && !nearest.empty())) continue;
    best = apart;
    nearest = each;
  }
  if (!nearest.empty()) return " Did you mean \"" + std::string(nearest) + "\"?";
  std::string all;
  for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
  return all.empty() ? "" : " Available: " + all + ".";
}

}  // namespace belay::cli
