// Rules for examples/ and for the programs in documents: they are short and listed, with the output
// that they are compared with, and every program in a document is part of an example.

#include <algorithm>
#include <cctype>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

constexpr int kExampleLinesMax = 80;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

const File* find(const Tree& tree, std::string_view path) {
  auto found =
      std::find_if(tree.begin(), tree.end(), [&](const File& file) { return file.path == path; });
  return found == tree.end() ? nullptr : &*found;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Returns "01_hello" for "examples/01_hello.cc"; empty for anything else.
std::string_view numbered_example(std::string_view path) {
  std::string_view folder = "examples/";
  if (!path.starts_with(folder) || !path.ends_with(".cc")) return {};
  std::string_view name = path.substr(folder.size());
  name.remove_suffix(3);
  bool is_numbered = name.size() > 3 && is_digit(name[0]) && is_digit(name[1]) && name[2] == '_';
  return is_numbered && name.find('/') == name.npos ? name : std::string_view();
}

// A block of C++ in a document.
struct Snippet {
  int line = 0;
  std::string_view from;  // the file that the comment before it names; empty without one
  std::vector<std::string_view> lines;
};

std::vector<Snippet> snippets_of(std::string_view text) {
  std::vector<Snippet> snippets;
  std::string_view from;
  bool is_inside = false;
  int number = 0;
  for (std::string_view line : lines_of(text)) {
    ++number;
    if (is_inside) {
      is_inside = line != "```";
      if (is_inside) snippets.back().lines.push_back(line);
    } else if (line.starts_with("```cpp")) {
      is_inside = true;
      snippets.push_back({number, from, {}});
      from = {};
    } else {
      std::string_view mark = "<!-- from ";
      std::string_view close = " -->";
      bool is_mark = line.starts_with(mark) && line.ends_with(close);
      if (is_mark) from = line.substr(mark.size(), line.size() - mark.size() - close.size());
    }
  }
  return snippets;
}

bool is_program(const Snippet& snippet) {
  return std::any_of(snippet.lines.begin(), snippet.lines.end(),
                     [](std::string_view line) { return line.starts_with("int main("); });
}

// Returns the first line of the snippet that the file does not contain after the previous ones.
const std::string_view* first_not_in(const Snippet& snippet, std::string_view text) {
  std::vector<std::string_view> lines = lines_of(text);
  auto at = lines.begin();
  for (const std::string_view& line : snippet.lines) {
    if (line.empty()) continue;
    at = std::find(at, lines.end(), line);
    if (at == lines.end()) return &line;
    ++at;
  }
  return nullptr;
}

}  // namespace

Findings check_examples(const Tree& tree) {
  Findings findings;
  const File* list = find(tree, "examples/README.md");
  for (const File& file : tree) {
    std::string name(numbered_example(file.path));
    if (name.empty()) continue;
    auto lines = lines_of(file.text);
    if (lines.size() > kExampleLinesMax) {
      findings.push_back({file.path, kExampleLinesMax + 1,
                          std::to_string(lines.size()) + " lines: an example has at most " +
                              std::to_string(kExampleLinesMax)});
    }
    bool has_command = std::any_of(lines.begin(), lines.end(), [](std::string_view line) {
      return line.starts_with("//     $ ");
    });
    if (!has_command) {
      findings.push_back({file.path, 1, "its first comment has no command: \"//     $ ...\""});
    }
    std::string expected = "examples/expected/" + name + ".txt";
    if (!find(tree, expected)) {
      findings.push_back({file.path, 1, "there is no " + expected + ": see examples/play"});
    }
    if (!list || list->text.find("(" + name + ".cc)") == std::string::npos) {
      findings.push_back({file.path, 1, "examples/README.md does not list it"});
    }
  }
  return findings;
}

Findings check_snippets(const Tree& tree) {
  Findings findings;
  for (const File& file : tree) {
    if (!file.path.ends_with(".md")) continue;
    for (const Snippet& snippet : snippets_of(file.text)) {
      if (snippet.from.empty()) {
        if (!is_program(snippet)) continue;
        findings.push_back({file.path, snippet.line,
                            "a program in a document is taken from an example: put "
                            "\"<!-- from examples/NAME.cc -->\" above it"});
        continue;
      }
      const File* source = find(tree, snippet.from);
      if (!source) {
        findings.push_back({file.path, snippet.line, "there is no " + std::string(snippet.from)});
      } else if (const std::string_view* line = first_not_in(snippet, source->text)) {
        findings.push_back({file.path, snippet.line,
                            "not as in " + source->path + ": \"" + std::string(*line) + "\""});
      }
    }
  }
  return findings;
}

}  // namespace belay::tidy
