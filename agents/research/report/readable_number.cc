#include "agents/research/report/readable_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace belay::research::report {
namespace {

constexpr std::string_view kMinus = "\xE2\x88\x92";  // U+2212
constexpr int kGreatestExponent = 14;                // of numbers that are written out

// d.ddd x 10^exponent, without the sign.
struct Digits {
  std::string digits;  // no point
  int exponent = 0;
};

// Rounds a finite value, correctly, to `count` significant digits.
Digits rounded(double value, int count) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::fabs(value),
                                 std::chars_format::scientific, count - 1)
                       .ptr;
  const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t e = written.find('e');
  Digits result;
  for (const char c : written.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  std::string_view exponent = written.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.exponent);
  return result;
}

// Inserts a comma after each three digits.
std::string grouped(std::string_view whole) {
  std::string text;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i > 0 && (whole.size() - i) % 3 == 0) text += ',';
    text += whole[i];
  }
  return text;
}

// Writes the digits times 10^shift.
std::string placed(const Digits& number, int shift) {
  const int point = number.exponent + 1 + shift;  // digits in front of the decimal point
  const int count = static_cast<int>(number.digits.size());
  if (point <= 0) {
    return "0." + std::string(static_cast<std::size_t>(-point), '0') + number.digits;
  }
  if (point >= count) {
    return grouped(number.digits + std::string(static_cast<std::size_t>(point - count), '0'));
  }
  const auto split = static_cast<std::size_t>(point);
  return grouped(number.digits.substr(0, split)) + "." + number.digits.substr(split);
}

std::string with_power(const Digits& number) {
  const std::string fraction = number.digits.size() > 1 ? "." + number.digits.substr(1) : "";
  return number.digits.substr(0, 1) + fraction + "e" + std::to_string(number.exponent);
}

std::string significant(double value, int count) {
  const Digits number = rounded(value, count);
  if (number.exponent > kGreatestExponent || number.exponent < -6) return with_power(number);
  return placed(number, 0);
}

std::string magnitude_text(double value) {
  const Digits number = rounded(value, 4);
  if (number.exponent > kGreatestExponent + 2) return with_power(number);
  if (number.exponent >= 13) return placed(number, -12) + " tn";
  if (number.exponent >= 9) return placed(number, -9) + " bn";
  if (number.exponent >= 6) return placed(number, -6) + " mn";
  return significant(value, number.exponent >= 0 ? 4 : 3);
}

std::string percentage_text(double value) {
  const bool is_large = std::fabs(value) >= 10;
  const Digits number = rounded(value, is_large ? 4 : 3);
  if (number.exponent > kGreatestExponent) return with_power(rounded(value, 3));
  if (number.exponent < -5) return "<0.001%";
  return placed(number, 2) + "%";
}

std::string per_share_text(double value) {
  const double size = std::fabs(value);
  if (size < 0.1 || size >= 99.995) return significant(value, size < 0.1 ? 3 : 4);
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), size, std::chars_format::fixed, 2).ptr;
  return {text.data(), end};
}

std::string plain_text(double value) {
  const double size = std::fabs(value);
  if (size < 1e15 && std::floor(size) == size) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), size, std::chars_format::fixed, 0)
            .ptr;
    return grouped({text.data(), static_cast<std::size_t>(end - text.data())});
  }
  return significant(value, size >= 1000 ? 4 : 3);
}

std::string unsigned_text(double value, std::string_view unit, bool as_percentage) {
  if (is_currency(unit) || unit == "shares") return magnitude_text(value);
  if (unit.ends_with("/shares")) return per_share_text(value);
  if (unit == "ratio" && as_percentage) return percentage_text(value);
  if (unit == "ratio") return significant(value, std::fabs(value) >= 1000 ? 4 : 3);
  return plain_text(value);
}

}  // namespace

std::string exact_number(double value) {
  std::array<char, 64> text{};
  const double size = std::fabs(value);
  const bool is_common = size == 0 || (size >= 1e-6 && size < 1e16);
  const auto end = is_common ? std::to_chars(text.data(), text.data() + text.size(), value,
                                             std::chars_format::fixed)
                                   .ptr
                             : std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string grouped_number(double value) {
  std::string text = exact_number(value);
  if (text.find_first_not_of("-.0123456789") != std::string::npos) return text;
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  return text.substr(0, sign) + grouped(std::string_view(text).substr(sign, point - sign)) +
         text.substr(point);
}

std::string readable_number(double value, std::string_view unit, bool as_percentage) {
  if (!std::isfinite(value)) return "n/a";
  if (value == 0) return unit == "ratio" && as_percentage ? "0%" : "0";
  const std::string text = unsigned_text(value, unit, as_percentage);
  return value < 0 ? std::string(kMinus) + text : text;
}

std::string readable_unit(std::string_view unit) {
  constexpr std::string_view kPerShare = "/shares";
  if (!unit.ends_with(kPerShare)) return std::string(unit);
  return std::string(unit.substr(0, unit.size() - kPerShare.size())) + " per share";
}

bool is_currency(std::string_view unit) {
  return unit.size() == 3 &&
         std::all_of(unit.begin(), unit.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace belay::research::report
