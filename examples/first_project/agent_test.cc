// Crashes the agent at every point at which its process can end, and compares the results. It needs
// no language model: a script has its part.

#include <belay/testing.h>
#include <iostream>

#include "agent.h"

using namespace belay;

int main() {
  Value order = Value::object({{"number", "A-17"}});
  auto world = testing::World{}.model(testing::calls({{"1", "find_order", order}})
                                          .calls({{"2", "refund", order}})
                                          .replies("Your order is refunded."));
  const AgentState question{.question = "Order A-17 arrived broken."};

  auto baseline = world.run(support_agent(), question).approve_all();
  int same = 0;
  for (const auto& crash : baseline.crash_points()) {
    auto crashed = world.run(support_agent(), question).crash_at(crash).approve_all();
    bool is_same = crashed.ok() && crashed.state().answer == baseline.state().answer &&
                   crashed.effects("call") == 1;
    if (is_same) {
      ++same;
    } else {
      std::cout << "Not the same after a crash " << crash << "\n";
    }
  }
  std::size_t crashes = baseline.crash_points().size();
  std::cout << same << " of " << crashes << " crashes: the same answer, and one refund\n";
  bool is_refunded = baseline.ok() && baseline.effects("call") == 1;
  return is_refunded && crashes > 0 && same == static_cast<int>(crashes) ? 0 : 1;
}
