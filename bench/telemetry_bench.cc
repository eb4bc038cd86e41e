// Measures the cost of the log and the metrics: durable nodes per second on SQLite with and without
// them, in turns. The log is JSON, of the level `info`, and written to /dev/null.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "belay/telemetry.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int rounds_factor = 4;  // the difference is smaller than the noise of one round

struct Setting {
  const char* what;
  int runs;
  int in_flight;
};

struct Half {
  double us = 0;  // per node
  double cpu_us = 0;
};

Half measure(World& world, const std::string& path, const Setting& setting, bool is_observed) {
  for (const char* more : {"", "-wal", "-shm", "-sessions"}) std::filesystem::remove(path + more);
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Half half;
  {
    LogOptions options;
    options.format = LogFormat::json;
    auto log = make_log(*world.clock, options, log_to_descriptor(null));
    auto metrics = make_metrics();
    auto observed = make_observed_store(*store, *world.clock, {log.get(), metrics.get()});
    auto graph = line_of_nodes(Writes::text);
    auto runtime = world.runtime(is_observed ? *observed : *store, graph);
    Span span;
    perform(*world.loop, *runtime, graph, setting.runs, setting.in_flight);
    span.stop();
    half.us = span.seconds * 1e6 / (setting.runs * nodes_per_run);
    half.cpu_us = span.cpu * 1e6 / (setting.runs * nodes_per_run);
  }
  ::close(null);
  return half;
}

void print(const Setting& setting, const std::vector<Half>& plain,
           const std::vector<Half>& observed) {
  std::vector<double> plain_us, observed_us, ratios, plain_cpu, observed_cpu;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    plain_us.push_back(plain[i].us);
    observed_us.push_back(observed[i].us);
    ratios.push_back(observed[i].us / plain[i].us);
    plain_cpu.push_back(plain[i].cpu_us);
    observed_cpu.push_back(observed[i].cpu_us);
  }
  std::printf("| %s | %.0f | %.0f | %.3f | %.1f | %.1f |\n", setting.what, 1e6 / median(plain_us),
              1e6 / median(observed_us), median(ratios), median(plain_cpu), median(observed_cpu));
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::string path = place.path + "/pages.db";
  std::printf("%s\n\n", description().c_str());
  std::printf(
      "| | nodes/s | with log and metrics | ratio of the times | CPU us/node | with both |\n"
      "|---|---|---|---|---|---|\n");
  for (const Setting& setting :
       {Setting{"one run alone", 100, 1}, Setting{"64 runs in flight", 256, 64}}) {
    std::vector<Half> plain, observed;
    for (int i = 0; i < options.rounds * rounds_factor; ++i) {
      bool plain_first = i % 2 == 0;
      if (plain_first) plain.push_back(measure(world, path, setting, false));
      observed.push_back(measure(world, path, setting, true));
      if (!plain_first) plain.push_back(measure(world, path, setting, false));
    }
    print(setting, plain, observed);
  }
}
