#include "langgraph/thread_changes.h"

#include <algorithm>

#include "langgraph/records.h"

namespace belay::langgraph {
namespace {

using server::ApiContext;
using server::Call;

// The changes, with the metadata and the expiry of the record, which move to the thread. A record
// that was kept is newer than the thread; otherwise the thread is.
ThreadSettings settings_of(const ThreadView& view, const ThreadSettings& changes) {
  ThreadSettings settings = changes;
  if (!view.record) return settings;
  Value::Object& members = *settings.metadata->as_object();
  bool is_newer = !view.record->kept_by.empty();
  Value stored = stored_metadata(view.listed->thread);
  for (const auto& [name, value] : *view.record->metadata.as_object()) {
    if (is_newer || !stored.find(name)) members.emplace(name, value);
  }
  if (!settings.expires_at) settings.expires_at = view.record->expires;
  return settings;
}

void merge_into(Value& metadata, const Value& changes) {
  Value::Object& members = *metadata.as_object();
  for (const auto& [name, value] : *changes.as_object()) {
    if (value.is_null()) members.erase(name);
    if (!value.is_null()) members.insert_or_assign(name, value);
  }
}

// The record after the change; nullopt if it remains as it is. `is_edited`: the thread of the
// service was changed. Then the record gets another version as well: a request that has read both
// and keeps the thread would lose the change.
Result<std::optional<ThreadRecord>> changed_record(const ThreadView& view,
                                                   const ThreadSettings& changes, bool is_edited,
                                                   Instant now) {
  ThreadRecord record = *view.record;
  record.updated_at = now;
  bool moves = view.listed && !record.is_kept();
  if (!moves) {
    merge_into(record.metadata, *changes.metadata);
    BELAY_CHECK(check_thread_metadata(record.metadata));
    if (changes.expires_at) record.expires = changes.expires_at;
    return std::optional(std::move(record));
  }
  bool has_moved = record.has_begun && record.metadata.as_object()->empty() && !record.expires &&
                   record.kept_by.empty();
  if (has_moved && !is_edited) return std::optional<ThreadRecord>();
  // A crash before this repeats the move.
  record.metadata = Value(Value::Object{});
  record.expires.reset();
  record.has_begun = true;
  record.kept_by.clear();
  return std::optional(std::move(record));
}

// False: the thread was changed since it was read, and the change must be made on it as it is now.
Task<Result<bool>> change_thread_once(ApiContext& world, const Call& call, const ThreadView& view,
                                      const ThreadSettings& changes) {
  bool is_edited = false;
  if (view.listed) {
    ThreadSettings settings = settings_of(view, changes);
    is_edited = !contains_settings(view.listed->thread, settings);
    if (is_edited) {
      ThreadId thread = view.id;
      auto edited =
          co_await call.service.edit_thread(call.who, std::move(thread), std::move(settings));
      bool was_deleted = !edited.ok() && edited.error().code == ErrorCode::not_found;
      if (was_deleted) co_return false;
      if (!edited.ok()) co_return std::move(edited).error();
    }
  }
  if (!view.record) co_return true;
  BELAY_CO_TRY(auto record, changed_record(view, changes, is_edited, world.parts.clock.now()));
  if (!record) co_return true;
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, *record, view.user, view.record_version));
  auto saved = co_await call.service.save_records(call.who, std::move(writes));
  bool is_changed = !saved.ok() && saved.error().code == ErrorCode::conflict;
  if (is_changed) co_return false;
  if (!saved.ok()) co_return std::move(saved).error();
  co_return true;
}

// The record of a thread that loses its runs, and exists without them.
ThreadRecord remaining_thread(const ThreadView& view, std::string by, Instant now) {
  ThreadRecord record;
  if (view.record) record = *view.record;
  record.id = view.id.text;
  record.metadata = view.metadata();
  record.expires = view.expiry();
  record.created_at = view.created_at();
  record.updated_at = now;
  record.has_begun = false;
  record.kept_by = std::move(by);
  return record;
}

}  // namespace

Task<Result<Done>> change_thread(ApiContext& world, const Call& call, ThreadView view,
                                 ThreadSettings changes) {
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    BELAY_CO_TRY(bool is_done, co_await change_thread_once(world, call, view, changes));
    if (is_done) co_return Done{};
    ThreadId thread = view.id;
    BELAY_CO_TRY(view, co_await find_thread(world, call, std::move(thread)));
  }
  co_return changed_too_often(view.id);
}

bool contains_settings(const ThreadRow& thread, const ThreadSettings& settings) {
  if (settings.expires_at && *settings.expires_at != thread.expires_at) return false;
  Value stored = stored_metadata(thread);
  const Value::Object& wanted = *settings.metadata->as_object();
  return std::all_of(wanted.begin(), wanted.end(), [&stored](const auto& member) {
    const Value* found = stored.find(member.first);
    return member.second.is_null() ? !found : found && *found == member.second;
  });
}

Result<Done> check_thread_metadata(const Value& metadata) {
  if (to_json(metadata).size() <= limits::thread_metadata_bytes_max) return Done{};
  return error(ErrorCode::invalid, "The metadata is too large: at most " +
                                       std::to_string(limits::thread_metadata_bytes_max) +
                                       " bytes are allowed.");
}

Task<Result<Done>> note_run_on_thread(ApiContext& world, const Call& call, ThreadId thread,
                                      std::string graph_id, std::string assistant_id) {
  BELAY_CO_TRY(ThreadView view, co_await find_thread(world, call, std::move(thread)));
  if (!view.listed) co_return Done{};  // it was deleted since the start
  ThreadSettings changes;
  changes.metadata =
      Value::object({{"graph_id", std::move(graph_id)}, {"assistant_id", std::move(assistant_id)}});
  auto noted = co_await change_thread(world, call, std::move(view), std::move(changes));
  // Deleted, too, or changed by many requests: the next run moves the rest.
  bool is_overtaken = !noted.ok() && (noted.error().code == ErrorCode::not_found ||
                                      noted.error().code == ErrorCode::conflict);
  if (is_overtaken) co_return Done{};
  co_return std::move(noted);
}

Task<Result<Done>> keep_thread(AgentServer& served, const Call& call, ThreadView view,
                               std::string by) {
  ThreadRecord remaining = remaining_thread(view, std::move(by), served.world.parts.clock.now());
  std::vector<RecordWrite> writes;
  BELAY_CO_CHECK(add_write(writes, remaining, view.user, view.record ? view.record_version : 0));
  co_return co_await call.service.save_records(call.who, std::move(writes));
}

Task<Done> keep_no_longer(AgentServer& served, const Call& call, ThreadId thread, std::string by,
                          Error refused) {
  // After the others, the run can exist.
  bool is_refused = refused.code != ErrorCode::unavailable && refused.code != ErrorCode::uncertain;
  if (!is_refused) co_return Done{};
  auto view = co_await find_thread(served.world, call, std::move(thread));
  bool is_own = view.ok() && view->record && view->record->is_kept() && view->record->kept_by == by;
  if (!is_own) co_return Done{};
  if (view->listed) {
    // One attempt: after a change by another request, the record is not the one that was read.
    ThreadSettings none;
    none.metadata = Value(Value::Object{});
    view->record->kept_by.clear();
    (void)co_await change_thread_once(served.world, call, *view, none);
    co_return Done{};
  }
  // Otherwise, the start itself has deleted the runs: the thread remains.
  if (refused.code != ErrorCode::not_found) co_return Done{};
  co_return co_await erase_thread_record(call, std::move(view->id), std::move(view->user),
                                         view->record_version);
}

}  // namespace belay::langgraph
