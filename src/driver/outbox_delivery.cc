#include "driver/outbox_delivery.h"

#include <algorithm>

#include "belay/limits.h"
#include "driver/node_boundary.h"

namespace belay {
namespace {

// min(2^n * base, cap) after the n-th failure, +-20 %, and at least what the other side asked.
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

void OutboxDelivery::look(const TenantId& tenant) {
  if (receivers_.empty() || is_stopped_) return;
  Round& round = rounds_[tenant];
  if (round.task && !round.has_ended) {
    round.looks_again = true;
    round.wakened.complete(Done{});
    return;
  }
  round.has_ended = false;
  round.looks_again = false;
  round.task = spawn<Done>(parts_.executor, go_round(tenant, &round),
                           [at = &round](Done) { at->has_ended = true; });
}

void OutboxDelivery::give_up() {
  rounds_.clear();
  calls_.clear();
  over_.clear();
}

bool OutboxDelivery::is_busy() const {
  return std::any_of(rounds_.begin(), rounds_.end(),
                     [](const auto& each) { return each.second.task && !each.second.has_ended; });
}

Task<Done> OutboxDelivery::go_round(TenantId tenant, Round* round) {
  while (true) {
    round->looks_again = false;
    round->wakened = Completion<Done>();
    // A store that can't be read now is asked again by whoever looks next.
    auto begun = co_await begin_due(tenant, round);
    if (!begun.ok() || (under_way() == 0 && !round->looks_again)) co_return Done{};
    if (!round->looks_again) co_await round->wakened;
  }
}

Task<Result<Done>> OutboxDelivery::begin_due(TenantId tenant, Round* round) {
  for (const Id& id : std::exchange(over_, {})) calls_.erase(id);
  if (is_stopped_) co_return Done{};
  auto due = co_await find_due(tenant);
  if (!due.ok()) co_return std::move(due).error();
  for (Found& found : *due) {
    Id id{found.row.run, found.row.seq, found.row.index};
    std::function<void(Result<Done>)> ended = [this, id, round](const Result<Done>&) {
      over_.push_back(id);
      round->looks_again = true;
      round->wakened.complete(Done{});
    };
    calls_[id] =
        spawn<Result<Done>>(parts_.executor, deliver(tenant, std::move(found)), std::move(ended));
  }
  co_return Done{};
}

Task<Result<std::vector<OutboxDelivery::Found>>> OutboxDelivery::find_due(TenantId tenant) {
  std::set<RunId> busy;
  for (const auto& [id, call] : calls_) busy.insert(std::get<RunId>(id));
  std::set<std::string> topics;
  for (const auto& [topic, registered] : receivers_) topics.insert(topic);
  std::size_t free = limits::deliveries_max - std::min(limits::deliveries_max, under_way());
  std::function<Result<std::vector<Found>>(Snapshot&)> reader =
      [tenant, busy, topics, free,
       now = parts_.clock.now()](Snapshot& view) mutable -> Result<std::vector<Found>> {
    std::vector<Found> found;
    OutboxFilter filter;
    filter.tenant = tenant;
    filter.due_by = now;
    // Messages without a receiver wait in the same list, so the page may have to grow.
    for (bool more = free > 0; more; filter.limit *= 10) {
      found.clear();
      std::set<RunId> taken = busy;
      BELAY_TRY(auto rows, view.outbox(filter));
      more = rows.size() == filter.limit && filter.limit < limits::superstep_tasks_max;
      for (OutboxRow& row : rows) {
        if (found.size() == free) break;
        if (!topics.contains(row.topic) || !taken.insert(row.run).second) continue;
        found.push_back({std::move(row), {}});
      }
      more = more && found.size() < free;
    }
    for (Found& each : found) {
      RunFilter run;
      run.tenant = tenant;
      run.run = each.row.run;
      BELAY_TRY(auto rows, view.runs(run));
      if (!rows.empty()) each.thread = rows.front().thread;
    }
    return found;
  };
  co_return co_await read<std::vector<Found>>(parts_.store, std::move(reader));
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
  if (*taken != CommitOutcome::applied) co_return Done{};
  Result<Done> outcome = Done{};
  if (body.ok()) {
    message.body = *std::move(body);
    outcome = co_await call(registered, std::move(message));
  } else {
    outcome = std::move(body).error();
  }
  OutboxRow next = after(registered, row, std::move(outcome));
  auto written = co_await write(tenant, std::move(next), row.attempts);
  if (!written.ok()) co_return std::move(written).error();
  co_return Done{};
}

// The receiver's answer, or `unavailable` when its time is over: it is stopped then.
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
  commit.message = OutboxGuard{row.run, row.seq, row.index, attempts_before};
  commit.rows.outbox.push_back(std::move(row));
  co_return co_await parts_.store.commit(std::move(commit));
}

}  // namespace belay
