// What holds for files as wholes: how long they are, how many headers are public, which target they
// belong to, and whether people can look up each error code.

#include <algorithm>
#include <cctype>
#include <map>

#include "tests/tidy/checks.h"
#include "tests/tidy/lexer.h"

namespace belay::tidy {
namespace {

constexpr int kLinesMax = 500;
constexpr int kPublicLinesMax = 300;
constexpr int kPublicHeadersMax = 20;
constexpr int kReasonWithinLines = 30;

int lines_of(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// "Long on purpose: <reason>" in a comment near the top.
bool says_why_it_is_long(std::string_view text) {
  std::size_t end = 0;
  for (int line = 0; line < kReasonWithinLines && end < text.size(); ++line) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  std::string_view top = text.substr(0, end);
  std::string_view mark = "Long on purpose:";
  std::size_t at = top.find(mark);
  if (at == top.npos) return false;
  std::string_view reason = top.substr(at + mark.size());
  reason = reason.substr(0, reason.find('\n'));
  return std::any_of(reason.begin(), reason.end(),
                     [](char c) { return std::isalpha(static_cast<unsigned char>(c)); });
}

bool is_code(std::string_view path) {
  return is_cpp(path) || path.ends_with(".cmake") || path.ends_with("CMakeLists.txt") ||
         path.ends_with(".sql") || path.starts_with("scripts/");
}

bool is_public_header(std::string_view path) {
  return path.starts_with("include/belay/") && path.ends_with(".h");
}

bool continues_file_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/' || c == '.' ||
         c == '-';
}

// Whether a CMakeLists.txt names `file`, outside its comments.
bool names(std::string_view cmake, std::string_view file) {
  while (!cmake.empty()) {
    std::size_t end = std::min(cmake.find('\n'), cmake.size());
    std::string_view line = cmake.substr(0, end);
    line = line.substr(0, line.find('#'));
    for (std::size_t at = line.find(file); at != line.npos; at = line.find(file, at + 1)) {
      std::size_t after = at + file.size();
      bool whole = (at == 0 || !continues_file_name(line[at - 1])) &&
                   (after == line.size() || !continues_file_name(line[after]));
      if (whole) return true;
    }
    cmake.remove_prefix(std::min(end + 1, cmake.size()));
  }
  return false;
}

const File* find(const Tree& tree, std::string_view path) {
  auto found =
      std::find_if(tree.begin(), tree.end(), [&](const File& file) { return file.path == path; });
  return found == tree.end() ? nullptr : &*found;
}

// The enumerators of `enum class NAME { ... }`, with their lines.
std::vector<Token> enumerators_of(std::string_view text, std::string_view name) {
  std::vector<Token> tokens = tokens_of(text);
  std::vector<Token> found;
  for (std::size_t i = 2; i + 1 < tokens.size(); ++i) {
    if (tokens[i - 2].text != "enum" || tokens[i].text != name || tokens[i + 1].text != "{") {
      continue;
    }
    for (std::size_t k = i + 2; k < tokens.size() && tokens[k].text != "}"; ++k) {
      bool first = tokens[k - 1].text == "{" || tokens[k - 1].text == ",";
      if (first && tokens[k].kind == TokenKind::identifier) found.push_back(tokens[k]);
    }
    return found;
  }
  return found;
}

}  // namespace

Findings check_length(const File& file) {
  if (!is_code(file.path)) return {};
  int limit = is_public_header(file.path) ? kPublicLinesMax : kLinesMax;
  int lines = lines_of(file.text);
  if (lines <= limit || says_why_it_is_long(file.text)) return {};
  return {{file.path, limit + 1,
           std::to_string(lines) + " lines, more than " + std::to_string(limit) +
               ": split it, or say near its top \"Long on purpose: <reason>\""}};
}

Findings check_public_headers(const Tree& tree) {
  int count = 0;
  Findings findings;
  for (const File& file : tree) {
    if (!is_public_header(file.path) || ++count <= kPublicHeadersMax) continue;
    findings.push_back({file.path, 1,
                        "public header number " + std::to_string(count) + ", more than " +
                            std::to_string(kPublicHeadersMax) + ": what can be private?"});
  }
  return findings;
}

Findings check_targets(const Tree& tree) {
  std::map<std::string, std::string_view> cmake;  // folder, with its '/', and the text in it
  for (const File& file : tree) {
    std::string_view name = "CMakeLists.txt";
    if (!file.path.ends_with(name)) continue;
    cmake[file.path.substr(0, file.path.size() - name.size())] = file.text;
  }
  Findings findings;
  for (const File& file : tree) {
    if (!file.path.ends_with(".cc")) continue;
    bool named = std::any_of(cmake.begin(), cmake.end(), [&](const auto& entry) {
      const auto& [folder, text] = entry;
      return file.path.starts_with(folder) &&
             names(text, std::string_view(file.path).substr(folder.size()));
    });
    if (!named)
      findings.push_back({file.path, 1, "no CMakeLists.txt names it, so it is not built"});
  }
  return findings;
}

Findings check_error_codes(const Tree& tree) {
  const File* header = find(tree, "include/belay/result.h");
  const File* document = find(tree, "docs/errors.md");
  Findings findings;
  if (!header || !document) return findings;
  for (const Token& code : enumerators_of(header->text, "ErrorCode")) {
    if (document->text.find("`" + code.text + "`") != std::string::npos) continue;
    findings.push_back({header->path, code.line,
                        "docs/errors.md does not explain `" + code.text + "`: add a line"});
  }
  return findings;
}

}  // namespace belay::tidy
