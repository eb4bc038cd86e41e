#include "agents/research/finance/formula.h"

#include <cmath>

#include "agents/research/finance/formula_node.h"

namespace belay::research {
namespace {

using Node = Formula::Node;
using Kind = Node::Kind;

class Evaluation {
 public:
  explicit Evaluation(const FormulaSource& source) : source_(source) {}

  Quantity value(const Node& node, std::size_t year) const {
    switch (node.kind) {
      case Kind::number:
        return Quantity::of(node.number);
      case Kind::name:
        return source_.value(node.name, year);
      case Kind::shift:
        return earlier(*node.operands[0], year, node.count);
      case Kind::call:
        return call(node, year);
      default:
        return operation(node, year);
    }
  }

 private:
  Quantity operation(const Node& node, std::size_t year) const {
    Quantity left = value(*node.operands[0], year);
    if (!left.is_available()) return left;
    Quantity right = value(*node.operands[1], year);
    if (!right.is_available()) return right;
    if (node.kind == Kind::divided && right.value() == 0) {
      return Quantity::missing(Missing::non_positive, "the denominator of " + node.text + " is 0");
    }
    return calculated_from(result_of(node.kind, left.value(), right.value()), {&left, &right});
  }

  static double result_of(Kind kind, double a, double b) {
    switch (kind) {
      case Kind::plus:
        return a + b;
      case Kind::minus:
        return a - b;
      case Kind::times:
        return a * b;
      case Kind::divided:
        return a / b;
      case Kind::less:
        return a < b;
      case Kind::less_or_equal:
        return a <= b;
      case Kind::greater:
        return a > b;
      default:
        return a >= b;
    }
  }

  Quantity earlier(const Node& node, std::size_t year, int count) const {
    std::optional<std::size_t> before = source_.before(year, count);
    if (before) return value(node, *before);
    std::string text = node.text + (count == 0 ? "" : "[-" + std::to_string(count) + "]");
    return Quantity::missing(Missing::too_little_history, text);
  }

  static Quantity not_positive(const Node& node) {
    return Quantity::missing(Missing::non_positive, node.text + " is not greater than 0");
  }

  Quantity call(const Node& node, std::size_t year) const {
    const Node& argument = *node.operands[0];
    if (node.name == "opt") return source_.optional_value(argument.name, year);
    if (node.name == "avg") return average(argument, year);
    if (node.name == "pos") return positive(argument, year);
    if (node.name == "ln") return logarithm(argument, year);
    if (node.name == "cagr") return compound_growth(argument, year, node.counts[0]);
    if (node.name == "mean") return mean(argument, year, node.counts[0]);
    if (node.name == "sd") return deviation(argument, year, node.counts[0]);
    return over_available(node, year);
  }

  Quantity average(const Node& node, std::size_t year) const {
    Quantity now = value(node, year);
    if (!now.is_available()) return now;
    Quantity before = earlier(node, year, 1);
    if (!before.is_available()) return before;
    return calculated_from((now.value() + before.value()) / 2, {&now, &before});
  }

  Quantity positive(const Node& node, std::size_t year) const {
    Quantity result = value(node, year);
    if (!result.is_available() || result.value() > 0) return result;
    return not_positive(node);
  }

  Quantity logarithm(const Node& node, std::size_t year) const {
    Quantity argument = value(node, year);
    if (!argument.is_available()) return argument;
    return calculated_from(std::log(argument.value()), {&argument});
  }

  Quantity compound_growth(const Node& node, std::size_t year, int count) const {
    Quantity now = value(node, year);
    if (!now.is_available()) return now;
    Quantity before = earlier(node, year, count);
    if (!before.is_available()) return before;
    if (now.value() <= 0 || before.value() <= 0) return not_positive(node);
    return calculated_from(std::pow(now.value() / before.value(), 1.0 / count) - 1,
                           {&now, &before});
  }

  // Returns the values of the last `count` years, the newest first; the first one that is not
  // available is the last of the result.
  std::vector<Quantity> all_of(const Node& node, std::size_t year, int count) const {
    std::vector<Quantity> values;
    for (int i = 0; i < count; ++i) {
      values.push_back(earlier(node, year, i));
      if (!values.back().is_available()) break;
    }
    return values;
  }

  static double sum_of(const std::vector<Quantity>& values) {
    double sum = 0;
    for (const Quantity& each : values) sum += each.value();
    return sum;
  }

  Quantity mean(const Node& node, std::size_t year, int count) const {
    std::vector<Quantity> values = all_of(node, year, count);
    if (!values.back().is_available()) return values.back();
    return calculated_from(sum_of(values) / count, values);
  }

  Quantity deviation(const Node& node, std::size_t year, int count) const {
    std::vector<Quantity> values = all_of(node, year, count);
    if (!values.back().is_available()) return values.back();
    double mean = sum_of(values) / count;
    double squares = 0;
    for (const Quantity& each : values) squares += (each.value() - mean) * (each.value() - mean);
    return calculated_from(std::sqrt(squares / (count - 1)), values);
  }

  // meanav(x, n, m) and sumav(x, n, m)
  Quantity over_available(const Node& node, std::size_t year) const {
    const Node& argument = *node.operands[0];
    std::vector<Quantity> values;
    for (int i = 0; i < node.counts[0]; ++i) {
      Quantity each = earlier(argument, year, i);
      if (each.code() == Missing::not_applicable && !each.is_available()) return each;
      if (each.is_available()) values.push_back(std::move(each));
    }
    if (static_cast<int>(values.size()) < node.counts[1]) {
      return Quantity::missing(Missing::too_little_history,
                               argument.text + " of " + std::to_string(node.counts[1]) + " years");
    }
    double sum = sum_of(values);
    double result = node.name == "meanav" ? sum / static_cast<double>(values.size()) : sum;
    return calculated_from(result, values);
  }

  const FormulaSource& source_;
};

}  // namespace

Quantity Formula::evaluate(const FormulaSource& source, std::size_t year) const {
  return Evaluation(source).value(*root_, year);
}

}  // namespace belay::research
