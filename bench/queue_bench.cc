// Measures the cost of a million paused runs on PostgreSQL: the poll for due runs among them, and
// the memory of an idle server.

#include <cstdio>
#include <filesystem>

#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "bench/served_program.h"
#include "tests/postgres/postgres_server.h"

namespace {

using namespace belay;
using namespace belay::bench;
using belay::postgres_tests::PostgresServer;

constexpr int waiting_runs = 1'000'000;
constexpr int due_runs = 2'000;
constexpr int claims = 200;
constexpr int claimed_at_once = 16;

// Returns SQL that inserts `count` runs that wait for an approval until `due`, with three
// priorities in turn, each in its own thread.
std::string waiting(int first, int count, const std::string& due) {
  std::string numbers = "generate_series(" + std::to_string(first) + ", " +
                        std::to_string(first + count - 1) + ") AS n";
  std::string id = "('00000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid";
  return "INSERT INTO belay.threads (tenant, thread_id, user_id, graph, created_at)"
         " SELECT 'local', 'thread-' || n, 'user-' || n % 1000, 'pages', now() FROM " +
         numbers +
         "; INSERT INTO belay.runs (tenant, run_id, thread_id, status, reason, outcome, error_code,"
         " error, seq, epoch, checkpoint_id, node, retry_count, worked_ms, updated_at, due_at,"
         " lost_claims, queue, priority, concurrency_key) SELECT 'local', " +
         id + ", 'thread-' || n, 'paused', 'approval', '', '', '', 3, 1, " + id +
         ", 'review', 0, 10, now(), " + due + ", 0, 'default', n % 3, '' FROM " + numbers +
         "; INSERT INTO belay.run_starts (tenant, run_id, user_id, graph, graph_hash, input,"
         " options, created_at) SELECT 'local', " +
         id +
         ", 'user-' || n % 1000, 'pages', sha256('pages'), '\\x040000006a736f6e7b7d', '{}', now()"
         " FROM " +
         numbers + ";";
}

double server_memory(const std::string& belay, const std::string& url) {
  ServedProgram served(belay, url, {});
  return served.idle_megabytes();
}

struct Claims {
  double median_ms = 0;
  double p99_ms = 0;
  std::size_t offered = 0;
};

Claims time_claims(World& world, const std::string& url) {
  auto store = value_or_exit(open_postgres_store(url, *world.clock, *world.random));
  SessionId session = value_or_exit(store->open_session());
  std::vector<double> times;
  Claims found;
  for (int i = 0; i < claims; ++i) {
    PollFilter filter;
    filter.tenant = default_tenant();
    // Alternates between two sessions, because the candidates of one are hidden from the other.
    filter.session = i % 2 == 0 ? session : SessionId(random_uuid(*world.random));
    filter.now = world.clock->now();
    filter.graphs = {"pages"};
    filter.concurrency = {.per_user = 5, .per_key = 1};
    filter.limit = claimed_at_once;
    filter.visibility_timeout = std::chrono::milliseconds(0);
    double began = wall_seconds();
    auto claimed = store->poll_runs(std::move(filter));
    auto offered = value_or_exit(world.wait_for(std::move(claimed)));
    times.push_back((wall_seconds() - began) * 1e3);
    found.offered += offered.size();
  }
  found.median_ms = median(times);
  found.p99_ms = quantile(times, 0.99);
  return found;
}

void print(const char* what, const Claims& claimed) {
  std::printf("| %s | %.2f | %.2f | %.1f |\n", what, claimed.median_ms, claimed.p99_ms,
              static_cast<double>(claimed.offered) / claims);
}

}  // namespace

int main(int count, char** arguments) {
  Options options = options_from(count, arguments);
  std::string belay =
      options.belay.empty()
          ? (std::filesystem::absolute(arguments[0]).parent_path().parent_path() / "belay").string()
          : options.belay;
  World world;
  PostgresServer server({.sync = true, .settings = "shared_buffers = 512MB\n"});
  std::string database = server.create_database();
  std::string url = server.socket_url(database);
  value_or_exit(open_postgres_store(url, *world.clock, *world.random));
  std::printf("%s, %s\n\n", description().c_str(), server.value("SELECT version()").c_str());
  double empty_server = server_memory(belay, url);
  value_or_exit(server.sql(waiting(0, due_runs, "now() - interval '1 minute'"), database));
  Claims few = time_claims(world, url);
  value_or_exit(server.sql(waiting(due_runs, waiting_runs, "now() + interval '1 day'"), database));
  Claims many = time_claims(world, url);
  double full_server = server_memory(belay, url);
  value_or_exit(server.sql("VACUUM ANALYZE", database));
  Claims vacuumed = time_claims(world, url);
  std::printf(
      "| a claim of %d among %d due runs | median, ms | p99, ms | offered |\n"
      "|---|---|---|---|\n",
      claimed_at_once, due_runs);
  print("and no other", few);
  print("and 1,000,000 that wait for a person", many);
  print("the same after VACUUM ANALYZE", vacuumed);
  std::printf("\n| RSS of an idle `belay serve` | MB |\n|---|---|\n");
  std::printf("| on an empty store | %.1f |\n| on one with 1,000,000 waiting runs | %.1f |\n",
              empty_server, full_server);
}
