#include "agents/research/specialists/weighted_score.h"

#include <algorithm>
#include <string>

namespace belay::research {

Quantity weighted_score(const std::vector<ScoreComponent>& components, std::string_view name) {
  constexpr double kWeightMin = 0.6;
  double sum = 0;
  double weights = 0;
  Quantity sources = Quantity::of(0);
  for (const ScoreComponent& each : components) {
    if (!each.quantity.is_available()) continue;
    double place = (each.quantity.value() - each.low) / (each.high - each.low);
    sum += each.weight * 100 * std::clamp(place, 0.0, 1.0);
    weights += each.weight;
    sources.add_sources(each.quantity);
  }
  // A sum of decimal fractions such as 0.35 + 0.25 can be slightly below 0.6.
  constexpr double kRounding = 1e-12;
  if (weights < kWeightMin - kRounding) {
    return Quantity::missing(Missing::missing_input, "too few components of " + std::string(name));
  }
  Quantity score = Quantity::of(sum / weights);
  score.add_sources(sources);
  return score;
}

}  // namespace belay::research
