#pragma once
// service/json_decode.h - converts the documents of json_encode.h back to rows, for clients of a
// server.
//
// A document contains less than its row: other members (an owner, an input, a task) have the values
// of a new row. Encoding the decoded row again returns the same document. Unknown members are
// ignored, so that a newer Belay can add some.
//
// Errors: `invalid`, naming the document's kind and the member.

#include "belay/service.h"

namespace belay {

// Parses the hexadecimal digits of a SHA-256; nullopt if they are invalid.
std::optional<Digest> digest_from(std::string_view hex);

Result<RunRow> run_row_from(const Value& summary);
Result<RunView> run_view_from(const Value& document);
Result<ApprovalRow> approval_from(const Value& document);
Result<CheckpointRow> checkpoint_from(const Value& document);
Result<ListedThread> thread_from(const Value& document);
// The same without its run; and the document of one thread, which is that of its current run.
Result<ThreadRow> thread_row_from(const Value& document);
Result<ListedThread> thread_with_run_from(const Value& document);
Result<std::vector<RunHistory>> history_from(const Value& document);
Result<StatusSummary> status_summary_from(const Value& document);
Result<ForkPreview> preview_from(const Value& document);
Result<ReplayReport> replay_from(const Value& document);
Result<DecisionResult> decision_from(const Value& document);
Result<OutboxRow> message_from(const Value& document);
Result<Messages> messages_from(const Value& document);
Result<StoreStatistics> statistics_from(const Value& document);
Result<Compaction> compaction_from(const Value& document);
Result<ThreadDeletion> deletion_from(const Value& document);
Result<Pruning> pruning_from(const Value& document);
Result<CheckReport> check_from(const Value& document);
Result<StreamEvent> event_from(const Value& document);
Result<RecordRow> record_from_document(const Value& document);
// nullopt if the document is not a problem (RFC 9457) with a `code` that this Belay knows.
std::optional<Error> error_from_problem(const Value& problem);

// Decodes the list in member `name` of a document; `read` decodes each item.
template <typename T>
Result<std::vector<T>> items_from(const Value& document, std::string_view name,
                                  Result<T> (*read)(const Value&)) {
  const Value::Array* items = document[name].as_array();
  if (!items) {
    return error(ErrorCode::invalid, "It has no list \"" + std::string(name) + "\".");
  }
  std::vector<T> all;
  all.reserve(items->size());
  for (const Value& item : *items) {
    BELAY_TRY(T one, read(item));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace belay
