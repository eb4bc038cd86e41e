// `belay queue` and `belay workers`: list queues and workers, and change queues.

#include "base/text_in.h"
#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/show.h"
#include "cli/table.h"

namespace belay::cli {
namespace {

constexpr const char* kQueueHelp =
    R"(A run belongs to the queue that it was started with. Workers do not claim runs of a paused
queue; its running runs continue. The concurrency limits per user, key and queue hold over all
processes of the store.

Examples:
  {p} queue
  {p} queue pause mails
  {p} queue limit mails --max-runs 4
  {p} queue retry first --thread second
)";
constexpr const char* kWorkersHelp =
    R"(Lists each other process with its start time, the number of its runs, and the start of the
oldest one.

Example:
  {p} workers
)";

constexpr std::chrono::milliseconds kBusyPause{500};

std::string number_in(const Value& document, const char* name) {
  return std::to_string(document[name].as_int().value_or(0));
}

std::string moment_in(const CommandContext& world, const Value& document, const char* name) {
  auto at = instant_from(text_in(document, name));
  return at ? moment_text(world.settings.time_zone, *at) : "-";
}

std::string limits_of_queue(const Value& queue) {
  std::string limits;
  if (queue["runsMax"].as_int().value_or(0) > 0) limits = "at most " + number_in(queue, "runsMax");
  if (queue["perKeyMax"].as_int().value_or(0) > 0) {
    limits += (limits.empty() ? "at most " : ", ") + number_in(queue, "perKeyMax") + " a key";
  }
  return limits;
}

std::string notes_of_queue(const Value& queue) {
  std::string notes;
  if (queue["paused"] == Value(true)) notes = "paused";
  const Value::Array* held_by = queue["heldBy"].as_array();
  for (std::size_t i = 0; held_by && i < held_by->size(); ++i) {
    const Value& hold = (*held_by)[i];
    if (i == 0) notes += notes.empty() ? "held by: " : ", held by: ";
    notes += (i == 0 ? "" : ", ") + text_in(hold, "reason") + " (" + number_in(hold, "runs") + ")";
  }
  return notes;
}

void show_queues_in_table(CommandContext& world, const Value::Array& queues) {
  Table table({"QUEUE", "QUEUED", "DUE", "RUNNING", "WAITING", "QUARANTINED", "DUE SINCE", "LIMITS",
               "NOTES"},
              {1, 2, 3, 4, 5});
  for (const Value& queue : queues) {
    bool is_due = !queue["oldestDueAt"].is_null();
    table.add({text_in(queue, "name"), number_in(queue, "queued"), number_in(queue, "due"),
               number_in(queue, "running"), number_in(queue, "waiting"),
               number_in(queue, "quarantined"),
               is_due ? moment_in(world, queue, "oldestDueAt") : "", limits_of_queue(queue),
               notes_of_queue(queue)});
  }
  table.show(world.output);
}

void show_workers_in_table(CommandContext& world, const Value::Array& workers) {
  Table table({"SESSION", "STATE", "NAME", "PROCESS", "SINCE", "RUNS", "OLDEST RUN", "SEEN"}, {5});
  auto moment = [&](const Value& worker, const char* name) {
    return worker[name].is_null() ? std::string() : moment_in(world, worker, name);
  };
  for (const Value& worker : workers) {
    bool has_process = !worker["processId"].is_null();
    table.add({text_in(worker, "session"), worker["alive"] == Value(true) ? "alive" : "dead",
               text_in(worker, "name"), has_process ? number_in(worker, "processId") : "",
               moment_in(world, worker, "startedAt"), number_in(worker, "runs"),
               moment(worker, "oldestAt"), moment(worker, "seenAt")});
  }
  table.show(world.output);
}

// A limit of a queue; 0 selects the default of all queues.
std::string limit_text(const Value& queue, const char* name) {
  std::string limit = number_in(queue, name);
  return limit == "0" ? "default" : "max " + limit;
}

Task<Result<bool>> is_at_work(CommandContext& world, std::string name) {
  BELAY_CO_TRY(Value found, co_await world.service.queues(world.who, std::nullopt));
  const Value::Array* queues = found["queues"].as_array();
  for (std::size_t i = 0; queues && i < queues->size(); ++i) {
    const Value& queue = (*queues)[i];
    if (text_in(queue, "name") == name) co_return queue["running"].as_int().value_or(0) > 0;
  }
  co_return false;
}

class QueueListCommand final : public Command {
 public:
  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_TRY(Value found, co_await world.service.queues(world.who, std::nullopt));
    const Value::Array* queues = found["queues"].as_array();
    if (!queues || queues->empty()) world.output.line("No queues.");
    if (queues) show_queues_in_table(world, *queues);
    world.output.document(found);
    co_return ExitCode::done;
  }
};

enum class ChangeOfQueue { pause, resume, drain, limit };

// `queue pause`, `queue resume`, `queue drain` and `queue limit`.
class QueueChangeCommand final : public Command {
 public:
  explicit QueueChangeCommand(ChangeOfQueue change) : change_(change) {}

  void declare(CommandWords& words) override {
    words.argument("QUEUE", name_, "Its name").required();
    if (change_ != ChangeOfQueue::limit) return;
    words
        .option("--max-runs", runs_max_,
                "Maximum running runs of the queue; 0: default of all queues")
        .former_name("--runs");
    words
        .option("--max-runs-per-key", per_key_max_,
                "Maximum running runs per concurrency key; 0: default of all queues")
        .former_name("--per-key");
  }

  Task<CommandResult> run(CommandContext& world) override {
    QueueChange change;
    change.name = name_;
    if (change_ == ChangeOfQueue::limit) {
      change.runs_max = runs_max_;
      change.per_key_max = per_key_max_;
    } else {
      change.paused = change_ != ChangeOfQueue::resume;
    }
    BELAY_CO_TRY(Value changed, co_await world.service.change_queue(world.who, std::move(change)));
    bool is_busy = change_ == ChangeOfQueue::drain;
    while (is_busy) {
      BELAY_CO_TRY(is_busy, co_await is_at_work(world, name_));
      if (is_busy) co_await sleep_for(kBusyPause);
    }
    world.output.line(result_text(changed));
    world.output.document(changed);
    co_return ExitCode::done;
  }

 private:
  std::string result_text(const Value& changed) const {
    std::string line = "Queue \"" + one_line(name_) + "\"";
    if (change_ == ChangeOfQueue::limit) {
      return line + ": " + limit_text(changed, "runsMax") + " runs, " +
             limit_text(changed, "perKeyMax") + " per key.";
    }
    if (change_ == ChangeOfQueue::drain) return line + " drained.";
    return line + (changed["paused"] == Value(true) ? " paused." : " resumed.");
  }

  ChangeOfQueue change_;
  std::string name_;
  std::optional<std::uint64_t> runs_max_, per_key_max_;
};

// Retries a failed or quarantined run in a new thread, from its last commit. A quarantined run is
// then cancelled.
class QueueRetryCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    words.argument("THREAD", thread_, "Its name").required().completes(NamesToComplete::threads);
    words.option("--thread", new_thread_, "New thread (default: a random one)").former_name("--as");
  }

  Task<CommandResult> run(CommandContext& world) override {
    ThreadId thread(thread_);
    ThreadId named = thread;
    BELAY_CO_TRY(RunRow old,
                 co_await world.service.run_of(world.who, std::move(named), std::nullopt));
    if (old.status != RunStatus::failed && old.status != RunStatus::quarantined) {
      co_return error(ErrorCode::conflict,
                      "Thread \"" + thread.text + "\" is " + std::string(name_of(old.status)) +
                          ", but only a failed or quarantined run can be retried.");
    }
    ForkOptions options;
    options.from = thread;
    options.run = old.run;
    options.user = old.user;
    options.queued = true;
    options.thread = ThreadId(new_thread_.value_or(random_uuid(world.random).text()));
    BELAY_CO_TRY(RunView view, co_await world.service.fork(world.who, std::move(options)));
    if (old.status == RunStatus::quarantined) {
      std::string by = acting_name(world, std::nullopt);
      auto cancelled =
          co_await world.service.cancel(world.who, std::move(thread), std::move(by), "", old.run);
      if (!cancelled.ok()) co_return std::move(cancelled).error();
    }
    world.output.line("Queued thread \"" + one_line(view.row.thread.text) + "\" in queue \"" +
                      one_line(view.row.queue) + "\".");
    world.output.document(run_document(world.program, view));
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
  std::optional<std::string> new_thread_;
};

class QueueQuarantinedCommand final : public Command {
 public:
  Task<CommandResult> run(CommandContext& world) override {
    Value::Array documents;
    std::optional<RunId> before;
    for (bool is_last = false; !is_last;) {
      RunPage page;
      page.statuses = {RunStatus::quarantined};
      page.limit = limits::page_rows_max;
      page.before = before;
      BELAY_CO_TRY(std::vector<RunRow> rows,
                   co_await world.service.runs(world.who, std::move(page)));
      for (const RunRow& row : rows) {
        world.output.line(one_line(row.thread.text) + "  " +
                          moment_text(world.settings.time_zone, row.updated_at) + "  " +
                          one_line(row.reason));
        documents.push_back(run_summary(row));
      }
      is_last = rows.size() < limits::page_rows_max;
      if (!is_last) before = rows.back().run;
    }
    if (documents.empty()) world.output.line("No quarantined runs.");
    world.output.document(Value::object({{"runs", std::move(documents)}}));
    co_return ExitCode::done;
  }
};

class WorkersCommand final : public Command {
 public:
  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_TRY(Value found, co_await world.service.workers(world.who));
    const Value::Array* workers = found["workers"].as_array();
    if (!workers || workers->empty()) world.output.line("No other process.");
    if (workers) show_workers_in_table(world, *workers);
    world.output.document(found);
    co_return ExitCode::done;
  }
};

CommandSpec queue_change_spec(std::string name, std::string line, ChangeOfQueue change) {
  return {.path = {"queue", std::move(name)},
          .line = std::move(line),
          .end = kQueueHelp,
          .traits = {.creates_store = true},
          .make = [change] { return std::make_unique<QueueChangeCommand>(change); }};
}

}  // namespace

CommandSpec builtin::queue_command(const Program&) {
  return {.path = {"queue"},
          .line = "List, pause, limit and drain queues",
          .end = kQueueHelp,
          .make = make_command<QueueListCommand>};
}

CommandSpec builtin::queue_list_command(const Program&) {
  return {.path = {"queue", "list"},
          .line = "List the queues",
          .end = kQueueHelp,
          .make = make_command<QueueListCommand>};
}

CommandSpec builtin::queue_pause_command(const Program&) {
  return queue_change_spec("pause", "Pause a queue", ChangeOfQueue::pause);
}

CommandSpec builtin::queue_resume_command(const Program&) {
  return queue_change_spec("resume", "Resume a paused queue", ChangeOfQueue::resume);
}

CommandSpec builtin::queue_drain_command(const Program&) {
  return queue_change_spec("drain", "Pause a queue and wait until none of its runs is running",
                           ChangeOfQueue::drain);
}

CommandSpec builtin::queue_limit_command(const Program&) {
  return queue_change_spec("limit", "Set the concurrency limits of a queue", ChangeOfQueue::limit);
}

CommandSpec builtin::queue_retry_command(const Program&) {
  return {.path = {"queue", "retry"},
          .line = "Retry a failed or quarantined run in a new thread",
          .end = kQueueHelp,
          .make = make_command<QueueRetryCommand>};
}

CommandSpec builtin::queue_quarantined_command(const Program&) {
  return {.path = {"queue", "quarantined"},
          .line = "List quarantined runs and their reasons",
          .end = kQueueHelp,
          .former_names = {"quarantine"},
          .make = make_command<QueueQuarantinedCommand>};
}

CommandSpec builtin::workers_command(const Program&) {
  return {.path = {"workers"},
          .line = "List the processes that own runs",
          .end = kWorkersHelp,
          .make = make_command<WorkersCommand>};
}

}  // namespace belay::cli
