#pragma once
// tests/tidy/prose_text.h - the prose of a file as passages of words: comments, string literals and
// the text of Markdown documents.
//
// A passage is text that is read without a break: consecutive comment lines up to an empty one,
// adjacent string literals, a paragraph, a list item or a table cell. Line breaks inside a passage
// count as spaces. Code spans in backticks are one word each; code blocks, quoted blocks, HTML
// comments and the targets of links are left out.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/tidy/checks.h"

namespace belay::tidy {

enum class Source { comment, string, document };

// The text between a word and the one before it.
enum class Gap {
  space,        // white space only
  punctuation,  // anything else within a sentence
  sentence,     // the end of a sentence, or the start of the passage
  question,     // the end of a sentence that ends in "?"
};

// Letters, digits, underscores, inner hyphens and inner apostrophes.
struct Word {
  std::string text;
  int line;
  Gap gap;
};

struct Passage {
  Source source;
  std::vector<Word> words;
  Gap end;  // sentence or question: how the last sentence ends
};

// Text with its line breaks: `lines` maps offsets of `text` to line numbers.
struct Block {
  Source source;
  std::string text;
  std::vector<std::pair<std::size_t, int>> lines;

  void add(std::string_view piece, int line);
};

// The passages of a file, in order, by the language that its path implies. Empty for a file of
// another language. Test files are treated like others.
std::vector<Passage> passages_of(const File& file);

Passage passage_of(const Block& block);

// The word that a code span is counted as.
inline constexpr std::string_view kCodeSpan = "`";

// C++ and C by any of the usual file names, not only those of this repository.
bool is_any_cpp(std::string_view path);
bool is_any_header(std::string_view path);

}  // namespace belay::tidy
