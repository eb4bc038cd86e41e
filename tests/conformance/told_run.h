#pragma once
// tests/conformance/told_run.h - a run with a row of every kind, for searches in an encrypted store
//
// Each text from a user, a model or a program's error contains a unique word, which a search can
// find in any column.

#include <string>
#include <vector>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {

struct ToldRun {
  // Writes the run into the store, up to an undecided approval, and the start of the next run of
  // its thread. Its ids contain `name`.
  ToldRun(Store& store, const std::string& name);

  RunScript script;
  RunScript later;
  Caller call;
  std::vector<std::string> words;    // all written words, each once
  std::vector<std::string> indexed;  // values by which a record can be found
  InterruptId open;                  // of an undecided approval

 private:
  // Returns a different word each time.
  std::string word(const std::string& where);
  std::string json(const std::string& where) { return "{\"w\":\"" + word(where) + "\"}"; }
  void add_work(Commit& commit);
  void deliver();
  void start_later();

  std::string name_;
};

// Returns strict reads of all data of the run as one text, or the first error of a read.
Result<std::string> all_of(Store& store, const ToldRun& told);

}  // namespace belay::conformance
