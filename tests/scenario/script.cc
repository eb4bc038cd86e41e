#include "tests/scenario/script.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "cli/suggestions.h"
#include "tests/scenario/script_commands.h"

namespace belay::scenario {
namespace {

// Returns an error with the position in the file.
Error fault_at(const std::string& path, int line, const std::string& what) {
  return error(ErrorCode::invalid, path + ":" + std::to_string(line) + ": " + what);
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Returns the end of the JSON text that starts at `at` with a quotation mark, a brace or a bracket;
// npos if it does not end in this line.
std::size_t end_of_json(std::string_view line, std::size_t at) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = at; i < line.size(); ++i) {
    char c = line[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '{' || c == '[')) {
      ++depth;
    } else if (!in_string && (c == '}' || c == ']')) {
      --depth;
    }
    if (!in_string && depth == 0) return i + 1;
  }
  return line.npos;
}

// Reads one argument of a line at `at`, and advances `at` to its end.
Result<Argument> read_argument(std::string_view line, std::size_t& at) {
  bool is_json = line[at] == '"' || line[at] == '{' || line[at] == '[';
  std::size_t last = at;
  while (last < line.size() && !is_space(line[last])) ++last;
  if (is_json) last = end_of_json(line, at);
  if (last == line.npos) {
    return error(ErrorCode::invalid,
                 "What begins with " + std::string(1, line[at]) + " does not end in this line.");
  }
  std::string text(line.substr(at, last - at));
  at = last;
  auto json = parse_json(text);
  if (!json.ok() && is_json) return std::move(json).error();
  if (!json.ok()) return Argument{text, Value(text)};
  if (const std::string* quoted = json->as_string()) return Argument{*quoted, *json};
  return Argument{text, *std::move(json)};
}

// Returns "name" if "name=" is at `at`; empty for a plain argument.
std::string name_at(std::string_view line, std::size_t at) {
  std::size_t last = at;
  while (last < line.size() &&
         (std::islower(static_cast<unsigned char>(line[last])) != 0 || line[last] == '-')) {
    ++last;
  }
  if (last == at || last >= line.size() || line[last] != '=') return "";
  return std::string(line.substr(at, last - at));
}

const WordRule* find_word(std::string_view word) {
  const auto& all = all_words();
  auto found =
      std::find_if(all.begin(), all.end(), [&](const WordRule& rule) { return rule.word == word; });
  return found == all.end() ? nullptr : &*found;
}

// Returns whether two-word commands start with this word: "expect".
bool begins_words(std::string_view word) {
  std::string begin = std::string(word) + " ";
  const auto& all = all_words();
  return std::any_of(all.begin(), all.end(),
                     [&](const WordRule& rule) { return rule.word.starts_with(begin); });
}

Error unknown_word(const Step& step) {
  std::vector<std::string> known;
  std::string looked_for = step.word;
  bool second = begins_words(step.word);
  if (second && !step.plain.empty()) looked_for += " " + step.plain.front().text;
  for (const WordRule& rule : all_words()) {
    bool same_kind = !second || rule.word.starts_with(step.word + " ");
    if (same_kind) known.emplace_back(rule.word);
  }
  return error(ErrorCode::invalid,
               "There is no word \"" + looked_for + "\"." + cli::did_you_mean(looked_for, known));
}

Result<Done> check_names(const Step& step, const WordRule& rule) {
  std::istringstream names{std::string(rule.names)};
  std::vector<std::string> known;
  for (std::string name; names >> name;) {
    bool required = name.back() == '!';
    if (required) name.pop_back();
    known.push_back(name);
    if (required && !step.named.contains(name)) {
      return error(ErrorCode::invalid, "\"" + name + "=\" is missing: " + std::string(rule.usage));
    }
  }
  for (const auto& [name, ignored] : step.named) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return error(ErrorCode::invalid, "\"" + std::string(rule.word) + "\" takes no \"" + name +
                                         "=\": " + std::string(rule.usage));
  }
  return Done{};
}

// Finds the rule of the step's word, and checks the step against it.
Result<Done> check_step(Step& step) {
  const WordRule* rule = nullptr;
  if (!step.plain.empty()) {
    rule = find_word(step.word + " " + step.plain.front().text);
    if (rule) {
      step.word = rule->word;
      step.plain.erase(step.plain.begin());
    }
  }
  if (!rule) rule = find_word(step.word);
  if (!rule) return unknown_word(step);
  if (step.plain.size() < rule->least || step.plain.size() > rule->most) {
    std::string few = step.plain.size() < rule->least ? "Something is missing" : "That is too much";
    return error(ErrorCode::invalid, few + ": " + std::string(rule->usage));
  }
  return check_names(step, *rule);
}

Result<Step> read_step(std::string_view line) {
  Step step;
  step.text = line;
  std::size_t at = 0;
  while (at < line.size() && !is_space(line[at])) ++at;
  step.word = line.substr(0, at);
  while (true) {
    while (at < line.size() && is_space(line[at])) ++at;
    if (at >= line.size()) break;
    // The arguments of `type` are used verbatim.
    std::string name = step.word == "type" ? "" : name_at(line, at);
    if (!name.empty()) at += name.size() + 1;
    if (at >= line.size())
      return error(ErrorCode::invalid, "Nothing stands behind \"" + name + "=\".");
    BELAY_TRY(Argument argument, read_argument(line, at));
    if (name.empty()) {
      step.plain.push_back(std::move(argument));
    } else if (!step.named.emplace(name, std::move(argument)).second) {
      return error(ErrorCode::invalid, "\"" + name + "=\" stands there twice.");
    }
  }
  BELAY_CHECK(check_step(step));
  return step;
}

std::string file_stem(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

// Reads "# name: sentence"; the name must equal that of the file.
Result<Done> read_title(const std::string& line, Script& script) {
  std::size_t colon = line.find(": ");
  bool is_title = line.starts_with("# ") && colon != line.npos && colon + 2 < line.size();
  if (!is_title) {
    return fault_at(
        script.path, 1,
        "The first line is \"# " + file_stem(script.path) + ": what it shows, as a sentence\".");
  }
  script.name = line.substr(2, colon - 2);
  script.sentence = line.substr(colon + 2);
  if (script.name == file_stem(script.path)) return Done{};
  return fault_at(script.path, 1,
                  "The script says that its name is \"" + script.name + "\", but its file is " +
                      file_stem(script.path) + ".belay.");
}

}  // namespace

std::string Step::plain_text(std::size_t at) const {
  return at < plain.size() ? plain[at].text : "";
}

std::string Step::named_text(const std::string& name) const {
  auto found = named.find(name);
  return found == named.end() ? "" : found->second.text;
}

Result<Script> parse_script(const std::string& path, const std::string& text) {
  Script script;
  script.path = path;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    while (!line.empty() && is_space(line.back())) line.pop_back();
    if (number == 1) BELAY_CHECK(read_title(line, script));
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.front() == '#') continue;
    auto step = read_step(line);
    if (!step.ok()) return fault_at(path, number, step.error().message);
    step->line = number;
    if (step->word == "stores") {
      for (const Argument& store : step->plain) script.stores.push_back(store.text);
    } else {
      script.steps.push_back(*std::move(step));
    }
  }
  if (!script.steps.empty()) return script;
  return fault_at(path, 1, "The script does nothing.");
}

Result<Script> read_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error(ErrorCode::not_found, path + ": There is no such file.");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_script(path, text.str());
}

std::string test_name(const Script& script) {
  std::string name;
  bool begins = true;
  for (char c : script.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      begins = true;
      continue;
    }
    name += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = false;
  }
  return name;
}

}  // namespace belay::scenario
