#pragma once
// belay/belay.hpp - includes the headers that a program with agents needs.

#include "belay/agent.h"
#include "belay/check.h"
#include "belay/collection.h"
#include "belay/graph.h"
#include "belay/json_graph.h"
#include "belay/main.h"
#include "belay/open.h"
#include "belay/runtime.h"
#include "belay/store.h"
