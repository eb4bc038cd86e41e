#pragma once
// tests/conformance/told_run.h - a run with a row of every kind, and in each text that a person, a
// model or a program's error can fill a word that is found again wherever it lies.

#include <string>
#include <vector>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {

struct ToldRun {
  // Writes it into the store, up to a decision. `name` is in its ids.
  ToldRun(Store& store, const std::string& name);

  RunScript script;
  Caller call;
  std::vector<std::string> words;    // that were written, each once
  std::vector<std::string> indexed;  // values that a record is found by
  InterruptId open;                  // of an approval that is not decided

 private:
  // Another one each time.
  std::string word(const std::string& where);
  std::string json(const std::string& where) { return "{\"w\":\"" + word(where) + "\"}"; }
  void add_work(Commit& commit);
  void deliver();

  std::string name_;
};

// Strict reads of all that belongs to the run, as one text; or why one of them was refused.
Result<std::string> all_of(Store& store, const ToldRun& told);

}  // namespace belay::conformance
