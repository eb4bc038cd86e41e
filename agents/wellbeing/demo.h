#pragma once
// wellbeing/demo.h - `belay demo`: a demonstration in one minute, without API key or configuration.
//
// It uses the program itself: it imports notes of one day into its own store, starts an audit,
// kills that process with SIGKILL partway through, continues the run in another process, approves
// the result, and replays the run.

#include "belay/command.h"

namespace belay::wellbeing {

ModuleCommandSpec demo_command();

}  // namespace belay::wellbeing
