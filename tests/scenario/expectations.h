#pragma once
// tests/scenario/expectations.h - what the "expect" lines of a script look at: the store through
// the program's own commands, and the world outside.

#include <optional>
#include <set>

#include "tests/scenario/script.h"
#include "tests/scenario/script_environment.h"

namespace belay::scenario {

// What a line expected, and what was there.
struct Mismatch {
  std::string expected;
  std::string found;
};

// What the last command came to, for the lines that speak of it.
struct Told {
  Outcome outcome;
  std::string thread;  // the one last spoken of
};

bool is_expectation(const Step& step);
// Whether the line speaks of what the last command said, which may then be a refusal.
bool is_about_the_command(const Step& step);

// Looks once; while a worker works, what is not so yet may become so: see look_until().
std::optional<Mismatch> look(Stage& stage, const Step& step, const Told& told);
std::optional<Mismatch> look_until(Stage& stage, const Step& step, const Told& told);

// "thread t1 is completed, outcome \"sent\"", as a person would say it.
std::string how_it_stands(const Value& run);

}  // namespace belay::scenario
