#pragma once
// graph/costs.h - what an attempt of a node has reserved for its own tools.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "belay/context.h"
#include "graph/call_record.h"
#include "graph/ledger.h"

namespace belay {

struct Context::Costs {
  std::map<std::string, int> taken;                     // how often, by name
  std::vector<std::pair<std::string, EffectRow>> open;  // reserved durably, and not settled yet
  std::set<std::string> unsettled;  // their names, and those of reservations being made
};

}  // namespace belay
