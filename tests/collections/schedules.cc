#include "tests/collections/schedules.h"

namespace belay::collections {
namespace {

constexpr std::size_t schedules_at_once = 20;

Task<Result<Done>> start_run(Runtime& runtime, TenantId tenant, const Schedule& schedule,
                             std::shared_ptr<void> input) {
  StartOptions options;
  options.tenant = std::move(tenant);
  options.user = UserId(schedule.owner);
  options.thread = thread_of(schedule);
  options.idempotency_key = options.thread.text;  // a tick that is repeated finds its run
  auto view =
      co_await runtime.enqueue(schedule.graph, std::move(input), std::move(options), schedule.next);
  if (!view.ok()) co_return std::move(view).error();
  co_return Done{};
}

}  // namespace

ThreadId thread_of(const Schedule& schedule) {
  return ThreadId(schedule.id + " " + to_text(schedule.next));
}

Task<Result<TickReport>> tick(Runtime& runtime, TenantId tenant, Instant now, MakeInput input) {
  TickReport report;
  auto records = runtime.records(tenant, UserId("scheduler"));
  while (true) {
    RecordSpan due = RecordSpan("due").from(false).until(false, now + Instant::duration(1));
    due.limit(schedules_at_once);
    BELAY_CO_TRY(RecordPage<Schedule> page, co_await read_page<Schedule>(*records, due));
    if (page.records.empty()) co_return report;
    for (Versioned<Schedule>& each : page.records) {
      Schedule& schedule = each.record;
      auto started = co_await start_run(runtime, tenant, schedule, input(schedule));
      if (!started.ok()) co_return std::move(started).error();
      // Times that passed while no process was running are skipped.
      auto step = std::chrono::minutes(schedule.minutes);
      schedule.next += step * ((now - schedule.next) / step + 1);
      BELAY_CO_TRY(RecordWrite write, record_write(schedule, UserId()));
      write.expected_version = each.version;
      std::vector<RecordWrite> writes{std::move(write)};
      auto saved = co_await runtime.save(tenant, std::move(writes));
      bool is_overtaken = !saved.ok() && saved.error().code == ErrorCode::conflict;
      if (!saved.ok() && !is_overtaken) co_return std::move(saved).error();
      is_overtaken ? ++report.overtaken : ++report.started;
    }
  }
}

}  // namespace belay::collections
