// Measures nodes per second of the engine, the driver and the memory store on one core.

#include <cstdio>

#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int runs_per_round = 1'000;

struct Measured {
  std::vector<double> by_cpu;   // nodes per second of processor time
  std::vector<double> by_wall;  // nodes per second
  std::vector<double> load;
};

void measure(Writes writes, int in_flight, Measured& measured) {
  World world;
  auto store = open_memory_store(*world.clock, *world.random);
  auto graph = line_of_nodes(writes);
  auto runtime = world.runtime(*store, graph);
  Span span;
  perform(*world.loop, *runtime, graph, runs_per_round, in_flight);
  span.stop();
  double nodes = static_cast<double>(runs_per_round) * nodes_per_run;
  measured.by_cpu.push_back(nodes / span.cpu);
  measured.by_wall.push_back(nodes / span.seconds);
  measured.load.push_back(span.other_load);
}

void print(const char* what, int in_flight, const Measured& measured) {
  double by_cpu = median(measured.by_cpu);
  std::printf("| %s | %d | %.0f | %.2f | %.0f | %.2f |\n", what, in_flight, by_cpu, 1e6 / by_cpu,
              median(measured.by_wall), median(measured.load));
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  std::printf("%s\n\n", description().c_str());
  std::printf(
      "In-memory store, state of 1 KB, 10 nodes in a line, %d rounds of %d runs, medians.\n\n",
      options.rounds, runs_per_round);
  Measured text_alone, text_many, counter_alone, counter_many;
  for (int round = 0; round < options.rounds; ++round) {
    measure(Writes::text, 1, text_alone);
    measure(Writes::text, 64, text_many);
    measure(Writes::counter, 1, counter_alone);
    measure(Writes::counter, 64, counter_many);
  }
  std::printf(
      "| a node writes | runs in flight | nodes/s of one core | CPU us/node | nodes/s by the clock "
      "| others' load |\n|---|---|---|---|---|---|\n");
  print("1 KB of text and a counter", 1, text_alone);
  print("1 KB of text and a counter", 64, text_many);
  print("a counter", 1, counter_alone);
  print("a counter", 64, counter_many);
}
