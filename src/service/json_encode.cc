// Long on purpose: all documents follow the same rules.

#include "service/json_encode.h"

#include "graph/call_record.h"
#include "service/approval_terms_json.h"
#include "service/thread_history.h"

namespace belay {
namespace {

constexpr const char* kCodeGoneStatus = "code_gone";

Value id_or_null(const Uuid& id) { return id.is_null() ? Value() : Value(id.text()); }

Value in_envelope(const std::string& envelope) {
  if (envelope.empty()) return Value();
  auto json = json_in_envelope(envelope);
  if (!json.ok()) return Value();
  return parse_json(*json).value_or(Value());
}

Value run_error(const RunRow& row) {
  if (row.status != RunStatus::failed && row.error.empty()) return Value();
  return Value::object({{"code", row.error_code}, {"message", row.error}});
}

Value texts(const std::vector<std::string>& words) {
  Value::Array array;
  for (const std::string& word : words) array.emplace_back(word);
  return Value(std::move(array));
}

// The choice that an expiry makes, unless it rejects; empty: it rejects.
std::string choice_after_expiry(const ApprovalRow& row) {
  auto terms = terms_of(row);
  bool rejects = !terms.ok() || terms->when_expired == "reject";
  return rejects ? std::string() : terms->when_expired;
}

Value roles_of(const ApprovalRow& row) {
  Value::Array roles;
  std::string_view rest = row.roles;
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find(','), rest.size());
    roles.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return Value(std::move(roles));
}

Value due_or_null(const RunRow& row) {
  auto due = due_of(row);
  return due ? Value(to_text(*due)) : Value();
}

Value moment_or_null(Instant at) { return at == Instant{} ? Value() : Value(to_text(at)); }

// Without metadata: an object without members.
Value metadata_of(const ThreadRow& thread) {
  if (thread.metadata.empty()) return Value(Value::Object{});
  return parse_json(thread.metadata).value_or(Value(Value::Object{}));
}

Value standing_runs(const std::vector<RunRow>& rows) {
  Value::Array documents;
  for (const RunRow& row : rows) {
    documents.push_back(Value::object({{"threadId", row.thread.text},
                                       {"runId", row.run.text()},
                                       {"agent", row.graph},
                                       {"status", name_of(row.status)},
                                       {"currentNode", row.node},
                                       {"dueAt", due_or_null(row)}}));
  }
  return documents;
}

}  // namespace

std::optional<Instant> due_of(const RunRow& row) {
  bool waits = row.status == RunStatus::queued || row.status == RunStatus::paused;
  if (!waits || row.due_at == Instant{}) return std::nullopt;
  return row.due_at;
}

Value run_summary(const RunRow& row) {
  Value document = Value::object({
      {"threadId", row.thread.text},
      {"runId", row.run.text()},
      {"agent", row.graph},
      {"userId", row.user.text},
      {"status", name_of(row.status)},
      {"reason", text_or_null(row.reason)},
      {"outcome", text_or_null(row.outcome)},
      {"success", !has_failed(row.status)},
      {"currentNode", row.node},
      {"seq", row.seq},
      {"retryCount", row.retry_count},
      {"workedMs", row.worked_ms},
      {"createdAt", to_text(row.created_at)},
      {"updatedAt", to_text(row.updated_at)},
      {"dueAt", due_or_null(row)},
      {"error", run_error(row)},
  });
  Value::Object& members = *document.as_object();
  if (row.queue != default_queue) members.emplace("queue", row.queue);
  if (row.priority != 0) members.emplace("priority", row.priority);
  if (!row.concurrency_key.empty()) members.emplace("concurrencyKey", row.concurrency_key);
  if (row.ordinal != 0) members.emplace("ordinal", row.ordinal);
  return document;
}

void mark_code_gone(Value& run) {
  Value::Object& members = *run.as_object();
  members["storedStatus"] = std::exchange(members["status"], Value(kCodeGoneStatus));
}

Value run_summary_with_input(const RunRow& row) {
  Value document = run_summary(row);
  document.as_object()->emplace("input", in_envelope(row.input));
  return document;
}

Value payload_of(const ApprovalRow& row) { return in_envelope(row.payload); }

Value edited_of(const ApprovalRow& row) {
  auto reply = reply_of(row);
  return reply.ok() ? std::move(reply->edited).value_or(Value()) : Value();
}

Value approval_document(const ApprovalRow& row, const ApprovalExtras& extras) {
  // The votes of an approval that needs several decisions have a time, too, although it is open, or
  // was closed without a decision.
  bool is_undecided = row.status == ApprovalStatus::open || row.status == ApprovalStatus::closed;
  bool decided = row.decided_at != Instant{} && !is_undecided;
  Value document = Value::object({
      {"interruptId", row.interrupt.text()},
      {"threadId", row.thread.text},
      {"runId", row.run.text()},
      {"agent", row.graph},
      {"userId", row.user.text},
      {"node", row.node},
      {"question", row.question},
      {"status", name_of(row.status)},
      {"payload", payload_of(row)},
      {"payloadHash", to_hex(row.payload_hash)},
      {"createdAt", to_text(row.created_at)},
      {"expiresAt", expiry_value(row)},
      {"roles", roles_of(row)},
      {"decidedAt", decided ? Value(to_text(row.decided_at)) : Value()},
      {"decidedBy", text_or_null(row.decided_by)},
      {"onBehalfOf", text_or_null(row.on_behalf_of)},
      {"comment", text_or_null(row.comment)},
      {"editedPayload", edited_of(row)},
  });
  add_terms(row, *document.as_object());
  if (extras) extras(row, *document.as_object());
  return document;
}

namespace {

Value effect_documents(const std::vector<EffectRow>& rows) {
  Value::Array effects;
  for (const EffectRow& row : rows) {
    effects.push_back(Value::object({{"name", row.name},
                                     {"node", row.node},
                                     {"class", name_of(row.effect_class)},
                                     {"status", name_of(row.status)},
                                     {"attempts", row.attempt},
                                     {"createdAt", to_text(row.created_at)}}));
  }
  return Value(std::move(effects));
}

}  // namespace

Value run_document(const RunView& view, const ApprovalExtras& extras) {
  Value document = run_summary(view.row);
  document.as_object()->emplace("state", view.state);
  Value approval;
  if (view.approval) approval = approval_document(*view.approval, extras);
  document.as_object()->emplace("approval", std::move(approval));
  Value spending;
  if (view.spending) {
    spending = Value::object({{"tokens", view.spending->spent.tokens},
                              {"money", view.spending->spent.money},
                              {"reservedTokens", view.spending->reserved.tokens},
                              {"reservedMoney", view.spending->reserved.money}});
  }
  document.as_object()->emplace("spending", std::move(spending));
  if (!view.uncertain.empty()) {
    document.as_object()->emplace("uncertainEffects", effect_documents(view.uncertain));
  }
  document.as_object()->emplace("heldBy", text_or_null(view.held_by));
  if (!view.code_gone.empty()) mark_code_gone(document);
  if (!view.materials.is_null()) document.as_object()->emplace("materials", view.materials);
  return document;
}

Value checkpoint_document(const CheckpointRow& row) {
  return Value::object({
      {"checkpointId", row.id.text()},
      {"parentId", id_or_null(row.parent)},
      {"seq", row.seq},
      {"epoch", row.epoch},
      {"kind", name_of(row.kind)},
      {"node", text_or_null(row.node)},
      {"superstep", row.superstep},
      {"status", name_of(row.status)},
      {"retryCount", row.retry_count},
      {"createdAt", to_text(row.created_at)},
      {"hash", to_hex(row.chain_hash)},
  });
}

Value thread_details(const ThreadRow& thread, const std::optional<RunRow>& run) {
  return Value::object({
      {"threadId", thread.thread.text},
      {"agent", thread.graph},
      {"userId", thread.user.text},
      {"createdAt", to_text(thread.created_at)},
      {"status", run ? Value(name_of(thread_status(*run))) : Value()},
      {"title", text_or_null(thread.title)},
      {"metadata", metadata_of(thread)},
      {"expiresAt", moment_or_null(thread.expires_at)},
      {"updatedAt", moment_or_null(thread.updated_at)},
  });
}

Value thread_document(const ThreadRow& thread, const std::optional<RunRow>& run) {
  Value document = thread_details(thread, run);
  document.as_object()->emplace("run", run ? run_summary(*run) : Value());
  return document;
}

Value thread_details(const ListedThread& listed) {
  Value document = thread_details(listed.thread, listed.run);
  if (listed.code_gone) document.as_object()->insert_or_assign("status", kCodeGoneStatus);
  return document;
}

Value thread_document(const ListedThread& listed) {
  Value document = thread_document(listed.thread, listed.run);
  if (!listed.code_gone) return document;
  document.as_object()->emplace("codeGone", true);
  document.as_object()->insert_or_assign("status", kCodeGoneStatus);
  Value& run = (*document.as_object())["run"];
  if (run.as_object()) mark_code_gone(run);
  return document;
}

Value history_document(const std::vector<RunHistory>& history, std::size_t limit) {
  if (history.empty()) return Value(Value::Object{});
  Value::Array checkpoints, runs;
  for (const RunHistory& each : history) {
    runs.push_back(run_summary(each.run));
    for (std::size_t i = 0; i < each.checkpoints.size(); ++i) {
      Value document = checkpoint_document(each.checkpoints[i]);
      document.as_object()->emplace("runId", each.run.run.text());
      bool has_bill = i < each.materials.size() && !each.materials[i].is_null();
      if (has_bill) document.as_object()->emplace("materials", each.materials[i]);
      checkpoints.push_back(std::move(document));
    }
  }
  Value following;
  if (auto last = end_of_page(history, limit)) {
    following = Value::object({{"before", last->seq}, {"beforeRun", last->run.text()}});
  }
  // The members about one run describe the first one.
  const RunRow& first = history.front().run;
  return Value::object({{"threadId", first.thread.text},
                        {"runId", first.run.text()},
                        {"agent", first.graph},
                        {"status", name_of(first.status)},
                        {"reason", text_or_null(first.reason)},
                        {"dueAt", due_or_null(first)},
                        {"checkpoints", std::move(checkpoints)},
                        {"runs", std::move(runs)},
                        {"next", std::move(following)}});
}

Value status_summary_document(const StatusSummary& standing, const ApprovalExtras& extras) {
  Value::Array approvals;
  for (const ApprovalRow& row : standing.open) approvals.push_back(approval_document(row, extras));
  return Value::object({{"running", standing_runs(standing.at_work)},
                        {"orphaned", standing_runs(standing.orphaned)},
                        // The former name of "orphaned", for clients that were written for it.
                        {"leftBehind", standing_runs(standing.orphaned)},
                        {"queued", standing_runs(standing.queued)},
                        {"codeGone", standing_runs(standing.code_gone)},
                        {"approvals", std::move(approvals)}});
}

namespace {

std::string_view kind_of_call(std::string_view name) {
  if (is_model_call(name)) return "model";
  return is_call_record(name) ? "cost" : "effect";
}

// Adds the contents of a row's envelope. A damaged one is reported here, and as a violation by
// `belay check`.
void add_call(const EffectRow& row, Value::Object& members) {
  if (row.envelope.empty()) return;
  auto text = json_in_envelope(row.envelope);
  auto value = text.ok() ? parse_json(*text) : Result<Value>(text.error());
  if (!value.ok()) {
    members.emplace("unreadable", value.error().message);
    return;
  }
  const Value::Object* parts = value->as_object();
  if (kind_of_call(row.name) == "effect" || !parts) {
    members.emplace(row.status == EffectStatus::failed ? "error" : "result", *std::move(value));
    return;
  }
  for (const auto& [name, part] : *parts) members.emplace(name, part);
}

}  // namespace

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value calls_document(const RunRow& run, const std::vector<EffectRow>& rows) {
  Value::Array calls;
  for (const EffectRow& row : rows) {
    Value::Object members{{"name", row.name},
                          {"kind", kind_of_call(row.name)},
                          {"node", row.node},
                          {"class", name_of(row.effect_class)},
                          {"status", name_of(row.status)},
                          {"attempts", row.attempt},
                          {"createdAt", to_text(row.created_at)},
                          {"updatedAt", to_text(row.updated_at)}};
    if (row.took_ms >= 0) members.emplace("durationMs", row.took_ms);
    add_call(row, members);
    calls.push_back(Value(std::move(members)));
  }
  return Value::object({{"threadId", run.thread.text},
                        {"runId", run.run.text()},
                        {"agent", run.graph},
                        {"calls", std::move(calls)}});
}

Value preview_document(const ForkPreview& preview, const ApprovalExtras& extras) {
  Value::Array messages;
  for (const OutboxRow& row : preview.messages) {
    messages.push_back(
        Value::object({{"topic", row.topic}, {"seq", row.seq}, {"status", name_of(row.status)}}));
  }
  Value::Array approvals;
  for (const ApprovalRow& row : preview.approvals) {
    approvals.push_back(approval_document(row, extras));
  }
  return Value::object({{"threadId", preview.thread.text},
                        {"seq", preview.seq},
                        {"next", texts(preview.first_nodes)},
                        {"again", texts(preview.repeated_nodes)},
                        {"effects", effect_documents(preview.effects)},
                        {"messages", std::move(messages)},
                        {"approvals", std::move(approvals)}});
}

Value replay_document(const ReplayReport& report) {
  Value first;
  if (report.divergence) {
    first = Value::object({{"seq", report.divergence->seq},
                           {"node", report.divergence->node},
                           {"what", report.divergence->what},
                           {"recorded", report.divergence->recorded},
                           {"replayed", report.divergence->replayed}});
  }
  return Value::object({{"threadId", report.run.thread.text},
                        {"runId", report.run.run.text()},
                        {"commits", report.run.seq},
                        {"compared", report.matching_commits},
                        {"divergence", std::move(first)}});
}

std::string_view former_name_of(DecisionResult::Kind kind) {
  switch (kind) {
    case DecisionResult::Kind::accepted:
      return "won";
    case DecisionResult::Kind::duplicate:
      return "same";
    case DecisionResult::Kind::conflict:
      return "lost";
    default:
      return name_of(kind);
  }
}

Value decision_document(const DecisionResult& answer, const ApprovalExtras& extras) {
  return Value::object({{"result", name_of(answer.kind)},
                        // The former names of the results, for clients that were written for them.
                        {"answer", former_name_of(answer.kind)},
                        {"approval", approval_document(answer.approval, extras)},
                        {"run", run_document(answer.view, extras)}});
}

bool is_made(const DecisionResult& answer) {
  return answer.kind == DecisionResult::Kind::accepted ||
         answer.kind == DecisionResult::Kind::duplicate;
}

std::string refusal_text(const DecisionResult& answer) {
  const ApprovalRow& row = answer.approval;
  std::string what = "Approval " + row.interrupt.text();
  if (answer.kind == DecisionResult::Kind::expired) {
    std::string then = choice_after_expiry(row);
    return what + " expired at " + to_text(row.expires_at) +
           (then.empty() ? "; nothing was saved" : "; the run continued with \"" + then + "\"");
  }
  if (answer.kind == DecisionResult::Kind::closed) {
    return what + " is closed: its run is " + std::string(name_of(answer.view.row.status));
  }
  std::string how(name_of(row.status));
  if (std::string choice = choice_of(row); choice != "approve" && choice != "reject") {
    if (!choice.empty()) how = "decided as \"" + choice + "\"";
  }
  if (!edited_of(row).is_null()) how += " with an edited payload";
  if (row.status == ApprovalStatus::open) {
    return what + " has another decision of this person, and needs those of others";
  }
  std::string who = row.decided_by;
  if (!row.on_behalf_of.empty()) who += " on behalf of " + row.on_behalf_of;
  return what + " has another decision: it was " + how + " by " + who + " at " +
         to_text(row.decided_at);
}

Value message_document(const OutboxRow& row) {
  return Value::object({{"id", message_id(row)},
                        {"runId", row.run.text()},
                        {"topic", row.topic},
                        {"status", name_of(row.status)},
                        {"attempts", row.attempts},
                        {"error", text_or_null(row.error)},
                        {"dueAt", to_text(row.due_at)},
                        {"createdAt", to_text(row.created_at)},
                        {"body", in_envelope(row.envelope)}});
}

Value messages_document(const Messages& messages) {
  Value::Array documents;
  for (const OutboxRow& row : messages.rows) documents.push_back(message_document(row));
  return Value::object(
      {{"messages", std::move(documents)}, {"more", static_cast<std::uint64_t>(messages.more)}});
}

Value statistics_document(const StoreStatistics& found) {
  Value::Array tables;
  for (const TableStatistics& table : found.tables) {
    tables.push_back(
        Value::object({{"name", table.name}, {"rows", table.rows}, {"bytes", table.bytes}}));
  }
  return Value::object(
      {{"tables", std::move(tables)}, {"bytes", found.bytes}, {"freeBytes", found.free_bytes}});
}

Value compaction_document(const Compaction& done) {
  return Value::object({{"bytesBefore", done.bytes_before}, {"bytesAfter", done.bytes_after}});
}

Value pruning_document(const Pruning& done) {
  return Value::object({{"threads", done.threads.threads},
                        {"largeValues", done.large_values},
                        {"runs", done.threads.runs},
                        {"preserved", done.threads.preserved},
                        {"expiredRecords", done.threads.records},
                        {"dryRun", done.dry_run}});
}

Value check_document(const CheckReport& report) {
  Value::Array violations;
  for (const Violation& violation : report.violations) {
    violations.push_back(Value::object({{"rule", violation.rule},
                                        {"subject", violation.subject},
                                        {"message", violation.message}}));
  }
  return Value::object({{"violations", std::move(violations)},
                        {"rules", static_cast<std::uint64_t>(check_rules().size())},
                        {"runs", static_cast<std::uint64_t>(report.runs)},
                        {"checkpoints", static_cast<std::uint64_t>(report.checkpoints)},
                        {"approvals", static_cast<std::uint64_t>(report.approvals)}});
}

Value error_document(const Error& failed) {
  Value::Object members{{"code", name_of(failed.code)}, {"message", failed.message}};
  if (failed.retry_after) members.emplace("retryAfterMs", failed.retry_after->count());
  return Value::object({{"error", std::move(members)}});
}

std::string message_id(const OutboxRow& row) {
  return row.run.text() + "/" + std::to_string(row.seq) + "/" + std::to_string(row.index);
}

std::string_view name_of(DecisionResult::Kind kind) {
  switch (kind) {
    case DecisionResult::Kind::accepted:
      return "accepted";
    case DecisionResult::Kind::duplicate:
      return "duplicate";
    case DecisionResult::Kind::conflict:
      return "conflict";
    case DecisionResult::Kind::expired:
      return "expired";
    case DecisionResult::Kind::closed:
      return "closed";
  }
  return "";
}

}  // namespace belay
