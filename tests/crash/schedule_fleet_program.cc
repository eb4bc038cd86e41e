// The program of the schedule fleet: a quick agent, and one whose runs outlive several ticks. The
// receivers are files in which each call is a line, "thread key".
//
// FLEET_RECEIVERS names the folder of those files. The file "clock" in it has the microseconds by
// which the clock of every process of the machine is wrong.

#include <fcntl.h>
#include <unistd.h>

#include <belay/belay.hpp>
#include <cstdlib>
#include <fstream>

namespace {

using namespace belay;
using namespace std::chrono_literals;

std::string file_of(std::string_view name) {
  const char* folder = std::getenv("FLEET_RECEIVERS");
  return std::string(folder ? folder : ".") + "/" + std::string(name);
}

class JumpingClock final : public Clock {
 public:
  Instant now() override {
    std::int64_t wrong_by_us = 0;
    std::ifstream{file_of("clock")} >> wrong_by_us;
    return system_->now() + std::chrono::microseconds(wrong_by_us);
  }

 private:
  std::unique_ptr<Clock> system_ = system_clock();
};

// Appends the line in a single write, so that neither a kill nor another process can split it.
void call(std::string_view name, const Context& context) {
  std::string line = context.run().text() + " " + context.idempotency_key(name) + "\n";
  int file = ::open(file_of(name).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  [[maybe_unused]] auto written = ::write(file, line.data(), line.size());
  ::close(file);
}

struct Job {
  std::string item{};
  std::string receipt{};
};

Task<Update<Job>> work(const Job&, Context& context) {
  auto charge = [&context]() -> Task<std::string> {
    co_await sleep_for(2ms);
    call("charge", context);
    co_await sleep_for(2ms);
    co_return "paid";
  };
  std::string receipt = co_await context.keyed_effect("charge", std::move(charge));
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
