// The length of functions, and the number of virtual functions of an interface. Both follow the
// braces of a file: a scope is a namespace, a type or a function; any other pair of braces is a
// value.

#include <algorithm>
#include <array>
#include <map>

#include "tests/tidy/checks.h"
#include "tests/tidy/lexer.h"

namespace belay::tidy {
namespace {

constexpr int kFunctionLinesMax = 70;
constexpr int kVirtualsMax = 5;

enum class Kind { space, type, function, value };

struct Scope {
  Kind kind = Kind::value;
  std::string name;
  std::size_t open = 0, close = 0;  // indices of its braces
  int virtuals = 0;                 // of a type, without its destructor
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Finds the scopes of a file outside of functions, and those functions.
class Scopes {
 public:
  explicit Scopes(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::vector<Scope> find() {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const std::string& text = tokens_[at].text;
      if (text == "{") {
        at = open(at);
      } else if (text == "}") {
        close(at);
      } else if (text == ";" && depth_of_head(at) == 0) {
        head_ = at + 1;
      } else if (text == "virtual" && tokens_[at + 1].text != "~" && !open_.empty()) {
        ++found_[open_.back()].virtuals;
      }
    }
    return std::move(found_);
  }

 private:
  // Returns the index to continue from; the next head starts after it, unless this was a value.
  std::size_t open(std::size_t at) {
    Scope scope;
    scope.kind = kind_at(at);
    scope.open = at;
    if (scope.kind == Kind::value) return matching(at);
    scope.name = name_at(at, scope.kind);
    if (scope.kind == Kind::function) {
      scope.close = matching(at);
      head_ = scope.close + 1;
      found_.push_back(std::move(scope));
      return found_.back().close;
    }
    open_.push_back(found_.size());
    found_.push_back(std::move(scope));
    head_ = at + 1;
    return at;
  }

  void close(std::size_t at) {
    if (!open_.empty()) {
      found_[open_.back()].close = at;
      open_.pop_back();
    }
    head_ = at + 1;
  }

  // A brace inside parentheses or after a name is a value, except after the name of a type or a
  // namespace and after a function's trailing return type.
  Kind kind_at(std::size_t at) const {
    if (depth_of_head(at) > 0) return Kind::value;
    std::size_t begin = after_templates(head_);
    bool parameters = false, returns = false;
    int depth = 0;
    for (std::size_t i = begin; i < at; ++i) {
      const std::string& text = tokens_[i].text;
      if (text == "namespace" || text == "extern") return Kind::space;
      if (!parameters && is_one_of(text, {"class", "struct", "union", "enum"})) return Kind::type;
      depth += text == "(" ? 1 : text == ")" ? -1 : 0;
      if (depth == 0 && text == "=" && !is_operator(i))
        return before_is_lambda(at) ? Kind::function : Kind::value;
      parameters = parameters || text == "(";
      returns = returns || (parameters && text == "->");
    }
    if (!parameters) return Kind::value;
    const std::string& before = tokens_[at - 1].text;
    bool ends_head = is_one_of(
        before, {")", "}", "const", "noexcept", "override", "final", "&", "mutable", "try"});
    return ends_head || returns ? Kind::function : Kind::value;
  }

  bool is_operator(std::size_t at) const {
    return at > head_ && (tokens_[at - 1].text == "operator" || tokens_[at - 1].text == "=" ||
                          is_one_of(tokens_[at - 1].text, {"!", "<", ">"}));
  }

  bool before_is_lambda(std::size_t at) const {
    if (tokens_[at - 1].text != ")") return tokens_[at - 1].text == "]";
    for (std::size_t i = head_; i < at; ++i) {
      if (tokens_[i].text == "]" && i + 1 < at && tokens_[i + 1].text == "(") return true;
    }
    return false;
  }

  // Skips `template <...>`, whose `class` does not start a type.
  std::size_t after_templates(std::size_t at) const {
    while (at < tokens_.size() && tokens_[at].text == "template") {
      int depth = 0;
      for (++at; at < tokens_.size(); ++at) {
        if (tokens_[at].text == "<") ++depth;
        if (tokens_[at].text == ">" && --depth == 0) break;
      }
      ++at;
    }
    return at;
  }

  int depth_of_head(std::size_t at) const {
    int depth = 0;
    for (std::size_t i = head_; i < at; ++i) {
      if (tokens_[i].text == "(") ++depth;
      if (tokens_[i].text == ")") --depth;
    }
    return depth;
  }

  std::string name_at(std::size_t at, Kind kind) const {
    std::string name;
    for (std::size_t i = after_templates(head_); i < at; ++i) {
      const std::string& text = tokens_[i].text;
      if (kind == Kind::function && text == "(" && name != "decltype") return name;
      if (kind == Kind::type && text == ":") return name;
      if (tokens_[i].kind == TokenKind::identifier && text != "final") name = text;
    }
    return name;
  }

  std::size_t matching(std::size_t at) const {
    int depth = 0;
    for (; at < tokens_.size(); ++at) {
      if (tokens_[at].text == "{") ++depth;
      if (tokens_[at].text == "}" && --depth == 0) return at;
    }
    return tokens_.size() - 1;
  }

  const std::vector<Token>& tokens_;
  std::size_t head_ = 0;           // start of the declaration being read
  std::vector<std::size_t> open_;  // namespaces and types, outermost first
  std::vector<Scope> found_;
};

// Interfaces that need more virtual functions, each with its reason.
const std::map<std::string, std::string_view>& wide_interfaces() {
  static const std::map<std::string, std::string_view> all = {
      {"Store",
       "one write and what a process needs to own runs: split, each part would ask for "
       "the others"},
      {"Service", "one question a verb: a store of one's own and a server answer them all"},
      {"Connection",
       "what a session of MCP needs of a transport: messages in both directions, its end"},
      {"Output", "the result of a command: lines, documents, progress and styles are one terminal"},
      {"RouteCall", "what a handler does that depends on the headers of its request"},
      {"Schedules", "a part of Service, for the same reason"},
      {"Snapshot", "one read a kind of row, all on one moment: a store has them all or is none"},
  };
  return all;
}

// Counts the lines of a function. A line that has only a comment does not count: a limit must not
// be a reason to leave an explanation out.
int lines_of(const Scope& scope, const std::vector<Token>& tokens, std::string_view text) {
  int first = tokens[scope.open].line;
  int last = tokens[scope.close].line;
  int lines = 0;
  for (int number = 1; number <= last && !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    std::size_t start = line.find_first_not_of(' ');
    bool is_comment = start != line.npos && line.substr(start).starts_with("//");
    if (number >= first && !is_comment) ++lines;
  }
  return lines;
}

}  // namespace

std::vector<int> function_lines(const File& file) {
  std::vector<int> all;
  std::vector<Token> tokens = tokens_of(file.text);
  for (const Scope& scope : Scopes(tokens).find()) {
    if (scope.kind != Kind::function) continue;
    all.push_back(lines_of(scope, tokens, file.text));
  }
  return all;
}

Findings check_functions(const File& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  std::vector<Token> tokens = tokens_of(file.text);
  for (const Scope& scope : Scopes(tokens).find()) {
    if (scope.kind != Kind::function) continue;
    int lines = lines_of(scope, tokens, file.text);
    if (lines <= kFunctionLinesMax) continue;
    findings.push_back({file.path, tokens[scope.open].line,
                        scope.name + " has " + std::to_string(lines) + " lines, more than " +
                            std::to_string(kFunctionLinesMax) + ": name its parts and call them"});
  }
  return findings;
}

Findings check_interfaces(const File& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  std::vector<Token> tokens = tokens_of(file.text);
  for (const Scope& scope : Scopes(tokens).find()) {
    if (scope.kind != Kind::type || scope.virtuals <= kVirtualsMax) continue;
    if (wide_interfaces().contains(scope.name)) continue;
    findings.push_back({file.path, tokens[scope.open].line,
                        scope.name + " has " + std::to_string(scope.virtuals) +
                            " virtual functions, more than " + std::to_string(kVirtualsMax) +
                            ": one a thing that differs"});
  }
  return findings;
}

}  // namespace belay::tidy
