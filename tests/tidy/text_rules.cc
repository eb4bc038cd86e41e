// Texts that no file of this repository may contain, in any language, and the layout of its lines.

#include <algorithm>
#include <cctype>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

constexpr std::size_t kColumnsMax = 100;

// Written in two halves, so that this file obeys its own rules.
struct Phrase {
  std::string_view text;
  bool whole_word;
  std::string_view instead;
};
const std::vector<Phrase> kPhrases = {
    {"FIX"
     "ME",
     true, "do it now, or open an issue"},
    {"TO"
     "DO",
     true, "do it now, or open an issue"},
    {"XX"
     "X",
     true, "do it now, or open an issue"},
    {"NO"
     "LINT",
     false, "change the code, or the rule for everyone"},
    {"pragma GCC "
     "diagnostic",
     false, "change the code, or the rule for everyone"},
    {"pragma clang "
     "diagnostic",
     false, "change the code, or the rule for everyone"},
    {"no_"
     "sanitize",
     false, "change the code: a sanitizer is right"},
    {"/ho"
     "me/",
     true, "a path of one machine: name it relative to the repository"},
    {"/ro"
     "ot/",
     true, "a path of one machine: name it relative to the repository"},
    {"/wo"
     "rk/",
     true, "a path of one machine: name it relative to the repository"},
    {"sha"
     "red/",
     true, "a folder outside the repository: copy what is needed, with its source"},
    {"deb.debian"
     ".org",
     false, "name the package, not the host that has it"},
    {"registry.np"
     "mjs",
     false, "name the package, not the host that has it"},
    {"py"
     "pi.org",
     false, "name the package, not the host that has it"},
    {"crates"
     ".io",
     false, "name the package, not the host that has it"},
    {"proxy.go"
     "lang",
     false, "name the package, not the host that has it"},
    {"docker"
     ".io",
     false, "name the package, not the host that has it"},
    {"gh"
     "cr.io",
     false, "name the package, not the host that has it"},
};

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool contains(std::string_view line, const Phrase& phrase) {
  for (std::size_t at = line.find(phrase.text); at != line.npos;
       at = line.find(phrase.text, at + 1)) {
    if (!phrase.whole_word) return true;
    std::size_t end = at + phrase.text.size();
    bool joined_before = at > 0 && is_word_character(line[at - 1]);
    bool joined_after = end < line.size() && is_word_character(line[end]);
    bool path = phrase.text.ends_with('/');
    if (!joined_before && (path || !joined_after)) return true;
  }
  return false;
}

// In characters, not bytes.
std::size_t columns_of(std::string_view line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

bool is_markdown(std::string_view path) { return path.ends_with(".md"); }

bool is_makefile(std::string_view path) { return path.ends_with("Makefile"); }

// Data keeps its original words and lines.
bool is_ours(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (std::string_view end : {".cc", ".h", ".cmake", ".md", ".sql", ".sh", ".toml", ".yml"}) {
    if (name.ends_with(end)) return true;
  }
  return name == "CMakeLists.txt" || name == "CMakePresets.json" || name == "Makefile" ||
         path.starts_with("scripts/") || path.starts_with(".ci/");
}

// Words that the stem of a file name must not contain, because they do not describe its contents.
constexpr std::string_view kEmptyWords[] = {"util", "common", "manager", "helper", "misc"};

}  // namespace

bool is_cpp(std::string_view path) { return path.ends_with(".cc") || path.ends_with(".h"); }

bool is_test(std::string_view path) {
  return path.starts_with("tests/") || path.ends_with("_test.cc");
}

Findings check_text(const File& file) {
  Findings findings;
  if (!is_ours(file.path)) return findings;
  std::string_view rest = file.text;
  int number = 0;
  while (!rest.empty()) {
    ++number;
    std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    auto fault = [&](std::string message) {
      findings.push_back({file.path, number, std::move(message)});
    };
    for (const Phrase& phrase : kPhrases) {
      if (!contains(line, phrase)) continue;
      fault("not " + std::string(phrase.text) + ": " + std::string(phrase.instead));
    }
    if (!is_makefile(file.path) && line.find('\t') != line.npos) fault("a tab: use spaces");
    if (line.ends_with('\r')) fault("a carriage return: lines end with a line feed alone");
    if (!is_markdown(file.path) && line.ends_with(' ')) fault("space at the end of the line");
    if (is_cpp(file.path) && columns_of(line) > kColumnsMax) {
      fault("longer than " + std::to_string(kColumnsMax) + " columns");
    }
    if (end == rest.npos) {
      fault("no line feed at the end of the file");
      break;
    }
    rest.remove_prefix(end + 1);
  }
  return findings;
}

Findings check_name(const File& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  std::string name = file.path.substr(file.path.rfind('/') + 1);
  for (std::string_view word : kEmptyWords) {
    if (name.find(word) == name.npos) continue;
    findings.push_back(
        {file.path, 1, "a file is named for what is in it, not \"" + std::string(word) + "\""});
  }
  return findings;
}

}  // namespace belay::tidy
