#include "agents/research/finance/regression.h"

#include <cstddef>

namespace belay::research {

// Sums are of deviations from the mean, because sums of squares of the values themselves lose the
// digits of a small variance. The first point is the origin, which makes the deviations of equal
// values exactly 0.
std::optional<Regression> least_squares(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || x.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] - x[0];
    mean_y += y[i] - y[0];
  }
  mean_x /= count;
  mean_y /= count;

  double sum_xx = 0;
  double sum_xy = 0;
  double sum_yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - x[0] - mean_x;
    const double dy = y[i] - y[0] - mean_y;
    sum_xx += dx * dx;
    sum_xy += dx * dy;
    sum_yy += dy * dy;
  }
  if (sum_xx == 0) return std::nullopt;

  Regression line;
  line.slope = sum_xy / sum_xx;
  line.intercept = (y[0] + mean_y) - line.slope * (x[0] + mean_x);
  line.r_squared = sum_xy / sum_xx * (sum_xy / sum_yy);
  return line;
}

}  // namespace belay::research
