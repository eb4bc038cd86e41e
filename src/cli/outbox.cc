// belay outbox: the messages that runs have published, and what became of them.

#include "cli/documents.h"
#include "cli/find_run.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

// More than any store has: which are shown is decided afterwards.
constexpr std::size_t kMessagesMax = 10'000'000;

std::string id_of(const OutboxRow& row) {
  return row.run.text() + "/" + std::to_string(row.seq) + "/" + std::to_string(row.index);
}

Task<Result<std::vector<OutboxRow>>> find_messages(World& world, OutboxList wanted) {
  std::optional<RunId> run;
  if (wanted.thread) {
    ThreadId thread(*wanted.thread);
    BELAY_CO_TRY(RunRow row, co_await run_of_thread(world, std::move(thread)));
    run = row.run;
  }
  std::function<Result<std::vector<OutboxRow>>(Snapshot&)> reader = [tenant = tenant_of(world),
                                                                     run](Snapshot& view) {
    OutboxFilter filter;
    filter.tenant = tenant;
    filter.run = run;
    filter.limit = kMessagesMax;
    return view.outbox(filter);
  };
  auto rows = co_await read<std::vector<OutboxRow>>(world.store, std::move(reader));
  if (!rows.ok()) co_return std::move(rows).error();
  if (!wanted.all) {
    std::erase_if(*rows,
                  [](const OutboxRow& row) { return row.status == OutboxStatus::delivered; });
  }
  co_return std::move(rows);
}

std::string line_of(const OutboxRow& row) {
  std::string line = id_of(row) + "  " + padded(one_line(row.topic), 12) + "  " +
                     padded(std::string(name_of(row.status)), 9) + "  " +
                     moment_text(row.created_at) + "  tried " + std::to_string(row.attempts);
  if (row.status == OutboxStatus::waiting) line += ", due " + moment_text(row.due_at);
  if (!row.error.empty()) line += "  " + one_line(row.error);
  return line;
}

Value document_of(const OutboxRow& row) {
  auto text = json_in_envelope(row.envelope);
  auto body = text.ok() ? parse_json(*text) : Result<Value>(Value());
  return Value::object({{"id", id_of(row)},
                        {"runId", row.run.text()},
                        {"topic", row.topic},
                        {"status", name_of(row.status)},
                        {"attempts", row.attempts},
                        {"error", row.error.empty() ? Value() : Value(row.error)},
                        {"dueAt", moment_text(row.due_at)},
                        {"createdAt", moment_text(row.created_at)},
                        {"body", body.ok() ? *std::move(body) : Value()}});
}

}  // namespace

Task<Answered> list_messages(World& world, OutboxList wanted) {
  std::size_t limit = wanted.limit;
  BELAY_CO_TRY(std::vector<OutboxRow> rows, co_await find_messages(world, std::move(wanted)));
  if (rows.empty()) world.output.line("No messages.");
  std::size_t more = rows.size() > limit ? rows.size() - limit : 0;
  rows.resize(rows.size() - more);
  Value::Array documents;
  for (const OutboxRow& row : rows) {
    world.output.line(line_of(row));
    documents.push_back(document_of(row));
  }
  if (more > 0) world.output.line(std::to_string(more) + " more; see --limit.");
  world.output.document(Value::object({{"messages", std::move(documents)}, {"more", more}}));
  co_return ExitCode::done;
}

Task<Answered> move_message(World& world, OutboxMove wanted) {
  std::string id = wanted.id;
  TenantId tenant = tenant_of(world);
  Result<Done> moved = Done{};
  if (wanted.give_up) {
    moved = co_await world.runtime.give_up_message(std::move(tenant), std::move(id));
  } else {
    moved = co_await world.runtime.retry_message(std::move(tenant), std::move(id));
  }
  if (!moved.ok()) co_return std::move(moved).error();
  world.output.line(wanted.id + (wanted.give_up ? " is given up." : " is due now."));
  world.output.document(
      Value::object({{"id", wanted.id}, {"status", wanted.give_up ? "given_up" : "waiting"}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
