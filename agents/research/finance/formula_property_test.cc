// The formula language: a random expression, written as text and parsed, has the value of a direct
// evaluation, and the reason of its first operand that fails.

#include "agents/research/finance/formula.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace belay::research {
namespace {

constexpr std::array kNames = {"a", "bb_2", "_c"};
constexpr int kYears = 6;

// Values by name and year, without some of them; a company that lacks a year of the six.
struct YearTable {
  std::map<std::pair<int, int>, double> values;  // by name and year
  int gap = -1;
};
std::ostream& operator<<(std::ostream& out, const YearTable& table) {
  for (const auto& [key, value] : table.values) {
    out << kNames[static_cast<std::size_t>(key.first)] << "(" << key.second << ") = " << value
        << ", ";
  }
  return out << "gap " << table.gap;
}

rc::Gen<YearTable> any_table() {
  auto value = rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(-5, 20), [](int number) { return double(number); }),
      rc::gen::element(0.1, 1e15, -1e-7, 1e300, -1e300, 1.0 / 3, 12345678.9));
  auto values = rc::gen::map(rc::gen::container<std::vector<double>>(3 * kYears, std::move(value)),
                             [](const std::vector<double>& all) {
                               std::map<std::pair<int, int>, double> map;
                               for (int i = 0; i < 3 * kYears; ++i) {
                                 map[{i / kYears, i % kYears}] = all[static_cast<std::size_t>(i)];
                               }
                               return map;
                             });
  auto absent = rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 3), rc::gen::inRange(0, kYears)));
  return rc::gen::apply(
      [](std::map<std::pair<int, int>, double> all, const std::vector<std::pair<int, int>>& without,
         int gap) {
        for (const auto& key : without) all.erase(key);
        return YearTable{std::move(all), gap};
      },
      std::move(values), std::move(absent), rc::gen::element(-1, -1, 1, 3));
}

class TableSource final : public FormulaSource {
 public:
  explicit TableSource(const YearTable& table) : table_(table) {}

  Quantity value(std::string_view name, std::size_t year) const override {
    for (int i = 0; i < 3; ++i) {
      auto found = table_.values.find({i, static_cast<int>(year)});
      if (name != kNames[static_cast<std::size_t>(i)] || found == table_.values.end()) continue;
      Input input{std::string(name), {}, std::to_string(year), found->second};
      return Quantity::of(input.value, Inputs(input));
    }
    return Quantity::missing(Missing::missing_input, std::string(name));
  }
  Quantity optional_value(std::string_view name, std::size_t year) const override {
    Quantity known = value(name, year);
    return known.is_available() ? known : Quantity::of(0);
  }
  std::optional<std::size_t> before(std::size_t year, int count) const override {
    const int earlier = static_cast<int>(year) - count;
    if (earlier < 0 || earlier == table_.gap) return std::nullopt;
    return static_cast<std::size_t>(earlier);
  }

 private:
  const YearTable& table_;
};

struct Expression {
  // An operator, a function, "number", "name" or "shift".
  std::string kind = "number";
  double number = 0;
  int name = 0;
  int count = 1;
  int at_least = 1;
  std::vector<Expression> operands = {};
};

int rank_of(const Expression& each) {
  if (each.kind == "<" || each.kind == "<=" || each.kind == ">" || each.kind == ">=") return 0;
  if (each.kind == "+" || each.kind == "-") return 1;
  if (each.kind == "*" || each.kind == "/") return 2;
  return each.kind == "shift" ? 3 : 4;
}

std::string text_of(const Expression& each);

// In parentheses if its rank is less than that of its place.
std::string operand_text(const Expression& each, int rank) {
  return rank_of(each) < rank ? "(" + text_of(each) + ")" : text_of(each);
}

std::string text_of(const Expression& each) {
  const int rank = rank_of(each);
  if (each.kind == "number") {
    std::string text = rc::toString(each.number);
    return text;
  }
  if (each.kind == "name") return kNames[static_cast<std::size_t>(each.name)];
  const Expression& first = each.operands[0];
  if (each.kind == "shift") return operand_text(first, 4) + "[-" + std::to_string(each.count) + "]";
  if (rank < 3) {
    // A comparison has no comparisons as operands; sums and products group from the left.
    const std::string left = operand_text(first, rank == 0 ? 1 : rank);
    return left + " " + each.kind + " " + operand_text(each.operands[1], rank + 1);
  }
  std::string text = each.kind + "(" + text_of(first);
  if (each.kind == "cagr" || each.kind == "mean" || each.kind == "sd" || each.kind == "meanav" ||
      each.kind == "sumav") {
    text += ", " + std::to_string(each.count);
  }
  if (each.kind == "meanav" || each.kind == "sumav") text += "," + std::to_string(each.at_least);
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Expression& each) { return out << text_of(each); }

rc::Gen<Expression> leaf() {
  auto number = rc::gen::map(rc::gen::element(0.0, 1.0, 2.0, 0.5, 365.0, 0.25), [](double value) {
    Expression each;
    each.number = value;
    return each;
  });
  auto name = rc::gen::map(rc::gen::inRange(0, 3), [](int index) {
    Expression each;
    each.kind = "name";
    each.name = index;
    return each;
  });
  return rc::gen::weightedOneOf<Expression>({{1, std::move(number)}, {4, std::move(name)}});
}

// Its first shrinks are its operands.
rc::Gen<Expression> expression(int depth) {
  if (depth == 0) return leaf();
  auto inner = rc::gen::apply(
      [](std::string kind, int count, int at_least, Expression left, Expression right) {
        Expression each;
        each.kind = std::move(kind);
        each.count = count;
        each.at_least = at_least;
        if (each.kind == "opt" && left.kind != "name") left = {"name"};
        each.operands = {std::move(left), std::move(right)};
        return each;
      },
      rc::gen::element<std::string>("+", "-", "*", "/", "+", "-", "*", "/", "<", "<=", ">",
                                    ">=", "shift", "avg", "pos", "opt", "ln", "cagr", "mean", "sd",
                                    "meanav", "sumav"),
      rc::gen::inRange(1, 5), rc::gen::inRange(1, 4), expression(depth - 1), expression(depth - 1));
  auto either = rc::gen::weightedOneOf<Expression>({{1, leaf()}, {4, std::move(inner)}});
  return rc::gen::shrink(std::move(either), [](const Expression& each) {
    return rc::seq::fromContainer(each.operands);
  });
}

// A number, or the code of the reason.
struct Answer {
  bool is_available = true;
  double value = 0;
  Missing code = Missing::missing_input;
};

Answer because(Missing code) { return {false, 0, code}; }
Answer finite(double value) {
  return std::isfinite(value) ? Answer{true, value} : because(Missing::non_positive);
}

class DirectEvaluation {
 public:
  explicit DirectEvaluation(const YearTable& table) : table_(table) {}

  Answer at(const Expression& each, int year) const {
    if (each.kind == "number") return {true, each.number};
    if (each.kind == "name") return name(each.name, year);
    if (rank_of(each) < 3) return operation(each, year);
    return function(each, year);
  }

 private:
  Answer name(int index, int year) const {
    auto found = table_.values.find({index, year});
    return found == table_.values.end() ? because(Missing::missing_input)
                                        : Answer{true, found->second};
  }

  Answer operation(const Expression& each, int year) const {
    const Answer a = at(each.operands[0], year);
    if (!a.is_available) return a;
    const Answer b = at(each.operands[1], year);
    if (!b.is_available) return b;
    if (each.kind == "+") return finite(a.value + b.value);
    if (each.kind == "-") return finite(a.value - b.value);
    if (each.kind == "*") return finite(a.value * b.value);
    if (each.kind == "/") return finite(a.value / b.value);
    if (each.kind == "<") return {true, a.value < b.value ? 1.0 : 0.0};
    if (each.kind == "<=") return {true, a.value <= b.value ? 1.0 : 0.0};
    if (each.kind == ">") return {true, a.value > b.value ? 1.0 : 0.0};
    return {true, a.value >= b.value ? 1.0 : 0.0};
  }

  Answer earlier(const Expression& each, int year, int count) const {
    if (count == 0) return at(each, year);
    if (year - count < 0 || year - count == table_.gap) {
      return because(Missing::too_little_history);
    }
    return at(each, year - count);
  }

  Answer function(const Expression& each, int year) const {
    const Expression& x = each.operands[0];
    if (each.kind == "shift") return earlier(x, year, each.count);
    if (each.kind == "mean" || each.kind == "sd") return over_all(each, year);
    if (each.kind == "meanav" || each.kind == "sumav") return over_available(each, year);
    const Answer now = at(x, year);
    if (each.kind == "opt") return now.is_available ? now : Answer{true, 0};
    if (!now.is_available) return now;
    if (each.kind == "pos") return now.value > 0 ? now : because(Missing::non_positive);
    if (each.kind == "ln") return finite(std::log(now.value));
    const Answer before = earlier(x, year, each.kind == "avg" ? 1 : each.count);
    if (!before.is_available) return before;
    if (each.kind == "avg") return finite((now.value + before.value) / 2);
    if (now.value <= 0 || before.value <= 0) return because(Missing::non_positive);
    return finite(std::pow(now.value / before.value, 1.0 / each.count) - 1);
  }

  // All n years, from the newest back.
  Answer over_all(const Expression& each, int year) const {
    std::vector<double> values;
    for (int i = 0; i < each.count; ++i) {
      const Answer value = earlier(each.operands[0], year, i);
      if (!value.is_available) return value;
      values.push_back(value.value);
    }
    double mean = 0;
    for (double value : values) mean += value;
    mean /= each.count;
    if (each.kind == "mean") return finite(mean);
    double squares = 0;
    for (double value : values) squares += (value - mean) * (value - mean);
    return finite(std::sqrt(squares / (each.count - 1)));
  }

  Answer over_available(const Expression& each, int year) const {
    double sum = 0;
    int available = 0;
    for (int i = 0; i < each.count; ++i) {
      const Answer value = earlier(each.operands[0], year, i);
      if (!value.is_available) continue;
      sum += value.value;
      ++available;
    }
    if (available < each.at_least) return because(Missing::too_little_history);
    return finite(each.kind == "sumav" ? sum : sum / available);
  }

  const YearTable& table_;
};

RC_GTEST_PROP(FormulaProperty, ATextHasTheValueOfItsExpression, ()) {
  const Expression written = *expression(3);
  const YearTable table = *any_table();
  const std::string text = text_of(written);
  std::string error;
  const std::optional<Formula> formula = Formula::parse(text, error);
  RC_ASSERT(error == "");
  RC_ASSERT(formula.has_value());
  RC_ASSERT(formula->text() == text);
  for (int year = 0; year < kYears; ++year) {
    if (year == table.gap) continue;
    const Quantity found = formula->evaluate(TableSource(table), static_cast<std::size_t>(year));
    const Answer expected = DirectEvaluation(table).at(written, year);
    RC_CLASSIFY(expected.is_available, "a value");
    RC_LOG() << "year " << year << ": " << found.reason() << "\n";
    RC_ASSERT(found.is_available() == expected.is_available);
    RC_ASSERT(found.value() == expected.value);
    if (!expected.is_available) {
      RC_ASSERT(missing_code(found.code()) == std::string(missing_code(expected.code)));
    }
  }
}

// A value depends on nothing but its inputs: without the other values it is the same.
RC_GTEST_PROP(FormulaProperty, TheInputsOfAValueAreSufficient, ()) {
  const Expression written = *expression(3);
  const YearTable table = *any_table();
  std::string error;
  const Formula formula = Formula::parse(text_of(written), error).value();
  const Quantity all = formula.evaluate(TableSource(table), kYears - 1);
  RC_PRE(all.is_available());
  YearTable inputs{{}, table.gap};
  for (const auto& input : all.inputs().all()) {
    for (int i = 0; i < 3; ++i) {
      if (input->concept_name != kNames[static_cast<std::size_t>(i)]) continue;
      inputs.values[{i, input->end.at(0) - '0'}] = input->value;
    }
  }
  const Quantity same = formula.evaluate(TableSource(inputs), kYears - 1);
  RC_ASSERT(same.reason() == "");
  RC_ASSERT(same.value() == all.value());
  RC_ASSERT(same.inputs().all().size() == all.inputs().all().size());
}

RC_GTEST_PROP(FormulaProperty, AnyTextIsAFormulaOrAnError, ()) {
  const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "a", "(", ")", "[-1]", "[-", "]", " ", "+", "-", "/", "<", "<=", "pos(", "avg(", "opt(",
      "mean(", "meanav(a,3,1)", ",", "3", "1e999", "0.5", ".", "99999999999", "\xc3", "["));
  std::string text;
  for (const std::string& part : parts) text += part;
  std::string error;
  const std::optional<Formula> formula = Formula::parse(text, error);
  RC_CLASSIFY(formula.has_value(), "a formula");
  RC_ASSERT(formula.has_value() == error.empty());
  if (!formula) return;
  const YearTable table{{{{0, 5}, 2.0}}, -1};
  const Quantity found = formula->evaluate(TableSource(table), 5);
  RC_ASSERT(std::isfinite(found.value()));
  RC_ASSERT(found.is_available() == found.reason().empty());
}

}  // namespace
}  // namespace belay::research
