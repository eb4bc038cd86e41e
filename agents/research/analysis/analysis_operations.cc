#include "agents/research/analysis/analysis_operations.h"

#include <algorithm>

#include "agents/research/analysis/analysis_progress.h"
#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/deliverables.h"
#include "agents/research/analysis/subject.h"
#include "agents/research/analysis/ticker_file.h"
#include "agents/research/checkpoints/parallel_calls.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

constexpr std::size_t kPeersMax = limits::bounded(50);
constexpr std::size_t kFoldersMax = limits::bounded(20);
constexpr std::size_t kRunsAtOnce = limits::bounded(8);
constexpr std::chrono::hours kWorkingTime{6};  // of a run; the time of a pause does not count

Error wrong(std::string message) { return error(ErrorCode::invalid, std::move(message)); }

Error unknown_analysis(const std::string& id) {
  return error(ErrorCode::not_found,
               "Unknown analysis \"" + id + "\". List them with `belay research list`.");
}

Task<Result<Done>> erase_record(AnalysisAccess at, std::string_view collection, std::string key) {
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(collection, at.owner, std::move(key)));
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

// Reads the run of an analysis, and its owner.
Task<Result<RunView>> view_of_run(AnalysisAccess& at, std::string id) {
  ThreadId thread(id);
  auto view = co_await at.service.status(at.who, std::move(thread), std::nullopt);
  bool is_absent =
      view.ok() ? view->row.graph != kAnalysisGraph : view.error().code == ErrorCode::not_found;
  if (is_absent) co_return unknown_analysis(id);
  if (view.ok() && !view->row.user.empty()) at.owner = view->row.user;
  co_return std::move(view);
}

Task<Result<RunRow>> row_of_run(AnalysisAccess& at, std::string id) {
  ThreadId thread(id);
  auto row = co_await at.service.run_of(at.who, std::move(thread));
  bool is_absent =
      row.ok() ? row->graph != kAnalysisGraph : row.error().code == ErrorCode::not_found;
  if (is_absent) co_return unknown_analysis(id);
  if (row.ok() && !row->user.empty()) at.owner = row->user;
  co_return std::move(row);
}

Error has_ended(const RunRow& run) {
  return error(ErrorCode::conflict, "The analysis " + run.thread.text +
                                        " has ended: " + std::string(name_of(run.status)) + ".");
}

std::string decider(const AnalysisAccess& at) {
  return at.who.user.empty() ? at.owner.text : at.who.user.text;
}

// Returns the run after a decision that was recorded; a lost race is a conflict.
Result<RunView> continued(DecisionResult decided) {
  using Kind = DecisionResult::Kind;
  if (decided.kind == Kind::accepted || decided.kind == Kind::duplicate) {
    return std::move(decided.view);
  }
  const RunRow& run = decided.view.row;
  return error(ErrorCode::conflict, "The analysis " + run.thread.text +
                                        " does not wait for this decision: its approval is " +
                                        std::string(name_of(decided.approval.status)) +
                                        ", and it is " + std::string(name_of(run.status)) + ".");
}

// Reads the run of one row into its place.
Task<Result<Done>> read_run(AnalysisAccess at, ListedAnalysis& listed) {
  ThreadId thread(listed.row.id);
  auto run = co_await at.service.run_of(at.who, std::move(thread));
  if (!run.ok() && run.error().code != ErrorCode::not_found) co_return std::move(run).error();
  if (run.ok()) listed.run = *std::move(run);
  co_return Done{};
}

}  // namespace

Result<Done> check_specialist(const std::string& name) {
  if (find_specialist(name)) return Done{};
  std::string known;
  for (const Specialist& each : specialists()) known += (known.empty() ? "" : ", ") + each.name;
  return wrong("Unknown specialist \"" + name + "\". Known: " + known + ".");
}

Result<Done> check_order(const AnalysisRequest& request) {
  BELAY_CHECK(check_ticker(request.ticker));
  for (const std::string& peer : request.peers) BELAY_CHECK(check_ticker(peer));
  if (request.peers.size() > kPeersMax) {
    return wrong("Too many peers: at most " + std::to_string(kPeersMax) + ".");
  }
  if (request.data.size() > kFoldersMax) {
    return wrong("Too many data folders: at most " + std::to_string(kFoldersMax) + ".");
  }
  for (const std::string& name : request.only) BELAY_CHECK(check_specialist(name));
  if (!request.asOf.empty() && !Date::parse(request.asOf)) {
    return wrong("Invalid as-of date \"" + request.asOf + "\": expected YYYY-MM-DD.");
  }
  for (const auto& [ticker, cik] : request.ciks) {
    BELAY_CHECK(check_ticker(ticker));
    if (ten_digits(cik).empty()) {
      return wrong("Invalid CIK \"" + cik + "\" of " + ticker +
                   ": expected a number of at most ten digits.");
    }
  }
  BELAY_CHECK(constants_of(request));
  return Done{};
}

Result<StartRun> prepare_analysis(const UserId& owner, const std::string& id,
                                  const AnalysisRequest& request) {
  BELAY_CHECK(check_order(request));
  AnalysisRequest given = request;
  given.data.clear();  // a part of the record: see analysis_folders.h
  given.yes = false;   // an option of the run, which needs a permission
  BELAY_TRY(std::string json, encode_json(given));
  BELAY_TRY(Value input, parse_json(json));
  StartRun start;
  start.agent = kAnalysisGraph;
  start.thread = ThreadId(id);
  start.user = owner;
  start.run.timeout = kWorkingTime;
  if (request.yes) start.run.require_approval = false;
  start.input = Value::object({{"request", std::move(input)}});
  return start;
}

Task<Result<bool>> list_new_analysis(AnalysisAccess at, std::string id, AnalysisRequest request,
                                     Instant now) {
  AnalysisRow row;
  row.id = std::move(id);
  row.ticker = std::move(request.ticker);
  row.batch = std::move(request.batch);
  row.data = std::move(request.data);
  row.createdAt = now;
  BELAY_CO_TRY(RecordWrite write, record_write(row, at.owner));
  write.expected_version = 0;
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  auto saved = co_await at.service.save_records(at.who, std::move(writes));
  if (saved.ok()) co_return true;
  if (saved.error().code != ErrorCode::conflict) co_return std::move(saved).error();
  co_return false;
}

Task<Result<Done>> remove_from_list(AnalysisAccess at, std::string id) {
  co_return co_await erase_record(at, AnalysisRow::collection, std::move(id));
}

Task<Result<AnalysisView>> find_progress(AnalysisAccess at, std::string id) {
  AnalysisView view;
  BELAY_CO_TRY(view.run, co_await view_of_run(at, std::move(id)));
  BELAY_CO_TRY(view.state, decode_json<Analysis>(view.run.state));
  RunRow run = view.run.row;
  BELAY_CO_TRY(AnalysisProgress progress,
               co_await progress_of_run(at.service, at.who, std::move(run), view.state));
  view.state.specialists = std::move(progress.specialists);
  view.current = std::move(progress.current);
  co_return std::move(view);
}

Task<Result<AnalysisView>> find_analysis(AnalysisAccess at, std::string id) {
  BELAY_CO_TRY(AnalysisView view, co_await find_progress(at, std::move(id)));
  if (!view.run.row.user.empty()) at.owner = view.run.row.user;
  std::string whole = view.run.row.thread.text;
  auto records = records_of(at.service, at.who, at.owner);
  BELAY_CO_TRY(view.deliverables, co_await read_deliverables(*records, std::move(whole)));
  BELAY_CO_TRY(view.results, results_of(view.deliverables));
  co_return std::move(view);
}

Task<Result<std::string>> resolve_analysis(AnalysisAccess at, std::string begin) {
  constexpr std::size_t kIdSize = 36;
  if (begin.size() >= kIdSize) co_return std::move(begin);
  if (begin.empty()) co_return unknown_analysis(begin);
  auto records = records_of(at.service, at.who, at.owner);
  std::string key = begin;
  BELAY_CO_TRY(std::optional<AnalysisRow> exact,
               co_await records->get<AnalysisRow>(std::move(key)));
  if (exact) co_return std::move(begin);
  RecordFilter filter;
  filter.collection = AnalysisRow::collection;
  filter.after = begin;  // the keys after it that begin with it are the first ones
  filter.limit = 2;
  BELAY_CO_TRY(std::vector<RecordRow> rows, co_await records->find(std::move(filter)));
  std::erase_if(rows, [&](const RecordRow& row) { return !row.key.starts_with(begin); });
  if (rows.size() == 1) co_return std::move(rows.front().key);
  if (rows.empty()) co_return unknown_analysis(begin);
  co_return wrong("Several analyses have an id that begins with \"" + begin +
                  "\". Use more characters.");
}

Task<Result<std::vector<ListedAnalysis>>> with_runs(AnalysisAccess at,
                                                    std::vector<AnalysisRow> rows) {
  std::vector<ListedAnalysis> all;
  for (AnalysisRow& row : rows) all.push_back({std::move(row), std::nullopt});
  NumberedCall read = [&](std::size_t number) { return read_run(at, all[number]); };
  BELAY_CO_CHECK(co_await call_each(all.size(), kRunsAtOnce, std::move(read)));
  co_return std::move(all);
}

Task<Result<std::vector<AnalysisRow>>> rows_of_batch(AnalysisAccess at, std::string batch,
                                                     std::string after, std::size_t limit) {
  RecordFilter filter;
  filter.collection = AnalysisRow::collection;
  filter.field = "batch";
  filter.value = std::move(batch);
  filter.after = std::move(after);
  filter.limit = limit;
  UserId owner = at.owner;
  BELAY_CO_TRY(std::vector<RecordRow> found,
               co_await at.service.find_records(at.who, std::move(owner), std::move(filter)));
  std::vector<AnalysisRow> rows;
  for (const RecordRow& each : found) {
    BELAY_CO_TRY(AnalysisRow row, record_from<AnalysisRow>(each));
    rows.push_back(std::move(row));
  }
  co_return std::move(rows);
}

Task<Result<AnalysisListPage>> list_analyses(AnalysisAccess at, std::string batch, std::string next,
                                             std::size_t limit) {
  AnalysisListPage page;
  std::vector<AnalysisRow> rows;
  if (!batch.empty()) {
    BELAY_CO_TRY(rows, co_await rows_of_batch(at, std::move(batch), std::move(next), limit));
    if (rows.size() == limit) page.next = rows.back().id;
  } else {
    auto records = records_of(at.service, at.who, at.owner);
    RecordSpan span("created");
    span.last_first().limit(limit);
    if (!next.empty()) span.after(next);
    BELAY_CO_TRY(RecordPage<AnalysisRow> found,
                 co_await read_page<AnalysisRow>(*records, std::move(span)));
    page.next = found.next;
    for (Versioned<AnalysisRow>& each : found.records) rows.push_back(std::move(each.record));
  }
  BELAY_CO_TRY(page.analyses, co_await with_runs(at, std::move(rows)));
  co_return std::move(page);
}

Task<Result<Done>> pause_analysis(AnalysisAccess at, std::string id, Instant now) {
  std::string key = id;
  BELAY_CO_TRY(RunRow run, co_await row_of_run(at, std::move(key)));
  if (is_final(run.status)) co_return has_ended(run);
  PauseRequest request{id, decider(at), now};
  BELAY_CO_TRY(RecordWrite write, record_write(request, at.owner));
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

Task<Result<Done>> end_pause(AnalysisAccess at, std::string id) {
  std::string key = id;
  BELAY_CO_CHECK(co_await row_of_run(at, std::move(key)));
  co_return co_await erase_record(at, PauseRequest::collection, std::move(id));
}

Task<Result<RunView>> resume_analysis(AnalysisAccess at, std::string id) {
  std::string key = id;
  BELAY_CO_CHECK(co_await end_pause(at, std::move(key)));
  key = id;
  BELAY_CO_TRY(RunView run, co_await view_of_run(at, std::move(key)));
  if (!run.approval) {
    ThreadId thread(id);
    co_return co_await at.service.resume(at.who, std::move(thread));
  }
  AnalysisDecision made = resume_decision(at, *run.approval);
  BELAY_CO_TRY(DecisionResult decided,
               co_await at.service.decide(at.who, made.interrupt, std::move(made.decision)));
  co_return continued(std::move(decided));
}

AnalysisDecision resume_decision(const AnalysisAccess& at, const ApprovalRow& approval) {
  AnalysisDecision made;
  made.interrupt = approval.interrupt;
  made.decision.approved = true;
  made.decision.decided_by = decider(at);
  return made;
}

std::optional<AnalysisDecision> decision_to_retry(const AnalysisAccess& at,
                                                  const ApprovalRow& approval,
                                                  const std::string& specialist) {
  auto question = decode_json<ProgressQuestion>(payload_of(approval));
  if (!question.ok() || question->reason != "failures") return std::nullopt;
  question->only = {specialist};
  auto json = encode_json(*question);
  auto edited = json.ok() ? parse_json(*json) : Result<Value>(json.error());
  if (!edited.ok()) return std::nullopt;
  AnalysisDecision made = resume_decision(at, approval);
  made.decision.edited = *std::move(edited);
  return made;
}

Result<AnalysisDecision> retry_decision(const AnalysisAccess& at, const RunView& run,
                                        const std::string& specialist) {
  BELAY_TRY(Analysis state, decode_json<Analysis>(run.state));
  std::string of_analysis = "the analysis " + run.row.thread.text;
  if (!is_selected(state.request, specialist)) {
    return error(ErrorCode::conflict,
                 "The specialist \"" + specialist + "\" is not a part of " + of_analysis + ".");
  }
  if (is_final(run.row.status)) return has_ended(run.row);
  if (!run.approval) {
    return error(ErrorCode::conflict,
                 "A specialist can be executed again while its analysis waits "
                 "for a decision: " +
                     of_analysis + " is " + std::string(name_of(run.row.status)) + ".");
  }
  auto found = state.specialists.find(specialist);
  bool is_open = found != state.specialists.end() &&
                 (!found->second.failure.empty() || !found->second.waitsFor.empty());
  if (!is_open) {
    return error(ErrorCode::conflict, "The specialist \"" + specialist + "\" of " + of_analysis +
                                          " has not failed: " + progress_of(state)[specialist] +
                                          " subtasks.");
  }
  std::optional<AnalysisDecision> made = decision_to_retry(at, *run.approval, specialist);
  if (made) return *std::move(made);
  return error(ErrorCode::conflict, "The analysis " + run.row.thread.text +
                                        " is paused. Resume it with `belay research resume`.");
}

Task<Result<RunView>> retry_specialist(AnalysisAccess at, std::string id, std::string specialist) {
  BELAY_CO_CHECK(check_specialist(specialist));
  BELAY_CO_TRY(RunView run, co_await view_of_run(at, std::move(id)));
  BELAY_CO_TRY(AnalysisDecision made, retry_decision(at, run, specialist));
  BELAY_CO_TRY(DecisionResult decided,
               co_await at.service.decide(at.who, made.interrupt, std::move(made.decision)));
  if (decided.kind == DecisionResult::Kind::duplicate) {
    decided.kind = DecisionResult::Kind::conflict;  // the first call executes it
  }
  co_return continued(std::move(decided));
}

}  // namespace belay::research
