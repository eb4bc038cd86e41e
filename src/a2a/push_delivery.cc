#include "a2a/push_delivery.h"

#include <algorithm>
#include <tuple>

#include "a2a/a2a_task.h"

namespace belay::a2a {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kSentTogether = 64;
// The slow receivers of a user do not delay those of others.
constexpr std::size_t kSentTogetherOfUser = 8;
constexpr std::size_t kPushPage = limits::bounded(200);
constexpr std::int64_t kFailuresMax = 12;
constexpr std::chrono::seconds kFirstDelay{1};
constexpr std::chrono::hours kLongestDelay{1};
// Longer than a request to a receiver.
constexpr std::chrono::seconds kClaim{20};
// Without configs: another server can be stopped before it has delivered those that it adds.
constexpr milliseconds kIdleLook{5'000};
constexpr milliseconds kLook{1'000};
// At most a hundred runs are read in a second.
constexpr milliseconds kLookPerPush{10};

// Changes with each commit of the run.
std::string mark_of(const RunRow& run) {
  return std::to_string(run.seq) + " " + std::string(name_of(run.status));
}

// Another attempt can succeed only if this is true.
bool is_repeated(const Error& failed) {
  return failed.code != ErrorCode::forbidden && failed.code != ErrorCode::invalid;
}

void note_failure(A2aPush& push, const Error& failed, Instant now) {
  push.last_error = failed.message;
  ++push.failures;
  auto delay = kFirstDelay * (std::int64_t{1} << std::min<std::int64_t>(push.failures - 1, 12));
  push.wake = now + std::min<std::chrono::seconds>(delay, kLongestDelay);
  push.ended = push.failures >= kFailuresMax || !is_repeated(failed);
}

}  // namespace

void PushDelivery::start() {
  looking_ = spawn<Done>(world_.parts.executor, look_repeatedly(), [](Done) {});
}

Task<Done> PushDelivery::look_repeatedly() {
  while (true) {
    auto looked = co_await look();
    // A store that fails is asked again.
    milliseconds pause = std::move(looked).value_or(kIdleLook);
    co_await sleep_for(pause);
  }
}

Task<Result<PushDelivery::Milliseconds>> PushDelivery::look() {
  std::erase_if(sending_, [](const auto& entry) { return entry.second.has_ended; });
  std::unique_ptr<Records> records = records_of(world_.parts.service, who_, UserId());
  std::size_t count = 0;
  std::string place;
  // A config is due at its `wake`, too.
  Instant until = world_.parts.clock.now() + std::chrono::microseconds(1);
  do {
    RecordSpan span("due");
    span.until(false, until).limit(kPushPage);
    if (!place.empty()) span.after(place);
    BELAY_CO_TRY(RecordPage<A2aPush> page, co_await read_page<A2aPush>(*records, std::move(span)));
    count += page.records.size();
    for (Versioned<A2aPush>& push : page.records) {
      BELAY_CO_CHECK(co_await look_at(std::move(push)));
    }
    place = std::move(page.next);
  } while (!place.empty());
  bool is_idle = count == 0 && sending_.empty();
  milliseconds busy = kLookPerPush * static_cast<std::int64_t>(count);
  co_return is_idle ? kIdleLook : std::max(kLook, busy);
}

// Starts the delivery if the task of the config has changed.
Task<Result<Done>> PushDelivery::look_at(Versioned<A2aPush> push) {
  std::string key = push.record.id;
  if (sending_.contains(key)) co_return Done{};
  auto id = uuid_from(push.record.task);
  if (!id) co_return co_await erase(std::move(push));
  auto run = co_await world_.parts.service.run(who_, RunId(*id));
  bool is_deleted = !run.ok() && run.error().code == ErrorCode::not_found;
  if (is_deleted) co_return co_await erase(std::move(push));
  if (!run.ok()) co_return std::move(run).error();
  bool is_new = push.record.failures > 0 || mark_of(*run) != push.record.seen;
  if (!is_new || !has_room_for(run->user)) co_return Done{};
  Sending& sending = sending_[key];
  sending.user = run->user;
  std::function<void(Done)> ended = [&sending](Done) { sending.has_ended = true; };
  sending.task = spawn<Done>(world_.parts.executor, deliver(std::move(push), *std::move(run)),
                             std::move(ended));
  co_return Done{};
}

bool PushDelivery::has_room_for(const UserId& user) const {
  auto of_user = std::count_if(sending_.begin(), sending_.end(),
                               [&user](const auto& entry) { return entry.second.user == user; });
  return sending_.size() < kSentTogether && static_cast<std::size_t>(of_user) < kSentTogetherOfUser;
}

// A save that fails ends the delivery: the config was changed or deleted, or the store fails. In
// the last case, a server continues after the end of the claim.
Task<Done> PushDelivery::deliver(Versioned<A2aPush> push, RunRow run) {
  Clock& clock = world_.parts.clock;
  push.record.wake = clock.now() + kClaim;
  // A store accepts equal saves: those of two servers at the same time must differ.
  push.record.claim = random_uuid(world_.parts.random).text();
  auto claimed = co_await save(push);
  if (!claimed.ok()) co_return Done{};
  auto sent = co_await send_changes(push, run);
  bool is_lost = !sent.ok() && sent.error().code == ErrorCode::conflict;
  if (is_lost) co_return Done{};
  if (sent.ok()) {
    push.record.seen = mark_of(run);
    push.record.wake = clock.now();
    push.record.ended = is_terminal(run);
  } else {
    note_failure(push.record, sent.error(), clock.now());
  }
  if (push.record.ended) push.record.credentials.clear();
  std::ignore = co_await save(push);
  co_return Done{};
}

// Sends all changes that the run has had. `conflict` if the config is no longer that of this
// delivery.
Task<Result<Done>> PushDelivery::send_changes(Versioned<A2aPush>& push, const RunRow& run) {
  BELAY_CO_TRY(std::unique_ptr<TaskStream> changes, co_await changes_of(push.record, run));
  while (true) {
    BELAY_CO_TRY(std::optional<TaskResponse> response, co_await changes->next_response());
    if (!response) co_return Done{};
    // A piece of a text: the whole text follows.
    if (!response->id) continue;
    EventId event = *response->id;
    BELAY_CO_CHECK(co_await send_one(push.record, *std::move(response)));
    push.record.delivered = event.text();
    push.record.failures = 0;
    push.record.last_error.clear();
    push.record.wake = world_.parts.clock.now() + kClaim;
    BELAY_CO_CHECK(co_await save(push));
  }
}

// The first change is the task in its current state.
Task<Result<std::unique_ptr<TaskStream>>> PushDelivery::changes_of(const A2aPush& push,
                                                                   const RunRow& run) {
  Service& service = world_.parts.service;
  std::optional<Value> task;
  RunRow row = run;
  EventOptions options;
  options.follow = false;
  options.after = event_id_from(push.delivered);
  if (!options.after) {
    ThreadId thread = run.thread;
    BELAY_CO_TRY(RunView view,
                 co_await service.status(who_, std::move(thread), std::nullopt, run.run));
    TaskForm form{conversations_};
    task = task_of(view, form);
    row = std::move(view.row);
    options.after = after_commit(row.seq);
  }
  BELAY_CO_TRY(std::unique_ptr<EventReader> reader,
               co_await streamed_events(service, who_, row, std::move(options), true));
  StreamedTask streamed{service, conversations_, who_, Value(), std::move(row)};
  co_return std::make_unique<TaskStream>(std::move(streamed), std::move(task), std::move(reader));
}

Task<Result<Done>> PushDelivery::send_one(const A2aPush& push, TaskResponse response) {
  HttpCall call = call_of(push, *response.id, response.result);
  BELAY_CO_TRY(HttpReply reply, co_await http_->send(std::move(call)));
  if (reply.status >= 200 && reply.status < 300) co_return Done{};
  co_return error(ErrorCode::unavailable,
                  "The receiver answered with status " + std::to_string(reply.status) + ".");
}

// Saves or deletes the config if it is unchanged in the store.
Task<Result<Done>> PushDelivery::write(const Versioned<A2aPush>& push, bool is_erased) {
  BELAY_CO_TRY(RecordWrite record, record_write(push.record, UserId()));
  record.expected_version = push.version;
  record.erase = is_erased;
  std::vector<RecordWrite> writes;
  writes.push_back(std::move(record));
  co_return co_await world_.parts.service.save_records(who_, std::move(writes));
}

// Saves the config, and reads its new version.
Task<Result<Done>> PushDelivery::save(Versioned<A2aPush>& push) {
  BELAY_CO_CHECK(co_await write(push, false));
  std::unique_ptr<Records> records = records_of(world_.parts.service, who_, UserId());
  std::string key = push.record.id;
  BELAY_CO_TRY(auto found, co_await records->get_versioned<A2aPush>(std::move(key)));
  if (!found || found->record != push.record) {
    co_return error(ErrorCode::conflict, "The config was changed.");
  }
  push.version = found->version;
  co_return Done{};
}

Task<Result<Done>> PushDelivery::erase(Versioned<A2aPush> push) {
  auto erased = co_await write(push, true);
  bool is_changed = !erased.ok() && erased.error().code == ErrorCode::conflict;
  if (!erased.ok() && !is_changed) co_return std::move(erased).error();
  co_return Done{};
}

}  // namespace belay::a2a
