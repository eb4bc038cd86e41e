#include "tests/tidy/prose_measures.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>

#include "tests/tidy/lexer.h"

namespace belay::tidy {
namespace {

// A row of the table: how often a pattern occurs per 1,000 words.
struct Row {
  std::string_view label;
  std::string_view pattern;  // empty: sentences that begin with "What" and do not end in "?"
  std::string_view target;
};

constexpr Row kRows[] = {
    {"say, tell (all forms)", "say|says|said|tell|tells|told", "<= 0.3"},
    {"sentence begins with What", "", "<= 0.3"},
    {"return(s, ed, ing)", "return|returns|returned|returning", ">= 5"},
    {"if, when", "if|when", ">= 10"},
    {"say, says, said", "say|says|said", ""},
    {"tell, tells, told", "tell|tells|told", ""},
    {"must, should", "must|should", ""},
    {"current(ly)", "current|currently", ""},
    {"immediately", "immediately", ""},
    {"retry (all forms)", "retry|retries|retried|retrying", ""},
    {"lease(s)", "lease|leases", ""},
    {"cache (all forms)", "cache|caches|cached|caching", ""},
    {"backoff", "backoff|back-off", ""},
    {"go on, under way, came to, at once",
     "(go|goes|going|went|gone) on|under way|(come|comes|came|coming) to|at once", ""},
    {"beside, anew, by itself, stand(s)", "beside|anew|by (itself|themselves)|stand|stands|stood",
     ""},
};

// The patterns of all rows, in the format of prose_phrases.txt.
std::string row_phrases() {
  std::string text;
  for (const Row& row : kRows) {
    if (!row.pattern.empty()) text += std::string(row.pattern) + " => " + "-\n";
  }
  return text;
}

void count(const Passage& passage, const PhraseFinder& rows, WordRates& rates) {
  rates.words += static_cast<int>(passage.words.size());
  std::vector<Hit> hits;
  rows.find(passage, "", hits);
  auto what = find_by_code(passage, "");
  for (std::size_t row = 0; row < std::size(kRows); ++row) {
    const std::string_view pattern = kRows[row].pattern;
    const std::vector<Hit>& source = pattern.empty() ? what : hits;
    std::string_view phrase = pattern.empty() ? kWhatSentence : pattern;
    rates.counts[row] += static_cast<int>(std::count_if(
        source.begin(), source.end(), [&](const Hit& hit) { return hit.phrase == phrase; }));
  }
}

void count_prose(const File& file, const PhraseFinder& rows, Measures& measures) {
  for (const Passage& passage : passages_of(file)) {
    if (passage.source == Source::document) count(passage, rows, measures.documents);
    if (passage.source == Source::comment && is_any_cpp(file.path)) {
      count(passage, rows, measures.comments);
    }
  }
}

void count_comment_lines(const std::vector<Token>& tokens, CommentShare& share) {
  std::set<int> comment;
  std::set<int> code;
  for (const Token& token : tokens) {
    auto breaks = std::count(token.text.begin(), token.text.end(), '\n');
    std::set<int>& lines = token.kind == TokenKind::comment ? comment : code;
    for (int line = token.line; line <= token.line + breaks; ++line) lines.insert(line);
  }
  std::set<int> all = code;
  all.insert(comment.begin(), comment.end());
  share.lines += static_cast<int>(all.size());
  share.comment_lines += static_cast<int>(all.size() - code.size());
}

int lines_of(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

bool is_test_or_benchmark(std::string_view path) {
  for (std::string_view part : {"test", "bench", "fixture", "mock"}) {
    if (path.find(part) != path.npos) return true;
  }
  return false;
}

void count_layout(const File& file, Measures& measures) {
  bool is_header = is_any_header(file.path);
  std::vector<Token> tokens = tokens_and_prose_of(file.text);
  count_comment_lines(tokens, is_header ? measures.headers : measures.sources);
  measures.file_lines.push_back(lines_of(file.text));
  for (int lines : function_lines(file)) measures.function_lines.push_back(lines);
  if (!is_header) return;
  measures.header_includes.push_back(
      static_cast<int>(std::count_if(tokens.begin(), tokens.end(), [](const Token& token) {
        return token.kind == TokenKind::include;
      })));
}

void count_hits_of(const File& file, const PhraseFinder& phrases, Measures& measures) {
  for (const Hit& hit : phrases.find(file)) {
    if (hit.source == Source::comment) ++measures.hits_in_comments;
    if (hit.source == Source::string) ++measures.hits_in_strings;
    if (hit.source == Source::document) ++measures.hits_in_documents;
  }
}

std::string with_one_digit(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", number);
  return text;
}

std::string with_two_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

// Columns of right-aligned cells after a label.
class Table {
 public:
  explicit Table(std::size_t columns) : columns_(columns) {}

  void add(std::string label, std::vector<std::string> cells, std::string_view last = "") {
    cells.resize(columns_);
    lines_.push_back({std::move(label), std::move(cells), std::string(last)});
  }

  std::string text() const {
    std::string text;
    std::size_t label_width = 0;
    std::vector<std::size_t> widths(columns_, 0);
    for (const Line& line : lines_) {
      label_width = std::max(label_width, line.label.size());
      for (std::size_t i = 0; i < columns_; ++i) {
        widths[i] = std::max(widths[i], line.cells[i].size());
      }
    }
    for (const Line& line : lines_) {
      text += line.label + std::string(label_width - line.label.size(), ' ');
      for (std::size_t i = 0; i < columns_; ++i) {
        text += std::string(widths[i] - line.cells[i].size() + 2, ' ') + line.cells[i];
      }
      if (!line.last.empty()) text += "  " + line.last;
      text += '\n';
    }
    return text;
  }

 private:
  struct Line {
    std::string label;
    std::vector<std::string> cells;
    std::string last;
  };

  std::size_t columns_;
  std::vector<Line> lines_;
};

std::string spread(const std::vector<int>& sorted) {
  std::string text;
  for (double share : {0.5, 0.9, 0.99, 1.0}) {
    text += (text.empty() ? "" : "/") + std::to_string(quantile(sorted, share));
  }
  return text;
}

std::string longer_than(const std::vector<int>& sorted, int lines) {
  return std::to_string(sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), lines));
}

// A row with a column for each tree, its cells computed by `cell`.
template <class Cell>
void add_row(Table& table, std::string label, const std::vector<Measures>& all, Cell cell) {
  std::vector<std::string> cells;
  for (const Measures& one : all) cells.push_back(cell(one));
  table.add(std::move(label), std::move(cells));
}

std::string prose_table(const std::vector<Measures>& all) {
  std::vector<std::string> names;
  std::vector<const WordRates*> columns;
  for (const Measures& one : all) {
    names.push_back(one.name);
    columns.push_back(&one.comments);
    if (one.documents.words == 0) continue;
    names.push_back("its documents");
    columns.push_back(&one.documents);
  }
  Table table(columns.size());
  table.add("Per 1,000 words of comments", names, "target");
  std::vector<std::string> words;
  for (const WordRates* rates : columns) words.push_back(std::to_string(rates->words));
  table.add("words", words);
  for (std::size_t row = 0; row < std::size(kRows); ++row) {
    std::vector<std::string> cells;
    for (const WordRates* rates : columns)
      cells.push_back(with_two_digits(rates->per_thousand(row)));
    table.add(std::string(kRows[row].label), cells, kRows[row].target);
  }
  return table.text();
}

std::string layout_table(const std::vector<Measures>& all) {
  Table table(all.size());
  add_row(table, "Layout", all, [](const Measures& one) { return one.name; });
  add_row(table, "files", all,
          [](const Measures& one) { return std::to_string(one.file_lines.size()); });
  add_row(table, "lines", all, [](const Measures& one) {
    return std::to_string(std::accumulate(one.file_lines.begin(), one.file_lines.end(), 0L));
  });
  add_row(table, "lines of tests", all,
          [](const Measures& one) { return std::to_string(one.test_lines); });
  add_row(table, "file lines: median/p90/p99/max", all,
          [](const Measures& one) { return spread(one.file_lines); });
  add_row(table, "function lines: median/p90/p99/max", all,
          [](const Measures& one) { return spread(one.function_lines); });
  add_row(table, "functions over 50 lines", all,
          [](const Measures& one) { return longer_than(one.function_lines, 50); });
  add_row(table, "functions over 70 lines", all,
          [](const Measures& one) { return longer_than(one.function_lines, 70); });
  add_row(table, "includes per header: median/p90/p99/max", all,
          [](const Measures& one) { return spread(one.header_includes); });
  add_row(table, "comment share of sources, %", all,
          [](const Measures& one) { return with_one_digit(one.sources.percent()); });
  add_row(table, "comment share of headers, %", all,
          [](const Measures& one) { return with_one_digit(one.headers.percent()); });
  add_row(table, "listed phrases in comments", all,
          [](const Measures& one) { return std::to_string(one.hits_in_comments); });
  add_row(table, "listed phrases in string literals", all,
          [](const Measures& one) { return std::to_string(one.hits_in_strings); });
  add_row(table, "listed phrases in documents", all,
          [](const Measures& one) { return std::to_string(one.hits_in_documents); });
  return table.text();
}

}  // namespace

double WordRates::per_thousand(std::size_t row) const {
  return words == 0 ? 0 : 1000.0 * counts.at(row) / words;
}

double CommentShare::percent() const { return lines == 0 ? 0 : 100.0 * comment_lines / lines; }

int quantile(const std::vector<int>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

Measures measure(const std::string& name, const Tree& tree, const PhraseFinder& phrases) {
  Measures measures;
  measures.name = name;
  measures.comments.counts.resize(std::size(kRows));
  measures.documents.counts.resize(std::size(kRows));
  const PhraseFinder rows(row_phrases());
  bool is_belay = std::any_of(tree.begin(), tree.end(), [](const File& file) {
    return file.path.starts_with("include/belay/");
  });
  for (const File& file : tree) {
    if (is_in_scope(file)) count_prose(file, rows, measures);
    count_hits_of(file, phrases, measures);
    if (!is_any_cpp(file.path)) continue;
    if (is_test_or_benchmark(file.path)) {
      measures.test_lines += lines_of(file.text);
    } else if (!is_belay || file.path.starts_with("src/") || file.path.starts_with("include/")) {
      count_layout(file, measures);
    }
  }
  for (auto* values : {&measures.file_lines, &measures.function_lines, &measures.header_includes}) {
    std::sort(values->begin(), values->end());
  }
  return measures;
}

std::string to_table(const std::vector<Measures>& all) {
  return prose_table(all) + "\n" + layout_table(all);
}

}  // namespace belay::tidy
