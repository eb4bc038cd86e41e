// `belay queue` and `belay workers`: list queues and workers, and change queues.

#include "cli/commands.h"
#include "cli/documents.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr std::chrono::milliseconds kLookAgain{500};

std::string number_in(const Value& document, const char* name) {
  return std::to_string(document[name].as_int().value_or(0));
}

std::string text_in(const Value& document, const char* name) {
  const std::string* text = document[name].as_string();
  return text ? *text : std::string();
}

std::string moment_in(const CommandContext& world, const Value& document, const char* name) {
  auto at = instant_from(text_in(document, name));
  return at ? moment_text(world.settings.time_zone, *at) : "-";
}

std::string line_of_queue(const CommandContext& world, const Value& queue) {
  std::string line = padded(one_line(text_in(queue, "name")), 16);
  for (const char* count : {"queued", "due", "running", "waiting", "quarantined"}) {
    line += "  " + number_in(queue, count) + " " + count;
  }
  if (!queue["oldestDueAt"].is_null())
    line += "  due since " + moment_in(world, queue, "oldestDueAt");
  if (queue["runsMax"].as_int().value_or(0) > 0) line += "  at most " + number_in(queue, "runsMax");
  if (queue["perKeyMax"].as_int().value_or(0) > 0) {
    line += "  at most " + number_in(queue, "perKeyMax") + " a key";
  }
  if (queue["paused"] == Value(true)) line += "  paused";
  const Value::Array* held_by = queue["heldBy"].as_array();
  for (std::size_t i = 0; held_by && i < held_by->size(); ++i) {
    const Value& hold = (*held_by)[i];
    line += (i == 0 ? "  held by: " : ", ") + one_line(text_in(hold, "reason")) + " (" +
            number_in(hold, "runs") + ")";
  }
  return line;
}

std::string line_of_worker(const CommandContext& world, const Value& worker) {
  std::string line = text_in(worker, "session");
  line += worker["alive"] == Value(true) ? "  alive" : "  dead ";
  if (!worker["name"].is_null()) line += "  " + one_line(text_in(worker, "name"));
  if (!worker["processId"].is_null()) line += "  process " + number_in(worker, "processId");
  line += "  since " + moment_in(world, worker, "startedAt") + "  " + number_in(worker, "runs") +
          " runs";
  if (!worker["oldestAt"].is_null())
    line += ", the oldest of " + moment_in(world, worker, "oldestAt");
  if (!worker["seenAt"].is_null()) line += "  seen " + moment_in(world, worker, "seenAt");
  return line;
}

Task<CommandResult> list_queues(CommandContext& world) {
  BELAY_CO_TRY(Value found, co_await world.service.queues(std::nullopt));
  const Value::Array* queues = found["queues"].as_array();
  if (!queues || queues->empty()) world.output.line("No queues.");
  for (std::size_t i = 0; queues && i < queues->size(); ++i) {
    world.output.line(line_of_queue(world, (*queues)[i]));
  }
  world.output.document(found);
  co_return ExitCode::done;
}

// A limit of a queue; 0 selects the default of all queues.
std::string limit_text(const Value& queue, const char* name) {
  std::string limit = number_in(queue, name);
  return limit == "0" ? "default" : "max " + limit;
}

Task<Result<bool>> is_at_work(CommandContext& world, std::string name) {
  BELAY_CO_TRY(Value found, co_await world.service.queues(std::nullopt));
  const Value::Array* queues = found["queues"].as_array();
  for (std::size_t i = 0; queues && i < queues->size(); ++i) {
    const Value& queue = (*queues)[i];
    if (text_in(queue, "name") == name) co_return queue["running"].as_int().value_or(0) > 0;
  }
  co_return false;
}

Task<CommandResult> change_queue(CommandContext& world, Queue wanted) {
  QueueChange change;
  change.name = wanted.name;
  if (wanted.what == Queue::What::limit) {
    change.runs_max = wanted.runs_max;
    change.per_key_max = wanted.per_key_max;
  } else {
    change.paused = wanted.what != Queue::What::resume;
  }
  BELAY_CO_TRY(Value changed, co_await world.service.change_queue(std::move(change)));
  bool is_drain = wanted.what == Queue::What::drain;
  bool is_busy = is_drain;
  while (is_busy) {
    BELAY_CO_TRY(is_busy, co_await is_at_work(world, wanted.name));
    if (is_busy) co_await sleep_for(kLookAgain);
  }
  std::string line = "Queue \"" + one_line(wanted.name) + "\"";
  if (wanted.what == Queue::What::limit) {
    line += ": " + limit_text(changed, "runsMax") + " runs, " + limit_text(changed, "perKeyMax") +
            " per key.";
  } else if (is_drain) {
    line += " drained.";
  } else {
    line += changed["paused"] == Value(true) ? " paused." : " resumed.";
  }
  world.output.line(line);
  world.output.document(changed);
  co_return ExitCode::done;
}

// Retries a failed or quarantined run in a new thread, from its last commit. A quarantined run is
// then cancelled.
Task<CommandResult> retry_run(CommandContext& world, Queue wanted) {
  ThreadId thread(wanted.name);
  ThreadId named = thread;
  BELAY_CO_TRY(RunRow old, co_await world.service.run_of(std::move(named), std::nullopt));
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
  options.thread = ThreadId(wanted.new_thread.value_or(random_uuid(world.random).text()));
  BELAY_CO_TRY(RunView view, co_await world.service.fork(std::move(options)));
  if (old.status == RunStatus::quarantined) {
    std::string by = acting_name(world, std::nullopt);
    auto cancelled = co_await world.service.cancel(std::move(thread), std::move(by), "", old.run);
    if (!cancelled.ok()) co_return std::move(cancelled).error();
  }
  world.output.line("Queued thread \"" + one_line(view.row.thread.text) + "\" in queue \"" +
                    one_line(view.row.queue) + "\".");
  world.output.document(run_document(world.program, view));
  co_return ExitCode::done;
}

Task<CommandResult> list_quarantined(CommandContext& world) {
  Value::Array documents;
  std::optional<RunId> before;
  for (bool is_last = false; !is_last;) {
    RunPage page;
    page.statuses = {RunStatus::quarantined};
    page.limit = limits::page_rows_max;
    page.before = before;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await world.service.runs(std::move(page)));
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

}  // namespace

Task<CommandResult> see_to_queue(CommandContext& world, Queue wanted) {
  if (wanted.what == Queue::What::list) return list_queues(world);
  if (wanted.what == Queue::What::retry) return retry_run(world, std::move(wanted));
  if (wanted.what == Queue::What::quarantined) return list_quarantined(world);
  return change_queue(world, std::move(wanted));
}

Task<CommandResult> list_workers(CommandContext& world) {
  BELAY_CO_TRY(Value found, co_await world.service.workers());
  const Value::Array* workers = found["workers"].as_array();
  for (std::size_t i = 0; workers && i < workers->size(); ++i) {
    world.output.line(line_of_worker(world, (*workers)[i]));
  }
  world.output.document(found);
  co_return ExitCode::done;
}

}  // namespace belay::cli
