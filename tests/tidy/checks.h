#pragma once
// tests/tidy/checks.h - the rules of this repository that a program can check, one function each
//
// Every check is a pure function of one file or of all files. A path is relative to the root of the
// repository; the folder of a file determines the rules for it.

#include <string>
#include <string_view>
#include <vector>

namespace belay::tidy {

struct File {
  std::string path;
  std::string text;
};

struct Finding {
  std::string path;
  int line;
  std::string message;  // the fault and its correction
};

using Findings = std::vector<Finding>;
using Tree = std::vector<File>;

// Checks of one file. Each ignores files that its rule does not apply to.
Findings check_includes(const File& file);      // a folder includes only lower layers
Findings check_banned_names(const File& file);  // each with its replacement
Findings check_co_await(const File& file);      // temporaries that GCC 12 destroys twice
Findings check_text(const File& file);          // reminders, suppressions, paths, spaces, columns
Findings check_name(const File& file);          // meaningless file names
Findings check_length(const File& file);        // long files state the reason, up to a maximum
Findings check_functions(const File& file);     // short functions
Findings check_interfaces(const File& file);    // few virtual functions per class
Findings check_pages(const File& file);         // limits of reads are named, and smaller in tests

// Checks of the whole tree.
Findings check_public_headers(const Tree& tree);  // few, and short in total
Findings check_readmes(const Tree& tree);         // each folder of src/ has a description
Findings check_targets(const Tree& tree);         // every .cc belongs to a target
Findings check_error_codes(const Tree& tree);     // every ErrorCode is documented

Findings check_examples(const Tree& tree);   // short, listed, with their output
Findings check_snippets(const Tree& tree);   // programs in documents equal those of examples
Findings check_mutations(const Tree& tree);  // guards are as tests/mutation quotes them
Findings check_prose(const Tree& tree);      // listed phrases: their counts only fall

// Executes all checks above.
Findings check_tree(const Tree& tree);

// Reads the files of the repository at `root` that the checks need: those that git tracks or would
// track; if there is no git, all except build trees and hidden folders.
Tree read_tree(const std::string& root);

// Returns the number of lines of each function body, as check_functions() counts them.
std::vector<int> function_lines(const File& file);

// Classify a path.
bool is_cpp(std::string_view path);
bool is_test(std::string_view path);

}  // namespace belay::tidy
