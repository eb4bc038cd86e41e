#pragma once
// agents/research/specialists/weighted_score.h - scores of 0 to 100 from several measures. The
// scales are this project's own.

#include <string_view>
#include <vector>

#include "agents/research/finance/quantity.h"

namespace belay::research {

struct ScoreComponent {
  Quantity quantity;
  double low = 0;   // scores 0; greater than `high` if less is better
  double high = 0;  // scores 1
  double weight = 0;
};

// Returns the weighted mean of the available components, times 100; missing_input if these have
// less than 0.6 of the weight.
Quantity weighted_score(const std::vector<ScoreComponent>& components, std::string_view name);

}  // namespace belay::research
