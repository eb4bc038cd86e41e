#pragma once
// tests/doors/doors.h - the doors: each kind of caller has a world for the rows with equal
// settings, makes the request and reports the result.
//
// Every world has notes of three days: 2024-01-15 is hard (risk 7), 2024-01-16 calm, 2024-01-17 a
// crisis. Its model is the builtin one, unless the row names another.

#include <memory>
#include <string>

#include "tests/cli/belay_process.h"
#include "tests/doors/rows.h"
#include "tests/providers/scripted_provider.h"

namespace belay::doors {

// A run, a decision's run or a record, as in the documents; or an error.
struct Came {
  Value document = {};
  std::string error;  // its code; empty: no error
  std::string words;  // accompanying text, for the message of a failed test
  // The run's status after a rejected decision.
  std::string left = {};
};

class Door {
 public:
  virtual ~Door() = default;
  virtual Came start(const Start& start) = 0;
  virtual Came approve(const Approve& approve) = 0;
  virtual Came save(const Save& save) = 0;
  // Starts a run by a request, and returns true if it is in progress. Its model must hang.
  virtual bool occupy() { return false; }
};

// `environment`: that of the row, with addresses instead of "{...}". `key`: that of the row.
std::unique_ptr<Door> make_door(unsigned door, std::map<std::string, std::string> environment,
                                const std::string& key);
// Calls the library in this process.
std::unique_ptr<Door> make_library_door(std::map<std::string, std::string> environment);

// Returns the notes of every world, as lines of an import.
std::string notes_of_the_world();

std::string name_of_door(unsigned door);

}  // namespace belay::doors
