#pragma once
// service/json_decode.h - the documents of documents.h read back into the rows that they were
// made of: what a client does with a server's answers.
//
// A document says less than a row: what it does not say (an owner, an input, a task) is as in a new
// row, and writing the row again gives the same document. Members that are not known are passed
// over, so a newer Belay may say more.
//
// Errors: `invalid`, naming the document's kind and the member, for what does not fit.

#include "service/service.h"

namespace belay {

// A SHA-256 from its hexadecimal digits; nothing for what is none.
std::optional<Digest> digest_from(std::string_view hex);

Result<RunRow> run_row_from(const Value& summary);
Result<RunView> run_view_from(const Value& document);
Result<ApprovalRow> approval_from(const Value& document);
Result<CheckpointRow> checkpoint_from(const Value& document);
Result<ListedThread> thread_from(const Value& document);
Result<RunHistory> history_from(const Value& document);
Result<StatusSummary> status_summary_from(const Value& document);
Result<ForkPreview> preview_from(const Value& document);
Result<ReplayReport> replay_from(const Value& document);
Result<DecisionResult> decision_from(const Value& document);
Result<OutboxRow> message_from(const Value& document);
Result<Messages> messages_from(const Value& document);
Result<StoreStatistics> statistics_from(const Value& document);
Result<Compaction> compaction_from(const Value& document);
Result<Pruning> pruning_from(const Value& document);
Result<CheckReport> check_from(const Value& document);
Result<StreamEvent> event_from(const Value& document);
Result<RecordRow> record_from_document(const Value& document);
// Nothing for what is no problem (RFC 9457) with a `code` that this Belay knows.
std::optional<Error> error_from_problem(const Value& problem);

// A list within a document: `read` for each item of its member `name`.
template <typename T>
Result<std::vector<T>> items_from(const Value& document, std::string_view name,
                                  Result<T> (*read)(const Value&)) {
  const Value::Array* items = document[name].as_array();
  if (!items) {
    return error(ErrorCode::invalid, "There is no list \"" + std::string(name) + "\" in it.");
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
