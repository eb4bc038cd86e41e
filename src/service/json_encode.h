#pragma once
// service/json_encode.h - what a service answers, as JSON: what --json prints, and what comes over
// HTTP. Members are only ever added: docs/command-line.md has them. from_documents.h reads it back.

#include "service/service.h"

namespace belay {

// Adds what a program knows of its approvals beside: `riskLevel` and the like. May be null.
using ApprovalExtras = std::function<void(const ApprovalRow&, Value::Object&)>;

// Returns when a queued or paused run continues automatically: `dueAt`.
std::optional<Instant> due_of(const RunRow& row);

Value run_document(const RunView& view, const ApprovalExtras& extras);
// The same without its state, its approval and its spending: of a run in a list.
Value run_summary(const RunRow& row);
Value approval_document(const ApprovalRow& row, const ApprovalExtras& extras);
Value checkpoint_document(const CheckpointRow& row);
// A thread with its latest run; null members where there is none.
Value thread_document(const ThreadRow& thread, const std::optional<RunRow>& run);
Value history_document(const RunHistory& history);
// The model's calls with the request, as far as it was kept, and the answer; of effects what they
// came to.
Value calls_document(const RunRow& run, const std::vector<EffectRow>& rows);
Value status_summary_document(const StatusSummary& standing, const ApprovalExtras& extras);
Value preview_document(const ForkPreview& preview, const ApprovalExtras& extras);
Value replay_document(const ReplayReport& report);
Value decision_document(const DecisionResult& answer, const ApprovalExtras& extras);
// Whether the decision is the one that counts, and, where it is not, what became of the approval:
// a sentence without its full stop.
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

// What an approval shows, and what a person made of it: null when the bytes can't be read.
Value payload_of(const ApprovalRow& row);
Value edited_of(const ApprovalRow& row);

// "run/seq/index": what names a message.
std::string message_id(const OutboxRow& row);

std::string_view name_of(DecisionResult::Kind kind);

}  // namespace belay
