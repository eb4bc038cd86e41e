#include "cli/named_run.h"

#include "cli/show.h"

namespace belay::cli {

Task<Result<std::optional<RunId>>> named_run(CommandContext& world, ThreadId thread,
                                             std::optional<std::string> name) {
  if (!name) co_return std::optional<RunId>();
  if (auto id = uuid_from(*name)) co_return std::optional(RunId(*id));
  std::optional<RunId> found;
  std::optional<RunId> before;
  for (bool is_last = false; !is_last;) {
    RunPage page;
    page.thread = thread;
    page.limit = limits::page_rows_max;
    page.before = before;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await world.service.runs(world.who, std::move(page)));
    for (const RunRow& row : rows) {
      if (!row.run.text().starts_with(*name)) continue;
      if (found) {
        co_return error(ErrorCode::invalid, "Several runs of thread \"" + thread.text +
                                                "\" begin with \"" + *name +
                                                "\". Use more characters.");
      }
      found = row.run;
    }
    is_last = rows.size() < limits::page_rows_max;
    if (!is_last) before = rows.back().run;
  }
  if (found) co_return found;
  co_return error(ErrorCode::not_found, "Thread \"" + thread.text + "\" has no run \"" + *name +
                                            "\". List its runs with `" +
                                            command(world, {"threads", "show", thread.text}) +
                                            "`.");
}

}  // namespace belay::cli
