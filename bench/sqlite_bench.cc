// Measures durable nodes per second on SQLite, compared with a bare writer that executes exactly
// the statements of Belay, and with the disk.

#include <sqlite3.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "belay/storage.h"
#include "bench/bare_writer.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace {

using namespace belay;
using namespace belay::bench;

// The measurements of one round: Belay, the disk, the bare writer.
struct Round {
  double belay_us = 0;  // per node
  double belay_cpu_us = 0;
  double bare_us = 0;
  double bare_cpu_us = 0;
  double appends = 0;  // per second
  double other_load = 0;
};

struct Setting {
  const char* what;
  int runs;
  int in_flight;
  bool sealed = false;  // Belay compresses and encrypts; the bare writer writes plaintext values
};

std::string fresh_store(World& world, const std::string& path) {
  for (const char* more : {"", "-wal", "-shm", "-sessions"}) std::filesystem::remove(path + more);
  value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  return path;
}

void belay_writes(const std::string& path, World& world, const Setting& setting, Round& round) {
  auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
  auto graph = line_of_nodes(Writes::text);
  std::unique_ptr<Store> sealed;
  if (setting.sealed) {
    EncryptionOptions encryption;
    encryption.keys = value_or_exit(KeyRing::from_text("k1:" + std::string(64, 'a')));
    sealed = make_encrypted_store(*store, *world.random, std::move(encryption));
  }
  auto runtime = world.runtime(sealed ? *sealed : *store, graph);
  Span span;
  perform(*world.loop, *runtime, graph, setting.runs, setting.in_flight);
  span.stop();
  round.belay_us = span.seconds * 1e6 / (setting.runs * nodes_per_run);
  round.belay_cpu_us = span.cpu * 1e6 / (setting.runs * nodes_per_run);
  round.other_load = std::max(round.other_load, span.other_load);
}

void bare_writes(const std::string& path, const RecordedWork& work, const Setting& setting,
                 Round& round) {
  BareWriter writer(path, work);
  Span span;
  writer.write_all(static_cast<std::size_t>(setting.in_flight));
  span.stop();
  round.bare_us = span.seconds * 1e6 / (setting.runs * nodes_per_run);
  round.bare_cpu_us = span.cpu * 1e6 / (setting.runs * nodes_per_run);
  round.other_load = std::max(round.other_load, span.other_load);
}

// Records the transactions of Belay for the runs, one run after the other.
RecordedWork record(World& world, int runs) {
  // In memory if possible: the recording is equal and faster.
  Workplace place(std::filesystem::exists("/dev/shm") ? "/dev/shm" : "");
  Recording::watch_connections();
  std::string path = fresh_store(world, place.path + "/recorded");
  {
    auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
    auto graph = line_of_nodes(Writes::text);
    Recording::start();
    auto runtime = world.runtime(*store, graph);
    perform(*world.loop, *runtime, graph, runs, 1);
  }
  RecordedWork work = cut_into_runs(Recording::stop());
  bool is_whole = static_cast<int>(work.runs.size()) == runs;
  for (const auto& run : work.runs) is_whole = is_whole && run.size() == nodes_per_run + 1;
  if (!is_whole) exit_with("The recording does not hold one transaction a commit.");
  return work;
}

// Returns the numbers of rows in the tables that a node writes to, and of bytes of values.
std::string contents(const std::string& path) {
  sqlite3* connection = nullptr;
  sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr);
  sqlite3_stmt* statement = nullptr;
  const char* sql =
      "SELECT (SELECT count(*) || ' ' || sum(seq) || ' ' || count(DISTINCT chain_hash) FROM"
      " checkpoints) || ' ' || (SELECT count(*) || ' ' || sum(length(envelope)) FROM"
      " channel_values) || ' ' || (SELECT count(*) || ' ' || coalesce(sum(length(body)), 0) FROM "
      "events)"
      " || ' ' || (SELECT count(*) || ' ' || sum(seq) FROM runs)";
  std::string found;
  if (sqlite3_prepare_v2(connection, sql, -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    found = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  } else {
    found = sqlite3_errmsg(connection);
  }
  sqlite3_finalize(statement);
  sqlite3_close(connection);
  return found;
}

// Returns the size of a store's file after its write-ahead log was emptied.
double file_bytes(const std::string& path) {
  sqlite3* connection = nullptr;
  sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr);
  sqlite3_exec(connection, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
  sqlite3_close(connection);
  return static_cast<double>(std::filesystem::file_size(path));
}

double bytes_a_run(World& world, const std::string& directory, const Graph<Page>& graph, int runs) {
  std::string path = fresh_store(world, directory + "/sized");
  double before = file_bytes(path);
  {
    auto store = value_or_exit(open_sqlite_store(path, *world.clock, *world.random));
    auto runtime = world.runtime(*store, graph);
    perform(*world.loop, *runtime, graph, runs, 64);
  }
  return (file_bytes(path) - before) / runs;
}

std::vector<Round> measure(World& world, const Options& options, const std::string& directory,
                           const RecordedWork& all, const Setting& setting, double& wait_left) {
  RecordedWork work = all;
  work.runs.resize(static_cast<std::size_t>(setting.runs));
  std::vector<Round> rounds;
  for (int i = 0; i < options.rounds; ++i) {
    std::string belay_path = fresh_store(world, directory + "/belay");
    std::string bare_path = fresh_store(world, directory + "/bare");
    wait_for_quiet(wait_left);
    Round round;
    if (i % 2 == 0) belay_writes(belay_path, world, setting, round);
    bare_writes(bare_path, work, setting, round);
    if (i % 2 == 1) belay_writes(belay_path, world, setting, round);
    round.appends = synced_appends_per_second(directory, 0.3);
    rounds.push_back(round);
    if (!setting.sealed && contents(belay_path) != contents(bare_path)) {
      exit_with("The bare writer wrote other rows than Belay: " + contents(bare_path) +
                " instead of " + contents(belay_path));
    }
  }
  return rounds;
}

double median_of(const std::vector<Round>& rounds, double (*figure)(const Round&)) {
  std::vector<double> figures;
  for (const Round& round : rounds) figures.push_back(figure(round));
  return median(std::move(figures));
}

void print_line(const Setting& setting, const char* which, const std::vector<Round>& rounds) {
  double belay = median_of(rounds, [](const Round& r) { return r.belay_us; });
  double bare = median_of(rounds, [](const Round& r) { return r.bare_us; });
  std::printf("| %s | %s, %zu | %.0f | %.0f | %.2f | %.0f | %.0f | %.0f | %.2f |\n", setting.what,
              which, rounds.size(), 1e6 / belay, 1e6 / bare,
              median_of(rounds, [](const Round& r) { return r.belay_us / r.bare_us; }),
              median_of(rounds, [](const Round& r) { return r.belay_cpu_us; }),
              median_of(rounds, [](const Round& r) { return r.bare_cpu_us; }),
              median_of(rounds, [](const Round& r) { return r.appends; }),
              median_of(rounds, [](const Round& r) { return r.other_load; }));
}

void print(const Setting& setting, const std::vector<Round>& rounds) {
  std::vector<Round> quiet;
  for (const Round& round : rounds) {
    if (round.other_load <= quiet_load_max) quiet.push_back(round);
  }
  if (quiet.empty()) {
    std::printf("| %s | quiet, 0 | - | - | - | - | - | - | - |\n", setting.what);
  } else {
    print_line(setting, "quiet", quiet);
  }
  print_line(setting, "all", rounds);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  const Setting alone{"one run alone", 100, 1};
  const Setting many{"64 runs in flight", 256, 64};
  const Setting sealed{"64 runs, compressed and encrypted", 256, 64, true};
  RecordedWork work = record(world, many.runs);
  std::printf("%s, SQLite %s\n\n", description().c_str(), sqlite3_libversion());
  std::printf(
      "SQLite, WAL, synchronous=FULL; state of 1 KB, each of 10 nodes in a line rewrites it. "
      "Medians; \"quiet\": the rounds in which others used at most %.0f %% of the machine.\n\n",
      quiet_load_max * 100);
  std::printf(
      "| | rounds | Belay, nodes/s | bare writer, nodes/s | Belay's time a node / bare writer's | "
      "Belay, CPU us/node | bare writer, CPU us/node | 8 KB append + fdatasync /s | others' load "
      "|\n|---|---|---|---|---|---|---|---|---|\n");
  double wait_left = options.max_wait;
  print(alone, measure(world, options, place.path, work, alone, wait_left));
  print(many, measure(world, options, place.path, work, many, wait_left));
  print(sealed, measure(world, options, place.path, work, sealed, wait_left));

  std::printf("\n| stored, with the write-ahead log moved into the file | bytes |\n|---|---|\n");
  double text = bytes_a_run(world, place.path, line_of_nodes(Writes::text), 500);
  double counter = bytes_a_run(world, place.path, line_of_nodes(Writes::counter), 500);
  double paused = bytes_a_run(world, place.path, page_for_approval(), 1'000);
  std::printf("| a run of 10 nodes that each rewrite 1 KB, a node | %.0f |\n",
              text / nodes_per_run);
  std::printf("| a run of 10 nodes that only count, a node | %.0f |\n", counter / nodes_per_run);
  std::printf("| a thread with 1 KB of input that waits for a person after one node | %.0f |\n",
              paused);
}
