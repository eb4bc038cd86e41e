// belay without a verb: what is running, what waits for you, and what to do next.

#include "belay/limits.h"
#include "cli/documents.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

struct Standing {
  std::vector<RunRow> working;
  std::vector<ApprovalRow> open;
};

Task<Result<Standing>> find_standing(World& world) {
  std::function<Result<Standing>(Snapshot&)> reader =
      [tenant = tenant_of(world)](Snapshot& view) -> Result<Standing> {
    Standing standing;
    RunFilter runs;
    runs.tenant = tenant;
    runs.statuses = {RunStatus::queued, RunStatus::running};
    BELAY_TRY(standing.working, view.runs(runs));
    ApprovalFilter approvals;
    approvals.tenant = tenant;
    approvals.only_open = true;
    BELAY_TRY(standing.open, view.approvals(approvals));
    return standing;
  };
  co_return co_await read<Standing>(world.store, std::move(reader));
}

void show_runs(World& world, std::string_view title, const std::vector<RunRow>& rows) {
  if (rows.empty()) return;
  world.output.line(world.output.styled(Style::bold, title) + " (" + std::to_string(rows.size()) +
                    "):");
  for (const RunRow& row : rows) {
    world.output.line("  " + one_line(row.thread.text) + "  " + row.graph + "  " + row.node);
  }
}

void show_hints(World& world, const Standing& standing, bool left_behind) {
  std::vector<std::string> hints;
  if (left_behind) hints.push_back(command(world, {"resume", "--all"}));
  if (!standing.open.empty()) {
    hints.push_back(command(world, {"approvals", "show", standing.open.front().interrupt.text()}));
  }
  for (const auto& words : world.program.other_hints) hints.push_back(command(world, words));
  hints.push_back(command(world, world.program.first_run));
  hints.push_back(world.program.call + " --help");
  world.output.line(world.output.styled(Style::bold, world.phrases.try_next) + ":");
  for (std::size_t i = 0; i < hints.size() && i < 3; ++i) world.output.line("  " + hints[i]);
}

Value runs_document(const std::vector<RunRow>& rows) {
  Value::Array documents;
  for (const RunRow& row : rows) {
    documents.push_back(Value::object({{"threadId", row.thread.text},
                                       {"runId", row.run.text()},
                                       {"agent", row.graph},
                                       {"status", name_of(row.status)},
                                       {"currentNode", row.node}}));
  }
  return documents;
}

}  // namespace

Task<Answered> show_overview(World& world) {
  BELAY_CO_TRY(Standing standing, co_await find_standing(world));
  std::vector<RunRow> at_work, left_behind;
  for (RunRow& row : standing.working) {
    BELAY_CO_TRY(bool alive, world.store.is_alive(row.session));
    (alive ? at_work : left_behind).push_back(std::move(row));
  }
  if (at_work.empty() && left_behind.empty() && standing.open.empty()) {
    world.output.line(world.phrases.nothing_yet);
  }
  show_runs(world, world.phrases.at_work, at_work);
  show_runs(world, world.phrases.left_behind, left_behind);
  Value::Array approvals;
  for (const ApprovalRow& row : standing.open) {
    show_approval_line(world, row);
    approvals.push_back(approval_document(world.program, row));
  }
  show_hints(world, standing, !left_behind.empty());
  world.output.document(Value::object({{"running", runs_document(at_work)},
                                       {"leftBehind", runs_document(left_behind)},
                                       {"approvals", std::move(approvals)}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
