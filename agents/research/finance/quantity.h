#pragma once
// agents/research/finance/quantity.h - a number with its inputs, or the reason why it is not
// available.
//
// Pure values without I/O. Thread-safe like any value: concurrent reads are safe.

#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace belay::research {

// Why a figure is not available. docs/research.md lists the cases of each code.
enum class Missing {
  missing_input,       // a fact that the formula needs is not in the file
  too_little_history,  // an earlier fiscal year or month that it needs does not exist
  non_positive,        // a value must be > 0, a denominator is 0, or the result is not finite
  not_applicable,      // the figure is not defined for a bank, or only for banks
  currency_mismatch,   // market data in US dollars cannot be combined with the statements
  no_market_data,      // a series is absent, too old, or lacks a month
  no_peers,
  no_text,  // no filing text, or it has no such item
};
// Returns the code as in JSON: "missing_input".
const char* missing_code(Missing code);

// One source of a figure, as filed or as in the market data.
struct Input {
  // A tag ("GrossProfit"), "price:AAPL", "sp500", "treasury_10y", "config:NAME", "filing",
  // or "filing-text".
  std::string concept_name;
  std::string start = {};  // YYYY-MM-DD; empty: none
  std::string end = {};    // likewise
  double value = 0;
  std::string accn = {};   // accession number of the filing; empty: none
  std::string form = {};   // "10-K"; empty: none
  std::string filed = {};  // YYYY-MM-DD; empty: none

  bool operator==(const Input&) const = default;
  bool operator<(const Input& other) const;
};

// A set of inputs, ordered by value. Copies share the inputs.
class Inputs {
 public:
  Inputs() = default;
  explicit Inputs(Input input);

  void add(const Inputs& other);
  const std::vector<std::shared_ptr<const Input>>& all() const { return inputs_; }

 private:
  std::vector<std::shared_ptr<const Input>> inputs_;  // sorted by the pointed values, without twins
};

// The result of a calculation.
class Quantity {
 public:
  // Unavailable, as non_positive, if `value` is not finite.
  static Quantity of(double value, Inputs inputs = {});
  static Quantity missing(Missing code, std::string text);

  bool is_available() const { return is_available_; }
  double value() const { return value_; }  // 0 if not available
  Missing code() const { return code_; }   // if not available
  // "missing_input: interest_expense"; empty if available.
  std::string reason() const;

  const Inputs& inputs() const { return inputs_; }
  void add_inputs(const Inputs& inputs) { inputs_.add(inputs); }
  // Names of the items that the calculation took as zero.
  const std::set<std::string>& assumed_zero() const { return assumed_zero_; }
  void assume_zero(const std::string& item) { assumed_zero_.insert(item); }

  // The inputs and the assumptions of `other`, with this value.
  void add_sources(const Quantity& other);

 private:
  bool is_available_ = false;
  double value_ = 0;
  Missing code_ = Missing::missing_input;
  std::string text_;
  Inputs inputs_;
  std::set<std::string> assumed_zero_;
};

// Returns a value that was calculated from these operands, with their sources; the first operand
// that is not available, if there is one.
Quantity calculated_from(double value, std::initializer_list<const Quantity*> operands);
Quantity calculated_from(double value, const std::vector<Quantity>& operands);

}  // namespace belay::research
