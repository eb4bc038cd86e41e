#pragma once
// tests/tidy/prose_measures.h - measures the prose and the layout of a tree of sources, for
// scripts/prose: rates per 1,000 words, comment share, sizes of files and functions.

#include <string>
#include <vector>

#include "tests/tidy/checks.h"
#include "tests/tidy/prose_rules.h"

namespace belay::tidy {

// Words of comments, or of documents, and how often each row of the table occurs in them.
struct WordRates {
  int words = 0;
  std::vector<int> counts;  // in the order of the rows

  double per_thousand(std::size_t row) const;
};

// Comment lines and lines, both without empty ones.
struct CommentShare {
  int comment_lines = 0;
  int lines = 0;

  double percent() const;
};

struct Measures {
  std::string name;
  WordRates comments;   // of all C++ files, tests too
  WordRates documents;  // of Markdown files
  CommentShare sources;
  CommentShare headers;
  std::vector<int> file_lines;  // sorted, as are the next two
  std::vector<int> function_lines;
  std::vector<int> header_includes;
  int test_lines = 0;
  int hits_in_comments = 0;  // phrases of prose_phrases.txt and of the rules in code
  int hits_in_strings = 0;
  int hits_in_documents = 0;
};

// Sizes and comment shares leave out tests and benchmarks, and of a tree that has `include/belay/`
// everything outside of `src/` and `include/`.
Measures measure(const std::string& name, const Tree& tree, const PhraseFinder& phrases);

// The value below which `share` of the sorted values lie; 0 for none.
int quantile(const std::vector<int>& sorted, double share);

// One line per row, one column per tree, then the target if the row has one.
std::string to_table(const std::vector<Measures>& all);

}  // namespace belay::tidy
