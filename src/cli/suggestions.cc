#include "cli/suggestions.h"

#include <algorithm>

#include "base/edit_distance.h"

namespace belay::cli {
namespace {

constexpr std::size_t kComparedMax = 60;

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  std::string_view nearest;
  std::size_t best = std::max<std::size_t>(1, (name.size() + 1) / 3);
  for (const std::string& each : known) {
    if (name.size() > kComparedMax || each.size() > kComparedMax) continue;
    std::size_t apart = edit_distance(name, each);
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
