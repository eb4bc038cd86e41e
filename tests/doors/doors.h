#pragma once
// tests/doors/doors.h - the doors: each has a world of its own for rows that set the same, asks,
// and says what came.
//
// Every world has notes of three days: 2024-01-15 is hard (risk 7), 2024-01-16 calm, 2024-01-17 one
// of crisis. Its model is the builtin one, unless the row names another.

#include <memory>
#include <string>

#include "tests/cli/belay_process.h"
#include "tests/doors/rows.h"
#include "tests/providers/scripted_provider.h"

namespace belay::doors {

// A run, a decision's run or a record, as the documents have it; or an error.
struct Came {
  Value document = {};
  std::string error;  // its code; empty: none
  std::string words;  // what was said beside, for the message of a test that fails
  // Where the run stands after a decision that was refused.
  std::string left = {};
};

class Door {
 public:
  virtual ~Door() = default;
  virtual Came start(const Start& start) = 0;
  virtual Came approve(const Approve& approve) = 0;
  virtual Came save(const Save& save) = 0;
};

// `environment`: the row's, with addresses in the place of "{...}".
std::unique_ptr<Door> make_door(unsigned door, std::map<std::string, std::string> environment);
// In this process.
std::unique_ptr<Door> make_library_door(std::map<std::string, std::string> environment);

// The notes of every world, as lines of an import.
std::string notes_of_the_world();

std::string name_of_door(unsigned door);

}  // namespace belay::doors
