#pragma once
// agents/research/finance/regression.h - ordinary least squares of one variable.

#include <optional>
#include <span>

namespace belay::research {

struct Regression {
  double slope = 0;
  double intercept = 0;
  // The share of the variance of y that the line explains, 0 to 1; NaN (0 / 0) if all y are equal.
  double r_squared = 0;
};

// Returns the line through the points (x[i], y[i]) with the smallest sum of squared errors of y.
// Empty if all x are equal, if there are fewer than two points, or if the sizes differ. Numbers
// that are too large give results that are not finite.
std::optional<Regression> least_squares(std::span<const double> x, std::span<const double> y);

}  // namespace belay::research
