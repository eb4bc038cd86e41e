#pragma once
// agents/research/finance/formula_node.h - the syntax tree of a formula.

#include <memory>
#include <string>
#include <vector>

#include "agents/research/finance/formula.h"

namespace belay::research {

struct Formula::Node {
  enum class Kind {
    number,
    name,
    shift,  // of the operand, by `count` years
    plus,
    minus,
    times,
    divided,
    less,
    less_or_equal,
    greater,
    greater_or_equal,
    call,  // of the function `text`
  };

  Kind kind = Kind::number;
  std::string text;  // as written: for reasons
  double number = 0;
  std::string name;  // of the value or function
  int count = 0;     // of years
  std::vector<std::shared_ptr<const Node>> operands = {};
  std::vector<int> counts = {};  // the whole numbers among the arguments of a call
};

}  // namespace belay::research
