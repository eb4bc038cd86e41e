#include "langgraph/cron_records.h"

#include <algorithm>

#include "langgraph/cron_runs.h"
#include "langgraph/records.h"

namespace belay::langgraph {
namespace {

using server::Call;

// The reason of the pause of a schedule whose cron is not complete.
constexpr std::string_view kBeingSaved = "The cron is being saved.";
constexpr std::string_view kBeingDeleted = "The cron is being deleted.";

Error no_cron(std::string_view id) {
  return error(ErrorCode::not_found, "Cron \"" + std::string(id.substr(0, 200)) + "\" not found.");
}

Task<Result<Versioned<CronRecord>>> cron_record(const Call& call, UserId user, std::string id) {
  auto uuid = uuid_from(id);
  if (!uuid) co_return no_cron(id);
  auto records = records_of(call.service, call.who, std::move(user));
  std::string key = uuid->text();
  BELAY_CO_TRY(auto found, co_await records->get_versioned<CronRecord>(std::move(key)));
  if (!found) co_return no_cron(id);
  co_return *std::move(found);
}

Task<Result<Done>> save_cron(const Call& call, UserId user, const CronRecord& record,
                             std::uint64_t expected) {
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, record, user, expected));
  co_return co_await call.service.save_records(call.who, std::move(writes));
}

Task<Result<Done>> remove_schedule(const Call& call, UserId user, std::string name) {
  auto removed =
      co_await call.service.schedules().remove(call.who, std::move(user), std::move(name));
  bool is_absent = !removed.ok() && removed.error().code == ErrorCode::not_found;
  if (is_absent) co_return Done{};
  co_return std::move(removed);
}

Task<Result<ScheduleView>> edit_schedule(const Call& call, UserId user, std::string name,
                                         ScheduleChange change) {
  co_return co_await call.service.schedules().edit(call.who, std::move(user), std::move(name),
                                                   std::move(change));
}

// Pauses a schedule before its removal: a tick that is decided between the endings of the runs and
// the removal would have none.
Task<Result<Done>> stop_schedule(const Call& call, UserId user, std::string name) {
  ScheduleChange paused;
  paused.paused = true;
  paused.reason = kBeingDeleted;
  auto stopped = co_await edit_schedule(call, std::move(user), std::move(name), std::move(paused));
  bool is_absent = !stopped.ok() && stopped.error().code == ErrorCode::not_found;
  if (!stopped.ok() && !is_absent) co_return std::move(stopped).error();
  co_return Done{};
}

// Saves which endings the runs of the cron have.
Task<Result<Done>> watch_cron(AgentServer& served, const Cron& cron, bool changed) {
  const CronRecord& record = cron.record;
  CronWatch watch;
  watch.id = record.id;
  watch.user = cron.view.schedule.user;
  watch.schedule = record.schedule_name();
  const std::string* webhook = record.payload["webhook"].as_string();
  if (webhook) watch.webhook = *webhook;
  watch.deletes_threads = record.deletes_threads;
  co_return co_await served.cron_runs->watch(std::move(watch), changed);
}

bool is_same_cron(const Cron& cron, const CronRecord& record, const ScheduleChange& change) {
  const Schedule& schedule = cron.view.schedule;
  return cron.record.assistant_id == record.assistant_id &&
         cron.record.thread_id == record.thread_id && cron.record.payload == record.payload &&
         cron.record.deletes_threads == record.deletes_threads &&
         cron.record.metadata == record.metadata && schedule.expression == change.expression &&
         (!change.zone || schedule.zone == *change.zone);
}

// Saves the schedule, paused for the reason kBeingSaved, and the record.
Task<Result<Cron>> save_new_cron(const Call& call, UserId user, CronRecord record,
                                 ScheduleChange change) {
  Cron cron;
  cron.record = std::move(record);
  change.paused = true;
  change.reason = kBeingSaved;
  std::string name = cron.record.schedule_name();
  UserId owner = user;
  BELAY_CO_TRY(cron.view, co_await call.service.schedules().add(
                              call.who, std::move(owner), std::move(name), std::move(change)));
  owner = user;
  auto saved = co_await save_cron(call, std::move(owner), cron.record, 0);
  if (saved.ok()) co_return std::move(cron);
  // Race: the same request was faster.
  bool was_late = saved.error().code == ErrorCode::conflict;
  std::string id = cron.record.id;
  if (was_late) co_return co_await find_cron(call, std::move(user), std::move(id));
  name = cron.record.schedule_name();
  BELAY_CO_CHECK(co_await remove_schedule(call, std::move(user), std::move(name)));
  co_return std::move(saved).error();
}

}  // namespace

Value cron_document(const Cron& cron) {
  const CronRecord& record = cron.record;
  const Schedule& schedule = cron.view.schedule;
  const std::vector<Instant>& next = cron.view.next;
  bool has_next = !schedule.paused && !next.empty();
  Instant updated = std::max(record.updated_at, schedule.updated_at);
  bool ends = schedule.ends_at != Instant();
  return Value::object({{"cron_id", record.id},
                        {"assistant_id", record.assistant_id},
                        {"thread_id", record.thread_id.empty() ? Value() : Value(record.thread_id)},
                        {"schedule", schedule.expression},
                        {"timezone", schedule.zone},
                        {"end_time", ends ? Value(to_text(schedule.ends_at)) : Value()},
                        {"enabled", !schedule.paused},
                        {"payload", record.payload},
                        {"user_id", schedule.user},
                        {"next_run_date", has_next ? Value(to_text(next.front())) : Value()},
                        {"created_at", to_text(record.created_at)},
                        {"updated_at", to_text(updated)},
                        {"metadata", record.metadata},
                        {"on_run_completed", record.deletes_threads ? "delete" : "keep"}});
}

Task<Result<std::vector<Cron>>> all_crons(const Call& call) {
  std::map<std::string, ScheduleView> views;
  SchedulePage page;
  page.user = call.who.user;
  page.limit = limits::list_rows_max;
  do {
    SchedulePage wanted = page;
    BELAY_CO_TRY(ListedSchedules listed,
                 co_await call.service.schedules().list(call.who, std::move(wanted)));
    for (ScheduleView& each : listed.schedules) {
      std::string name = each.schedule.name;
      views.insert_or_assign(std::move(name), std::move(each));
    }
    page.after = std::move(listed.next);
  } while (!page.after.empty());
  RecordFilter filter;
  BELAY_CO_TRY(
      UserRecords<CronRecord> found,
      co_await read_records<CronRecord>(call.service, call.who, call.who.user, std::move(filter)));
  std::vector<Cron> crons;
  for (auto& each : found.records) {
    auto view = views.find(each.record.schedule_name());
    if (view == views.end()) continue;
    crons.push_back({std::move(each.record), each.version, std::move(view->second)});
  }
  co_return std::move(crons);
}

Task<Result<Cron>> find_cron(const Call& call, UserId user, std::string id) {
  UserId owner = user;
  std::string named = id;
  BELAY_CO_TRY(Versioned<CronRecord> found,
               co_await cron_record(call, std::move(owner), std::move(named)));
  std::string name = found.record.schedule_name();
  auto view = co_await call.service.schedules().show(call.who, std::move(user), std::move(name), 1);
  if (!view.ok() && view.error().code == ErrorCode::not_found) co_return no_cron(id);
  if (!view.ok()) co_return std::move(view).error();
  Cron cron{std::move(found.record), found.version, *std::move(view)};
  co_return std::move(cron);
}

Result<std::string> new_cron_id(AgentServer& served, const Call& call) {
  std::string key(call.request.header("Idempotency-Key"));
  if (key.empty()) return random_uuid(served.world.parts.random).text();
  BELAY_CHECK(check_name("Idempotency-Key", key));
  return derived_uuid("cron" + std::string(1, '\0') + call.who.user.text + '\0' + key).text();
}

Task<Result<Cron>> add_cron(AgentServer& served, const Call& call, UserId user, CronRecord record,
                            ScheduleChange change, bool enabled) {
  UserId owner = user;
  std::string id = record.id;
  auto known = co_await find_cron(call, std::move(owner), std::move(id));
  bool is_new = !known.ok() && known.error().code == ErrorCode::not_found;
  if (!known.ok() && !is_new) co_return std::move(known).error();
  if (known.ok() && !is_same_cron(*known, record, change)) {
    co_return error(ErrorCode::conflict, "The Idempotency-Key names another cron.");
  }
  Cron cron;
  if (is_new) {
    owner = user;
    BELAY_CO_TRY(
        cron, co_await save_new_cron(call, std::move(owner), std::move(record), std::move(change)));
  } else {
    cron = *std::move(known);
  }
  if (cron.view.schedule.reason != kBeingSaved) co_return std::move(cron);
  BELAY_CO_CHECK(co_await watch_cron(served, cron, false));
  ScheduleChange complete;
  complete.paused = !enabled;
  std::string name = cron.record.schedule_name();
  BELAY_CO_TRY(cron.view,
               co_await edit_schedule(call, std::move(user), std::move(name), std::move(complete)));
  co_return std::move(cron);
}

Task<Result<Cron>> change_cron(AgentServer& served, const Call& call, Cron cron,
                               ScheduleChange change) {
  const UserId user(cron.view.schedule.user);
  UserId owner = user;
  std::string name = cron.record.schedule_name();
  BELAY_CO_TRY(cron.view,
               co_await edit_schedule(call, std::move(owner), std::move(name), std::move(change)));
  owner = user;
  BELAY_CO_CHECK(co_await save_cron(call, std::move(owner), cron.record, cron.version));
  BELAY_CO_CHECK(co_await watch_cron(served, cron, true));
  co_return std::move(cron);
}

Task<Result<Done>> delete_cron(AgentServer& served, const Call& call, UserId user, std::string id) {
  UserId owner = user;
  BELAY_CO_TRY(Versioned<CronRecord> found,
               co_await cron_record(call, std::move(owner), std::move(id)));
  std::string name = found.record.schedule_name();
  owner = user;
  BELAY_CO_CHECK(co_await stop_schedule(call, std::move(owner), std::move(name)));
  std::string watched = found.record.id;
  BELAY_CO_CHECK(co_await served.cron_runs->finish(std::move(watched)));
  name = found.record.schedule_name();
  owner = user;
  BELAY_CO_CHECK(co_await remove_schedule(call, std::move(owner), std::move(name)));
  CronWatch nothing;
  nothing.id = found.record.id;
  BELAY_CO_CHECK(co_await served.cron_runs->watch(std::move(nothing), true));
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(CronRecord::collection, user, found.record.id));
  co_return co_await call.service.save_records(call.who, std::move(writes));
}

}  // namespace belay::langgraph
