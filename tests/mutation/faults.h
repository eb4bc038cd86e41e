#pragma once
// tests/mutation/faults.h - small faults for a line of C++, and a draw of them from a seed: for
// scripts/check-mutations --random. Works on text: it knows comments and strings, and relies on the
// spaces that clang-format puts around operators.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace belay::mutation {

struct Source {
  std::string path;
  std::string text;
};

struct Fault {
  std::string file;
  std::size_t line = 0;  // from 1
  std::string kind;      // "negate if", "skip guard", ...
  std::string before;    // the whole line
  std::string after;
  std::uint64_t id = 0;  // the same wherever its line stands in the file
};

// Same length; blanks in place of comments and of what stands in quotes.
std::vector<std::string> code_lines(std::string_view text);

// Every fault that one line can be given. `code` is its line of code_lines(), `before` the newest
// one before it that is not blank.
std::vector<Fault> faults_of_line(const std::string& line, const std::string& code,
                                  const std::string& before = "");

// Whether faults are put into it: .cc of src/ and agents/ that is no test and no test's helper.
bool is_judged(std::string_view path);

// At most `count` faults, one for each line that is drawn. A line of the engine, the driver or a
// store is drawn twice as often as another. Each line has a rank of its own by the seed and its
// text: where other lines change, nearly all faults stay the same.
std::vector<Fault> draw_faults(std::vector<Source> sources, std::uint64_t seed, std::size_t count);

// A fault that no test can notice, with the reason.
struct Equivalent {
  std::string file;
  std::string because;
  std::string before;  // without the spaces around it
  std::string after;
};

// From tests/mutation/equivalent_faults.txt: "file F", "because R", "-before", "+after". What does
// not read so is left out, and `trouble` says so.
std::vector<Equivalent> equivalents_in(std::string_view text, std::string& trouble);

// By file and text, so that lines may move. Null where it is none.
const Equivalent* equivalent_of(const Fault& fault, const std::vector<Equivalent>& known);

}  // namespace belay::mutation
