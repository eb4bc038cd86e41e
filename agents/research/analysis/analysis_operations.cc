#include "agents/research/analysis/analysis_operations.h"

#include <algorithm>

#include "agents/research/analysis/coordinator.h"
#include "agents/research/analysis/results_json.h"
#include "agents/research/finance/constants.h"
#include "agents/research/specialists/specialists.h"

namespace belay::research {
namespace {

constexpr std::size_t kPeersMax = limits::bounded(50);
constexpr std::size_t kFoldersMax = limits::bounded(20);
constexpr std::size_t kDeliverablesAtOnce = limits::bounded(8);
constexpr std::chrono::hours kWorkingTime{6};  // of a run; the time of a pause does not count

Error wrong(std::string message) { return error(ErrorCode::invalid, std::move(message)); }

bool is_ticker(std::string_view text) {
  constexpr std::size_t kTickerMax = 10;
  auto is_sign = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
  };
  return !text.empty() && text.size() <= kTickerMax &&
         std::all_of(text.begin(), text.end(), is_sign);
}

Result<Done> check_ticker(std::string_view ticker) {
  if (is_ticker(ticker)) return Done{};
  return wrong("Invalid ticker \"" + std::string(ticker) +
               "\": expected capital letters and digits, such as AAPL or BRK-B.");
}

std::pair<std::size_t, std::size_t> place_of(const Deliverable& made) {
  return {specialist_position(made.specialist), subtask_position(made.specialist, made.subtask)};
}

Task<Result<std::vector<Deliverable>>> deliverables_of(AnalysisAccess at, std::string id) {
  std::vector<Deliverable> all;
  RecordFilter filter;
  filter.collection = Deliverable::collection;
  filter.field = "analysis";
  filter.value = std::move(id);
  filter.limit = kDeliverablesAtOnce;
  while (true) {
    UserId owner = at.owner;
    RecordFilter page = filter;
    BELAY_CO_TRY(std::vector<RecordRow> rows,
                 co_await at.service.find_records(at.who, std::move(owner), std::move(page)));
    for (const RecordRow& row : rows) {
      BELAY_CO_TRY(Deliverable made, record_from<Deliverable>(row));
      all.push_back(std::move(made));
    }
    if (rows.size() < filter.limit) break;
    filter.after = rows.back().key;
  }
  std::sort(all.begin(), all.end(), [](const Deliverable& a, const Deliverable& b) {
    return place_of(a) < place_of(b);  // no two are equal
  });
  co_return std::move(all);
}

RecordWrite removal_of_pause(const UserId& owner, const std::string& id) {
  RecordWrite write;
  write.collection = PauseRequest::collection;
  write.user = owner;
  write.key = id;
  write.erase = true;
  return write;
}

Value progress_document(const Analysis& state) {
  std::map<std::string, std::string> progress = progress_of(state);
  Value::Object members;
  for (const Specialist& each : specialists()) {
    auto found = progress.find(each.name);
    if (found == progress.end()) continue;
    auto at = state.specialists.find(each.name);
    Value::Array completed;
    std::string failure;
    std::string waits_for;
    if (at != state.specialists.end()) {
      for (const std::string& name : at->second.completed) completed.push_back(name);
      failure = at->second.failure;
      waits_for = at->second.waitsFor;
    }
    members.emplace(each.name, Value::object({{"progress", found->second + " subtasks"},
                                              {"completed", std::move(completed)},
                                              {"failure", text_or_null(failure)},
                                              {"waitsFor", text_or_null(waits_for)}}));
  }
  return Value(std::move(members));
}

}  // namespace

Result<Done> check_order(const AnalysisRequest& request) {
  BELAY_CHECK(check_ticker(request.ticker));
  for (const std::string& peer : request.peers) BELAY_CHECK(check_ticker(peer));
  if (request.peers.size() > kPeersMax) {
    return wrong("Too many peers: at most " + std::to_string(kPeersMax) + ".");
  }
  if (request.data.size() > kFoldersMax) {
    return wrong("Too many data folders: at most " + std::to_string(kFoldersMax) + ".");
  }
  for (const std::string& name : request.only) {
    if (find_specialist(name)) continue;
    std::string known;
    for (const Specialist& each : specialists()) known += (known.empty() ? "" : ", ") + each.name;
    return wrong("Unknown specialist \"" + name + "\". Known: " + known + ".");
  }
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
  Constants constants;
  std::vector<ConstantOverride> overrides;
  for (const auto& [name, value] : request.constants) overrides.push_back({name, value});
  if (std::optional<std::string> why = constants.set_all(overrides)) return wrong(*why);
  return Done{};
}

Result<StartRun> prepare_analysis(const UserId& owner, const std::string& id,
                                  const AnalysisRequest& request) {
  BELAY_CHECK(check_order(request));
  Analysis state;
  state.request = request;
  BELAY_TRY(std::string json, encode_json(state.request));
  BELAY_TRY(Value input, parse_json(json));
  StartRun start;
  start.agent = kAnalysisGraph;
  start.thread = ThreadId(id);
  start.user = owner;
  start.run.timeout = kWorkingTime;
  start.input = Value::object({{"request", std::move(input)}});
  return start;
}

Task<Result<Done>> list_new_analysis(AnalysisAccess at, std::string id, std::string ticker,
                                     Instant now) {
  AnalysisRow row{std::move(id), std::move(ticker), "", now};
  BELAY_CO_TRY(RecordWrite write, record_write(row, at.owner));
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

Task<Result<AnalysisView>> find_analysis(AnalysisAccess at, std::string id) {
  AnalysisView view;
  std::string whole = id;
  BELAY_CO_TRY(whole, co_await resolve_analysis(at, std::move(id)));
  ThreadId thread(whole);
  BELAY_CO_TRY(view.run, co_await at.service.status(at.who, std::move(thread), std::nullopt));
  BELAY_CO_TRY(view.state, decode_json<Analysis>(view.run.state));
  BELAY_CO_TRY(view.deliverables, co_await deliverables_of(at, std::move(whole)));
  for (const Deliverable& made : view.deliverables) {
    BELAY_CO_TRY(Results results, results_from(made.results));
    for (Figure& figure : results.figures) view.results.figures.push_back(std::move(figure));
    for (Finding& finding : results.findings) view.results.findings.push_back(std::move(finding));
  }
  co_return std::move(view);
}

Task<Result<std::string>> resolve_analysis(AnalysisAccess at, std::string begin) {
  constexpr std::size_t kIdSize = 36;
  if (begin.size() >= kIdSize) co_return std::move(begin);
  std::vector<std::string> matches;
  std::string next;
  do {
    std::string after = next;
    BELAY_CO_TRY(AnalysisListPage page,
                 co_await list_analyses(at, std::move(after), limits::list_rows_max));
    for (const AnalysisRow& row : page.analyses) {
      if (row.id.starts_with(begin)) matches.push_back(row.id);
    }
    next = page.next;
  } while (!next.empty());
  if (matches.size() == 1) co_return std::move(matches.front());
  if (matches.empty()) {
    co_return error(ErrorCode::not_found,
                    "Unknown analysis \"" + begin + "\". List them with `belay research list`.");
  }
  co_return wrong(std::to_string(matches.size()) + " analyses have an id that begins with \"" +
                  begin + "\". Use more characters.");
}

Task<Result<AnalysisListPage>> list_analyses(AnalysisAccess at, std::string next,
                                             std::size_t limit) {
  auto records = records_of(at.service, at.who, at.owner);
  RecordSpan span("created");
  span.last_first().limit(limit);
  if (!next.empty()) span.after(next);
  BELAY_CO_TRY(RecordPage<AnalysisRow> found,
               co_await read_page<AnalysisRow>(*records, std::move(span)));
  AnalysisListPage page;
  page.next = found.next;
  for (Versioned<AnalysisRow>& each : found.records) {
    page.analyses.push_back(std::move(each.record));
  }
  co_return std::move(page);
}

Task<Result<Done>> pause_analysis(AnalysisAccess at, std::string id, Instant now) {
  ThreadId thread(id);
  BELAY_CO_TRY(RunRow run, co_await at.service.run_of(at.who, std::move(thread)));
  if (is_final(run.status)) {
    co_return error(ErrorCode::conflict,
                    "The analysis " + id + " has ended: " + std::string(name_of(run.status)) + ".");
  }
  PauseRequest request{id, at.who.user.empty() ? at.owner.text : at.who.user.text, now};
  BELAY_CO_TRY(RecordWrite write, record_write(request, at.owner));
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(write));
  co_return co_await at.service.save_records(at.who, std::move(writes));
}

Task<Result<RunView>> resume_analysis(AnalysisAccess at, std::string id) {
  std::vector<RecordWrite> writes;
  writes.push_back(removal_of_pause(at.owner, id));
  BELAY_CO_CHECK(co_await at.service.save_records(at.who, std::move(writes)));
  ThreadId thread(id);
  BELAY_CO_TRY(RunView run, co_await at.service.status(at.who, std::move(thread), std::nullopt));
  if (!run.approval) {
    ThreadId again(id);
    co_return co_await at.service.resume(at.who, std::move(again));
  }
  Decision decision;
  decision.approved = true;
  decision.decided_by = at.who.user.empty() ? at.owner.text : at.who.user.text;
  InterruptId interrupt = run.approval->interrupt;
  BELAY_CO_TRY(DecisionResult decided,
               co_await at.service.decide(at.who, interrupt, std::move(decision)));
  co_return std::move(decided.view);
}

Value analysis_document(const AnalysisView& view) {
  const Analysis& state = view.state;
  Value::Array figures;
  for (const Figure& figure : view.results.figures) figures.push_back(figure_document(figure));
  Value::Array findings;
  for (const Finding& finding : view.results.findings) {
    findings.push_back(finding_document(finding));
  }
  Value::Array texts;
  for (const Deliverable& made : view.deliverables) {
    if (made.prose.empty()) continue;
    texts.push_back(Value::object({{"specialist", made.specialist},
                                   {"subtask", made.subtask},
                                   {"text", made.prose},
                                   {"by", made.proseBy}}));
  }
  const RunRow& row = view.run.row;
  auto list = [](const std::vector<std::string>& all) {
    return Value(Value::Array(all.begin(), all.end()));
  };
  Value::Object constants;
  for (const auto& [name, value] : state.request.constants) constants.emplace(name, value);
  return Value::object({{"analysis", row.thread.text},
                        {"status", name_of(row.status)},
                        {"outcome", text_or_null(row.outcome)},
                        {"error", text_or_null(row.error)},
                        {"ticker", state.request.ticker},
                        {"entity", text_or_null(state.facts.entity)},
                        {"as_of", text_or_null(state.facts.asOf)},
                        {"currency", text_or_null(state.facts.currency)},
                        {"fiscal_years", list(state.facts.fiscalYears)},
                        {"peers", list(state.request.peers)},
                        {"constants", std::move(constants)},
                        {"checkpoints", state.request.checkpoints},
                        {"specialists", progress_document(state)},
                        {"texts", std::move(texts)},
                        {"figures", std::move(figures)},
                        {"findings", std::move(findings)}});
}

}  // namespace belay::research
