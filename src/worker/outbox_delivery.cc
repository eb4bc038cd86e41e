#include "worker/outbox_delivery.h"

#include <algorithm>
#include <iterator>

#include "belay/limits.h"
#include "driver/node_boundary.h"

namespace belay {
namespace {

// Maximum number of runs that one search returns; the next search returns more.
constexpr std::size_t ready_runs_max = limits::bounded(10'000);

// Backoff after the n-th failure: min(2^n * base, cap) +-20 %, at least the error's retry_after.
std::chrono::microseconds wait_after(const RetryPolicy& policy, std::int64_t failures,
                                     const Error& why, std::uint64_t entropy) {
  std::int64_t factor = std::int64_t{1} << std::min<std::int64_t>(failures, 30);
  std::int64_t base = std::max<std::int64_t>(policy.base.count(), 0);
  std::int64_t wait = base > policy.cap.count() / factor ? policy.cap.count() : base * factor;
  std::chrono::microseconds jittered(wait * static_cast<std::int64_t>(800 + entropy % 401));
  if (!why.retry_after) return jittered;
  return std::max<std::chrono::microseconds>(jittered, *why.retry_after);
}

std::string id_of(const OutboxRow& row) {
  return row.run.text() + "/" + std::to_string(row.seq) + "/" + std::to_string(row.index);
}

Result<Value> body_of(const OutboxRow& row) {
  BELAY_TRY(std::string_view text, json_in_envelope(row.envelope));
  return parse_json(text);
}

}  // namespace

void OutboxDelivery::add(std::string topic, Receiver receiver, DeliveryOptions options) {
  receivers_.insert_or_assign(std::move(topic), Registered{std::move(receiver), options});
}

std::vector<std::string> OutboxDelivery::topics() const {
  std::vector<std::string> topics;
  for (const auto& [topic, registered] : receivers_) topics.push_back(topic);
  return topics;
}

std::size_t OutboxDelivery::under_way() const {
  auto is_under_way = [](const auto& call) { return !call.second.is_over; };
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), is_under_way));
}

void OutboxDelivery::look(const TenantId& tenant) {
  if (receivers_.empty() || is_stopped_) return;
  rounds_[tenant].looks = true;
  wake(tenant);
}

void OutboxDelivery::look_at(const TenantId& tenant, const RunId& run) {
  if (receivers_.empty() || is_stopped_) return;
  make_ready(rounds_[tenant], run);
  wake(tenant);
}

void OutboxDelivery::make_ready(Round& round, const RunId& run) {
  // At most one call of a run at a time. A read in progress might miss the newest commit.
  if (auto call = calls_.find(run); call != calls_.end() && !call->second.is_over) {
    call->second.goes_on = true;
    return;
  }
  bool is_ready = std::find(round.ready.begin(), round.ready.end(), run) != round.ready.end();
  if (!is_ready) round.ready.push_back(run);
}

void OutboxDelivery::wake(const TenantId& tenant) {
  Round& round = rounds_[tenant];
  if (round.task && !round.has_ended) {
    round.wakened.complete(Done{});
    return;
  }
  round.has_ended = false;
  round.task = spawn<Done>(parts_.executor, go_round(tenant, &round),
                           [at = &round](Done) { at->has_ended = true; });
}

// A finished call of one tenant might free the slot for another tenant's message.
void OutboxDelivery::wake_all() {
  for (auto& [tenant, round] : rounds_) {
    if (round.task && !round.has_ended) round.wakened.complete(Done{});
  }
}

void OutboxDelivery::give_up() {
  rounds_.clear();
  calls_.clear();
}

bool OutboxDelivery::is_busy() const {
  return std::any_of(rounds_.begin(), rounds_.end(),
                     [](const auto& each) { return each.second.task && !each.second.has_ended; });
}

Task<Done> OutboxDelivery::go_round(TenantId tenant, Round* round) {
  while (true) {
    round->wakened = Completion<Done>();
    if (!is_stopped_ && std::exchange(round->looks, false)) {
      // If the store cannot be read now, the next search reads it again.
      (void)co_await find_ready(tenant, round);
    }
    if (!is_stopped_) begin_ready(tenant, *round);
    clear_ended_calls();
    if (round->looks && !is_stopped_) continue;
    if (under_way() == 0) co_return Done{};
    co_await round->wakened;
  }
}

void OutboxDelivery::clear_ended_calls() {
  for (auto call = calls_.begin(); call != calls_.end();) {
    call = call->second.is_over ? calls_.erase(call) : std::next(call);
  }
}

void OutboxDelivery::begin_ready(const TenantId& tenant, Round& round) {
  while (!round.ready.empty() && under_way() < limits::deliveries_max) {
    RunId run = round.ready.front();
    round.ready.pop_front();
    std::function<void(Result<bool>)> ended = [this, run, at = &round](const Result<bool>& found) {
      Call& over = calls_.at(run);
      bool goes_on = over.goes_on || (found.ok() && *found);
      over.is_over = true;
      // Appended last: a run with many messages does not delay the others.
      if (goes_on) at->ready.push_back(run);
      wake_all();
    };
    calls_.erase(run);  // a finished call
    Call& call = calls_[run];
    call.task = spawn<Result<bool>>(parts_.executor, deliver_next(tenant, run), std::move(ended));
  }
}

// A run in the page whose next message was already started has a failed message that is due again.
Task<Result<Done>> OutboxDelivery::find_ready(TenantId tenant, Round* round) {
  OutboxFilter filter;
  filter.tenant = tenant;
  filter.due_by = parts_.clock.now();
  filter.topics = topics();
  filter.first_of_each_run = true;
  filter.without_body = true;
  filter.limit = ready_runs_max;
  std::function<Result<std::vector<OutboxRow>>(Snapshot&)> reader =
      [filter = std::move(filter)](Snapshot& view) { return view.outbox(filter); };
  auto rows = co_await read<std::vector<OutboxRow>>(parts_.store, std::move(reader));
  if (!rows.ok()) co_return std::move(rows).error();
  if (begun_.size() > ready_runs_max) begun_.clear();
  for (const OutboxRow& row : *rows) {
    auto begun = begun_.find(row.run);
    Key before{row.seq, row.index - 1};
    if (begun != begun_.end()) begun->second = std::min(begun->second, before);
    make_ready(*round, row.run);
  }
  co_return Done{};
}

Task<Result<bool>> OutboxDelivery::deliver_next(TenantId tenant, RunId run) {
  auto found = co_await find_next(tenant, run);
  if (!found.ok()) co_return std::move(found).error();
  if (!*found) co_return false;
  begun_[run] = {(*found)->row.seq, (*found)->row.index};
  auto delivered = co_await deliver(std::move(tenant), **std::move(found));
  if (!delivered.ok()) co_return std::move(delivered).error();
  co_return true;
}

Task<Result<std::optional<OutboxDelivery::Found>>> OutboxDelivery::find_next(TenantId tenant,
                                                                             RunId run) {
  OutboxFilter filter;
  filter.tenant = tenant;
  filter.run = run;
  filter.due_by = parts_.clock.now();
  filter.topics = topics();
  auto begun = begun_.find(run);
  filter.after = begun == begun_.end() ? Key{0, -1} : begun->second;
  filter.limit = 1;
  std::function<Result<std::optional<Found>>(Snapshot&)> reader =
      [filter = std::move(filter)](Snapshot& view) -> Result<std::optional<Found>> {
    BELAY_TRY(std::vector<OutboxRow> rows, view.outbox(filter));
    if (rows.empty()) return std::optional<Found>();
    Found found{std::move(rows[0]), {}};
    RunFilter of;
    of.tenant = filter.tenant;
    of.run = filter.run;
    of.without_input = true;
    BELAY_TRY(auto runs, view.runs(of));
    if (!runs.empty()) found.thread = runs.front().thread;
    return std::optional(std::move(found));
  };
  co_return co_await read<std::optional<Found>>(parts_.store, std::move(reader));
}

Task<Result<Done>> OutboxDelivery::deliver(TenantId tenant, Found found) {
  const Registered registered = receivers_.at(found.row.topic);
  OutboxRow row = std::move(found.row);
  OutboxMessage message;
  message.id = id_of(row);
  message.topic = row.topic;
  message.attempt = row.attempts + 1;
  message.thread = std::move(found.thread);
  message.run = row.run;
  auto body = body_of(row);
  row.envelope.clear();
  row.attempts += 1;
  row.due_at = parts_.clock.now() + 2 * registered.options.timeout;
  auto taken = co_await write(tenant, row, row.attempts - 1);
  if (!taken.ok()) co_return std::move(taken).error();
  // Not applied: another process has started this attempt, or the message was discarded.
  if (*taken != CommitOutcome::applied) co_return Done{};
  Result<Done> outcome = Done{};
  if (body.ok()) {
    message.body = *std::move(body);
    outcome = co_await call(registered, std::move(message));
  } else {
    outcome = std::move(body).error();
  }
  // If the process dies before this commit, the message is delivered again at its due time.
  OutboxRow next = after(registered, row, std::move(outcome));
  auto written = co_await write(tenant, std::move(next), row.attempts);
  if (!written.ok()) co_return std::move(written).error();
  co_return Done{};
}

// Returns the receiver's result, or cancels the receiver after its timeout: `unavailable`.
Task<Result<Done>> OutboxDelivery::call(const Registered& registered, OutboxMessage message) {
  Completion<Result<Done>> answered;
  std::string what = "The receiver of \"" + message.topic + "\"";
  auto timer = parts_.executor.call_after(registered.options.timeout, [answered, what] {
    answered.complete(error(ErrorCode::unavailable, what + " took too long."));
  });
  std::function<void(Result<Done>)> done = [answered](Result<Done> answer) {
    answered.complete(std::move(answer));
  };
  Spawned receiving = spawn<Result<Done>>(
      parts_.executor, run_receiver(registered.receiver, std::move(message), what),
      std::move(done));
  auto answer = co_await answered;
  parts_.executor.cancel(timer);
  co_return answer;
}

OutboxRow OutboxDelivery::after(const Registered& registered, OutboxRow row, Result<Done> outcome) {
  if (outcome.ok()) {
    row.status = OutboxStatus::delivered;
    row.error.clear();
    return row;
  }
  const Error& why = outcome.error();
  row.error = std::string(name_of(why.code)) + ": " + why.message;
  bool can_be_read = why.code != ErrorCode::corrupt;
  if (row.attempts >= registered.options.retry.attempts || !can_be_read) {
    row.status = OutboxStatus::given_up;
  } else {
    row.due_at = parts_.clock.now() +
                 wait_after(registered.options.retry, row.attempts, why, parts_.random.bits());
  }
  return row;
}

Task<Result<CommitOutcome>> OutboxDelivery::write(TenantId tenant, OutboxRow row,
                                                  std::int64_t attempts_before) {
  Commit commit;
  commit.tenant = std::move(tenant);
  commit.message_guard = OutboxGuard{row.run, row.seq, row.index, attempts_before};
  commit.rows.outbox.push_back(std::move(row));
  co_return co_await parts_.store.commit(std::move(commit));
}

}  // namespace belay
