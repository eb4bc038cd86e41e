#pragma once
// graph/call_record.h - how a call of the model, or a cost, is kept as a row of the journal.
//
// Names: "model/<attempt>/<n>" is the n-th call of the model in that attempt of the row's task.
// Where the attempt ran again, because it asked a person or because a crash had followed, and then
// made another request at that place, that one is "model/<attempt>/<n>/2", and so on.
// "cost/<attempt>/<name>/<n>" is what Context::reserve() and spend() take for the n-th time.
//
// A row `done` has the reply, `failed` the error, `intended` what is reserved for the call. Which
// request it was, its hash says; the request itself is kept for people, as far as a PromptRedactor
// leaves it, and nothing depends on it.

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

// What the row's envelope holds, as JSON; members without a value are left out.
struct CallRecord {
  std::string request{};  // SHA-256 of the request's text, in hex; empty for a cost
  Value prompt{};         // null: not kept
  std::optional<ModelReply> reply{};
  std::optional<RecordedError> error{};
  // In a run with a budget: what is reserved, and once the call has ended, what it cost.
  std::optional<Cost> cost{};
  // What earlier calls under this name had reserved: their processes died before they ended.
  std::optional<Cost> lost{};
};

inline constexpr std::string_view model_call_prefix = "model/";
inline constexpr std::string_view cost_prefix = "cost/";

inline bool is_model_call(std::string_view name) { return name.starts_with(model_call_prefix); }
// Whether rows of this name are CallRecords.
inline bool is_call_record(std::string_view name) {
  return is_model_call(name) || name.starts_with(cost_prefix);
}

// All of it that decides what is answered: purpose, messages, schema, input, tools and sampling.
Value document_of(const ModelRequest& request);
// Of such a document, in hex.
std::string request_hash(const Value& document);

// Whether JSON can say it.
bool is_recordable(const Value& value);
// `invalid` for a reply that it can't.
Result<std::string> envelope_of(const CallRecord& record);
Result<CallRecord> call_record_in(const EffectRow& row);
RecordedError recorded(const Error& error);
Error error_in(const RecordedError& recorded);

// What the row counts for against its run's budget.
Spending spending_of(const EffectRow& row);

}  // namespace belay
