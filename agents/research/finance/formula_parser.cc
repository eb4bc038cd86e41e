// Reads formulas: comparison < sum < product < shifted primary.

#include <array>
#include <charconv>

#include "agents/research/finance/formula_node.h"

namespace belay::research {
namespace {

using Node = Formula::Node;
using NodePointer = std::shared_ptr<const Node>;
using Kind = Node::Kind;

constexpr int kDepthMax = 50;

struct Function {
  std::string_view name;
  std::size_t counts;  // whole numbers after the first argument
};
constexpr std::array kFunctions = {Function{"avg", 0}, Function{"pos", 0},    Function{"opt", 0},
                                   Function{"ln", 0},  Function{"cagr", 1},   Function{"mean", 1},
                                   Function{"sd", 1},  Function{"meanav", 2}, Function{"sumav", 2}};

struct Operator {
  std::string_view text;
  Kind kind;
};
// The longer ones first.
constexpr std::array kComparisons = {Operator{"<=", Kind::less_or_equal},
                                     Operator{">=", Kind::greater_or_equal},
                                     Operator{"<", Kind::less}, Operator{">", Kind::greater}};
constexpr std::array kSums = {Operator{"+", Kind::plus}, Operator{"-", Kind::minus}};
constexpr std::array kProducts = {Operator{"*", Kind::times}, Operator{"/", Kind::divided}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  NodePointer parse() {
    NodePointer root = comparison();
    skip_spaces();
    if (root && at_ < text_.size()) return fail("an operator");
    return root;
  }
  const std::string& error() const { return error_; }

 private:
  NodePointer fail(std::string_view expected) {
    if (error_.empty()) {
      error_ = "expected " + std::string(expected) + " at \"" + std::string(text_.substr(at_)) +
               "\" of \"" + std::string(text_) + "\"";
    }
    return nullptr;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string from(std::size_t start) const {
    std::string_view text = text_.substr(start, at_ - start);
    return std::string(text.substr(std::min(text.find_first_not_of(' '), text.size())));
  }

  template <std::size_t count>
  const Operator* taken(const std::array<Operator, count>& operators) {
    for (const Operator& each : operators) {
      if (take(each.text)) return &each;
    }
    return nullptr;
  }

  NodePointer operation(Kind kind, std::size_t start, NodePointer left, NodePointer right) const {
    Node node;
    node.kind = kind;
    node.text = from(start);
    node.operands = {std::move(left), std::move(right)};
    return std::make_shared<Node>(std::move(node));
  }

  NodePointer comparison() {
    std::size_t start = at_;
    NodePointer left = sum();
    if (!left) return nullptr;
    const Operator* found = taken(kComparisons);
    if (!found) return left;
    NodePointer right = sum();
    return right ? operation(found->kind, start, left, right) : nullptr;
  }

  NodePointer sum() {
    std::size_t start = at_;
    NodePointer left = product();
    while (left) {
      const Operator* found = taken(kSums);
      if (!found) break;
      NodePointer right = product();
      left = right ? operation(found->kind, start, left, right) : nullptr;
    }
    return left;
  }

  NodePointer product() {
    std::size_t start = at_;
    NodePointer left = shifted();
    while (left) {
      const Operator* found = taken(kProducts);
      if (!found) break;
      NodePointer right = shifted();
      left = right ? operation(found->kind, start, left, right) : nullptr;
    }
    return left;
  }

  NodePointer shifted() {
    std::size_t start = at_;
    NodePointer operand = primary();
    if (!operand || !take("[-")) return operand;
    Node node;
    node.kind = Kind::shift;
    if (!read_count(node.count) || !take("]")) return fail("a number of years and ]");
    node.text = from(start);
    node.operands = {operand};
    return std::make_shared<Node>(std::move(node));
  }

  NodePointer primary() {
    skip_spaces();
    if (++depth_ > kDepthMax) return fail("fewer parentheses");
    NodePointer result;
    char next = at_ < text_.size() ? text_[at_] : '\0';
    if (take("(")) {
      result = comparison();
      if (result && !take(")")) result = fail(")");
    } else if (is_digit(next)) {
      result = number();
    } else if (is_name_start(next)) {
      result = name_or_call();
    } else {
      result = fail("a value");
    }
    --depth_;
    return result;
  }

  NodePointer number() {
    Node node;
    auto [end, code] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), node.number);
    if (code != std::errc()) return fail("a number");
    std::size_t start = at_;
    at_ = static_cast<std::size_t>(end - text_.data());
    node.text = from(start);
    return std::make_shared<Node>(std::move(node));
  }

  bool read_count(int& count) {
    skip_spaces();
    auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), count);
    if (code != std::errc() || count < 0) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    return true;
  }

  NodePointer name_or_call() {
    std::size_t start = at_;
    while (at_ < text_.size() && (is_name_start(text_[at_]) || is_digit(text_[at_]))) ++at_;
    Node node;
    node.kind = Kind::name;
    node.name = from(start);
    if (take("(")) {
      node.kind = Kind::call;
      if (!read_arguments(node)) return nullptr;
    }
    node.text = from(start);
    return std::make_shared<Node>(std::move(node));
  }

  bool read_arguments(Node& node) {
    const Function* function = nullptr;
    for (const Function& each : kFunctions) {
      if (each.name == node.name) function = &each;
    }
    if (!function) return fail("a function") != nullptr;
    NodePointer argument = comparison();
    if (!argument) return false;
    node.operands = {argument};
    for (std::size_t i = 0; i < function->counts; ++i) {
      int count = 0;
      if (!take(",") || !read_count(count) || count == 0) return fail("a count") != nullptr;
      node.counts.push_back(count);
    }
    if (!take(")")) return fail(")") != nullptr;
    if (node.name == "opt" && argument->kind != Kind::name) return fail("an item") != nullptr;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

}  // namespace

std::optional<Formula> Formula::parse(std::string_view text, std::string& error) {
  FormulaParser parser(text);
  NodePointer root = parser.parse();
  error = parser.error();
  if (!root) return std::nullopt;
  return Formula(std::string(text), std::move(root));
}

}  // namespace belay::research
