#pragma once
// assistant/module.h - the assistant as a module: its graph, and the display of its answers.

#include "belay/module.h"

namespace belay::assistant {

Module module();

}  // namespace belay::assistant
