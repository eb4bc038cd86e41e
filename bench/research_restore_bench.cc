// AgentCheckpointer::restore() with many stored analyses: from Redis and from the store, with
// SQLite and with PostgreSQL.

#include <cmath>
#include <cstdio>

#include "agents/research/analysis/coordinator.h"
#include "agents/research/checkpoints/agent_checkpointer.h"
#include "agents/research/checkpoints/shared_checkpoint_cache.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "bench/research_companies.h"
#include "bench/research_measurements.h"
#include "redis/redis_text_cache.h"
#include "tests/postgres/postgres_server.h"
#include "tests/redis/redis_server.h"

namespace belay::bench {
namespace {

using namespace belay::research;
using belay::postgres_tests::PostgresServer;

constexpr std::size_t analyses = 1'000;
constexpr std::size_t restores = 5'000;
constexpr std::size_t restored_analyses = 300;
constexpr std::size_t saved_together = 64;
constexpr double redis_milliseconds_max = 5;
constexpr double store_milliseconds_max = 20;

std::string analysis_id(std::size_t i) { return "analysis-" + std::to_string(i); }

// A process with a store and, possibly, a cache.
struct Process {
  Process(World& world, const std::string& name, CheckpointCache* cache)
      : store(value_or_exit(open_store(name, *world.clock, *world.random))),
        runtime(world.runtime(*store)),
        rows(checkpoint_rows(*runtime, default_tenant(), research_owner)),
        checkpointer(*rows, versions, cache) {}

  std::unique_ptr<Store> store;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<CheckpointRows> rows;
  AgentVersions versions = research_versions();
  AgentCheckpointer checkpointer;
};

// Returns the checkpoints of one analysis of each bundled company, oldest first.
std::vector<std::vector<AgentCheckpoint>> checkpoints_of_companies(World& world) {
  auto store = value_or_exit(open_store("memory:", *world.clock, *world.random));
  WithoutModel model;
  auto runtime = value_or_exit(
      Runtime::open(RuntimeParts{*store, *world.loop, *world.clock, *world.random, model}));
  auto parts = std::make_shared<ResearchParts>();
  parts->data = bundled_folder();
  auto graph = value_or_exit(analysis_graph(std::move(parts)));
  runtime->add(graph);
  auto records = runtime->records(default_tenant(), research_owner);
  std::vector<std::vector<AgentCheckpoint>> all;
  for (std::size_t i = 0; i < bundled_companies; ++i) {
    Analysis order;
    order.request.ticker = ticker_of(i);
    StartOptions options = options_of_analysis(analysis_id(i));
    // It waits at its gate, with its checkpoints.
    options.run.require_approval = true;
    auto run = runtime->start(graph, std::move(order), std::move(options));
    RunView view = value_or_exit(world.wait_for(std::move(run)));
    if (view.row.status != RunStatus::paused) exit_with("No gate: " + view.row.error);
    std::vector<AgentCheckpoint> checkpoints;
    for (const Specialist& specialist : specialists()) {
      RecordSpan span("newest");
      span.equal_to(analysis_id(i), specialist.name).limit(limits::page_rows_max);
      RecordFilter filter = span.filter();
      filter.collection = AgentCheckpoint::collection;
      auto rows = value_or_exit(world.wait_for(records->find(std::move(filter))));
      for (const RecordRow& row : rows) {
        checkpoints.push_back(value_or_exit(record_from<AgentCheckpoint>(row)));
      }
    }
    all.push_back(std::move(checkpoints));
  }
  return all;
}

// Saves the checkpoints of one analysis: of each agent all but the newest one as rows, that one as
// an agent does.
Task<Done> save_analysis(Process& process, std::vector<AgentCheckpoint> checkpoints) {
  CheckpointWrites older;
  std::vector<AgentCheckpoint> newest;
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    bool is_newest =
        i + 1 == checkpoints.size() || checkpoints[i + 1].agent_type != checkpoints[i].agent_type;
    (is_newest ? newest : older.checkpoints).push_back(checkpoints[i]);
  }
  auto written = co_await process.rows->write(std::move(older));
  value_or_exit(std::move(written));
  for (AgentCheckpoint& each : newest) {
    Instant now = each.checkpoint_time;
    auto saved = co_await process.checkpointer.save(std::move(each), now);
    value_or_exit(std::move(saved));
  }
  co_return Done{};
}

using Companies = std::vector<std::vector<AgentCheckpoint>>;

Task<Done> save_next(Process& process, const Companies& companies, std::size_t& next) {
  while (next < analyses) {
    std::size_t i = next++;
    std::vector<AgentCheckpoint> checkpoints = companies[i % companies.size()];
    for (AgentCheckpoint& each : checkpoints) each.analysis_id = analysis_id(i);
    co_await save_analysis(process, std::move(checkpoints));
  }
  co_return Done{};
}

// Saves all analyses, some at the same time.
void fill(World& world, Process& process, const Companies& companies) {
  std::size_t next = 0;
  std::size_t running = saved_together;
  std::vector<Spawned> tasks(saved_together);
  world.loop->post([&] {
    for (Spawned& task : tasks) {
      task = spawn<Done>(*world.loop, save_next(process, companies, next), [&](Done) {
        if (--running == 0) world.loop->stop();
      });
    }
  });
  world.loop->run();
}

std::size_t random_below(World& world, std::size_t end) {
  return static_cast<std::size_t>(world.random->bits() % end);
}

// `limit`: of the p99, in milliseconds; 0: none.
void print_restores(const std::string& what, const std::vector<double>& times, double limit,
                    double load) {
  double p99 = quantile(times, 0.99);
  std::string target;
  if (limit > 0)
    target = std::to_string(std::lround(limit)) + (p99 <= limit ? ": met" : ": missed");
  std::printf("| %s | %zu | %.2f | %.2f | %.2f | %s | %.2f |\n", what.c_str(), times.size(),
              quantile(times, 0.5), p99, quantile(times, 1), target.c_str(), load);
  std::fflush(stdout);
}

// Restores agents at random, one after the other.
void time_restores(World& world, Process& process, const std::string& what,
                   CheckpointSource source) {
  std::vector<double> times;
  Span span;
  for (std::size_t i = 0; i < restores; ++i) {
    std::string analysis = analysis_id(random_below(world, analyses));
    std::string agent = specialists()[random_below(world, specialists().size())].name;
    double began = wall_seconds();
    auto restored = world.wait_for(process.checkpointer.restore(analysis, agent));
    times.push_back((wall_seconds() - began) * 1e3);
    auto found = value_or_exit(std::move(restored));
    if (!found || found->source != source) exit_with("Not restored from there: " + what);
  }
  span.stop();
  bool is_cache = source == CheckpointSource::cache;
  print_restores(what, times, is_cache ? redis_milliseconds_max : store_milliseconds_max,
                 span.other_load);
}

// Restores all agents of analyses.
void time_analyses(World& world, Process& process, const std::string& what) {
  std::vector<double> times;
  Span span;
  for (std::size_t i = 0; i < restored_analyses; ++i) {
    std::string analysis = analysis_id(random_below(world, analyses));
    double began = wall_seconds();
    auto all = value_or_exit(world.wait_for(process.checkpointer.restore_all(analysis)));
    times.push_back((wall_seconds() - began) * 1e3);
    if (all.size() != specialists().size()) exit_with("Not all agents are restored.");
    for (const AgentRestore& each : all) {
      if (!each.restored.ok()) exit_with(each.restored.error().message);
    }
  }
  span.stop();
  print_restores(what, times, 0, span.other_load);
}

void measure_store(World& world, const std::string& title, const std::string& name,
                   redis::Client& client, const Companies& companies) {
  redis::RedisTextCache texts(client,
                              std::make_shared<redis::MessageEncryption>(KeyRing(), *world.random));
  SharedCheckpointCache cache(texts);
  {
    Process filling(world, name, &cache);
    fill(world, filling, companies);
  }
  Process with_cache(world, name, &cache);
  time_restores(world, with_cache, "one agent, Redis, compared with " + title,
                CheckpointSource::cache);
  Process without_cache(world, name, nullptr);
  time_restores(world, without_cache, "one agent, " + title + " alone", CheckpointSource::store);
  time_analyses(world, with_cache, "all agents of an analysis, Redis, compared with " + title);
  time_analyses(world, without_cache, "all agents of an analysis, " + title + " alone");
}

void measure_restores(World& world, const std::string& path) {
  tests::RedisServer redis_server;
  redis::ClientOptions options;
  options.link.address = value_or_exit(redis::address_from(redis_server.url()));
  options.prefix = "sqlite:";
  redis::Client for_sqlite(options, *world.random);
  options.prefix = "postgres:";
  redis::Client for_postgres(options, *world.random);
  for (redis::Client* client : {&for_sqlite, &for_postgres}) {
    if (!client->wait_until_up(std::chrono::seconds(5))) exit_with(client->trouble());
  }
  PostgresServer server({.sync = true, .settings = "shared_buffers = 256MB\n"});
  auto companies = checkpoints_of_companies(world);
  std::size_t count = 0;
  for (const auto& checkpoints : companies) count += checkpoints.size();
  std::printf(
      "\nRestores, with %zu analyses of thirteen agents and some %zu checkpoints each; %s\n\n"
      "| restored | restores | p50, ms | p99, ms | greatest, ms | p99 at most | others' load "
      "|\n|---|---|---|---|---|---|---|\n",
      analyses, count / companies.size(), server.value("SELECT version()").c_str());
  measure_store(world, "SQLite", "sqlite:" + path + "/restores.db", for_sqlite, companies);
  measure_store(world, "PostgreSQL", server.socket_url(server.create_database()), for_postgres,
                companies);
}

}  // namespace
}  // namespace belay::bench

int main(int count, char** arguments) {
  using namespace belay::bench;
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::printf("%s\n", description().c_str());
  measure_restores(world, place.path);
}
