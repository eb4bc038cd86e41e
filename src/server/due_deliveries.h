#pragma once
// server/due_deliveries.h - DueDeliveries: work on records of a tenant that any server can do, at
// least once each, such as a request to a receiver.
//
//   class Pushes final : public DueDeliveries<Push, RunRow> {
//     ... work_on(), user_of(), perform() ...
//   };
//
// A record R is due until it has ended. It has the members `id`, `ended`, `wake`, `claim`,
// `failures` and `last_error`, and an ordered index "due" of `ended` and `wake`. A server claims a
// record by a `wake` in the future, before which no other one reads it: if the server ends during
// the work, another one continues after that time.
//
// A failure is repeated after 1 s, then after twice the time, up to an hour. After 12 failures in a
// row, or if the policy for requests forbids the address, the record ends with its last error.
//
// Threading: the executor's thread.

#include <algorithm>
#include <map>
#include <tuple>

#include "belay/collection.h"
#include "belay/http.h"
#include "server/routes.h"

namespace belay::server {

// `invalid` if requests cannot be sent to the address: an absolute one, of at most 2048 bytes.
Result<Done> check_receiver(const std::string& url);
// Sends the request. `unavailable` unless the response has a 2xx status, which is the receipt.
Task<Result<Done>> deliver_to_receiver(HttpAccess& http, HttpCall call);

// The state of a record after a failure.
struct FailedDelivery {
  bool ends = false;
  std::chrono::seconds delay{0};
};
// `failures`: in a row, with this one.
FailedDelivery after_failure(std::int64_t failures, const Error& failed);

// Longer than the work on a record up to save_progress(), with a request to a receiver.
inline constexpr std::chrono::seconds kDeliveryClaim{90};
inline constexpr std::chrono::seconds kDeliveryTimeout{15};

// Work: what perform() needs.
template <Record R, typename Work>
class DueDeliveries {
 public:
  // `world` must outlive it.
  explicit DueDeliveries(ApiContext& world) : world_(world) {}
  virtual ~DueDeliveries() = default;
  DueDeliveries(const DueDeliveries&) = delete;
  DueDeliveries& operator=(const DueDeliveries&) = delete;

  // Looks for work now, and then repeatedly.
  void start() {
    looking_ = spawn<Done>(world_.parts.executor, look_repeatedly(), [](Done) {});
  }

 protected:
  // Returns the work on a record that is due; nullopt: no work now. `not_found`: the record
  // is erased.
  virtual Task<Result<std::optional<Work>>> work_on(const R& record) = 0;
  // The user of the work: slow receivers of one do not delay those of others.
  virtual UserId user_of(const R& record, const Work& work) const = 0;
  // Does the work and changes the record, which is saved after it. `conflict`: the record is no
  // longer that of this delivery.
  virtual Task<Result<Done>> perform(Versioned<R>& record, Work& work) = 0;
  // After the last attempt.
  virtual void forget_secrets(R&) const {}

  // Saves the record with a new claim, after a part of its work, and reads its new version.
  Task<Result<Done>> save_progress(Versioned<R>& record) {
    record.record.failures = 0;
    record.record.last_error.clear();
    record.record.wake = world_.parts.clock.now() + kDeliveryClaim;
    co_return co_await save(record);
  }

  ApiContext& world_;
  const Principal who_ = Principal();  // of the records of all users

 private:
  using Milliseconds = std::chrono::milliseconds;
  struct Sending {
    UserId user;
    Spawned task;
    bool has_ended = false;
  };
  static constexpr std::size_t kTogether = 64;
  static constexpr std::size_t kTogetherOfUser = 8;
  static constexpr std::size_t kPage = limits::bounded(200);
  // Without records: another server can be stopped before it has worked on those that it adds.
  static constexpr Milliseconds kIdleLook{5'000};
  static constexpr Milliseconds kLook{1'000};
  // At most a hundred records are looked at in a second.
  static constexpr Milliseconds kLookPerRecord{10};

  Task<Done> look_repeatedly() {
    while (true) {
      auto looked = co_await look();
      // A store that fails is asked again.
      Milliseconds pause = std::move(looked).value_or(kIdleLook);
      co_await sleep_for(pause);
    }
  }

  Task<Result<Milliseconds>> look() {
    std::erase_if(sending_, [](const auto& entry) { return entry.second.has_ended; });
    std::unique_ptr<Records> records = records_of(world_.parts.service, who_, UserId());
    std::size_t count = 0;
    std::string place;
    // A record is due at its `wake`, too.
    Instant until = world_.parts.clock.now() + std::chrono::microseconds(1);
    do {
      RecordSpan span("due");
      span.until(false, until).limit(kPage);
      if (!place.empty()) span.after(place);
      BELAY_CO_TRY(RecordPage<R> page, co_await read_page<R>(*records, std::move(span)));
      count += page.records.size();
      for (Versioned<R>& record : page.records) {
        auto looked = co_await look_at(std::move(record));
        // One that fails for another reason does not prevent the others.
        bool is_away = !looked.ok() && looked.error().code == ErrorCode::unavailable;
        if (is_away) co_return std::move(looked).error();
      }
      place = std::move(page.next);
    } while (!place.empty());
    bool is_idle = count == 0 && sending_.empty();
    Milliseconds busy = kLookPerRecord * static_cast<std::int64_t>(count);
    co_return is_idle ? kIdleLook : std::max(kLook, busy);
  }

  Task<Result<Done>> look_at(Versioned<R> record) {
    std::string key = record.record.id;
    if (sending_.contains(key)) co_return Done{};
    auto found = co_await work_on(record.record);
    bool is_deleted = !found.ok() && found.error().code == ErrorCode::not_found;
    if (is_deleted) co_return co_await erase(std::move(record));
    if (!found.ok()) co_return std::move(found).error();
    if (!*found) co_return Done{};
    UserId user = user_of(record.record, **found);
    if (!has_room_for(user)) co_return Done{};
    Sending& sending = sending_[key];
    sending.user = std::move(user);
    std::function<void(Done)> ended = [&sending](Done) { sending.has_ended = true; };
    sending.task = spawn<Done>(world_.parts.executor,
                               deliver(std::move(record), **std::move(found)), std::move(ended));
    co_return Done{};
  }

  bool has_room_for(const UserId& user) const {
    auto of_user = std::count_if(sending_.begin(), sending_.end(),
                                 [&user](const auto& entry) { return entry.second.user == user; });
    return sending_.size() < kTogether && static_cast<std::size_t>(of_user) < kTogetherOfUser;
  }

  // A save that fails ends the work: the record was changed or deleted, or the store fails. In the
  // last case, a server continues after the end of the claim.
  Task<Done> deliver(Versioned<R> record, Work work) {
    Clock& clock = world_.parts.clock;
    R& changed = record.record;
    changed.wake = clock.now() + kDeliveryClaim;
    // A store accepts equal saves: those of two servers at the same time must differ.
    changed.claim = random_uuid(world_.parts.random).text();
    auto claimed = co_await save(record);
    if (!claimed.ok()) co_return Done{};
    auto sent = co_await perform(record, work);
    bool is_lost = !sent.ok() && sent.error().code == ErrorCode::conflict;
    if (is_lost) co_return Done{};
    changed.wake = clock.now();
    if (sent.ok()) {
      changed.failures = 0;
      changed.last_error.clear();
    } else {
      changed.last_error = sent.error().message;
      FailedDelivery failed = after_failure(++changed.failures, sent.error());
      changed.wake += failed.delay;
      changed.ended = failed.ends;
    }
    if (changed.ended) forget_secrets(changed);
    std::ignore = co_await save(record);
    co_return Done{};
  }

  // Saves or deletes the record if it is unchanged in the store.
  Task<Result<Done>> write(const Versioned<R>& record, bool is_erased) {
    BELAY_CO_TRY(RecordWrite write, record_write(record.record, UserId()));
    write.expected_version = record.version;
    write.erase = is_erased;
    std::vector<RecordWrite> writes;
    writes.push_back(std::move(write));
    co_return co_await world_.parts.service.save_records(who_, std::move(writes));
  }

  // Saves the record, and reads its new version.
  Task<Result<Done>> save(Versioned<R>& record) {
    BELAY_CO_CHECK(co_await write(record, false));
    std::unique_ptr<Records> records = records_of(world_.parts.service, who_, UserId());
    std::string key = record.record.id;
    BELAY_CO_TRY(auto found, co_await records->get_versioned<R>(std::move(key)));
    if (!found || found->record != record.record) {
      co_return error(ErrorCode::conflict, "The record was changed.");
    }
    record.version = found->version;
    co_return Done{};
  }

  Task<Result<Done>> erase(Versioned<R> record) {
    auto erased = co_await write(record, true);
    bool is_changed = !erased.ok() && erased.error().code == ErrorCode::conflict;
    if (!erased.ok() && !is_changed) co_return std::move(erased).error();
    co_return Done{};
  }

  std::map<std::string, Sending> sending_;  // by R::id
  Spawned looking_;
};

}  // namespace belay::server
