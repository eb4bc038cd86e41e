// `belay queue stats`: the open runs of each queue, and those that ended in the last hour.

#include <map>

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/show.h"

namespace belay::cli {
namespace {

constexpr const char* kQueueStatsHelp =
    R"(Counts the open runs of each queue, the age of its oldest due run, and the runs that ended in
the last hour, of the newest 1,000 runs that have ended.

Examples:
  {p} queue stats
  {p} queue stats mails --json
)";

constexpr std::chrono::hours kStatsPeriod{1};

struct EndedRuns {
  std::int64_t completed = 0, failed = 0, cancelled = 0;
};
using EndedByQueue = std::map<std::string, EndedRuns>;

Value ended_document(const EndedRuns& ended) {
  return Value::object(
      {{"completed", ended.completed}, {"failed", ended.failed}, {"cancelled", ended.cancelled}});
}

std::int64_t count_in(const Value& queue, const char* name) {
  return queue[name].as_int().value_or(0);
}

std::string stats_line(const Value& queue, const EndedRuns& ended, Instant now) {
  const std::string* name = queue["name"].as_string();
  std::string line = padded(name ? one_line(*name) : std::string(), 16);
  for (const char* count : {"queued", "due", "running", "waiting"}) {
    line += "  " + std::to_string(count_in(queue, count)) + " " + count;
  }
  const std::string* oldest = queue["oldestDueAt"].as_string();
  auto due = oldest ? instant_from(*oldest) : std::nullopt;
  if (due && *due < now) {
    auto age = std::chrono::duration_cast<std::chrono::seconds>(now - *due);
    line += ", the oldest for " + std::to_string(age.count()) + " s";
  }
  line += "  in the last hour: " + std::to_string(ended.completed) + " completed, " +
          std::to_string(ended.failed) + " failed, " + std::to_string(ended.cancelled) +
          " cancelled";
  if (queue["paused"] == Value(true)) line += "  paused";
  return line;
}

class QueueStatsCommand final : public Command {
 public:
  void declare(CommandWords& words) override { words.argument("QUEUE", name_, "Only this queue"); }
  Result<Done> validate(const CommandValidation&) override {
    if (!name_) return Done{};
    return check_name("queue's name", *name_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    BELAY_CO_TRY(Value found, co_await world.service.queues(world.who, std::nullopt));
    BELAY_CO_TRY(EndedByQueue ended, co_await ended_runs(world));
    std::map<std::string, Value> queues;
    for (const auto& [name, counts] : ended) {
      queues.emplace(name, Value::object({{"name", name},
                                          {"paused", false},
                                          {"queued", 0},
                                          {"running", 0},
                                          {"waiting", 0},
                                          {"due", 0},
                                          {"oldestDueAt", Value()}}));
    }
    const Value::Array* known = found["queues"].as_array();
    for (std::size_t i = 0; known && i < known->size(); ++i) {
      const std::string* name = (*known)[i]["name"].as_string();
      if (name) queues.insert_or_assign(*name, (*known)[i]);
    }
    Value::Array documents;
    for (auto& [name, queue] : queues) {
      if (name_ && *name_ != name) continue;
      const EndedRuns counts = ended[name];
      world.output.line(stats_line(queue, counts, world.clock.now()));
      queue.as_object()->insert_or_assign("endedLastHour", ended_document(counts));
      documents.push_back(std::move(queue));
    }
    if (documents.empty()) world.output.line("No queues.");
    world.output.document(Value::object({{"queues", std::move(documents)}}));
    co_return ExitCode::done;
  }

 private:
  static Task<Result<EndedByQueue>> ended_runs(CommandContext& world) {
    RunPage page;
    page.statuses = {RunStatus::completed, RunStatus::failed, RunStatus::cancelled};
    page.limit = limits::list_rows_max;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await world.service.runs(world.who, std::move(page)));
    Instant since = world.clock.now() - kStatsPeriod;
    EndedByQueue ended;
    for (const RunRow& row : rows) {
      if (row.updated_at < since) continue;
      EndedRuns& counts = ended[row.queue];
      if (row.status == RunStatus::completed) ++counts.completed;
      if (row.status == RunStatus::failed) ++counts.failed;
      if (row.status == RunStatus::cancelled) ++counts.cancelled;
    }
    co_return std::move(ended);
  }

  std::optional<std::string> name_;
};

}  // namespace

CommandSpec builtin::queue_stats_command(const Program&) {
  return {.path = {"queue", "stats"},
          .line = "Count the open runs of the queues, and those that ended in the last hour",
          .end = kQueueStatsHelp,
          .make = make_command<QueueStatsCommand>};
}

}  // namespace belay::cli
