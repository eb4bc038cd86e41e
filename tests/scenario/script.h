#pragma once
// tests/scenario/script.h - a parsed scenario script; its grammar is in docs/scenario-scripts.md
//
// Threading: plain data. Failure: `invalid`, with the file, the line and a correction.

#include <map>
#include <string>
#include <vector>

#include "belay/value.h"

namespace belay::scenario {

// An argument: a bare word, a text in quotation marks, or JSON.
struct Argument {
  std::string text;  // without the quotation marks
  Value json;        // bare text that is not valid JSON is a string
};

struct Step {
  int line = 0;
  std::string text;  // the whole line
  std::string word;  // "start"; for expectations both words: "expect done"
  std::vector<Argument> plain;
  std::map<std::string, Argument> named;

  // Return the plain argument at `at`, and the named one; empty if there is none.
  std::string plain_text(std::size_t at) const;
  std::string named_text(const std::string& name) const;
};

struct Script {
  std::string path;
  std::string name;                 // "approval_survives_restart", from the file's name
  std::string sentence;             // its claim
  std::vector<std::string> stores;  // that it applies to; empty: all
  std::vector<Step> steps;
};

Result<Script> read_script(const std::string& path);
// Parses a text as if it were the contents of `path`.
Result<Script> parse_script(const std::string& path, const std::string& text);

// "ApprovalSurvivesRestart".
std::string test_name(const Script& script);

}  // namespace belay::scenario
