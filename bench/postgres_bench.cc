// Measures durable nodes per second on PostgreSQL, compared with a bare writer of exactly the same
// rows, and with the disk. It starts its own server, with fsync and synchronous_commit.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "bench/bare_postgres_writer.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "store/forwarding_store.h"
#include "tests/postgres/postgres_server.h"

#include <unistd.h>

namespace {

using namespace belay;
using namespace belay::bench;
using belay::postgres_tests::PostgresServer;

struct Round {
  double belay_us = 0;  // per node
  double bare_us = 0;
  double belay_cpu_us = 0;  // of this process and of the server
  double bare_cpu_us = 0;
  double appends = 0;  // per second
  double other_load = 0;
};

struct Setting {
  const char* what;
  int runs;
  int in_flight;
};

// Keeps a copy of each commit of a run.
class RecordingStore final : public ForwardingStore {
 public:
  explicit RecordingStore(Store& inner) : ForwardingStore(inner) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (commit.rows.run) runs_[commit.rows.run->run].push_back(commit);
    return inner().commit(std::move(commit));
  }
  RecordedRuns runs() const {
    RecordedRuns all;
    for (const auto& [run, commits] : runs_) all.push_back(commits);
    return all;
  }

 private:
  std::map<RunId, std::vector<Commit>> runs_;
};

// Returns the processor time of the server's processes, including ended ones, in seconds.
double server_cpu(pid_t postmaster) {
  double ticks = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) continue;
    // After the name: state, parent, ..., utime (14th of all), stime, and those of ended children.
    std::istringstream fields(line.substr(name_end + 2));
    std::vector<std::string> field(std::istream_iterator<std::string>(fields), {});
    if (field.size() < 15) continue;
    bool is_server = entry.path().filename() == std::to_string(postmaster);
    if (!is_server && field[1] != std::to_string(postmaster)) continue;
    for (std::size_t i = 11; i < (is_server ? 15u : 13u); ++i) {
      ticks += number_in<double>(field[i]).value_or(0);
    }
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string fresh_store(World& world, PostgresServer& server) {
  std::string url = server.socket_url(server.create_database());
  value_or_exit(open_postgres_store(url, *world.clock, *world.random));
  return url;
}

void belay_writes(World& world, PostgresServer& server, const Setting& setting, Round& round) {
  std::string url = fresh_store(world, server);
  auto store = value_or_exit(open_postgres_store(url, *world.clock, *world.random));
  auto graph = line_of_nodes(Writes::text);
  auto runtime = world.runtime(*store, graph);
  double before = server_cpu(server.pid());
  Span span;
  perform(*world.loop, *runtime, graph, setting.runs, setting.in_flight);
  span.stop();
  double nodes = setting.runs * nodes_per_run;
  round.belay_us = span.seconds * 1e6 / nodes;
  round.belay_cpu_us = (span.cpu + server_cpu(server.pid()) - before) * 1e6 / nodes;
  round.other_load = std::max(round.other_load, span.other_load);
}

void bare_writes(World& world, PostgresServer& server, const RecordedRuns& all,
                 const Setting& setting, Round& round) {
  RecordedRuns runs(all.begin(), all.begin() + setting.runs);
  BarePostgresWriter writer(fresh_store(world, server), runs,
                            static_cast<std::size_t>(setting.in_flight));
  double before = server_cpu(server.pid());
  Span span;
  writer.write_all();
  span.stop();
  double nodes = setting.runs * nodes_per_run;
  round.bare_us = span.seconds * 1e6 / nodes;
  round.bare_cpu_us = (span.cpu + server_cpu(server.pid()) - before) * 1e6 / nodes;
  round.other_load = std::max(round.other_load, span.other_load);
}

RecordedRuns record(World& world, int runs) {
  auto memory = open_memory_store(*world.clock, *world.random);
  RecordingStore recorder(*memory);
  auto graph = line_of_nodes(Writes::text);
  auto runtime = world.runtime(recorder, graph);
  perform(*world.loop, *runtime, graph, runs, 1);
  return recorder.runs();
}

double median_of(const std::vector<Round>& rounds, double (*figure)(const Round&)) {
  std::vector<double> figures;
  for (const Round& round : rounds) figures.push_back(figure(round));
  return median(std::move(figures));
}

void print(const Setting& setting, const std::vector<Round>& rounds) {
  double belay = median_of(rounds, [](const Round& r) { return r.belay_us; });
  double bare = median_of(rounds, [](const Round& r) { return r.bare_us; });
  std::printf("| %s | %zu | %.0f | %.0f | %.2f | %.0f | %.0f | %.0f | %.2f |\n", setting.what,
              rounds.size(), 1e6 / belay, 1e6 / bare,
              median_of(rounds, [](const Round& r) { return r.belay_us / r.bare_us; }),
              median_of(rounds, [](const Round& r) { return r.belay_cpu_us; }),
              median_of(rounds, [](const Round& r) { return r.bare_cpu_us; }),
              median_of(rounds, [](const Round& r) { return r.appends; }),
              median_of(rounds, [](const Round& r) { return r.other_load; }));
  std::fflush(stdout);
}

std::vector<Round> measure(World& world, PostgresServer& server, const Options& options,
                           const std::string& directory, const RecordedRuns& recorded,
                           const Setting& setting, double& wait_left) {
  std::vector<Round> rounds;
  for (int i = 0; i < options.rounds; ++i) {
    wait_for_quiet(wait_left);
    Round round;
    if (i % 2 == 0) belay_writes(world, server, setting, round);
    bare_writes(world, server, recorded, setting, round);
    if (i % 2 == 1) belay_writes(world, server, setting, round);
    round.appends = synced_appends_per_second(directory, 0.3);
    rounds.push_back(round);
  }
  return rounds;
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  PostgresServer server({.sync = true, .settings = "shared_buffers = 256MB\n"});
  const Setting alone{"one run alone", 60, 1};
  const Setting many{"64 runs in flight", 512, 64};
  RecordedRuns recorded = record(world, many.runs);
  std::printf("%s, %s\n\n", description().c_str(), server.value("SELECT version()").c_str());
  std::printf(
      "fsync and synchronous_commit on, over a Unix socket; state of 1 KB, each of 10 nodes in a "
      "line rewrites it. Medians. The bare writer writes the same rows, in transactions of as many "
      "nodes as runs are in flight; processor time is that of client and server together.\n\n");
  std::printf(
      "| | rounds | Belay, nodes/s | bare writer, nodes/s | Belay's time a node / bare writer's | "
      "Belay, CPU us/node | bare writer, CPU us/node | 8 KB append + fdatasync /s | others' load "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  double wait_left = options.max_wait;
  print(alone, measure(world, server, options, place.path, recorded, alone, wait_left));
  print(many, measure(world, server, options, place.path, recorded, many, wait_left));
}
