// Runtime::fork() starts a run from a commit of another; preview() reports the consequences.

#include <algorithm>
#include <tuple>

#include "belay/detail/expiry_envelope.h"
#include "belay/limits.h"
#include "engine/advance.h"
#include "engine/run_factory.h"
#include "graph/call_record.h"
#include "load/all_rows.h"
#include "runtime/fork_origin.h"
#include "runtime/known_fork.h"
#include "runtime/run_starts.h"

namespace belay {
namespace {

Result<Done> read_since(Snapshot& view, const RunRow& row, const CheckpointRow& from,
                        ForkPreview& preview) {
  CheckpointFilter filter;
  filter.tenant = row.tenant;
  filter.run = row.run;
  filter.limit = limits::page_rows_max;
  for (bool more = true; more;) {
    BELAY_TRY(auto checkpoints, view.checkpoints(filter));
    more = checkpoints.size() == filter.limit && checkpoints.back().seq > from.seq;
    for (const CheckpointRow& checkpoint : checkpoints) {
      bool ends_nodes = checkpoint.kind == CommitKind::node;
      if (checkpoint.seq > from.seq && ends_nodes)
        preview.repeated_nodes.push_back(checkpoint.node);
    }
    if (!checkpoints.empty()) filter.before_seq = checkpoints.back().seq;
  }
  std::reverse(preview.repeated_nodes.begin(), preview.repeated_nodes.end());
  EffectFilter effects;
  effects.tenant = row.tenant;
  effects.run = row.run;
  BELAY_CHECK(for_each_effect(view, std::move(effects), [&](EffectRow effect) {
    bool is_since = effect.created_at >= from.created_at && !is_call_record(effect.name);
    if (is_since) preview.effects.push_back(std::move(effect));
  }));
  std::sort(
      preview.effects.begin(), preview.effects.end(), [](const EffectRow& a, const EffectRow& b) {
        return std::tie(a.created_at, a.task, a.name) < std::tie(b.created_at, b.task, b.name);
      });
  OutboxFilter messages;
  messages.tenant = row.tenant;
  messages.run = row.run;
  BELAY_CHECK(for_each_message(view, std::move(messages), [&](OutboxRow message) {
    // The message of an expiry has the seq of the request.
    bool is_since = detail::is_expiry_message(message) ? message.created_at > from.created_at
                                                       : message.seq > from.seq;
    if (is_since) preview.messages.push_back(std::move(message));
  }));
  ApprovalFilter approvals;
  approvals.tenant = row.tenant;
  approvals.run = row.run;
  BELAY_CHECK(for_each_approval(view, std::move(approvals), [&](ApprovalRow approval) {
    if (approval.seq > from.seq) preview.approvals.push_back(std::move(approval));
  }));
  std::reverse(preview.approvals.begin(), preview.approvals.end());
  return Done{};
}

}  // namespace

Task<Result<LoadedRun>> RunStarts::find_origin(ForkOptions options) {
  const Value::Object* edits = options.edits.as_object();
  if (!edits && !options.edits.is_null()) {
    co_return error(ErrorCode::invalid, "Invalid edits of a fork: expected an object of channels.");
  }
  if (edits && edits->empty()) options.edits = Value();
  std::function<Result<LoadedRun>(Snapshot&)> reader =
      [options = std::move(options),
       graphs = loader_.graphs()](Snapshot& view) -> Result<LoadedRun> {
    LoadedRun found;
    BELAY_TRY(ForkOrigin origin, fork_origin(view, *graphs, options));
    BELAY_TRY(found.stored, stored_run(view, *graphs, std::move(origin.row), origin.seq));
    return found;
  };
  co_return co_await read<LoadedRun>(parts_.store, std::move(reader));
}

Task<Result<RunView>> RunStarts::fork(ForkOptions options) {
  if (options.copy && (options.seq || !options.edits.is_null())) {
    co_return error(
        ErrorCode::invalid,
        "A copy contains the current state of a thread. Omit the commit and the edits.");
  }
  bool is_named = !options.thread.empty();
  if (!is_named) options.thread = ThreadId(random_uuid(parts_.random).text());
  BELAY_CO_CHECK(check_name("thread id", options.thread.text));
  if (!options.user.empty()) BELAY_CO_CHECK(check_name("user id", options.user.text));
  if (!is_named) co_return co_await begin_fork(std::move(options));
  auto known = co_await known_fork(options);
  if (!known.ok()) co_return std::move(known).error();
  if (*known) co_return **std::move(known);
  auto view = co_await begin_fork(options);
  if (view.ok() || view.error().code != ErrorCode::conflict) co_return std::move(view);
  // Race: the same fork was committed between the read and this commit.
  known = co_await known_fork(std::move(options));
  if (!known.ok()) co_return std::move(known).error();
  if (*known) co_return **std::move(known);
  co_return std::move(view);
}

Task<Result<RunView>> RunStarts::begin_fork(ForkOptions options) {
  auto origin = co_await find_origin(options);
  if (!origin.ok()) co_return std::move(origin).error();
  BELAY_CO_TRY(Definition graph, loader_.graph_to_continue(origin->stored));
  RunRow row;
  row.tenant = options.tenant;
  row.run = RunId(random_uuid(parts_.random));
  row.thread = options.thread;
  row.user = options.user.empty() ? origin->stored.row.user : options.user;
  row.session = executor_.session();
  row.queue = origin->stored.row.queue;
  row.priority = origin->stored.row.priority;
  row.concurrency_key = origin->stored.row.concurrency_key;
  row.forked_from = origin->stored.row.run;
  row.forked_at = origin->stored.checkpoint.seq;
  BELAY_CO_TRY(engine::Run run,
               engine::fork_run(*graph, origin->stored, std::move(row), options.edits,
                                options.copy ? engine::Ended::kept : engine::Ended::refused));
  std::string request = fork_request(options);
  if (options.queued) {
    co_return co_await put_fork_into_queue(std::move(graph), std::move(run), std::move(request));
  }
  BELAY_CO_CHECK(executor_.check_not_draining());
  BELAY_CO_TRY(RunAdmission::Permit place, executor_.admission().enter(run.row));
  auto places = co_await limits_.guards_of(run.row, true);
  if (!places.ok()) co_return std::move(places).error();
  engine::Event first = engine::Forked{executor_.moment(), false, std::move(request)};
  co_return co_await executor_.drive(std::move(graph), std::move(run), std::move(first),
                                     *std::move(places));
}

Task<Result<RunView>> RunStarts::put_fork_into_queue(Definition graph, engine::Run run,
                                                     std::string request) {
  TenantId tenant = run.row.tenant;
  RunId id = run.row.run;
  auto has_room = co_await limits_.check_queue(tenant);
  if (!has_room.ok()) co_return std::move(has_room).error();
  engine::Event first = engine::Forked{executor_.moment(), true, std::move(request)};
  auto next = engine::advance(*graph, std::move(run), std::move(first));
  Commit commit = std::move(*std::get<engine::WriteCommit>(next.actions.front()).commit);
  auto outcome = co_await limits_.put_into_queue(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  if (*outcome != CommitOutcome::applied) {
    co_return error(ErrorCode::conflict, "The thread already exists. Choose another name.");
  }
  co_return co_await loader_.view(std::move(tenant), id);
}

Task<Result<ForkPreview>> RunStarts::preview(ForkOptions options) {
  auto origin = co_await find_origin(options);
  if (!origin.ok()) co_return std::move(origin).error();
  BELAY_CO_TRY(Definition graph, loader_.graph_to_continue(origin->stored));
  RunRow row = origin->stored.row;
  row.run = RunId(random_uuid(parts_.random));
  BELAY_CO_TRY(engine::Run run, engine::fork_run(*graph, origin->stored, row, options.edits,
                                                 engine::Ended::refused));
  std::vector<std::string> begins_with;
  for (const engine::NodeTask& task : run.tasks) {
    if (task.phase != engine::NodeTask::Phase::done) begins_with.push_back(task.node->name);
  }
  std::function<Result<ForkPreview>(Snapshot&)> reader =
      [from = origin->stored.checkpoint,
       row = origin->stored.row](Snapshot& view) -> Result<ForkPreview> {
    ForkPreview preview;
    BELAY_CHECK(read_since(view, row, from, preview));
    return preview;
  };
  auto found = co_await read<ForkPreview>(parts_.store, std::move(reader));
  if (!found.ok()) co_return std::move(found).error();
  found->thread = origin->stored.row.thread;
  found->seq = origin->stored.checkpoint.seq;
  found->first_nodes = std::move(begins_with);
  co_return std::move(found);
}

}  // namespace belay
