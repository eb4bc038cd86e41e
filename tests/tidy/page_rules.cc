// Rules for the bounds of reads: each one has a name, and shrinks with
// BELAY_SMALL_LIMITS, so that tests reach it.

#include <algorithm>
#include <cctype>

#include "tests/tidy/checks.h"
#include "tests/tidy/lexer.h"

namespace belay::tidy {
namespace {

bool is_of_product(std::string_view path) {
  return path.starts_with("src/") || path.starts_with("include/") || path.starts_with("agents/");
}

// Matches names such as "page_rows", "kPageMax", "commits_at_once": no result may depend on them.
bool names_a_page(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::string_view part : {"page", "batch", "at_once", "one_by_one", "ready_runs"}) {
    if (name.find(part) != name.npos) return true;
  }
  return false;
}

}  // namespace

Findings check_pages(const File& file) {
  Findings findings;
  if (!is_cpp(file.path) || is_test(file.path) || !is_of_product(file.path)) return findings;
  std::vector<Token> tokens = tokens_of(file.text);
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    bool is_assigned = tokens[i].kind == TokenKind::identifier && tokens[i + 1].text == "=" &&
                       tokens[i + 2].kind == TokenKind::number;
    if (!is_assigned) continue;
    const std::string& name = tokens[i].text;
    // A limit of one reads the only row, or any row.
    bool is_limit = i > 0 && tokens[i - 1].text == "." && name == "limit";
    if (is_limit && tokens[i + 2].text != "1" && tokens[i + 2].text != "2") {
      findings.push_back({file.path, tokens[i].line,
                          "a read is limited by a number; name the bound (limits::page_rows_max), "
                          "and read on behind a full page"});
    }
    bool is_constant =
        i > 0 && std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(i >= 6 ? i - 6 : 0),
                             tokens.begin() + static_cast<std::ptrdiff_t>(i),
                             [](const Token& token) { return token.text == "constexpr"; });
    if (is_constant && names_a_page(name)) {
      findings.push_back({file.path, tokens[i].line,
                          "the bound " + name +
                              " has to shrink in tests; make it with limits::bounded(), or name "
                              "it for what it limits"});
    }
  }
  return findings;
}

}  // namespace belay::tidy
