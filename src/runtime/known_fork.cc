#include "runtime/known_fork.h"

#include "runtime/run_starts.h"
#include "runtime/thread_place.h"

namespace belay {
namespace {

// Returns the request digest in the fork's first commit; empty if it contains none.
Result<std::string> request_of(Snapshot& view, const TenantId& tenant, const RunId& run) {
  EventFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.limit = 1;
  BELAY_TRY(auto rows, view.events(filter));
  if (rows.empty() || rows.front().seq != 1) return std::string();
  BELAY_TRY(Value body, parse_json(rows.front().body));
  const std::string* request = body["request"].as_string();
  return request ? *request : std::string();
}

}  // namespace

std::string fork_request(const ForkOptions& options) {
  Value asked = Value::object({{"from", options.from.text},
                               {"seq", options.seq ? Value(*options.seq) : Value()},
                               {"edits", options.edits},
                               {"copy", options.copy}});
  if (options.run) asked.as_object()->emplace("run", options.run->text());
  return to_hex(sha256(to_json(asked)));
}

Task<Result<std::optional<RunView>>> RunStarts::known_fork(ForkOptions options) {
  TenantId tenant = options.tenant;
  // The fork is the first run of its thread, whatever runs have continued it.
  std::function<Result<RunRow>(Snapshot&)> find_first =
      [tenant, thread = options.thread](Snapshot& view) { return first_run(view, tenant, thread); };
  auto first = co_await read<RunRow>(parts_.store, std::move(find_first));
  if (!first.ok() && first.error().code == ErrorCode::not_found) {
    co_return std::optional<RunView>();
  }
  if (!first.ok()) co_return std::move(first).error();
  auto found = co_await loader_.load_run(tenant, first->run);
  bool is_new = !found.ok() && found.error().code == ErrorCode::not_found;
  if (is_new) co_return std::optional<RunView>();
  if (!found.ok()) co_return std::move(found).error();
  std::function<Result<std::string>(Snapshot&)> reader =
      [tenant, run = found->stored.row.run](Snapshot& view) {
        return request_of(view, tenant, run);
      };
  auto request = co_await read<std::string>(parts_.store, std::move(reader));
  if (!request.ok()) co_return std::move(request).error();
  if (*request != fork_request(options)) {
    co_return error(ErrorCode::invalid, "Thread \"" + options.thread.text +
                                            "\" already exists and is not this fork of \"" +
                                            options.from.text + "\". Choose another thread name.");
  }
  if (options.queued) {
    BELAY_CO_TRY(RunView there, loader_.view_of(*std::move(found)));
    co_return std::optional(std::move(there));
  }
  auto view = co_await executor_.continue_or_view(*std::move(found));
  if (!view.ok()) co_return std::move(view).error();
  co_return std::optional(*std::move(view));
}

}  // namespace belay
