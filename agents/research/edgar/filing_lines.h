#pragma once
// agents/research/edgar/filing_lines.h - FilingLines: the lines of a filing's text, from the texts,
// blocks and tables of its document.
//
// The format is that of the bundled annual reports: a row of a table is one line with " | " between
// its cells, every other line has an empty line before it, and white space is one space.

#include <string>
#include <string_view>
#include <vector>

namespace belay::research {

class FilingLines {
 public:
  // Adds UTF-8 of whole characters to the current line or cell. White space, with no-break spaces,
  // becomes one space; control characters are left out, and those of U+0080 to U+009F become the
  // characters that Windows-1252 has there, as browsers show them. Within preformatted text, spaces
  // remain, and a line break ends the line.
  void text(std::string_view piece);
  // Ends the line; within a cell, it is a space: a row is one line.
  void end_line();

  void begin_preformatted();
  void end_preformatted();

  // Tables can be nested: the rows of an inner table are lines between two parts of the outer row.
  void begin_table();
  void end_table();
  void begin_row();
  void end_row();
  void begin_cell();
  void end_cell();

  // Returns all lines, with a line break at the end; empty without any text.
  std::string finish();

 private:
  void add(std::string_view shown);
  void add_preformatted(std::string_view piece);
  void end_preformatted_line();
  void write(std::string_view line);
  void push_cell(std::string cell);
  void write_row();
  std::string take_text();

  std::string out_;
  std::string text_;                // of the current line or cell, without white space before it
  bool has_space_ = false;          // white space follows `text_`
  std::vector<std::string> cells_;  // of the current row
  std::vector<char> in_cell_;       // of each open table, the innermost last
  int preformatted_ = 0;            // open elements
  bool after_preformatted_ =
      false;  // the last line of `out_` is one, without an empty one after it
};

}  // namespace belay::research
