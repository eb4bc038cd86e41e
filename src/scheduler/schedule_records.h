#pragma once
// scheduler/schedule_records.h - reads and saves the records of schedules.

#include "belay/schedule.h"
#include "belay/store.h"
#include "scheduler/tick_decision.h"

namespace belay::scheduler {

struct ScheduleRecords {
  Store& store;
  Clock& clock;
  TenantId tenant;

  std::unique_ptr<Records> records() const;
  // nullopt: the schedule does not exist.
  Task<Result<std::optional<Versioned<Schedule>>>> find(std::string id) const;
  // Saves the schedule, if it still has this version, and the entries, all or none. False: it has
  // another one. Version 0: the schedule must be new.
  Task<Result<bool>> save(TickDecision decision, std::uint64_t version) const;
  Task<Result<Done>> save_entry(ScheduleTick entry) const;
  // Erases a schedule, then its entries. False: it has another version.
  Task<Result<bool>> erase(Schedule schedule, std::uint64_t version) const;
};

}  // namespace belay::scheduler
