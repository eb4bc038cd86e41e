#pragma once
// tests/scenario/script.h - a scenario script as it was read: docs/scenario-scripts.md is the
// grammar, written for people.
//
// Threading: plain data. Failure: `invalid`, with the file, the line and what to write instead.

#include <map>
#include <string>
#include <vector>

#include "belay/value.h"

namespace belay::scenario {

// What stands behind a word: bare, in quotation marks, or as JSON.
struct Argument {
  std::string text;  // without the quotation marks
  Value json;        // bare text that is no JSON is a string
};

struct Step {
  int line = 0;
  std::string text;  // the whole line
  std::string word;  // "start"; of expectations both: "expect done"
  std::vector<Argument> plain;
  std::map<std::string, Argument> named;

  // The plain argument at `at`, and the named one; empty where there is none.
  std::string plain_text(std::size_t at) const;
  std::string named_text(const std::string& name) const;
};

struct Script {
  std::string path;
  std::string name;                 // "approval_survives_restart", as the file
  std::string sentence;             // what it shows
  std::vector<std::string> stores;  // that it is for; empty: all
  std::vector<Step> steps;
};

Result<Script> read_script(const std::string& path);
// The same of a text, as if it stood in `path`.
Result<Script> parse_script(const std::string& path, const std::string& text);

// "ApprovalSurvivesRestart".
std::string test_name(const Script& script);

}  // namespace belay::scenario
