// The program of the schedule fleet: a quick agent, and one whose runs outlive several ticks. The
// receivers are files in which each call is a line, "thread key".
//
// The file "clock" in their folder has the microseconds by which the clock of every process of the
// machine is wrong. See receiver_file.h.

#include <belay/belay.hpp>
#include <fstream>

#include "tests/crash/receiver_file.h"

namespace {

using namespace belay;
using namespace std::chrono_literals;

class JumpingClock final : public Clock {
 public:
  Instant now() override {
    std::int64_t wrong_by_us = 0;
    std::ifstream{crash::receiver_file("clock")} >> wrong_by_us;
    return system_->now() + std::chrono::microseconds(wrong_by_us);
  }

 private:
  std::unique_ptr<Clock> system_ = system_clock();
};

struct Job {
  std::string item{};
  std::string receipt{};
};

Task<Update<Job>> work(const Job&, Context& context) {
  auto charge = [&context]() -> Task<std::string> {
    co_await sleep_for(2ms);
    crash::append_line("charge", context.run().text() + " " + context.idempotency_key("charge"));
    co_await sleep_for(2ms);
    co_return "paid";
  };
  std::string receipt = co_await context.keyed_effect("charge", charge);
  context.outcome("charged");
  co_return set(&Job::receipt, receipt);
}

Result<Graph<Job>> quick_graph() {
  GraphBuilder<Job> graph{"quick"};
  graph.node("work", work);
  graph.edge(start, "work").edge("work", end);
  return std::move(graph).build();
}

Result<Graph<Job>> slow_graph() {
  GraphBuilder<Job> graph{"slow"};
  graph.wait("wait", 2500ms);
  graph.node("work", work);
  graph.edge(start, "wait").edge("wait", "work").edge("work", end);
  return std::move(graph).build();
}

}  // namespace

int main(int argc, char** argv) {
  MainOptions options;
  options.name = "fleet";
  options.clock = std::make_shared<JumpingClock>();
  return belay::main(argc, argv, options, quick_graph(), slow_graph());
}
