#pragma once
// agents/research/finance/formula.h - annual formulas: "net_income / pos(avg(assets))".
//
// A formula is evaluated at a fiscal year t. Its names are those of a FormulaSource.
//
//   x[-k]           the value k years earlier
//   a + b, a - b, a * b, a / b, (a)
//   a < b, a <= b, a > b, a >= b   1 or 0
//   avg(x)          (x + x[-1]) / 2
//   pos(a)          a, if it is greater than 0; otherwise non_positive
//   opt(x)          x, or 0 if the company never has such a line
//   ln(a)           the natural logarithm
//   cagr(x, k)      (x / x[-k])^(1/k) - 1, for values greater than 0
//   mean(x, n)      over t, t-1 ... t-n+1, all of which are needed
//   sd(x, n)        likewise, the standard deviation with n - 1
//   meanav(x, n, m), sumav(x, n, m)   over those of the n years that are available, at least m
//
// A result has the inputs of all values that it was calculated from. The reason of a result that is
// not available is that of the first operand that is not, in the order of the text.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/research/finance/quantity.h"

namespace belay::research {

// The values that a formula refers to. Years are indexes, the oldest first.
class FormulaSource {
 public:
  virtual ~FormulaSource() = default;
  virtual Quantity value(std::string_view name, std::size_t year) const = 0;
  // Returns the value, or 0 if the company has never had one: opt(x).
  virtual Quantity optional_value(std::string_view name, std::size_t year) const = 0;
  // Returns the index of the year `count` years earlier, or empty.
  virtual std::optional<std::size_t> before(std::size_t year, int count) const = 0;
};

class Formula {
 public:
  // Returns the formula; empty if the text is not one, with the reason in `error`.
  static std::optional<Formula> parse(std::string_view text, std::string& error);

  Quantity evaluate(const FormulaSource& source, std::size_t year) const;
  const std::string& text() const { return text_; }

  struct Node;  // part of the syntax tree

 private:
  Formula(std::string text, std::shared_ptr<const Node> root)
      : text_(std::move(text)), root_(std::move(root)) {}

  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace belay::research
