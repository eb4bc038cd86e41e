#include "service/scheduled_runs.h"

#include "belay/collection.h"

namespace belay {
namespace {

struct ProcessedSchedule {
  static constexpr std::string_view collection = schedules_collection;
  static constexpr bool is_of_tenant = true;

  std::string name{};
  Instant last{};

  std::string key() const { return name; }
  static auto indexed() { return std::tuple(); }
};

Task<Result<Done>> start_run(Service& service, const Principal& who, UserId user,
                             const ModuleSchedule& schedule, Instant time) {
  StartRun start;
  start.tenant = who.tenant;
  start.user = std::move(user);
  start.agent = schedule.graph;
  start.input = schedule.input;
  start.queued = true;
  start.thread = ThreadId(schedule.name + " " + to_text(time));
  // A call that is repeated after a crash finds the run.
  start.idempotency_key = start.thread.text;
  auto view = co_await service.start(who, std::move(start));
  if (!view.ok()) co_return std::move(view).error();
  co_return Done{};
}

// Returns false if another process has processed the schedule meanwhile.
Task<Result<bool>> store_time(Runtime& runtime, TenantId tenant, ProcessedSchedule row,
                              std::uint64_t expected_version) {
  BELAY_CO_TRY(RecordWrite write, record_write(row, UserId()));
  write.expected_version = expected_version;
  std::vector<RecordWrite> writes{std::move(write)};
  auto saved = co_await runtime.save(std::move(tenant), std::move(writes));
  if (saved.ok()) co_return true;
  if (saved.error().code == ErrorCode::conflict) co_return false;
  co_return std::move(saved).error();
}

// Returns true if this call has started a run.
Task<Result<bool>> process(Service& service, Runtime& runtime, const Principal& who, UserId user,
                           const ModuleSchedule& schedule, Instant now) {
  auto records = runtime.records(who.tenant, user);
  BELAY_CO_TRY(auto stored, co_await records->get_versioned<ProcessedSchedule>(schedule.name));
  Instant time = time_of_schedule(schedule, now);
  // A clock that was set back starts nothing until it has caught up.
  if (stored && stored->record.last >= time) co_return false;
  if (stored) BELAY_CO_CHECK(co_await start_run(service, who, std::move(user), schedule, time));
  ProcessedSchedule row{schedule.name, time};
  std::uint64_t expected_version = stored ? stored->version : 0;
  BELAY_CO_TRY(bool is_first,
               co_await store_time(runtime, who.tenant, std::move(row), expected_version));
  co_return stored&& is_first;
}

}  // namespace

Result<Done> check_schedule(const ModuleSchedule& schedule) {
  BELAY_CHECK(check_name("schedule", schedule.name));
  constexpr std::size_t name_bytes_max = limits::identifier_bytes_max - 32;  // a time follows
  if (schedule.name.size() > name_bytes_max) {
    return error(ErrorCode::invalid, "The name of the schedule \"" + schedule.name +
                                         "\" is too long: at most " +
                                         std::to_string(name_bytes_max) + " bytes. Shorten it.");
  }
  if (schedule.every < std::chrono::seconds(1)) {
    return error(ErrorCode::invalid, "The schedule \"" + schedule.name +
                                         "\" has an interval below one second. Set `every`.");
  }
  return Done{};
}

Instant time_of_schedule(const ModuleSchedule& schedule, Instant now) {
  Instant::duration every = schedule.every;
  return Instant(now.time_since_epoch() / every * every);
}

Task<Result<std::size_t>> start_scheduled_runs(Service& service, Runtime& runtime,
                                               const Principal& who, UserId user,
                                               std::vector<ModuleSchedule> schedules, Instant now) {
  std::size_t count = 0;
  std::optional<Error> first_error;
  for (const ModuleSchedule& schedule : schedules) {
    auto started = co_await process(service, runtime, who, user, schedule, now);
    if (!started.ok()) {
      if (!first_error) first_error = std::move(started).error();
    } else if (*started) {
      ++count;
    }
  }
  if (first_error) co_return *std::move(first_error);
  co_return count;
}

}  // namespace belay
