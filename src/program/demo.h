#pragma once
// program/demo.h - belay demo: what the whole is about, in a minute, without a key or a set-up.
//
// It plays with the real program: it imports a day of a diary into a store of its own, begins an
// audit, kills that process with SIGKILL in its midst, goes on in another one, has the result
// approved, and replays the run from its record.

#include "cli/program.h"

namespace belay::program {

cli::CommandEntry demo_verb();

}  // namespace belay::program
