#include "cli/queue_commands.h"

#include "cli/former_names.h"
#include "cli/help_text.h"

namespace belay::cli {
namespace {

using What = Queue::What;

CLI::App* add_queue_verb(CLI::App& parent, const AddVerb& add, const char* name, const char* line,
                         What what, Queue& queue, Command& chosen) {
  CLI::App* verb = add(parent, name, line, help::kQueue);
  const char* of = what == What::retry ? "THREAD" : "QUEUE";
  bool is_of_one = what != What::list && what != What::quarantined;
  if (is_of_one) verb->add_option(of, queue.name, "Its name")->required();
  verb->callback([&queue, &chosen, what] {
    queue.what = what;
    chosen = queue;
  });
  return verb;
}

}  // namespace

void add_queue_commands(CLI::App& app, const AddVerb& add, Queue& queue, Command& chosen) {
  CLI::App* group = add(app, "queue", "List, pause, limit and drain queues", help::kQueue);
  group->require_subcommand(0, 1);
  group->callback([&chosen, group] {
    if (group->get_subcommands().empty()) chosen = Queue{};
  });
  auto one = [&](const char* name, const char* line, What what) {
    return add_queue_verb(*group, add, name, line, what, queue, chosen);
  };
  one("list", "List the queues", What::list);
  one("pause", "Pause a queue", What::pause);
  one("resume", "Resume a paused queue", What::resume);
  one("drain", "Pause a queue and wait until none of its runs is running", What::drain);
  CLI::App* limit = one("limit", "Set the concurrency limits of a queue", What::limit);
  CLI::Option* max_runs = limit->add_option(
      "--max-runs", queue.runs_max, "Maximum running runs of the queue; 0: default of all queues");
  add_former_name(limit, max_runs, "--runs");
  CLI::Option* max_per_key =
      limit->add_option("--max-runs-per-key", queue.per_key_max,
                        "Maximum running runs per concurrency key; 0: default of all queues");
  add_former_name(limit, max_per_key, "--per-key");
  CLI::App* retry = one("retry", "Retry a failed or quarantined run in a new thread", What::retry);
  CLI::Option* thread =
      retry->add_option("--thread", queue.new_thread, "New thread (default: a random one)");
  add_former_name(retry, thread, "--as");
  CLI::App* quarantined =
      one("quarantined", "List quarantined runs and their reasons", What::quarantined);
  add_former_name(quarantined, "quarantine");
  CLI::App* workers = add(app, "workers", "List the processes that own runs", help::kWorkers);
  workers->callback([&chosen] { chosen = Workers{}; });
}

void add_place_in_queue(CLI::App* run, RunAgent& into) {
  run->add_option("--queue", into.queue, "Queue of the run")->capture_default_str();
  run->add_option("--priority", into.priority, "Priority: larger numbers run first")
      ->capture_default_str();
  run->add_option("--concurrency-key", into.concurrency_key,
                  "Concurrency key: runs with the same key share a limit");
}

void add_queues_of_worker(CLI::App* worker, Work& into) {
  worker->add_option("--queue", into.queues, "Only this queue; repeatable")
      ->allow_extra_args(false);
  worker->add_option("--per-user", into.per_user,
                     "Maximum running runs per user; 0: unlimited [0]");
  worker->add_option("--per-key", into.per_key,
                     "Maximum running runs per concurrency key; 0: unlimited [1]");
  worker->add_option("--per-queue", into.per_queue,
                     "Maximum running runs per queue; 0: unlimited [0]");
}

void add_name_of_worker(CLI::App* verb, Work& into) {
  verb->add_option("--name", into.name, "Name in `workers`, on PostgreSQL (default: HOST:PID)");
}

void add_retention(CLI::App* verb, Work& into) {
  CLI::Option* retention = verb->add_option("--retention", into.retention_text,
                                            "Time to keep ended threads: 12h, 30d, or forever")
                               ->capture_default_str();
  add_former_name(verb, retention, "--keep");
}

void add_drain_timeout(CLI::App* verb, Work& into) {
  verb->add_option("--drain-timeout", into.drain_text,
                   "Time for running nodes to complete after SIGTERM or Ctrl-C; 0: none")
      ->capture_default_str();
}

}  // namespace belay::cli
