#include "agents/research/report/svg_scale.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace belay::research::report {
namespace {

constexpr double kGreatestDrawn = 1e100;

double drawn(double value) {
  if (std::isnan(value)) return 0;
  return std::clamp(value, -kGreatestDrawn, kGreatestDrawn);
}

// Returns 1, 2, 2.5 or 5 times a power of ten, at least `width`.
double round_step(double width) {
  const double power = std::pow(10, std::floor(std::log10(width)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= width * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Scale::Scale(const std::vector<double>& values, bool with_zero, double from, double to,
             int tick_count)
    : from_(from), to_(to) {
  if (!values.empty()) {
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    least_ = drawn(*least);
    greatest_ = drawn(*greatest);
  }
  if (with_zero) {
    least_ = std::min(least_, 0.0);
    greatest_ = std::max(greatest_, 0.0);
  }
  const double size = std::max(std::fabs(least_), std::fabs(greatest_));
  // A width that doubles cannot resolve is a width of zero.
  if (greatest_ - least_ <= size * 1e-9 || greatest_ - least_ < 1e-100) {
    const double margin = size > 1e-90 ? size / 10 : 1;
    least_ -= margin;
    greatest_ += margin;
  }
  const double step = round_step((greatest_ - least_) / std::max(1, tick_count - 1));
  const double first = std::floor(least_ / step + 1e-9);
  const double last = std::ceil(greatest_ / step - 1e-9);
  // Whole multiples of the step: adding it up would make 0.30000000000000004.
  for (int i = 0; i <= 2 * tick_count && first + i <= last; ++i) {
    ticks_.push_back((first + i) * step);
  }
  least_ = std::min(least_, first * step);
  greatest_ = std::max(greatest_, last * step);
}

double Scale::at(double value) const {
  const double share = (drawn(value) - least_) / (greatest_ - least_);
  return from_ + std::clamp(share, 0.0, 1.0) * (to_ - from_);
}

std::string coordinate(double value) {
  std::array<char, 64> text{};
  const double bounded = std::isfinite(value) ? std::clamp(value, -1e6, 1e6) : 0;
  const auto result =
      std::to_chars(text.data(), text.data() + text.size(), bounded, std::chars_format::fixed, 1);
  std::string written(text.data(), result.ptr);
  if (written.ends_with(".0")) written.resize(written.size() - 2);
  return written == "-0" ? "0" : written;
}

}  // namespace belay::research::report
