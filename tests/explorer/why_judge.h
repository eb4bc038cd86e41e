#pragma once
// tests/explorer/why_judge.h - judges the causes that why() names, in any state of the search
//
// A cause is true if the run advances once the named thing is gone: the decision is made, the lease
// has ended, the earlier run is cancelled; and if it does not advance before.

#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "load/graph_registry.h"
#include "service/why.h"
#include "tests/explorer/processes.h"

namespace belay::explorer {

using Why = std::function<std::vector<Cause>(const WaitFacts&)>;

class WhyJudge {
 public:
  WhyJudge(Processes& processes, Why why);

  // Returns what is wrong, one sentence each. Each state is judged once.
  std::vector<std::string> judge(const Stored& stored, const Living& living, Instant now);
  std::size_t judged() const { return judged_.size(); }
  // The kinds of causes that were judged.
  const std::set<WaitCause>& kinds() const { return kinds_; }

 private:
  struct World {
    const Stored& stored;
    Living living;
    Instant now;
  };

  WaitFacts facts_of(const World& world, const RunRow& run) const;
  // The contents after a call of a new process that nothing disturbs.
  const Stored& after_call(const World& world, Errand errand);
  bool advances(const World& world, Errand errand);
  void judge_run(const World& world, const RunRow& run, std::vector<std::string>& wrong);
  std::string fault_of(const World& world, const RunRow& run, const Cause& cause);
  std::string fault_of_approval(const World& world, const RunRow& run);
  std::string fault_of_owner(const World& world, const RunRow& run);
  std::string fault_of_lease(const World& world, const RunRow& run);
  std::string fault_of_earlier(const World& world, const RunRow& run);

  Processes& processes_;
  Why why_;
  GraphRegistry graphs_;
  std::set<std::tuple<std::size_t, Living, std::int64_t>> judged_;
  std::set<WaitCause> kinds_;
};

}  // namespace belay::explorer
