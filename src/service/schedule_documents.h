#pragma once
// service/schedule_documents.h - the documents of schedules, for --json and HTTP, and the reverse
// for clients. docs/command-line.md lists their members; absent values are null.
//
// A decoded schedule has neither its id nor the internal members of the scheduler.

#include <optional>
#include <string>

#include "belay/service.h"

namespace belay {

Value schedule_document(const ScheduleView& view);
Result<ScheduleView> schedule_from(const Value& document);

Value schedules_document(const ListedSchedules& page);
Result<ListedSchedules> schedules_from(const Value& document);

Value schedule_tick_document(const ScheduleTick& tick);
Value schedule_ticks_document(const ScheduleTicks& page);
Result<ScheduleTicks> schedule_ticks_from(const Value& document);

Value backfill_document(const Backfill& backfill);
Result<Backfill> backfill_from(const Value& document);

// The body of a request that adds or changes a schedule. A change has no `name`.
struct ScheduleBody {
  std::optional<std::string> name;
  std::optional<std::string> expression, zone;
  std::optional<std::string> agent, threadId, queue;
  Value input;  // null: unchanged
  std::optional<std::int64_t> priority;
  std::optional<std::string> overlap;
  std::optional<std::int64_t> catchUpSeconds, jitterSeconds;
  std::optional<Durability> durability;
  std::optional<std::int64_t> supersteps;
  Value configuration;  // an object; null: unchanged
  std::optional<Breakpoints> breakpoints;
  std::optional<Instant> endsAt;
  std::optional<bool> paused;
  std::optional<std::string> reason;
};
ScheduleChange schedule_change_of(ScheduleBody body);
// The members of the change that are set.
Value schedule_body(const ScheduleChange& change);

}  // namespace belay
