#pragma once
// tests/scenario/expectations.h - evaluates the "expect" lines of a script
//
// It reads the store through the program's own commands, and the files of the external world.

#include <optional>
#include <set>

#include "tests/scenario/script.h"
#include "tests/scenario/script_environment.h"

namespace belay::scenario {

// The expected and the actual text of a line.
struct Mismatch {
  std::string expected;
  std::string found;
};

// The result of the last command, for the lines that refer to it.
struct Told {
  Outcome outcome;
  std::string thread;  // the last one that a line named
};

bool is_expectation(const Step& step);
// Returns whether the line refers to the output of the last command, which can then be an error.
bool is_about_the_command(const Step& step);

// look() checks once. look_until() checks until the line matches or a timeout passes, because a
// worker can still be running.
std::optional<Mismatch> look(Stage& stage, const Step& step, const Told& told);
std::optional<Mismatch> look_until(Stage& stage, const Step& step, const Told& told);

// Returns a description such as "thread t1 is completed, outcome \"sent\"".
std::string how_it_stands(const Value& run);

}  // namespace belay::scenario
