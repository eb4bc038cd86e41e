// Routes of runs that exist: list, document, cancellation and deletion.

#include <algorithm>

#include "langgraph/errors.h"
#include "langgraph/records.h"
#include "langgraph/run_changes.h"
#include "langgraph/run_endings.h"
#include "langgraph/search.h"

namespace belay::langgraph {
namespace {

using server::Call;
using server::Reply;
using server::Route;

Task<Result<ProtocolRun>> run_in_path(const Call& call) {
  ThreadId thread(call.path.at("threadId"));
  std::string id = call.path.at("runId");
  co_return co_await find_run(call, std::move(thread), std::move(id));
}

// Reads limit, offset and select of the query.
Result<SearchPage> run_page_in(const Call& call) {
  BELAY_TRY(auto parameters, http::query_parameters(call.request.query));
  Value::Object members;
  Value::Array select;
  for (auto& [name, text] : parameters) {
    if (name == "select") {
      select.emplace_back(std::move(text));
    } else if (name == "limit" || name == "offset") {
      auto number = server::number_from(text);
      members[name] = number ? Value(*number) : Value(std::move(text));
    }
  }
  if (!select.empty()) members["select"] = Value(std::move(select));
  Value body(std::move(members));
  return search_page_in(body, {});
}

Task<Result<Reply>> list_thread_runs(AgentServer& served, Call call) {
  BELAY_CO_TRY(SearchPage page, run_page_in(call));
  auto status = call.query.find("status");
  bool has_status = status != call.query.end() && !status->second.empty();
  if (has_status && !is_run_status(status->second)) {
    co_return error(ErrorCode::invalid,
                    "\"status\" must be pending, running, error, success, timeout or interrupted.");
  }
  ThreadId thread(call.path.at("threadId"));
  BELAY_CO_TRY(ThreadView view, co_await find_thread(served.world, call, std::move(thread)));
  BELAY_CO_TRY(std::vector<ProtocolRun> runs, co_await runs_of_thread(call, view));
  if (has_status) {
    std::erase_if(runs,
                  [&status](const ProtocolRun& each) { return status_of(each) != status->second; });
  }
  PageSlice slice = slice_of(page, runs.size());
  Value::Array documents;
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    documents.push_back(selected(page, run_document(runs[i])));
  }
  co_return page_reply(page, runs.size(), std::move(documents));
}

Task<Result<Reply>> show_thread_run(AgentServer& served, Call call) {
  BELAY_CO_TRY(ProtocolRun run, co_await run_in_path(call));
  Value document = run_document(run);
  std::string id = run.record.id;
  BELAY_CO_TRY(auto ending, co_await served.endings->find(std::move(id)));
  Value webhook = webhook_document(ending);
  if (!webhook.is_null()) document.as_object()->insert_or_assign("webhook", std::move(webhook));
  co_return server::reply_with(std::move(document));
}

// True for rollback; false for interrupt, the default.
Result<bool> rolls_back(const Call& call) {
  auto action = call.query.find("action");
  bool is_default = action == call.query.end() || action->second == "interrupt";
  if (is_default || action->second == "rollback") return !is_default;
  return error(ErrorCode::invalid, "\"action\" must be interrupt or rollback.");
}

Task<Result<Reply>> cancel_thread_run(AgentServer& served, Call call) {
  BELAY_CO_TRY(bool is_rollback, rolls_back(call));
  BELAY_CO_TRY(ProtocolRun run, co_await run_in_path(call));
  BELAY_CO_CHECK(co_await cancel_run(served, call, std::move(run), is_rollback));
  auto wait = call.query.find("wait");
  bool waits = wait != call.query.end() && (wait->second == "1" || wait->second == "true");
  // The cancellation is durable in either case.
  Reply reply;
  reply.status = waits ? 204 : 202;
  co_return std::move(reply);
}

struct CancelSelection {
  std::optional<std::string> thread;
  std::vector<std::string> runs;
  std::vector<RunStatus> statuses;  // empty: the named runs
};

Result<CancelSelection> selection_in(const Value& body) {
  CancelSelection selection;
  BELAY_TRY(selection.thread, text_member(body, "thread_id"));
  BELAY_TRY(auto runs, texts_member(body, "run_ids"));
  BELAY_TRY(auto status, text_member(body, "status"));
  bool has_thread = selection.thread && runs && !runs->empty();
  if (has_thread && !status) {
    selection.runs = *std::move(runs);
    if (selection.runs.size() <= limits::list_rows_max) return selection;
    return error(ErrorCode::invalid, "\"run_ids\" names too many runs.");
  }
  bool is_named = selection.thread || runs;
  if (status && !is_named) {
    if (*status != "running") selection.statuses.push_back(RunStatus::queued);
    // A run that waits for a timer is paused.
    if (*status != "pending") {
      selection.statuses.insert(selection.statuses.end(), {RunStatus::running, RunStatus::paused});
    }
    if (*status == "pending" || *status == "running" || *status == "all") return selection;
    return error(ErrorCode::invalid, "\"status\" must be pending, running or all.");
  }
  return error(ErrorCode::invalid,
               "Name either \"thread_id\" and \"run_ids\", or a \"status\" of the runs.");
}

// The named runs; `not_found` if one does not exist.
Task<Result<std::vector<ProtocolRun>>> named_runs(const Call& call, CancelSelection selection) {
  std::vector<ProtocolRun> runs;
  for (std::string& id : selection.runs) {
    ThreadId thread(*selection.thread);
    BELAY_CO_TRY(ProtocolRun run, co_await find_run(call, std::move(thread), std::move(id)));
    runs.push_back(std::move(run));
  }
  co_return std::move(runs);
}

// The caller's runs in the statuses, newest first; at most kSearchedMax.
Task<Result<std::vector<ProtocolRun>>> runs_in(const Call& call, std::vector<RunStatus> statuses) {
  std::vector<ProtocolRun> runs;
  RunPage page;
  page.statuses = std::move(statuses);
  page.user = call.who.user;
  page.limit = limits::list_rows_max;
  bool has_more = true;
  while (has_more && runs.size() < kSearchedMax) {
    RunPage wanted = page;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await call.service.runs(call.who, std::move(wanted)));
    has_more = rows.size() == page.limit;
    if (has_more) page.before = rows.back().run;
    for (RunRow& row : rows) {
      // The others wait for a person: their runs of the protocol have ended.
      bool is_shown = thread_status(row) == ThreadStatus::busy;
      if (!is_shown) continue;
      std::string id = row.run.text();
      BELAY_CO_TRY(ProtocolRun run,
                   co_await run_with_record(call.service, call.who, std::move(row), std::move(id)));
      run.is_superseded = false;  // the status selects the newest one of the run of the service
      runs.push_back(std::move(run));
    }
  }
  co_return std::move(runs);
}

// Keeps the first failure of several runs. One that is gone, as a stateless run after its end,
// needs no change.
void keep_failure(Result<Done>& first, Result<Done> result) {
  bool is_failure = !result.ok() && result.error().code != ErrorCode::not_found;
  if (is_failure && first.ok()) first = std::move(result);
}

// Cancels the runs, and deletes them if `is_rollback`. The failure of one does not keep the others:
// all are cancelled before the first is deleted. Returns the first failure.
Task<Result<Done>> cancel_each(AgentServer& served, const Call& call, std::vector<ProtocolRun> runs,
                               bool is_rollback) {
  Result<Done> outcome = Done{};
  for (const ProtocolRun& each : runs) {
    ProtocolRun run = each;
    keep_failure(outcome, co_await cancel_run(served, call, std::move(run), false));
  }
  if (!is_rollback) co_return std::move(outcome);
  for (ProtocolRun& each : runs) {
    keep_failure(outcome, co_await delete_run(served, call, std::move(each)));
  }
  co_return std::move(outcome);
}

Task<Result<Reply>> cancel_runs(AgentServer& served, Call call) {
  BELAY_CO_TRY(bool is_rollback, rolls_back(call));
  BELAY_CO_TRY(CancelSelection selection, selection_in(call.body));
  std::vector<ProtocolRun> runs;
  if (selection.statuses.empty()) {
    BELAY_CO_TRY(runs, co_await named_runs(call, std::move(selection)));
    // All of them are runs of one thread.
    if (is_rollback) BELAY_CO_CHECK(co_await check_only_run(call, runs.front()));
  } else {
    BELAY_CO_TRY(runs, co_await runs_in(call, std::move(selection.statuses)));
  }
  BELAY_CO_CHECK(co_await cancel_each(served, call, std::move(runs), is_rollback));
  Reply reply;
  reply.status = 204;
  co_return std::move(reply);
}

// Deletes the records that a crash has left after the deletion of the thread's only run.
Task<Result<Done>> forget_deleted_run(AgentServer& served, const Call& call) {
  ThreadId thread(call.path.at("threadId"));
  ThreadId named = thread;
  auto view = co_await find_thread(served.world, call, std::move(thread));
  bool is_absent = !view.ok() && view.error().code == ErrorCode::not_found;
  bool has_left_none = view.ok() ? view->has_run() : !is_absent;
  if (has_left_none) co_return Done{};
  if (view.ok()) named = view->id;
  UserId user = view.ok() ? view->user : call.who.user;
  co_return co_await forget_runs(call.service, call.who, std::move(named), std::move(user));
}

Task<Result<Reply>> remove_run(AgentServer& served, Call call) {
  auto run = co_await run_in_path(call);
  if (!run.ok() && run.error().code == ErrorCode::not_found) {
    BELAY_CO_CHECK(co_await forget_deleted_run(served, call));
  }
  if (!run.ok()) co_return std::move(run).error();
  BELAY_CO_CHECK(co_await delete_run(served, call, *std::move(run)));
  Reply reply;
  reply.status = 204;
  co_return std::move(reply);
}

Value cancel_members() {
  Value text = Value::object({{"type", "string"}});
  return Value::object({{"thread_id", text},
                        {"run_ids", Value::object({{"type", "array"}})},
                        {"status", std::move(text)}});
}

}  // namespace

std::vector<Route> run_list_routes(const AgentServerPointer& served) {
  const std::string of_thread = "/threads/{threadId}/runs", one = of_thread + "/{runId}";
  std::vector<Route> routes;
  auto add = [&](const char* method, const std::string& path, const char* id, const char* summary,
                 Answer answer) -> Route& {
    Route route = protocol_route(method, path, id, summary);
    if (route.method != "GET") route.permission = Permission::run;
    route.answers = {{200, "Done"}};
    route.handle = answering(served, answer);
    routes.push_back(std::move(route));
    return routes.back();
  };
  add("GET", of_thread, "agentServerListRuns", "A page of the runs of a thread, newest first",
      list_thread_runs);
  add("GET", one, "agentServerGetRun", "A run", show_thread_run);
  Route& cancel = add("POST", one + "/cancel", "agentServerCancelRun",
                      "Cancellation of a run, which a rollback deletes", cancel_thread_run);
  cancel.answers = {{202, "Cancelled"}, {204, "Cancelled, if the request waits"}};
  accept_body(cancel);
  Route& several = add("POST", "/runs/cancel", "agentServerCancelRuns",
                       "Cancellation of named runs, or of those in a status", cancel_runs);
  several.answers = {{204, "Cancelled"}};
  accept_body(several, cancel_members());
  add("DELETE", one, "agentServerDeleteRun", "Deletion of a run, which must have ended", remove_run)
      .answers = {{204, "Deleted"}};
  return routes;
}

}  // namespace belay::langgraph
