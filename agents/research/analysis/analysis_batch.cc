#include "agents/research/analysis/analysis_batch.h"

#include <set>

#include "agents/research/analysis/subject.h"
#include "agents/research/checkpoints/parallel_calls.h"

namespace belay::research {
namespace {

constexpr std::size_t kRowsTogether = limits::bounded(100);
constexpr std::size_t kStartsTogether = limits::bounded(8);
constexpr std::size_t kWaitsTogether = limits::bounded(16);
constexpr int kListAttempts = 10;
constexpr std::chrono::milliseconds kTimerPoll{200};

std::string member_id(const UserId& owner, const std::string& batch, const std::string& ticker) {
  std::string seed = "research batch";
  for (const std::string* part : {&owner.text, &batch, &ticker}) seed += '\0' + *part;
  return derived_uuid(seed).text();
}

Result<BatchMember> member_of(const UserId& owner, const BatchOrder& order,
                              const BatchTicker& company) {
  BatchMember member;
  member.id = member_id(owner, order.batch, company.ticker);
  member.request = order.request;
  member.request.ticker = company.ticker;
  member.request.batch = order.batch;
  if (!company.cik.empty()) member.request.ciks[company.ticker] = company.cik;
  bool is_known = member.request.ciks.contains(company.ticker) ||
                  !known_cik(member.request, company.ticker).empty();
  if (!is_known) {
    return error(ErrorCode::invalid, "Unknown ticker \"" + company.ticker +
                                         "\". Name its number at the SEC: " + company.ticker +
                                         "=CIK.");
  }
  BELAY_CHECK(check_order(member.request));
  return member;
}

// Returns the ids of the batch that are listed.
Task<Result<std::set<std::string>>> listed_ids(AnalysisAccess at, std::string batch) {
  std::set<std::string> ids;
  std::string after;
  while (true) {
    std::string name = batch;
    BELAY_CO_TRY(std::vector<AnalysisRow> rows,
                 co_await rows_of_batch(at, std::move(name), after, limits::page_rows_max));
    for (const AnalysisRow& row : rows) ids.insert(row.id);
    if (rows.size() < limits::page_rows_max) co_return std::move(ids);
    after = rows.back().id;
  }
}

Result<RecordWrite> row_of_member(const AnalysisAccess& at, const BatchMember& member,
                                  Instant now) {
  AnalysisRow row;
  row.id = member.id;
  row.ticker = member.request.ticker;
  row.batch = member.request.batch;
  row.data = member.request.data;
  row.createdAt = now;
  BELAY_TRY(RecordWrite write, record_write(row, at.owner));
  write.expected_version = 0;
  return write;
}

Task<Result<Done>> list_missing(AnalysisAccess at, const std::vector<BatchMember>& members,
                                Instant now) {
  std::string batch = members.front().request.batch;
  BELAY_CO_TRY(std::set<std::string> listed, co_await listed_ids(at, std::move(batch)));
  std::vector<RecordWrite> writes;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!listed.contains(members[i].id)) {
      BELAY_CO_TRY(RecordWrite write, row_of_member(at, members[i], now));
      writes.push_back(std::move(write));
    }
    bool is_full = writes.size() == kRowsTogether || i + 1 == members.size();
    if (!is_full || writes.empty()) continue;
    std::vector<RecordWrite> page = std::exchange(writes, {});
    BELAY_CO_CHECK(co_await at.service.save_records(at.who, std::move(page)));
  }
  co_return Done{};
}

Task<Result<Done>> start_member(AnalysisAccess at, std::string queue, const BatchMember& member,
                                std::size_t& started) {
  BELAY_CO_TRY(StartRun start, prepare_member(at.owner, queue, member));
  auto view = co_await at.service.start(at.who, std::move(start));
  if (view.ok()) {
    ++started;
    co_return Done{};
  }
  Error failed = std::move(view).error();
  failed.message = member.request.ticker + ": " + failed.message;
  co_return std::move(failed);
}

// A run that waits for a timer, such as that of a retry, is still in progress.
Task<Result<Done>> wait_for_member(AnalysisAccess at, const BatchMember& member) {
  while (true) {
    ThreadId thread(member.id);
    std::optional<RunId> current;
    BELAY_CO_TRY(RunView view, co_await at.service.wait_for(at.who, std::move(thread), current));
    if (pause_reason(view.row) != PauseReason::timer) co_return Done{};
    co_await sleep_for(kTimerPoll);
  }
}

}  // namespace

Result<std::vector<BatchMember>> check_batch(const UserId& owner, const BatchOrder& order) {
  BELAY_CHECK(check_name("batch", order.batch));
  BELAY_CHECK(check_name("queue", order.queue));
  if (order.tickers.empty()) return error(ErrorCode::invalid, "The batch has no company.");
  std::vector<BatchMember> members;
  for (const BatchTicker& company : order.tickers) {
    BELAY_TRY(BatchMember member, member_of(owner, order, company));
    members.push_back(std::move(member));
  }
  return members;
}

Result<StartRun> prepare_member(const UserId& owner, const std::string& queue,
                                const BatchMember& member) {
  BELAY_TRY(StartRun start, prepare_analysis(owner, member.id, member.request));
  start.queued = true;
  start.queue = queue;
  return start;
}

Task<Result<Done>> list_batch(AnalysisAccess at, const std::vector<BatchMember>& members,
                              Instant now) {
  for (int attempt = 1;; ++attempt) {
    auto listed = co_await list_missing(at, members, now);
    // Another process has listed some of them meanwhile.
    bool is_raced = !listed.ok() && listed.error().code == ErrorCode::conflict;
    if (!is_raced || attempt == kListAttempts) co_return std::move(listed);
  }
}

Task<Result<Done>> start_batch(AnalysisAccess at, std::string queue,
                               const std::vector<BatchMember>& members) {
  std::size_t started = 0;
  NumberedCall start = [&](std::size_t number) {
    return start_member(at, queue, members[number], started);
  };
  auto all = co_await call_each(members.size(), kStartsTogether, std::move(start));
  if (all.ok()) co_return Done{};
  Error failed = std::move(all).error();
  if (failed.code == ErrorCode::invalid) co_return std::move(failed);
  failed.message += " " + std::to_string(started) + " of " + std::to_string(members.size()) +
                    " analyses of batch \"" + members.front().request.batch +
                    "\" are started; sent again with this id, it continues.";
  co_return std::move(failed);
}

Task<Result<Done>> wait_for_batch(AnalysisAccess at, const std::vector<BatchMember>& members) {
  NumberedCall wait = [&](std::size_t number) { return wait_for_member(at, members[number]); };
  co_return co_await call_each(members.size(), kWaitsTogether, std::move(wait));
}

Task<Result<std::vector<ListedAnalysis>>> batch_states(AnalysisAccess at,
                                                       const std::vector<BatchMember>& members) {
  std::map<std::string, AnalysisRow> listed;
  std::string batch = members.front().request.batch, after;
  bool is_whole = false;
  while (!is_whole) {
    std::string name = batch;
    BELAY_CO_TRY(std::vector<AnalysisRow> page,
                 co_await rows_of_batch(at, std::move(name), after, limits::page_rows_max));
    is_whole = page.size() < limits::page_rows_max;
    if (!is_whole) after = page.back().id;
    for (AnalysisRow& row : page) listed.insert_or_assign(row.id, std::move(row));
  }
  std::vector<AnalysisRow> rows;
  for (const BatchMember& member : members) {
    auto found = listed.find(member.id);
    AnalysisRow row;
    if (found != listed.end()) row = found->second;
    row.id = member.id;
    row.ticker = member.request.ticker;
    row.batch = batch;
    rows.push_back(std::move(row));
  }
  co_return co_await with_runs(at, std::move(rows));
}

}  // namespace belay::research
