// Queued analyses on PostgreSQL, executed by one worker process and by three.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "agents/research/analysis/coordinator.h"
#include "bench/child_program.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"
#include "bench/research_companies.h"
#include "bench/research_measurements.h"
#include "tests/postgres/postgres_server.h"

namespace belay::bench {
namespace {

using belay::postgres_tests::PostgresServer;
using research::Analysis;

constexpr std::string_view worker_word = "--work-on-analyses";
constexpr std::size_t queued_analyses = 140;
constexpr std::size_t queued_slow_analyses = 96;
constexpr std::size_t workers_of_fleet = 3;
// The time of a source, or of a model, in a subtask; for the second table.
constexpr std::chrono::milliseconds slow_subtask{100};

Graph<Analysis> graph_with(const std::string& data, std::chrono::milliseconds delay) {
  auto parts = std::make_shared<research::ResearchParts>();
  parts->data = data;
  if (delay.count() > 0) {
    parts->before_subtask = [delay](const std::string&, const std::string&) -> Result<Done> {
      std::this_thread::sleep_for(delay);
      return Done{};
    };
  }
  return value_or_exit(research::analysis_graph(std::move(parts)));
}

struct FleetTime {
  double seconds = 0;
  double cpu_of_workers = 0;
  double cpu_of_server = 0;
  double resident_max = 0;  // of one worker
};

void enqueue(World& world, const std::string& url, const CompanyCopies& copies, std::size_t count) {
  auto store = value_or_exit(open_postgres_store(url, *world.clock, *world.random));
  auto graph = graph_with("", {});
  auto runtime = world.runtime(*store, graph);
  for (std::size_t i = 0; i < count; ++i) {
    StartOptions options = options_of_analysis("analysis-" + std::to_string(i));
    Analysis order = copies.order(i);
    auto queued = runtime->enqueue(graph, std::move(order), std::move(options), Instant());
    value_or_exit(world.wait_for(std::move(queued)));
  }
}

void check_completed(World& world, const std::string& url, std::size_t count) {
  auto store = value_or_exit(open_postgres_store(url, *world.clock, *world.random));
  auto graph = graph_with("", {});
  auto runtime = world.runtime(*store, graph);
  for (std::size_t i = 0; i < count; ++i) {
    ThreadId thread("analysis-" + std::to_string(i));
    RunView view = value_or_exit(world.wait_for(runtime->status(default_tenant(), thread)));
    if (view.row.outcome != "complete") exit_with("Incomplete: " + view.row.error);
  }
}

// Executes `count` queued analyses with `workers` processes, until all have ended.
FleetTime time_fleet(World& world, PostgresServer& server, const CompanyCopies& copies,
                     std::size_t workers, std::size_t count, std::chrono::milliseconds delay) {
  std::string url = server.socket_url(server.create_database());
  enqueue(world, url, copies, count);
  std::vector<std::string> words = {"/proc/self/exe", std::string(worker_word), url,
                                    copies.folder(), std::to_string(delay.count())};
  words.front() = std::string(std::filesystem::read_symlink(words.front()));
  FleetTime time;
  double server_before = cpu_of_process_tree(server.pid());
  double began = wall_seconds();
  std::vector<pid_t> processes;
  for (std::size_t i = 0; i < workers; ++i) processes.push_back(start_program(words));
  for (pid_t process : processes) {
    EndedProgram ended = wait_for_program(process);
    if (ended.code != 0) exit_with("A worker failed.");
    time.cpu_of_workers += ended.cpu;
    time.resident_max = std::max(time.resident_max, ended.resident_max);
  }
  time.seconds = wall_seconds() - began;
  time.cpu_of_server = cpu_of_process_tree(server.pid()) - server_before;
  check_completed(world, url, count);
  return time;
}

void print_fleet(std::size_t workers, std::size_t count, const FleetTime& time,
                 double rate_of_one) {
  double all = static_cast<double>(count);
  double rate = all / time.seconds;
  std::printf("| %zu | %.1f | %.2f | %.2f | %.0f | %.0f | %.2f | %.0f |\n", workers, time.seconds,
              rate, rate / rate_of_one, time.cpu_of_workers * 1e3 / all,
              time.cpu_of_server * 1e3 / all,
              (time.cpu_of_workers + time.cpu_of_server) / time.seconds, time.resident_max / 1e6);
  std::fflush(stdout);
}

void measure_fleet(World& world, PostgresServer& server, const CompanyCopies& copies,
                   std::size_t count, std::chrono::milliseconds delay) {
  std::printf(
      "| workers | s | analyses/s | times one worker | CPU of the workers, ms of an analysis | CPU "
      "of PostgreSQL, ms of an analysis | cores in use | memory of a worker, MB "
      "|\n|---|---|---|---|---|---|---|---|\n");
  double rate_of_one = 0;
  for (std::size_t workers : {std::size_t{1}, workers_of_fleet}) {
    FleetTime time = time_fleet(world, server, copies, workers, count, delay);
    if (workers == 1) rate_of_one = static_cast<double>(count) / time.seconds;
    print_fleet(workers, count, time, rate_of_one);
  }
}

void measure_fleets(World& world, const std::string& path) {
  PostgresServer server({.sync = true, .settings = "shared_buffers = 256MB\n"});
  CompanyCopies copies(path + "/fleet-companies", queued_analyses);
  std::printf("\n%zu queued analyses on PostgreSQL, on %u cores, until the last one has ended\n\n",
              queued_analyses, std::thread::hardware_concurrency());
  measure_fleet(world, server, copies, queued_analyses, {});
  std::printf("\n%zu analyses whose subtasks also wait %lld ms each\n\n", queued_slow_analyses,
              static_cast<long long>(slow_subtask.count()));
  measure_fleet(world, server, copies, queued_slow_analyses, slow_subtask);
}

bool is_research_worker(int count, char** arguments) {
  return count == 5 && arguments[1] == worker_word;
}

[[noreturn]] void work_on_analyses(char** arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string url = arguments[2];
  std::chrono::milliseconds delay(number_in<int>(arguments[4]).value_or(0));
  World world;
  WithoutModel model;
  auto store = value_or_exit(open_postgres_store(url, *world.clock, *world.random));
  auto wake_up = value_or_exit(open_postgres_wake_up(url));
  RuntimeParts parts{*store, *world.loop, *world.clock, *world.random, model};
  parts.hints.work_notifier = wake_up.get();
  auto runtime = value_or_exit(Runtime::open(std::move(parts)));
  runtime->add(graph_with(arguments[3], delay));
  WorkerOptions options;
  options.until_idle = true;
  (void)value_or_exit(world.wait_for(runtime->run_worker(std::move(options))));
  std::exit(0);
}

}  // namespace
}  // namespace belay::bench

int main(int count, char** arguments) {
  using namespace belay::bench;
  if (is_research_worker(count, arguments)) work_on_analyses(arguments);
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  std::printf("%s\n", description().c_str());
  measure_fleets(world, place.path);
}
