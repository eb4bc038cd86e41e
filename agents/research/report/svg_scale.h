#pragma once
// agents/research/report/svg_scale.h - values to coordinates of a chart, with round tick marks.

#include <string>
#include <vector>

namespace belay::research::report {

// A linear scale from values to coordinates. Its ends are tick marks.
class Scale {
 public:
  // Covers all `values`, which are finite (greater ones than 1e100 in size are drawn as 1e100),
  // and zero if `with_zero`. `from` and `to` are the coordinates of the least and the greatest
  // value; about `tick_count` tick marks are made.
  Scale(const std::vector<double>& values, bool with_zero, double from, double to, int tick_count);

  double at(double value) const;  // within `from` and `to`
  const std::vector<double>& ticks() const { return ticks_; }
  double least() const { return least_; }
  double greatest() const { return greatest_; }

 private:
  double least_ = 0;
  double greatest_ = 1;
  double from_ = 0;
  double to_ = 0;
  std::vector<double> ticks_;
};

// Returns a coordinate with one decimal.
std::string coordinate(double value);

}  // namespace belay::research::report
