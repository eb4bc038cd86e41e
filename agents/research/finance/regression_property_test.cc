// Least squares: the line of the normal equations, exact on a line, and independent of the order,
// the origin and the unit of the points.

#include "agents/research/finance/regression.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace belay::research {
namespace {

using Points = std::vector<std::pair<int, int>>;

rc::Gen<Points> any_points() {
  return rc::gen::container<Points>(
      rc::gen::pair(rc::gen::inRange(-50, 51), rc::gen::inRange(-50, 51)));
}

std::optional<Regression> line_through(const Points& points, double unit_x = 1, double unit_y = 1,
                                       double from_x = 0, double from_y = 0) {
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& [a, b] : points) {
    x.push_back(from_x + a * unit_x);
    y.push_back(from_y + b * unit_y);
  }
  return least_squares(x, y);
}

bool has_two_x(const Points& points) {
  return std::any_of(points.begin(), points.end(),
                     [&](const auto& each) { return each.first != points[0].first; });
}

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b)); }

// Sums of whole numbers are exact.
RC_GTEST_PROP(RegressionProperty, TheLineSolvesTheNormalEquations, ()) {
  const Points points = *any_points();
  const auto line = line_through(points);
  RC_ASSERT(line.has_value() == (points.size() >= 2 && has_two_x(points)));
  if (!line) return;
  long n = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, sum_yy = 0;
  for (const auto& [x, y] : points) {
    ++n;
    sum_x += x;
    sum_y += y;
    sum_xx += long{x} * x;
    sum_xy += long{x} * y;
    sum_yy += long{y} * y;
  }
  const auto var_x = static_cast<double>(n * sum_xx - sum_x * sum_x);
  const auto var_y = static_cast<double>(n * sum_yy - sum_y * sum_y);
  const auto covariance = static_cast<double>(n * sum_xy - sum_x * sum_y);
  RC_ASSERT(is_near(line->slope, covariance / var_x));
  const double intercept = (static_cast<double>(sum_y) - line->slope * static_cast<double>(sum_x)) /
                           static_cast<double>(n);
  RC_ASSERT(is_near(line->intercept, intercept));
  RC_ASSERT(std::isnan(line->r_squared) == (var_y == 0));
  if (var_y == 0) return;
  RC_ASSERT(is_near(line->r_squared, covariance * covariance / (var_x * var_y)));
  RC_ASSERT(line->r_squared >= 0);
  RC_ASSERT(line->r_squared <= 1 + 1e-12);
}

RC_GTEST_PROP(RegressionProperty, PointsOnALineGiveTheLine, ()) {
  const auto x = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-100, 101));
  const int slope = *rc::gen::inRange(-20, 21);
  const int intercept = *rc::gen::inRange(-1000, 1001);
  Points points;
  for (int each : x) points.emplace_back(each, slope * each + intercept);
  RC_PRE(points.size() >= 2 && has_two_x(points));
  const auto line = line_through(points);
  RC_ASSERT(is_near(line->slope, slope));
  RC_ASSERT(is_near(line->intercept, intercept));
  if (slope != 0) RC_ASSERT(is_near(line->r_squared, 1));
}

RC_GTEST_PROP(RegressionProperty, OrderOriginAndUnitDoNotMatter, ()) {
  Points points = *any_points();
  const int power = *rc::gen::inRange(-20, 21);
  const int from = *rc::gen::inRange(-1000, 1001);
  RC_PRE(points.size() >= 2 && has_two_x(points));
  const Regression line = *line_through(points);
  const bool has_slope = !std::isnan(line.r_squared);
  const double unit = std::ldexp(1, power);
  const Regression of_unit = *line_through(points, 1, unit);
  RC_ASSERT(of_unit.slope == line.slope * unit);
  if (has_slope) RC_ASSERT(of_unit.r_squared == line.r_squared);
  const Regression of_time = *line_through(points, unit);
  RC_ASSERT(of_time.slope == line.slope / unit);
  // Whole numbers: the deviations are the same.
  const Regression moved = *line_through(points, 1, 1, from, -from);
  RC_ASSERT(moved.slope == line.slope);
  if (has_slope) RC_ASSERT(moved.r_squared == line.r_squared);
  std::reverse(points.begin(), points.end());
  RC_ASSERT(is_near(line_through(points)->slope, line.slope));
}

// Of all lines near it, the line has the smallest sum of squared errors.
RC_GTEST_PROP(RegressionProperty, NoOtherLineIsBetter, ()) {
  const Points points = *any_points();
  RC_PRE(points.size() >= 2 && has_two_x(points));
  const Regression line = *line_through(points);
  auto errors = [&](double slope, double intercept) {
    double sum = 0;
    for (const auto& [x, y] : points) {
      const double error = y - slope * x - intercept;
      sum += error * error;
    }
    return sum;
  };
  const double least = errors(line.slope, line.intercept);
  for (double change : {-0.5, -0.01, 0.01, 0.5}) {
    RC_ASSERT(errors(line.slope + change, line.intercept) >= least - 1e-6);
    RC_ASSERT(errors(line.slope, line.intercept + change) >= least - 1e-6);
  }
}

}  // namespace
}  // namespace belay::research
