#include "langgraph/v2_thread_reader.h"

#include <algorithm>

#include "belay/limits.h"
#include "langgraph/state.h"

namespace belay::langgraph {
namespace {

// A run that ended within this time is sent to a new reader.
constexpr std::chrono::seconds kRecentEnd{60};
constexpr std::chrono::milliseconds kRunPoll{250};
constexpr std::chrono::milliseconds kEventPollMax{5'000};
constexpr std::size_t kRunsPageMax = limits::bounded(100);

// The end of a run can change how the same state is shown.
ClassicOptions options_of_run(const AgentServer& served, const RunRow& row) {
  ClassicOptions options;
  options.run_id = row.run.text();
  options.thread_id = row.thread.text;
  options.graph_id = row.graph;
  options.assistant_id = row.graph;
  options.shown = shown_values(served, row);
  return options;
}

bool is_missing(const Error& failed) { return failed.code == ErrorCode::not_found; }

}  // namespace

Task<Result<V2EventList>> V2ThreadReader::next() {
  V2EventList out;
  while (out.empty()) {
    if (reader_) {
      BELAY_CO_CHECK(co_await read_some(out));
      std::erase_if(out, [this](const V2Event& event) { return !is_sent(event); });
      continue;
    }
    BELAY_CO_TRY(std::optional<RunRow> row, co_await find_next());
    if (row) {
      BELAY_CO_CHECK(co_await read_run(*std::move(row)));
    } else {
      co_await sleep_for(kRunPoll);
    }
  }
  co_return std::move(out);
}

bool V2ThreadReader::is_sent(const V2Event& event) const {
  bool is_wanted =
      std::any_of(wanted_.begin(), wanted_.end(),
                  [&event](const V2Subscription& each) { return each.matches(event); });
  return is_wanted;
}

std::optional<std::uint64_t> V2ThreadReader::since() const {
  auto first = std::min_element(wanted_.begin(), wanted_.end(),
                                [](const V2Subscription& one, const V2Subscription& other) {
                                  return one.since < other.since;  // an unset one is less
                                });
  return first == wanted_.end() ? std::nullopt : first->since;
}

void V2ThreadReader::forget_since() {
  for (V2Subscription& each : wanted_) each.since.reset();
}

// Whether the run was started after those that were read.
bool V2ThreadReader::is_next(const RunRow& row) const {
  if (row.ordinal >= *next_ordinal_) return true;
  if (row_.run.is_null() || row.run == row_.run) return false;
  return row.ordinal == row_.ordinal || row.created_at > row_.created_at;
}

// A page of the thread's runs, newest first; none if the thread does not exist.
Task<Result<std::vector<RunRow>>> V2ThreadReader::page(std::optional<RunId> before,
                                                       std::size_t limit) {
  RunPage wanted;
  wanted.thread = thread_;
  wanted.before = before;
  wanted.limit = limit;
  auto rows = co_await service_.runs(who_, std::move(wanted));
  bool is_absent = !rows.ok() && is_missing(rows.error());
  if (is_absent) co_return std::vector<RunRow>();
  co_return std::move(rows);
}

Task<Result<Done>> V2ThreadReader::find_first() {
  std::optional<RunId> any;
  BELAY_CO_TRY(std::vector<RunRow> rows, co_await page(any, 1));
  std::int64_t wanted = since() ? v2_ordinal_of(*since()) : 0;
  bool is_deleted_since = since() && !rows.empty() && rows.front().ordinal < wanted;
  if (is_deleted_since) forget_since();
  if (since() && !rows.empty()) {
    next_ordinal_ = wanted;
    co_return Done{};
  }
  if (rows.empty()) {
    forget_since();
    next_ordinal_ = 0;
    co_return Done{};
  }
  // The oldest run that has not ended; the newest one if all have ended.
  ThreadId thread = thread_;
  auto current = co_await service_.run_of(who_, std::move(thread), std::nullopt);
  bool is_deleted = !current.ok() && is_missing(current.error());
  if (!current.ok() && !is_deleted) co_return std::move(current).error();
  const RunRow& first = current.ok() ? *current : rows.front();
  bool is_old =
      is_final(first.status) && first.updated_at + kRecentEnd < served_.world.parts.clock.now();
  next_ordinal_ = first.ordinal + (is_old ? 1 : 0);
  if (is_old) row_ = first;
  co_return Done{};
}

// Returns the oldest run that was not read; nullopt until it exists.
Task<Result<std::optional<RunRow>>> V2ThreadReader::find_next() {
  auto version = service_.store_version();
  if (version && looked_at_ == version) co_return std::optional<RunRow>();
  looked_at_ = version;
  if (!next_ordinal_) BELAY_CO_CHECK(co_await find_first());
  std::optional<RunRow> found;
  std::optional<RunId> before;
  while (true) {
    std::size_t limit = before ? kRunsPageMax : 1;
    BELAY_CO_TRY(std::vector<RunRow> rows, co_await page(before, limit));
    bool is_last = rows.empty();
    for (RunRow& row : rows) {
      before = row.run;
      is_last = !is_next(row);
      if (is_last) break;
      found = std::move(row);
      is_last = found->ordinal == *next_ordinal_;
      if (is_last) break;
    }
    if (!is_last) continue;
    bool replaces = found && found->ordinal < *next_ordinal_;
    if (replaces) forget_since();
    co_return std::move(found);
  }
}

Task<Result<Done>> V2ThreadReader::read_run(RunRow row) {
  row_ = std::move(row);
  looked_at_.reset();
  has_parent_ = false;
  EventOptions options;
  options.thread = thread_;
  options.run = row_.run;
  options.kinds = V2Events::kinds();
  options.poll_max = kEventPollMax;
  events_.emplace(options_of_run(served_, row_), row_);
  auto reader = co_await service_.events(who_, std::move(options));
  // The run can have been deleted meanwhile.
  bool is_deleted = !reader.ok() && is_missing(reader.error());
  if (is_deleted) {
    next_ordinal_ = row_.ordinal + 1;
    co_return Done{};
  }
  if (!reader.ok()) co_return std::move(reader).error();
  reader_ = *std::move(reader);
  co_return Done{};
}

Task<Result<Done>> V2ThreadReader::read_some(V2EventList& out) {
  auto read = co_await reader_->next();
  bool is_deleted = !read.ok() && is_missing(read.error());
  if (!read.ok() && !is_deleted) co_return std::move(read).error();
  if (is_deleted || read->empty()) {
    reader_.reset();
    next_ordinal_ = row_.ordinal + 1;
    co_return Done{};
  }
  for (StreamEvent& event : *read) BELAY_CO_CHECK(co_await add(std::move(event), out));
  co_return Done{};
}

// Finds the parent of the run's first checkpoint when that exists: the runs before it have ended.
Task<Result<Done>> V2ThreadReader::find_parent(const StreamEvent& event) {
  bool has_begun = event.kind == EventKind::checkpoints && event.checkpoint_ns.empty() &&
                   event.body["superstep"].as_int().value_or(0) > 0;
  if (has_parent_ || !has_begun) co_return Done{};
  has_parent_ = true;
  RunRow row = row_;
  BELAY_CO_TRY(CheckpointId parent, co_await parent_of_run(service_, who_, std::move(row)));
  if (!parent.is_null()) events_->continue_after(parent.text());
  co_return Done{};
}

Task<Result<Done>> V2ThreadReader::add(StreamEvent event, V2EventList& out) {
  BELAY_CO_CHECK(co_await find_parent(event));
  bool is_asked = event.kind == EventKind::approvals && event.body["event"] == Value("asked");
  if (!is_asked) {
    events_->add(std::move(event), out);
    co_return Done{};
  }
  const std::string* named = event.body["interrupt"].as_string();
  std::string id = named ? *named : std::string();
  Whose any;
  BELAY_CO_TRY(ApprovalRow row, co_await service_.approval(who_, std::move(id), std::move(any)));
  events_->request(event, interrupt_document(row), out);
  co_return Done{};
}

}  // namespace belay::langgraph
