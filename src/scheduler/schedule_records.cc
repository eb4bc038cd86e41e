#include "scheduler/schedule_records.h"

#include "driver/run_driver.h"

namespace belay::scheduler {

std::unique_ptr<Records> ScheduleRecords::records() const {
  return store_records(store, clock, tenant, UserId());
}

Task<Result<std::optional<Versioned<Schedule>>>> ScheduleRecords::find(std::string id) const {
  auto reader = records();
  auto found = co_await reader->get_versioned<Schedule>(std::move(id));
  co_return std::move(found);
}

Task<Result<bool>> ScheduleRecords::save(TickDecision decision, std::uint64_t version) const {
  std::vector<RecordWrite> writes;
  BELAY_CO_TRY(RecordWrite write, record_write(decision.schedule, UserId()));
  write.expected_version = version;
  writes.push_back(std::move(write));
  for (const ScheduleTick& entry : decision.entries) {
    BELAY_CO_TRY(RecordWrite saved, record_write(entry, UserId()));
    writes.push_back(std::move(saved));
  }
  auto saved = co_await save_records(store, tenant, std::move(writes));
  if (saved.ok()) co_return true;
  if (saved.error().code == ErrorCode::conflict) co_return false;
  co_return std::move(saved).error();
}

Task<Result<Done>> ScheduleRecords::save_entry(ScheduleTick entry) const {
  BELAY_CO_TRY(RecordWrite write, record_write(entry, UserId()));
  std::vector<RecordWrite> writes{std::move(write)};
  co_return co_await save_records(store, tenant, std::move(writes));
}

Task<Result<bool>> ScheduleRecords::erase(Schedule schedule, std::uint64_t version) const {
  BELAY_CO_TRY(RecordWrite write, record_write(schedule, UserId()));
  write.erase = true;
  write.expected_version = version;
  std::vector<RecordWrite> first{std::move(write)};
  // The schedule first: from then on no worker adds an entry. Entries that a crash orphans
  // expire.
  auto erased = co_await save_records(store, tenant, std::move(first));
  if (!erased.ok() && erased.error().code == ErrorCode::conflict) co_return false;
  if (!erased.ok()) co_return std::move(erased).error();
  auto reader = records();
  while (true) {
    RecordSpan span = RecordSpan("schedule").equal_to(schedule.id).limit(100);
    auto page = co_await read_page<ScheduleTick>(*reader, std::move(span));
    if (!page.ok()) co_return std::move(page).error();
    if (page->records.empty()) co_return true;
    std::vector<RecordWrite> writes;
    for (const auto& each : page->records) {
      BELAY_CO_TRY(RecordWrite entry, record_write(each.record, UserId()));
      entry.erase = true;
      writes.push_back(std::move(entry));
    }
    BELAY_CO_CHECK(co_await save_records(store, tenant, std::move(writes)));
  }
}

}  // namespace belay::scheduler
