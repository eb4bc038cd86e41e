#pragma once
// graph/costs.h - the costs that an attempt of a node has reserved itself (Context::reserve()).

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
  std::map<std::string, int> taken;                     // number of costs by name
  std::vector<std::pair<std::string, EffectRow>> open;  // reserved durably, not yet settled
  std::set<std::string> unsettled;  // names of `open` and of reservations that are being written
};

}  // namespace belay
