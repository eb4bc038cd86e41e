#include "cli/queue_commands.h"

#include "cli/help_text.h"

namespace belay::cli {
namespace {

using What = Queue::What;

CLI::App* add_queue_verb(CLI::App& parent, const AddVerb& add, const char* name, const char* line,
                         What what, Queue& queue, Command& chosen) {
  CLI::App* verb = add(parent, name, line, help::kQueue);
  const char* of = what == What::retry ? "THREAD" : "QUEUE";
  bool is_of_one = what != What::list && what != What::quarantine;
  if (is_of_one) verb->add_option(of, queue.name, "By its name")->required();
  verb->callback([&queue, &chosen, what] {
    queue.what = what;
    chosen = queue;
  });
  return verb;
}

}  // namespace

void add_queue_commands(CLI::App& app, const AddVerb& add, Queue& queue, Command& chosen) {
  CLI::App* group = add(app, "queue", "What waits, and how it is taken", help::kQueue);
  group->require_subcommand(0, 1);
  group->callback([&chosen, group] {
    if (group->get_subcommands().empty()) chosen = Queue{};
  });
  auto one = [&](const char* name, const char* line, What what) {
    return add_queue_verb(*group, add, name, line, what, queue, chosen);
  };
  one("list", "List the queues", What::list);
  one("pause", "Take nothing from a queue", What::pause);
  one("resume", "Take from it again", What::resume);
  one("drain", "Pause it, and wait until nothing of it is at work", What::drain);
  CLI::App* limit = one("limit", "Say how many of it may be at work", What::limit);
  limit->add_option("--runs", queue.runs_max, "Of its runs; 0: as many as of any queue");
  limit->add_option("--per-key", queue.per_key_max, "Of one concurrency key; 0: as in any queue");
  CLI::App* retry =
      one("retry", "Have a failed or quarantined run go again, in a new thread", What::retry);
  retry->add_option("--as", queue.as, "The new thread; else a random one");
  one("quarantine", "List what is quarantined, and why", What::quarantine);
  CLI::App* workers = add(app, "workers", "List the processes that own runs", help::kWorkers);
  workers->callback([&chosen] { chosen = Workers{}; });
}

void add_place_in_queue(CLI::App* run, RunAgent& into) {
  run->add_option("--queue", into.queue, "The queue that it belongs to")->capture_default_str();
  run->add_option("--priority", into.priority, "Within its queue the greater goes first")
      ->capture_default_str();
  run->add_option("--concurrency-key", into.concurrency_key,
                  "Runs that share it are limited together");
}

void add_queues_of_worker(CLI::App* worker, Work& into) {
  worker->add_option("--queue", into.queues, "Only from this queue; may be repeated")
      ->allow_extra_args(false);
  worker->add_option("--per-user", into.per_user,
                     "At most so many runs of a user at work; 0: any [0]");
  worker->add_option("--per-key", into.per_key,
                     "At most so many runs of a concurrency key; 0: any [1]");
  worker->add_option("--per-queue", into.per_queue, "At most so many runs of a queue; 0: any [0]");
}

void add_name_of_worker(CLI::App* verb, Work& into) {
  verb->add_option("--name", into.name,
                   "What the list of workers calls it, on PostgreSQL; else HOST:PID");
}

void add_drain_timeout(CLI::App* verb, Work& into) {
  verb->add_option("--drain-timeout", into.drain_text,
                   "After SIGTERM or Ctrl-C: how long running nodes may take to end; 0: no time")
      ->capture_default_str();
}

}  // namespace belay::cli
