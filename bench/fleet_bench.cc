// A fleet on PostgreSQL. Measures the time until an idle worker starts a run that another process
// enqueued, and the time until another worker continues the runs of a killed worker.

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <thread>

#include "bench/fleet_worker.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "tests/postgres/postgres_server.h"

namespace {

using namespace belay;
using namespace belay::bench;
using belay::postgres_tests::PostgresServer;

constexpr int starts = 500;
constexpr int starts_before = 20;  // not measured: the worker subscribes, plans are cached
constexpr double patience_seconds = 120;
constexpr std::size_t workers_of_fleet = 3;
constexpr int runs_under_way = 30;
constexpr int runs_in_the_way = 400;
constexpr std::size_t least_in_hand = 5;
constexpr int runs_of_backlog = 3'000;

// Waits for a report, at most for `seconds`.
void wait_for_words(const std::vector<std::unique_ptr<WorkerProcess>>& workers, double seconds) {
  std::vector<pollfd> pipes;
  for (const auto& worker : workers) pipes.push_back({worker->pipe(), POLLIN, 0});
  (void)::poll(pipes.data(), pipes.size(), static_cast<int>(seconds * 1e3) + 1);
}

double random_seconds(World& world, double from, double to) {
  double share = static_cast<double>(world.random->bits() >> 11) * 0x1p-53;
  return from + share * (to - from);
}

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Enqueues runs and records when each one was durable.
class Client {
 public:
  Client(World& world, const std::string& url, Wakes wakes)
      : world_(world),
        store_(value_or_exit(open_postgres_store(url, *world.clock, *world.random))),
        watched_(*store_, [this](const std::string&) { durable_ = wall_seconds(); }) {
    if (wakes == Wakes::by_notify) wake_up_ = value_or_exit(open_postgres_wake_up(url));
    RuntimeParts parts{watched_, *world.loop, *world.clock, *world.random, world.model};
    parts.hints.work_notifier = wake_up_.get();
    runtime_ = value_or_exit(Runtime::open(std::move(parts)));
    runtime_->add(short_);
    runtime_->add(long_);
  }

  std::string enqueue_short() { return enqueue(short_); }
  std::string enqueue_long() { return enqueue(long_); }
  double durable() const { return durable_; }  // time of the last commit
  bool has_completed(const std::string& thread) {
    auto view = world_.wait_for(runtime_->status(default_tenant(), ThreadId(thread)));
    return value_or_exit(std::move(view)).row.status == RunStatus::completed;
  }

 private:
  std::string enqueue(const Graph<Page>& graph) {
    StartOptions options;
    auto run = runtime_->enqueue(graph, first_page(), std::move(options), Instant());
    return value_or_exit(world_.wait_for(std::move(run))).row.thread.text;
  }

  World& world_;
  std::unique_ptr<Store> store_;
  WatchedStore watched_;
  std::unique_ptr<WorkNotifier> wake_up_;
  Graph<Page> short_ = short_pages();
  Graph<Page> long_ = long_pages();
  std::unique_ptr<Runtime> runtime_;
  double durable_ = 0;
};

// Returns the time of the report `what` about the run; ignores reports about other runs.
double told_at(const std::vector<std::unique_ptr<WorkerProcess>>& workers, Told what,
               const std::string& thread) {
  double began = wall_seconds();
  double at = 0;
  bool has_ended = false;
  while (!has_ended) {
    if (wall_seconds() - began > patience_seconds) exit_with("A run was never worked on.");
    wait_for_words(workers, 1);
    for (const Word& word : workers.front()->heard()) {
      if (thread != word.thread) continue;
      if (word.what == what) at = word.at;
      has_ended |= word.what == Told::ended;
    }
  }
  return at;
}

void print(const char* what, const std::vector<double>& times, const char* unit, double load) {
  std::printf("| %s | %zu | %.1f | %.1f | %.1f %s | %.2f |\n", what, times.size(),
              quantile(times, 0.5), quantile(times, 0.99), quantile(times, 1), unit, load);
  std::fflush(stdout);
}

void time_starts(World& world, PostgresServer& server, const char* what, Wakes wakes) {
  std::string url = server.socket_url(server.create_database());
  Client client(world, url, wakes);
  std::vector<std::unique_ptr<WorkerProcess>> workers;
  workers.push_back(std::make_unique<WorkerProcess>(url, wakes));
  std::vector<double> times;
  Span span;
  for (int i = 0; i < starts_before + starts; ++i) {
    // Longer than the worker needs to become idle, and at a random time between two polls.
    nap(random_seconds(world, 0.05, 0.25));
    std::string thread = client.enqueue_short();
    double began = told_at(workers, Told::begun, thread);
    if (i >= starts_before) times.push_back((began - client.durable()) * 1e3);
  }
  span.stop();
  print(what, times, "ms", span.other_load);
}

// Kills workers and replaces them, with a constant number of runs in progress.
class Fleet {
 public:
  Fleet(World& world, const std::string& url)
      : world_(world), url_(url), client_(world, url, Wakes::by_notify) {
    for (std::size_t i = 0; i < workers_of_fleet; ++i) {
      workers_.push_back(std::make_unique<WorkerProcess>(url_, Wakes::by_notify));
    }
  }

  void put(int runs) {
    for (int i = 0; i < runs; ++i) client_.enqueue_long();
  }

  // Kills a worker at a random time. Returns the seconds until each of its runs was continued.
  std::vector<double> kill_one(std::size_t which) {
    double until = wall_seconds() + random_seconds(world_, 1, 6);
    double patience_ends = until + patience_seconds;
    while (wall_seconds() < until || in_hand(which).size() < least_in_hand) {
      if (wall_seconds() > patience_ends) exit_with("A worker has nothing to do.");
      listen();
    }
    double killed = wall_seconds();
    workers_[which]->kill();
    hear(which);
    std::set<std::string> lost = in_hand(which);
    for (const std::string& thread : lost) holders_.erase(thread);
    workers_[which] = std::make_unique<WorkerProcess>(url_, Wakes::by_notify);
    std::vector<double> times;
    patience_ends = killed + patience_seconds;
    while (!lost.empty()) {
      if (wall_seconds() > patience_ends) {
        // Completed runs are not lost: the worker was killed between the last commit and its
        // report.
        std::erase_if(lost, [&](const std::string& each) { return client_.has_completed(each); });
        return still_lost(std::move(times), lost.size());
      }
      listen();
      std::erase_if(lost, [&](const std::string& thread) {
        auto taken = first_commits_.find(thread);
        if (taken == first_commits_.end() || taken->second < killed) return false;
        times.push_back(taken->second - killed);
        return true;
      });
    }
    return times;
  }

 private:
  // Runs count as continued at the end of the wait if they were not taken over.
  static std::vector<double> still_lost(std::vector<double> times, std::size_t count) {
    times.insert(times.end(), count, patience_seconds);
    return times;
  }

  std::set<std::string> in_hand(std::size_t which) const {
    std::set<std::string> threads;
    for (const auto& [thread, holder] : holders_) {
      if (holder == which) threads.insert(thread);
    }
    return threads;
  }

  void hear(std::size_t which) {
    for (const Word& word : workers_[which]->heard()) {
      std::string thread = word.thread;
      if (word.what == Told::ended) {
        holders_.erase(thread);
        first_commits_.erase(thread);
        ++ended_;
      } else if (word.what == Told::committed && !holders_.contains(thread)) {
        holders_[thread] = which;
        first_commits_[thread] = word.at;
      }
    }
  }

  // Reads reports, and enqueues a new run for each one that has ended.
  void listen() {
    wait_for_words(workers_, 0.1);
    for (std::size_t i = 0; i < workers_.size(); ++i) hear(i);
    put(std::exchange(ended_, 0));
  }

  World& world_;
  const std::string url_;
  Client client_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  std::map<std::string, std::size_t> holders_;   // the worker of each running run
  std::map<std::string, double> first_commits_;  // time of that worker's first commit
  int ended_ = 0;
};

void time_take_overs(World& world, PostgresServer& server, const char* what, int runs, int kills) {
  Fleet fleet(world, server.socket_url(server.create_database()));
  fleet.put(runs);
  std::vector<double> times;
  Span span;
  for (int i = 0; i < kills; ++i) {
    auto of_one = fleet.kill_one(static_cast<std::size_t>(i) % workers_of_fleet);
    times.insert(times.end(), of_one.begin(), of_one.end());
  }
  span.stop();
  print(what, times, "s", span.other_load);
}

// Measures runs of one node that are all queued before the workers start.
void time_backlog(World& world, PostgresServer& server, std::size_t count) {
  std::string url = server.socket_url(server.create_database());
  Client client(world, url, Wakes::by_notify);
  for (int i = 0; i < runs_of_backlog; ++i) client.enqueue_short();
  std::vector<std::unique_ptr<WorkerProcess>> workers;
  for (std::size_t i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<WorkerProcess>(url, Wakes::by_notify));
  }
  double first = 0, last = wall_seconds();
  int ended = 0;
  Span span;
  while (ended < runs_of_backlog) {
    if (wall_seconds() - last > patience_seconds) exit_with("A run was never worked on.");
    wait_for_words(workers, 1);
    for (const auto& worker : workers) {
      for (const Word& word : worker->heard()) {
        if (first == 0) first = word.at;
        last = std::max(last, word.at);
        ended += word.what == Told::ended ? 1 : 0;
      }
    }
  }
  span.stop();
  std::printf("| %zu | %.0f | %.2f |\n", count, runs_of_backlog / (last - first), span.other_load);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (is_worker(count, arguments)) work(arguments);
  Options options = options_from(count, arguments);
  Workplace place(options.directory);
  World world;
  PostgresServer server({.sync = true, .settings = "shared_buffers = 256MB\n"});
  std::printf("%s, %s\n\n", description().c_str(), server.value("SELECT version()").c_str());
  std::printf(
      "fsync and synchronous_commit on, over a Unix socket, each worker a process; the server and "
      "the workers count as others' load. The disk takes %.0f appends of 8 KB with fdatasync a "
      "second.\n\n"
      "| from a durable `enqueue` to the first node in an idle worker, ms | starts | p50 | p99 | "
      "greatest | others' load |\n|---|---|---|---|---|---|\n",
      synced_appends_per_second(place.path, 0.5));
  time_starts(world, server, "with LISTEN and NOTIFY", Wakes::by_notify);
  time_starts(world, server, "by polling alone, every 200 ms", Wakes::by_polling);
  std::printf(
      "\n| workers on a queue of %d runs of one node | runs/s | others' load |\n|---|---|---|\n",
      runs_of_backlog);
  for (std::size_t workers : {1, 3}) time_backlog(world, server, workers);
  std::printf(
      "\n| from SIGKILL of one of %zu workers to the next commit of each of its runs by another, s "
      "| runs | p50 | p99 | greatest | others' load |\n|---|---|---|---|---|---|\n",
      workers_of_fleet);
  time_take_overs(world, server, "with room in the others", runs_under_way, options.rounds);
  time_take_overs(world, server, "with a queue that is never empty", runs_in_the_way,
                  options.rounds);
}
