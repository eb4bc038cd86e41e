#pragma once
// goals/builtin_planner.h - a planner for a machine without a language model: a script, which its
// thoughts and its summary state.

#include <memory>

#include "belay/model.h"

namespace belay::goals {

// Returns a model that plans the steps of goals, and writes their summaries, by a fixed script: it
// searches the folders for the objective, writes a report, reads it, and finishes, each if the goal
// has the tool. Any other request is passed to `other`, which must not be null.
std::shared_ptr<Model> with_builtin_planner(std::shared_ptr<Model> other);

}  // namespace belay::goals
