// The equity research of agents/research: one analysis by the program, batches on SQLite, restores
// of checkpoints, and a fleet on PostgreSQL. It starts its own servers.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bench/child_program.h"
#include "bench/machine.h"
#include "bench/research_companies.h"
#include "bench/research_measurements.h"

namespace belay::bench {
namespace {

namespace fs = std::filesystem;

constexpr double seconds_max = 2;
constexpr double megabytes_max = 300;
constexpr std::size_t large_bytes = 50'000'000;

// Removes the files from the page cache, as far as no process has mapped them.
void forget_files(const std::string& folder) {
  ::sync();
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }
}

struct Executed {
  std::vector<double> seconds, cpu, megabytes;
};

// An analysis by the program in a new process on a new store.
struct ProgramRun {
  std::string what;
  std::string data;
  std::string peers;  // empty: none
  bool from_disk = false;
};

void execute_once(const std::string& belay, const std::string& path, const ProgramRun& run,
                  Executed* executed) {
  std::string store = path + "/analysis.db";
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(store + suffix);
  std::vector<std::string> words = {belay,     "research", "analyze", "AAPL",    "--yes",
                                    "--quiet", "--data",   run.data,  "--store", "sqlite:" + store};
  if (!run.peers.empty()) words.insert(words.end(), {"--peers", run.peers});
  if (run.from_disk) forget_files(run.data);
  EndedProgram ended = execute_program(words);
  if (ended.code != 0) exit_with("The analysis failed: " + run.what);
  if (!executed) return;
  executed->seconds.push_back(ended.seconds);
  executed->cpu.push_back(ended.cpu);
  executed->megabytes.push_back(ended.resident_max / 1e6);
}

void print_program(const ProgramRun& run, const Executed& executed) {
  double slowest = quantile(executed.seconds, 1);
  double largest = quantile(executed.megabytes, 1);
  std::printf("| %s | %.0f | %.0f | %.0f | %s | %.0f | %s |\n", run.what.c_str(),
              median(executed.seconds) * 1e3, slowest * 1e3, median(executed.cpu) * 1e3,
              slowest < seconds_max ? "met" : "missed", largest,
              largest < megabytes_max ? "met" : "missed");
  std::fflush(stdout);
}

}  // namespace

void measure_programs(const Options& options, const std::string& belay, const std::string& path) {
  write_large_facts(path + "/unused", large_bytes, Excess::unused_tags);
  write_large_facts(path + "/used", large_bytes, Excess::used_tags);
  fs::create_directories(path + "/bundled");
  fs::copy(bundled_folder(), path + "/bundled", fs::copy_options::recursive);
  const std::vector<ProgramRun> runs = {
      {"AAPL", path + "/bundled", "", false},
      {"AAPL, files not in memory", path + "/bundled", "", true},
      {"AAPL, peers MSFT and NVDA", path + "/bundled", "MSFT,NVDA", false},
      {"AAPL, peers MSFT and NVDA, files not in memory", path + "/bundled", "MSFT,NVDA", true},
      {"50 MB of facts, most of tags that are not used", path + "/unused", "", true},
      {"50 MB of facts of tags that are used", path + "/used", "", true}};
  std::vector<Executed> executed(runs.size());
  double wait_left = options.max_wait;
  wait_for_quiet(wait_left);
  Span span;
  for (int round = 0; round <= options.rounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      // The first round loads the program.
      execute_once(belay, path, runs[i], round == 0 ? nullptr : &executed[i]);
    }
  }
  span.stop();
  std::printf(
      "`belay research analyze`, %d new processes with new stores; others' load %.2f\n\n"
      "| company | median, ms | slowest, ms | CPU, ms | 2 s | memory at most, MB | 300 MB "
      "|\n|---|---|---|---|---|---|---|\n",
      options.rounds, span.other_load);
  for (std::size_t i = 0; i < runs.size(); ++i) print_program(runs[i], executed[i]);
}

}  // namespace belay::bench

int main(int count, char** arguments) {
  using namespace belay::bench;
  Options options = options_from(count, arguments);
  std::string belay = options.belay;
  if (belay.empty()) {
    belay = std::filesystem::absolute(arguments[0]).parent_path().parent_path() / "belay";
  }
  if (!std::filesystem::exists(belay)) exit_with("There is no " + belay + "; give --belay=PATH.");
  Workplace place(options.directory);
  World world;
  std::printf("%s\n\n", description().c_str());
  measure_programs(options, belay, place.path);
  measure_batches(world, place.path);
}
