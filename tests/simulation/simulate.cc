// Executes seeds of a plan and prints a summary; `make sim` runs it.
//
//   simulate PLAN.toml SEED [COUNT]    COUNT seeds from SEED on; prints each event if COUNT is 1

#include <cstdio>
#include <cstdlib>

#include "tests/conformance/temporary_folder.h"
#include "tests/simulation/simulation.h"

namespace {

using namespace belay::simulation;

std::uint64_t play(const Plan& plan, const std::string& path, std::uint64_t first,
                   std::uint64_t count) {
  Tally all;
  auto began = std::chrono::steady_clock::now();
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    belay::conformance::TemporaryFolder folder;
    std::function<void(const std::string&)> listener;
    if (count == 1) listener = [](const std::string& line) { std::puts(line.c_str()); };
    Played played = simulate(plan, seed, folder.path(), listener);
    std::printf(
        "seed %llu: %llu events, %llu faults, %zu runs, %zu processes, %zu commits, %lld s, "
        "%016llx%s\n",
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(played.events),
        static_cast<unsigned long long>(played.faults), played.runs, played.processes,
        played.commits, static_cast<long long>(played.simulated.count()),
        static_cast<unsigned long long>(played.digest), played.troubles.empty() ? "" : " FAILED");
    for (const std::string& trouble : played.troubles) std::printf("  %s\n", trouble.c_str());
    if (!played.troubles.empty()) {
      std::printf("  to play it again: make sim SEED=%llu PLAN=%s\n",
                  static_cast<unsigned long long>(seed), path.c_str());
    }
    all.add(played);
  }
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
  if (count > 1) std::printf("%s", all.coverage.table().c_str());
  std::printf("%s: %s\n", plan.name.c_str(), all.text(time).c_str());
  return all.failed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: simulate PLAN.toml SEED [COUNT]\n");
    return 2;
  }
  auto plan = read_plan(argv[1]);
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", plan.error().message.c_str());
    return 2;
  }
  std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
  std::uint64_t count = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 1;
  return play(*plan, argv[1], seed, count) == 0 ? 0 : 1;
}
