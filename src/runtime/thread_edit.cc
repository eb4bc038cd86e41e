#include "runtime/thread_edit.h"

#include <algorithm>

#include "belay/limits.h"
#include "store/thread_reads.h"

namespace belay {
namespace {

Result<Done> check_settings(const ThreadSettings& settings) {
  if (settings.title && settings.title->size() > limits::thread_title_bytes_max) {
    return error(ErrorCode::invalid,
                 "The title has " + std::to_string(settings.title->size()) + " bytes; at most " +
                     std::to_string(limits::thread_title_bytes_max) + " are allowed.");
  }
  bool is_text = !settings.title || (!first_invalid_utf8(*settings.title) &&
                                     settings.title->find('\0') == std::string::npos);
  if (!is_text) return error(ErrorCode::invalid, "The title is not UTF-8, or contains U+0000.");
  if (settings.metadata && !settings.metadata->as_object()) {
    return error(ErrorCode::invalid, "The metadata of a thread must be an object.");
  }
  return Done{};
}

Result<std::string> merged_metadata(const std::string& stored, const Value& changes) {
  Value::Object members;
  if (!stored.empty()) {
    BELAY_TRY(Value before, parse_json(stored, limits::document_depth_max));
    if (before.as_object()) members = std::move(*before.as_object());
  }
  for (const auto& [name, value] : *changes.as_object()) {
    if (value.is_null()) {
      members.erase(name);
    } else {
      members.insert_or_assign(name, value);
    }
  }
  if (members.empty()) return std::string();
  std::string text = to_json(Value(std::move(members)));
  if (text.size() <= limits::thread_metadata_bytes_max) return text;
  return error(ErrorCode::invalid,
               "The metadata would have " + std::to_string(text.size()) + " bytes; at most " +
                   std::to_string(limits::thread_metadata_bytes_max) + " are allowed.");
}

Result<ThreadEdit> edit_of(ThreadRow row, const ThreadSettings& settings, Instant now) {
  ThreadEdit edit;
  edit.expected_updated_at = row.updated_at;
  if (settings.title) row.title = *settings.title;
  if (settings.metadata) {
    BELAY_TRY(row.metadata, merged_metadata(row.metadata, *settings.metadata));
  }
  if (settings.expires_at) row.expires_at = *settings.expires_at;
  // Each edit has another time, even within one tick of the clock: it is the version of the row.
  row.updated_at = std::max(now, row.updated_at + std::chrono::microseconds(1));
  edit.row = std::move(row);
  return edit;
}

}  // namespace

Task<Result<ThreadRow>> edit_thread(RuntimeParts& parts, TenantId tenant, ThreadId thread,
                                    ThreadSettings settings) {
  BELAY_CO_CHECK(check_settings(settings));
  std::function<Result<ThreadRow>(Snapshot&)> reader = [tenant, thread](Snapshot& view) {
    return store::thread_row(view, tenant, thread);
  };
  while (true) {
    std::function<Result<ThreadRow>(Snapshot&)> again = reader;
    auto found = co_await read<ThreadRow>(parts.store, std::move(again));
    if (!found.ok()) co_return std::move(found).error();
    BELAY_CO_TRY(ThreadEdit edit, edit_of(*std::move(found), settings, parts.clock.now()));
    ThreadRow edited = edit.row;
    Commit commit;
    commit.tenant = tenant;
    commit.rows.thread_edit = std::move(edit);
    auto outcome = co_await parts.store.commit(std::move(commit));
    if (!outcome.ok()) co_return std::move(outcome).error();
    if (*outcome == CommitOutcome::applied) co_return std::move(edited);
    // Another edit was committed since the read.
  }
}

}  // namespace belay
