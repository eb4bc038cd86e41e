#pragma once
// service/json_encode.h - converts results of a service to JSON, for --json and HTTP.
//
// Members are only ever added, never removed: see docs/command-line.md. json_decode.h is the
// inverse.

#include "belay/service.h"

namespace belay {

// Adds a program's own members to the document of an approval, such as `riskLevel`. May be null.
using ApprovalExtras = std::function<void(const ApprovalRow&, Value::Object&)>;

// Returns the time at which a queued or paused run continues automatically: `dueAt`.
std::optional<Instant> due_of(const RunRow& row);

Value text_or_null(const std::string& text);  // null for an empty text

Value run_document(const RunView& view, const ApprovalExtras& extras);
// A run in a list: run_document() without state, approval and spending.
Value run_summary(const RunRow& row);
// Replaces the status of a run by "code_gone", and adds the stored one as "storedStatus".
void mark_code_gone(Value& run);
Value run_summary_with_input(const RunRow& row);
Value approval_document(const ApprovalRow& row, const ApprovalExtras& extras);
Value checkpoint_document(const CheckpointRow& row);
// A thread and its current run; null members if it has none. thread_details(): without the run.
Value thread_document(const ThreadRow& thread, const std::optional<RunRow>& run);
// The same, with the status "code_gone", and "codeGone", if no graph can continue that run.
Value thread_document(const ListedThread& listed);
Value thread_details(const ListedThread& listed);
Value thread_details(const ThreadRow& thread, const std::optional<RunRow>& run);
// Model calls with their requests, as far as the journal contains them, and replies; effects with
// their results.
Value calls_document(const RunRow& run, const std::vector<EffectRow>& rows);
Value status_summary_document(const StatusSummary& standing, const ApprovalExtras& extras);
Value preview_document(const ForkPreview& preview, const ApprovalExtras& extras);
Value replay_document(const ReplayReport& report);
Value decision_document(const DecisionResult& answer, const ApprovalExtras& extras);
// is_made(): true if the decision is the recorded one. refusal_text(): otherwise, the reason, as a
// sentence without a full stop.
bool is_made(const DecisionResult& answer);
std::string refusal_text(const DecisionResult& answer);
Value message_document(const OutboxRow& row);
Value messages_document(const Messages& messages);
Value statistics_document(const StoreStatistics& found);
Value compaction_document(const Compaction& done);
Value pruning_document(const Pruning& done);
Value check_document(const CheckReport& report);
Value agent_document(const GraphDefinition& graph);
Value error_document(const Error& failed);

// Returns the id of a message: "run/seq/index".
std::string message_id(const OutboxRow& row);

std::string_view name_of(DecisionResult::Kind kind);
// The same in documents of versions before the rename: "won", "same", "lost".
std::string_view former_name_of(DecisionResult::Kind kind);

}  // namespace belay
