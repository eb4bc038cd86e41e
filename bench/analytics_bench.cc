// Measures the latency that the recording of the usage of agents adds to a run: the same runs of
// ten nodes on SQLite, one at a time, with and without it, in turns. With it, the records are added
// to the totals of their day after each hundred runs, as a server does at its intervals; that is
// measured separately.

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "usage/recording_store.h"
#include "usage/usage_flush.h"

namespace {

using namespace belay;
using namespace belay::bench;

constexpr int runs_of_round = 100;
constexpr int rounds_factor = 4;  // the difference is smaller than the noise of one round

struct Round {
  std::vector<double> run_us;  // of each run, sorted
  double flush_us = 0;         // of all of its records
};

double at_share(const std::vector<double>& sorted, double share) {
  auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(last * share)];
}

Round measure(World& world, const std::string& path, bool is_recorded) {
  for (const char* more : {"", "-wal", "-shm", "-sessions"}) std::filesystem::remove(path + more);
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  auto recording = usage::make_recording_store(*store);
  auto graph = line_of_nodes(Writes::text);
  auto runtime = world.runtime(is_recorded ? *recording : *store, graph);
  Round round;
  for (int i = 0; i < runs_of_round; ++i) {
    Span span;
    perform(*world.loop, *runtime, graph, 1, 1);
    span.stop();
    round.run_us.push_back(span.seconds * 1e6);
  }
  std::sort(round.run_us.begin(), round.run_us.end());
  if (!is_recorded) return round;
  Span span;
  auto flushed = world.wait_for(usage::flush_all_usage(*recording, *world.clock));
  span.stop();
  if (!flushed.ok()) exit_with(flushed.error().message);
  round.flush_us = span.seconds * 1e6;
  return round;
}

void print(const char* what, double share, const std::vector<Round>& plain,
           const std::vector<Round>& recorded) {
  std::vector<double> without, with, ratios;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    without.push_back(at_share(plain[i].run_us, share));
    with.push_back(at_share(recorded[i].run_us, share));
    ratios.push_back(with.back() / without.back());
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("| %s | %.0f | %.0f | %.3f | %.3f to %.3f |\n", what, median(without), median(with),
              median(ratios), at_share(ratios, 0.25), at_share(ratios, 0.75));
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::string path = place.path + "/pages.db";
  std::vector<Round> plain, recorded;
  for (int i = 0; i < options.rounds * rounds_factor; ++i) {
    bool plain_first = i % 2 == 0;
    if (plain_first) plain.push_back(measure(world, path, false));
    recorded.push_back(measure(world, path, true));
    if (!plain_first) plain.push_back(measure(world, path, false));
  }
  std::printf("%s\n\n", description().c_str());
  std::printf(
      "| latency of a run | without, us | with analytics, us | ratio | its quartiles |\n"
      "|---|---|---|---|---|\n");
  constexpr double half = 0.5, most = 0.95;
  print("median", half, plain, recorded);
  print("p95", most, plain, recorded);
  std::vector<double> flushes;
  for (const Round& round : recorded) flushes.push_back(round.flush_us);
  std::printf("\nThe records of %d runs are added to the totals in %.0f us.\n", runs_of_round,
              median(flushes));
}
