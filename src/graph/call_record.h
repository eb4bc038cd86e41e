#pragma once
// graph/call_record.h - the journal row of a model call or of a cost.
//
// Names: "model/<attempt>/<n>" is the n-th model call in that attempt of the row's task. An attempt
// executes again after an interrupt or a crash; if its n-th call then has a different request, the
// row of that call is "model/<attempt>/<n>/2", then "/3", and so on. "cost/<attempt>/<name>/<n>" is
// the n-th cost of that name, from Context::reserve() or spend().
//
// A row with status `done` contains the reply, `failed` the error, `intended` the reserved cost.
// The hash of the request identifies it; the request itself, after a PromptRedactor, is stored only
// for display.

#include <optional>
#include <string>
#include <string_view>

#include "belay/limits.h"
#include "belay/model.h"
#include "belay/result.h"
#include "belay/rows.h"
#include "belay/value.h"

namespace belay {

struct RecordedError {
  std::string code{};
  std::string message{};
  std::optional<std::int64_t> retry_after_ms{};
};

// The JSON content of the row's envelope; members without a value are omitted.
struct CallRecord {
  std::string request{};  // SHA-256 of the request's text, in hex; empty for a cost
  Value prompt{};         // null: not stored
  std::optional<ModelReply> reply{};
  std::optional<RecordedError> error{};
  // In a run with a budget: the reserved cost; after the end of the call, its real cost.
  std::optional<Cost> cost{};
  // The reservations of earlier calls of this name whose process died before the call ended.
  std::optional<Cost> lost{};
};

inline constexpr std::string_view model_call_prefix = "model/";
inline constexpr std::string_view cost_prefix = "cost/";

inline bool is_model_call(std::string_view name) { return name.starts_with(model_call_prefix); }
// Returns whether rows of this name contain a CallRecord.
inline bool is_call_record(std::string_view name) {
  return is_model_call(name) || name.starts_with(cost_prefix);
}

// Returns everything in a request that determines the reply: purpose, messages, schema, input,
// tools and sampling.
Value document_of(const ModelRequest& request);
Value document_of(const std::vector<ToolDefinition>& tools);
// Returns the document without the messages that an earlier request has recorded, but with their
// number as "messagesBefore"; the document itself if recorded_messages is 0.
Value shown_document(const ModelRequest& request, Value document);
// Returns the SHA-256 of a document_of(), in hex.
std::string request_hash(const Value& document);

// Returns whether the value can be stored as JSON: valid UTF-8, finite numbers, not too deep.
bool is_recordable(const Value& value);
// Fails with `invalid` if the record cannot be stored as JSON.
Result<std::string> envelope_of(const CallRecord& record);
Result<CallRecord> call_record_in(const EffectRow& row);
RecordedError recorded(const Error& error);
Error error_in(const RecordedError& recorded);

// Returns the amount by which the row counts against the budget of its run.
Spending spending_of(const EffectRow& row);

}  // namespace belay
