#pragma once
// tests/mutation/faults.h - small faults for a line of C++, and a random selection of them
//
// For scripts/check-mutations --random. Works on text: it recognises comments and strings, and
// relies on the spaces that clang-format puts around operators.

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
  std::uint64_t id = 0;  // independent of the position of the line in the file
};

// Returns lines of the same length, with blanks for comments and the contents of quotes.
std::vector<std::string> code_lines(std::string_view text);

// Returns every fault that one line can have. `code` is its line of code_lines(), `before` the last
// preceding line that is not blank.
std::vector<Fault> faults_of_line(const std::string& line, const std::string& code,
                                  const std::string& before = "");

// Returns whether the file gets faults: a .cc file of src/ or agents/ that is neither a test nor a
// helper of tests.
bool is_judged(std::string_view path);

// Returns at most `count` faults, at most one per line. Lines of the engine, the driver and the
// stores are drawn with twice the probability. The rank of a line depends only on the seed and its
// text: if other lines change, nearly all faults remain the same.
std::vector<Fault> draw_faults(std::vector<Source> sources, std::uint64_t seed, std::size_t count);

// A fault that no test can detect, with the reason.
struct Equivalent {
  std::string file;
  std::string because;
  std::string before;  // without the spaces around it
  std::string after;
};

// Reads tests/mutation/equivalent_faults.txt: "file F", "because R", "-before", "+after". Omits
// malformed entries and describes them in `trouble`.
std::vector<Equivalent> equivalents_in(std::string_view text, std::string& trouble);

// Compares file and text, because line numbers change. Returns null if there is none.
const Equivalent* equivalent_of(const Fault& fault, const std::vector<Equivalent>& known);

}  // namespace belay::mutation
