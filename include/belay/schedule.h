#pragma once
// belay/schedule.h - schedules: runs that start at the ticks of a cron expression.
//
//     ScheduleChange wanted;
//     wanted.expression = "0 9 * * MON-FRI";
//     wanted.zone = "Europe/Madrid";
//     wanted.agent = "assistant";
//     wanted.input = Value::object({{"request", "Summarize the new letters"}});
//     auto added = co_await service.schedules().add(who, user, "letters", std::move(wanted));
//
// A tick is an instant at which the schedule fires. Each tick is decided exactly once, by any
// number of workers and after any crash: it starts a run, waits, is skipped, or is missed; a
// ScheduleTick records the decision and its reason. The run of a tick has an idempotency key that
// contains the tick, therefore a repeated start, or a backfill, finds the run of the first.
//
// Workers and servers decide the ticks. The ticks of an outage that are older than the catch-up
// window are missed, and are recorded as one entry. A clock that is set back repeats no tick.
// docs/schedules.md defines the expressions, the time zones and the changes of the clock.

#include "belay/collection.h"
#include "belay/principal.h"
#include "belay/runtime.h"

namespace belay {

// The decision on a tick while the run of an earlier tick has not ended.
enum class Overlap {
  skip,          // the tick starts nothing
  buffer_one,    // it starts its run when the earlier run has ended; only one tick waits
  allow,         // it starts its run, too
  cancel_other,  // the earlier run is cancelled
};
std::string_view name_of(Overlap overlap);
std::optional<Overlap> overlap_named(std::string_view name);

// The run that a tick starts.
struct ScheduledRun {
  std::string agent{};
  Value input = Value::Object();  // the members of the agent's state
  std::string thread{};           // empty: the thread "NAME TICK", a new one for each tick
  std::string queue = std::string(default_queue);
  std::int64_t priority = 0;
  // As in RunSettings; unset, 0 and empty: the defaults of the server.
  std::optional<Durability> durability{};
  std::int64_t supersteps = 0;
  std::string configuration{};
  Breakpoints breakpoints{};
};

struct Schedule {
  static constexpr std::string_view collection = "schedules";
  static constexpr bool is_of_tenant = true;  // the scheduler reads those of all users

  std::string id{};  // of the user and the name
  std::string user{}, name{};
  ScheduledRun run{};
  std::string expression{};
  std::string zone = "UTC";
  std::string overlap = "skip";        // name_of(Overlap)
  std::int64_t catch_up_seconds = 60;  // older ticks are missed
  std::int64_t jitter_seconds = 0;     // the longest delay of a tick
  bool paused = false;
  std::string reason{};  // of the pause
  std::string module{};  // the module that declares it; empty: a user has added it
  Instant ends_at{};     // later ticks do not fire; unset: never
  Instant created_at{}, updated_at{};

  // The state of the scheduler.
  Instant decided{};  // the last tick that was decided, or the creation or resumption
  bool waits = true;  // false: paused, or without a further tick
  Instant wake{};     // the scheduler reads a schedule that waits at this time
  std::optional<Instant> starting{};  // a tick whose run is being started
  bool starting_cancels = false;      // the last run is cancelled first
  ScheduledRun starting_run{};        // as it was when the tick was decided
  std::optional<Instant> buffered{};  // a tick that waits for the end of the last run
  std::string last_run{}, last_thread{};
  std::string last_error{};               // of the last tick that could not start its run
  std::optional<Instant> skipped_from{};  // the first of the ticks that the last entry skips
  std::int64_t skipped_together = 0;      // and their number
  std::int64_t started = 0, skipped = 0, missed = 0, failed = 0;  // ticks

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  static auto ordered() {
    return std::tuple{ordered_index("due", &Schedule::waits, &Schedule::wake),
                      ordered_index("user", &Schedule::user, &Schedule::name)};
  }
};

// A decided tick, or successive ticks with the same decision.
struct ScheduleTick {
  static constexpr std::string_view collection = "schedule_ticks";
  static constexpr bool is_of_tenant = true;

  std::string schedule{};  // Schedule::id
  Instant at{};            // the first tick
  Instant until{};         // the last one
  std::int64_t count = 1;
  std::string decision{};  // started, buffered, skipped, missed, failed
  std::string reason{};
  std::string run{}, thread{};  // of a tick that has started one
  bool by_hand = false;         // started by run_now() or backfill(), not by the scheduler
  Instant decided_at{};

  std::string key() const;
  static auto indexed() { return std::tuple(); }
  static auto ordered() {
    return std::tuple{ordered_index("schedule", &ScheduleTick::schedule, &ScheduleTick::at)};
  }
  Instant expires_at() const { return decided_at + limits::schedule_ticks_kept; }
};

// The members to set; unset ones remain unchanged, or have the defaults of Schedule.
struct ScheduleChange {
  std::optional<std::string> expression{}, zone{};
  std::optional<std::string> agent{}, thread{}, queue{};
  std::optional<Value> input{};
  std::optional<std::int64_t> priority{};
  std::optional<std::string> overlap{};
  std::optional<std::int64_t> catch_up_seconds{}, jitter_seconds{};
  std::optional<Durability> durability{};
  std::optional<std::int64_t> supersteps{};
  std::optional<std::string> configuration{};
  std::optional<Breakpoints> breakpoints{};
  std::optional<Instant> ends_at{};
  std::optional<bool> paused{};
  std::optional<std::string> reason{};  // only with `paused`
};

struct ScheduleView {
  Schedule schedule;
  std::string description;    // "At 09:00 on Monday to Friday (Europe/Madrid)"
  std::vector<Instant> next;  // the next ticks, without their jitter
};

struct SchedulePage {
  std::optional<UserId> user{};  // only schedules of this user
  std::string after{};           // `next` of the page before
  std::size_t limit = 100;
};
struct ListedSchedules {
  std::vector<ScheduleView> schedules;  // ordered by user and name
  std::string next;                     // empty: the last page
};

struct ScheduleTicks {
  std::vector<ScheduleTick> ticks;  // newest first
  std::string next;
};

struct BackfillRange {
  Instant after{}, until{};  // ticks after the first and up to the second
  bool dry_run = false;      // only counts
};
struct Backfill {
  std::int64_t ticks = 0;    // of the range
  std::int64_t started = 0;  // runs that this call has started; the others had a run before
  std::optional<Instant> first{}, last{};
};

// The operations on schedules: a part of Service, whose rules on principals apply. A user's data
// include its schedules.
//
// Errors: `not_found` for an unknown schedule; `invalid` with the name of the member for an invalid
// one; `conflict` if a schedule of this name exists, or was changed ten times meanwhile.
class Schedules {
 public:
  virtual ~Schedules() = default;

  // Adds a schedule, or returns the stored one if it was added before with the same members.
  virtual Task<Result<ScheduleView>> add(const Principal& who, UserId user, std::string name,
                                         ScheduleChange wanted) = 0;
  // Ticks that were decided before the change are not decided again. A resumed schedule continues
  // with the first tick after now.
  virtual Task<Result<ScheduleView>> edit(const Principal& who, UserId user, std::string name,
                                          ScheduleChange change) = 0;
  // `count`: of the next ticks, at most 100.
  virtual Task<Result<ScheduleView>> show(const Principal& who, UserId user, std::string name,
                                          std::size_t count) = 0;
  virtual Task<Result<ListedSchedules>> list(const Principal& who, SchedulePage page) = 0;
  // Removes the schedule and its ticks. Runs that it has started continue.
  virtual Task<Result<Done>> remove(const Principal& who, UserId user, std::string name) = 0;
  // Starts a run now, in the queue, whatever the overlap policy. `key`: an idempotency key.
  virtual Task<Result<RunView>> run_now(const Principal& who, UserId user, std::string name,
                                        std::string key) = 0;
  // Starts the runs of past ticks, in the queue, one for each that has none. `invalid` for a range
  // with more than limits::backfill_ticks_max ticks, or in the future.
  virtual Task<Result<Backfill>> backfill(const Principal& who, UserId user, std::string name,
                                          BackfillRange range) = 0;
  virtual Task<Result<ScheduleTicks>> ticks(const Principal& who, UserId user, std::string name,
                                            std::string after, std::size_t limit) = 0;
};

}  // namespace belay
