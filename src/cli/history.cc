// `belay history`: lists the commits of the runs of a thread, newest first.

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/documents.h"
#include "cli/list_text.h"
#include "cli/named_run.h"
#include "cli/shared_options.h"
#include "cli/show.h"
#include "cli/table.h"
#include "graph/bill_of_materials.h"

namespace belay::cli {
namespace {

constexpr const char* kHistoryHelp =
    R"(Lists the commits of all runs of the thread, newest first. TOOK is the time since the run's
previous commit: the work of the node, or the wait before a decision. Below the table, the commits
from which on a run was executed with another agent, model, policy, prompts or tools.

Examples:
  {p} history first
  {p} history first --run 1f0c64
  {p} history first --json | jq '.checkpoints[].node'
)";

// "Run 1f0c64...: completed: answered, 2026-11-21 12:00"
std::string headline_of(const CommandContext& world, const RunRow& run) {
  return format_message(list_text_of(world.settings.language).run,
                        {{"run", run.run.text()},
                         {"state", run_state_text(world.settings.language, run)},
                         {"time", moment_text(world.settings.time_zone, run.created_at)}});
}

// The time since the previous commit of the run; empty for its first one, and at the end of a page.
std::string time_since_previous(const std::vector<CheckpointRow>& rows, std::size_t index) {
  if (index + 1 >= rows.size()) return "";
  auto taken = rows[index].created_at - rows[index + 1].created_at;
  return span_text(std::chrono::duration_cast<std::chrono::milliseconds>(taken));
}

// "Commit 7: other materials than before: prompts, tools", oldest first.
std::vector<std::string> changed_materials_text(Language language, const RunHistory& history) {
  std::vector<std::string> lines;
  for (std::size_t i = history.materials.size(); i-- > 1;) {
    std::string listed;
    const Value &now = history.materials[i - 1], &before = history.materials[i];
    for (const std::string& group : changed_groups(bill_from(before), bill_from(now))) {
      std::string label(material_label(language, group));
      listed += (listed.empty() ? "" : ", ") + one_line(label);
    }
    if (listed.empty()) continue;
    std::string seq = std::to_string(history.checkpoints[i - 1].seq);
    lines.push_back(format_message(list_text_of(language).other_materials,
                                   {{"n", std::move(seq)}, {"groups", std::move(listed)}}));
  }
  return lines;
}

void show_commits(const CommandContext& world, const RunHistory& history) {
  if (std::string due = due_text(world, history.run); !due.empty()) world.output.line(due);
  Table table(list_text_of(world.settings.language).commit_headers, {0});
  for (std::size_t i = 0; i < history.checkpoints.size(); ++i) {
    const CheckpointRow& row = history.checkpoints[i];
    table.add({std::to_string(row.seq), precise_text(world.settings.time_zone, row.created_at),
               std::string(commit_label(world.settings.language, row.kind)), row.node,
               std::string(status_label(world.phrases, row.status)),
               time_since_previous(history.checkpoints, i)});
  }
  table.show(world.output);
  for (const std::string& line : changed_materials_text(world.settings.language, history)) {
    world.output.line(line);
  }
}

class HistoryCommand final : public Command {
 public:
  void declare(CommandWords& words) override {
    declare_thread(words, thread_);
    words.option("--run", run_, "Only commits of this run: its id, or the first characters of it");
    declare_limit(words, limit_);
  }
  Result<Done> validate(const CommandValidation&) override {
    return check_thread_and_run(thread_, run_);
  }

  Task<CommandResult> run(CommandContext& world) override {
    HistoryPage page;
    page.thread = ThreadId(thread_);
    page.limit = limit_;
    BELAY_CO_TRY(page.run, co_await named_run(world, page.thread, run_));
    bool is_of_one_run = page.run.has_value();
    BELAY_CO_TRY(std::vector<RunHistory> history,
                 co_await world.service.history(world.who, std::move(page)));
    // A thread with a single run needs no headlines.
    bool has_headlines = !is_of_one_run && (history.size() > 1 || history.front().run.ordinal > 0);
    for (const RunHistory& each : history) {
      if (has_headlines) world.output.line(headline_of(world, each.run));
      show_commits(world, each);
    }
    world.output.document(history_document(history, limit_));
    co_return ExitCode::done;
  }

 private:
  std::string thread_;
  std::optional<std::string> run_;
  std::size_t limit_ = 100;
};

}  // namespace

CommandSpec builtin::history_command(const Program&) {
  return {.path = {"history"},
          .line = "List the commits of a thread's runs",
          .end = kHistoryHelp,
          .make = make_command<HistoryCommand>};
}

}  // namespace belay::cli
