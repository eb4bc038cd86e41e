#pragma once
// tests/tidy/checks.h - the rules of this repository that a machine can hold, one function each.
//
// Every check is a pure function of a file, or of all files. A path is relative to the root of the
// repository; what lies in which folder decides what it may do.

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
  std::string message;  // what is wrong and what to do instead
};

using Findings = std::vector<Finding>;
using Tree = std::vector<File>;

// Of one file. Each looks only at the files that its rule is about.
Findings check_includes(const File& file);      // a folder includes only what lies below it
Findings check_banned_names(const File& file);  // each with its replacement
Findings check_co_await(const File& file);      // what GCC 12 destroys twice
Findings check_text(const File& file);          // reminders, suppressions, paths, spaces, columns
Findings check_name(const File& file);          // file names that say nothing
Findings check_length(const File& file);        // long files say why, and end somewhere
Findings check_functions(const File& file);     // short functions
Findings check_interfaces(const File& file);    // few virtual functions a class
Findings check_pages(const File& file);         // bounds of reads are named, and shrink in tests

// Of the whole tree.
Findings check_public_headers(const Tree& tree);  // few of them, short in all
Findings check_readmes(const Tree& tree);         // each folder of src/ says what it is
Findings check_targets(const Tree& tree);         // every .cc belongs to a target
Findings check_error_codes(const Tree& tree);     // every ErrorCode is explained to people

Findings check_examples(const Tree& tree);   // short, listed, with what they say
Findings check_snippets(const Tree& tree);   // programs in documents are those of examples
Findings check_mutations(const Tree& tree);  // guards stand where tests/mutation says
Findings check_prose(const Tree& tree);      // listed phrases: their counts only fall

// All of the above.
Findings check_tree(const Tree& tree);

// The files of the repository at `root` that the checks read: what git tracks and what it would,
// or, without git, everything but build trees and hidden folders.
Tree read_tree(const std::string& root);

// Lines of each function body, as check_functions() counts them.
std::vector<int> function_lines(const File& file);

// What a path says.
bool is_cpp(std::string_view path);
bool is_test(std::string_view path);

}  // namespace belay::tidy
