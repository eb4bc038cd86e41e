// Long on purpose: one rule for each kind of fault, and their shared functions.

#include "tests/mutation/faults.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace belay::mutation {
namespace {

using std::string;
using std::string_view;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

string_view trimmed(string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

string replaced(const string& line, std::size_t at, std::size_t length, string_view by) {
  string changed = line;
  changed.replace(at, length, by);
  return changed;
}

// Returns the index after the parenthesis that closes the one at `open`, or npos.
std::size_t after_closing(string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < code.size(); ++at) {
    if (code[at] == '(' || code[at] == '[' || code[at] == '{') ++depth;
    if (code[at] == ')' || code[at] == ']' || code[at] == '}') --depth;
    if (depth == 0) return at + 1;
  }
  return string::npos;
}

// Collects the faults of one line.
class Maker {
 public:
  Maker(const string& line, const string& code, const string& before)
      : line_(line), code_(code), before_(before) {}

  std::vector<Fault> take() {
    string_view words = trimmed(code_);
    bool is_code = !words.empty() && words.front() != '#' && !words.starts_with("namespace") &&
                   !words.starts_with("using ") && !words.starts_with("template") &&
                   !words.starts_with("static_assert") && !words.starts_with("BELAY_ASSERT");
    if (is_code) {
      conditions();
      relations();
      sums();
      logic();
      returns();
      deletions();
      numbers();
      swaps();
    }
    return std::move(faults_);
  }

 private:
  void add(const char* kind, string changed) {
    if (changed == line_) return;
    Fault fault;
    fault.kind = kind;
    fault.before = line_;
    fault.after = std::move(changed);
    faults_.push_back(std::move(fault));
  }

  void conditions() {
    for (std::size_t at = code_.find("if ("); at != string::npos; at = code_.find("if (", at + 1)) {
      if (at > 0 && is_word(code_[at - 1])) continue;
      std::size_t open = at + 3;
      std::size_t end = after_closing(code_, open);
      if (end == string::npos) continue;
      std::size_t begin = open + 1;
      std::size_t semicolon = code_.find(';', open);
      bool declares = false;
      if (semicolon < end) {
        begin = semicolon + 1;
      } else {
        std::size_t equals = code_.find(" = ", open);
        declares = equals < end;
      }
      if (declares) continue;
      string condition(trimmed(string_view(line_).substr(begin, end - 1 - begin)));
      std::size_t place = line_.find(condition, begin);
      add("negate if", replaced(line_, place, condition.size(), "!(" + condition + ")"));
      string_view rest = trimmed(string_view(code_).substr(end));
      bool is_guard = rest.starts_with("return") || rest.starts_with("continue") ||
                      rest.starts_with("break") || rest.starts_with("co_return");
      if (is_guard) {
        add("skip guard", replaced(line_, place, condition.size(), "false && (" + condition + ")"));
      }
    }
  }

  // Binary operators, which have a space on both sides.
  void operators(const char* kind, string_view from, string_view to) {
    string sought = " " + string(from) + " ";
    for (std::size_t at = code_.find(sought); at != string::npos; at = code_.find(sought, at + 1)) {
      add(kind, replaced(line_, at + 1, from.size(), to));
    }
  }

  void relations() {
    if (trimmed(code_).starts_with("template")) return;
    for (auto [from, to] : {std::pair("<", "<="),
                            {"<=", "<"},
                            {">", ">="},
                            {">=", ">"},
                            {"==", "!="},
                            {"!=", "=="}}) {
      operators("relation", from, to);
    }
  }

  // Skips lines with texts: texts can be added, but not subtracted.
  void sums() {
    if (line_.find('"') != string::npos || line_.find('\'') != string::npos) return;
    for (auto [from, to] : {std::pair("+", "-"), {"-", "+"}, {"+=", "-="}, {"-=", "+="}}) {
      operators("plus and minus", from, to);
    }
    for (auto [from, to] : {std::pair("++", "--"), {"--", "++"}}) {
      std::size_t at = code_.find(from);
      if (at != string::npos) add("plus and minus", replaced(line_, at, 2, to));
    }
  }

  void logic() {
    operators("and, or", "&&", "||");
    operators("and, or", "||", "&&");
  }

  void returns() {
    std::size_t at = code_.find("return ");
    if (at == string::npos || (at > 0 && is_word(code_[at - 1]) && code_[at - 1] != '_')) return;
    std::size_t begin = at + 7;
    std::size_t end = code_.find(';', begin);
    if (end == string::npos || code_.find('{', begin) < end) return;
    string value(trimmed(string_view(code_).substr(begin, end - begin)));
    bool is_coroutine = at >= 3 && code_.compare(at - 3, 3, "co_") == 0;
    auto by = [&](string_view other) {
      add("constant returned", replaced(line_, begin, end - begin, other));
    };
    if (value == "true") return by("false");
    if (value == "false") return by("true");
    if (value.empty() || value.starts_with('*') || is_coroutine) return;
    by("{}");
  }

  bool begins_a_statement() const {
    string_view before = trimmed(before_);
    return before.empty() || before.ends_with("else") ||
           string_view(";{}:)").find(before.back()) != string_view::npos;
  }

  static bool is_balanced(string_view words) {
    return std::count(words.begin(), words.end(), '(') ==
           std::count(words.begin(), words.end(), ')');
  }

  // A statement that consists of a call or an assignment.
  void deletions() {
    string_view words = trimmed(code_);
    if (!words.ends_with(';') || words.find("co_await") != words.npos) return;
    if (!begins_a_statement() || !is_balanced(words)) return;
    std::size_t head = 0;
    if (words.starts_with("++") || words.starts_with("--")) head = 2;
    std::size_t stop = head;
    while (stop < words.size() && (is_word(words[stop]) || words[stop] == '.' ||
                                   words[stop] == '>' || words[stop] == ':')) {
      ++stop;
      if (stop < words.size() && words[stop - 1] != '-' && words[stop] == '-' &&
          words.compare(stop, 2, "->") == 0) {
        ++stop;
      }
    }
    string_view name = words.substr(head, stop - head);
    static const std::set<string_view> kept = {
        "return", "co_return", "break",    "continue", "else",   "case",
        "goto",   "public:",   "private:", "default:", "delete", "throw"};
    if (name.empty() || kept.contains(name) || name.starts_with("BELAY_")) return;
    string_view rest = words.substr(stop);
    bool is_change = head == 2 && rest == ";";
    for (string_view each : {" = ", " += ", " -= ", " |= ", " &= "}) {
      is_change = is_change || rest.starts_with(each);
    }
    bool is_call = rest.starts_with('(') && !name.ends_with("if") && !name.ends_with("for") &&
                   !name.ends_with("while") && !name.ends_with("switch");
    if (!is_change && !is_call) return;
    std::size_t place = code_.find(words);
    add("delete", replaced(line_, place, words.size(), "{}"));
  }

  void numbers() {
    for (std::size_t at = 0; at < code_.size(); ++at) {
      if (!std::isdigit(static_cast<unsigned char>(code_[at]))) continue;
      std::size_t end = at;
      while (end < code_.size() && (is_word(code_[end]) || code_[end] == '.')) ++end;
      bool is_part =
          at > 0 && (is_word(code_[at - 1]) || code_[at - 1] == '.' || code_[at - 1] == '\'');
      string_view digits = string_view(code_).substr(at, end - at);
      bool is_plain = digits.size() <= 6 && std::all_of(digits.begin(), digits.end(), [](char c) {
                        return std::isdigit(static_cast<unsigned char>(c));
                      });
      bool goes_on = end < code_.size() && code_[end] == '\'';
      if (!is_part && is_plain && !goes_on) {
        int number = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
        add("off by one", replaced(line_, at, digits.size(), std::to_string(number + 1)));
        if (number > 0) {
          add("off by one", replaced(line_, at, digits.size(), std::to_string(number - 1)));
        }
      }
      at = end;
    }
  }

  // Two plain names next to each other: in a declaration each one has a type before it.
  void swaps() {
    for (std::size_t comma = code_.find(", "); comma != string::npos;
         comma = code_.find(", ", comma + 1)) {
      auto is_part = [](char c) { return is_word(c) || c == '.'; };
      std::size_t begin = comma;
      while (begin > 0 && is_part(code_[begin - 1])) --begin;
      std::size_t end = comma + 2;
      while (end < code_.size() && is_part(code_[end])) ++end;
      bool is_alone = begin > 0 && (code_[begin - 1] == '(' ||
                                    code_.compare(begin - 2 < begin ? begin - 2 : 0, 2, ", ") == 0);
      bool ends = end < code_.size() && (code_[end] == ')' || code_[end] == ',');
      string first = line_.substr(begin, comma - begin);
      string second = line_.substr(comma + 2, end - comma - 2);
      if (!is_alone || !ends || first.empty() || second.empty()) continue;
      add("swap arguments", replaced(line_, begin, end - begin, second + ", " + first));
    }
  }

  const string& line_;
  const string& code_;
  const string& before_;
  std::vector<Fault> faults_;
};

// One step of SplitMix64, and FNV-1a that ends with it: the same results permanently.
std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

std::uint64_t hash_of(std::initializer_list<string_view> parts, std::uint64_t hash) {
  hash ^= 0xcbf29ce484222325ULL;
  for (string_view part : parts) {
    for (char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    hash = (hash ^ 0xff) * 0x100000001b3ULL;
  }
  return mixed(hash);
}

std::vector<string> lines_of(string_view text) {
  std::vector<string> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool weighs_twice(string_view path) {
  return path.starts_with("src/engine/") || path.starts_with("src/driver/") ||
         path.starts_with("src/store/");
}

}  // namespace

std::vector<string> code_lines(string_view text) {
  string code(text);
  enum class In { source, comment, block, quotes, letter } in = In::source;
  auto blank = [&](std::size_t at) {
    if (code[at] != '\n') code[at] = ' ';
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (in == In::source) {
      bool is_raw = c == '"' && at > 0 && text[at - 1] == 'R';
      if (is_raw) {
        std::size_t open = text.find('(', at);
        string close = ")" + string(text.substr(at + 1, open - at - 1)) + "\"";
        std::size_t end = std::min(text.find(close, at), text.size() - close.size());
        for (std::size_t inside = at + 1; inside < end + close.size() - 1; ++inside) blank(inside);
        at = end + close.size() - 1;
      } else if (c == '/' && next == '/') {
        in = In::comment;
        blank(at);
      } else if (c == '/' && next == '*') {
        in = In::block;
        blank(at);
      } else if (c == '"') {
        in = In::quotes;
      } else if (c == '\'' && !(at > 0 && std::isdigit(static_cast<unsigned char>(text[at - 1])))) {
        in = In::letter;
      }
      continue;
    }
    if (in == In::comment) {
      if (c == '\n') in = In::source;
      blank(at);
    } else if (in == In::block) {
      blank(at);
      if (c == '*' && next == '/') {
        blank(++at);
        in = In::source;
      }
    } else if (c == '\\') {
      blank(at);
      blank(++at);
    } else if ((in == In::quotes && c == '"') || (in == In::letter && c == '\'')) {
      in = In::source;
    } else {
      blank(at);
    }
  }
  return lines_of(code);
}

std::vector<Fault> faults_of_line(const string& line, const string& code, const string& before) {
  return Maker(line, code, before).take();
}

bool is_judged(string_view path) {
  if (!path.ends_with(".cc") || path.ends_with("_test.cc")) return false;
  if (!path.starts_with("src/") && !path.starts_with("agents/")) return false;
  // Publication of figures, and the entry of a program.
  constexpr std::array<string_view, 5> helpers = {
      "agents/rules/figures.cc", "agents/rules/score_main.cc", "src/program/main.cc",
      "src/cli/help_text.cc", "agents/rules/lexicon_text.cc"};
  return std::find(helpers.begin(), helpers.end(), path) == helpers.end();
}

std::vector<Fault> draw_faults(std::vector<Source> sources, std::uint64_t seed, std::size_t count) {
  struct Line {
    std::uint64_t rank = 0;
    std::uint64_t choice = 0;  // selects one of its faults
    std::vector<Fault> faults;
  };
  std::vector<Line> lines;
  for (const Source& source : sources) {
    if (!is_judged(source.path)) continue;
    std::vector<string> text = lines_of(source.text);
    std::vector<string> code = code_lines(source.text);
    std::map<string, int> times;
    string before;
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::vector<Fault> faults = faults_of_line(text[i], code[i], before);
      if (!trimmed(code[i]).empty()) before = code[i];
      if (faults.empty()) continue;
      // By its text and the number of equal lines above it in the file: changes elsewhere change
      // neither its rank nor its ids.
      string bare(trimmed(text[i]));
      std::uint64_t of_line = hash_of({source.path, bare, std::to_string(++times[bare])}, 0);
      for (Fault& fault : faults) {
        fault.file = source.path;
        fault.line = i + 1;
        fault.id = hash_of({fault.after}, of_line);
      }
      Line line{mixed(of_line ^ mixed(seed)), mixed(of_line + seed), std::move(faults)};
      if (weighs_twice(source.path)) line.rank = std::min(line.rank, mixed(line.rank));
      lines.push_back(std::move(line));
    }
  }
  std::sort(lines.begin(), lines.end(),
            [](const Line& one, const Line& other) { return one.rank < other.rank; });
  if (lines.size() > count) lines.resize(count);
  std::vector<Fault> drawn;
  for (const Line& line : lines) {
    // Selects a kind first: otherwise a line with many numbers would get an off-by-one fault more
    // often.
    std::map<string, std::vector<const Fault*>> by_kind;
    for (const Fault& fault : line.faults) by_kind[fault.kind].push_back(&fault);
    auto kind =
        std::next(by_kind.begin(), static_cast<std::ptrdiff_t>(line.choice % by_kind.size()));
    drawn.push_back(*kind->second[(line.choice >> 32) % kind->second.size()]);
  }
  return drawn;
}

std::vector<Equivalent> equivalents_in(string_view text, string& trouble) {
  std::vector<Equivalent> all;
  int number = 0;
  for (const string& line : lines_of(text)) {
    ++number;
    auto place = [&] { return "line " + std::to_string(number) + ": "; };
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("file ")) {
      all.push_back({line.substr(5), "", "", ""});
    } else if (all.empty()) {
      trouble += place() + "\"file\" comes first.\n";
    } else if (line.starts_with("because ")) {
      all.back().because = line.substr(8);
    } else if (line.starts_with('-')) {
      all.back().before = trimmed(string_view(line).substr(1));
    } else if (line.starts_with('+')) {
      all.back().after = trimmed(string_view(line).substr(1));
    } else {
      trouble += place() + "\"" + line + "\" is none of file, because, - and +.\n";
    }
  }
  for (const Equivalent& each : all) {
    if (each.because.empty() || each.before.empty() || each.after.empty()) {
      trouble += each.file + ": it needs a reason, a - and a +.\n";
    }
  }
  return all;
}

const Equivalent* equivalent_of(const Fault& fault, const std::vector<Equivalent>& known) {
  for (const Equivalent& each : known) {
    if (each.file == fault.file && each.before == trimmed(fault.before) &&
        each.after == trimmed(fault.after)) {
      return &each;
    }
  }
  return nullptr;
}

}  // namespace belay::mutation
