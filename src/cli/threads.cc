// belay threads: what there is, newest first.

#include "cli/documents.h"
#include "cli/show.h"
#include "cli/verbs.h"

namespace belay::cli {
namespace {

struct Listed {
  ThreadRow thread;
  std::optional<RunRow> run;
};

Task<Result<std::vector<Listed>>> find_threads(World& world, std::size_t limit) {
  std::function<Result<std::vector<Listed>>(Snapshot&)> reader =
      [tenant = tenant_of(world), limit](Snapshot& view) -> Result<std::vector<Listed>> {
    ThreadFilter filter;
    filter.tenant = tenant;
    filter.limit = limit;
    BELAY_TRY(std::vector<ThreadRow> threads, view.threads(filter));
    std::vector<Listed> listed;
    for (ThreadRow& thread : threads) {
      RunFilter runs;
      runs.tenant = tenant;
      runs.run = thread.last_run;
      BELAY_TRY(std::vector<RunRow> rows, view.runs(runs));
      Listed one{std::move(thread), std::nullopt};
      if (!rows.empty()) one.run = std::move(rows.front());
      listed.push_back(std::move(one));
    }
    return listed;
  };
  co_return co_await read<std::vector<Listed>>(world.store, std::move(reader));
}

std::string state_of(const Phrases& phrases, const Listed& listed) {
  if (!listed.run) return "";
  std::string state(word_for(phrases, listed.run->status));
  if (!listed.run->outcome.empty()) state += ": " + listed.run->outcome;
  if (!listed.run->reason.empty()) state += ": " + listed.run->reason;
  return state;
}

}  // namespace

Task<Answered> list_threads(World& world, Threads wanted) {
  BELAY_CO_TRY(std::vector<Listed> listed, co_await find_threads(world, wanted.limit));
  if (listed.empty()) {
    world.output.line("No threads yet. Begin one: " + command(world, world.program.first_run));
  }
  std::size_t id_width = 0;
  for (const Listed& one : listed) id_width = std::max(id_width, columns(one.thread.thread.text));
  id_width = std::min(id_width, std::size_t{40});
  Value::Array documents;
  for (const Listed& one : listed) {
    world.output.line(padded(one_line(one.thread.thread.text), id_width) + "  " +
                      padded(one.thread.graph, 17) + "  " + moment_text(one.thread.created_at) +
                      "  " + state_of(world.phrases, one));
    documents.push_back(thread_document(one.thread, one.run));
  }
  world.output.document(Value::object({{"threads", std::move(documents)}}));
  co_return ExitCode::done;
}

}  // namespace belay::cli
