// Long on purpose: the scripts and calls that all cases of the suite share.

#include "tests/conformance/store_suite.h"

#include <sstream>

namespace belay::conformance {
namespace {

CommitRows rows_of(RunRow run, CheckpointRow checkpoint) {
  CommitRows rows;
  rows.run = std::move(run);
  rows.checkpoint = std::move(checkpoint);
  return rows;
}

EventRow event_of(const RunRow& run, std::int64_t index, std::string type, std::string body) {
  EventRow event;
  event.run = run.run;
  event.seq = run.seq;
  event.index = index;
  event.type = std::move(type);
  event.body = std::move(body);
  event.created_at = run.updated_at;
  return event;
}

// Sets the place of a value: a later run has the values of its graph in those of the thread.
void place(ValueRow& value, const RunRow& run, std::uint64_t seq) {
  value.run = run.run;
  value.seq = seq;
  if (run.ordinal == 0 || !value.checkpoint_ns.empty()) return;
  value.run = RunId();
  value.thread = run.thread;
  value.seq = value_seq(run, seq);
}

ValueRow value_of(const RunRow& run, std::string channel, std::string_view json) {
  ValueRow value;
  value.channel = std::move(channel);
  place(value, run, run.seq);
  value.envelope = json_envelope(json);
  return value;
}

}  // namespace

InterruptId interrupt_named(const std::string& name) { return InterruptId(derived_uuid(name)); }

RecordPut record_put(const std::string& key, const std::string& json,
                     std::vector<std::pair<std::string, std::string>> indexed) {
  RecordPut put;
  put.collection = "notes";
  put.user = UserId("ana");
  put.key = key;
  put.envelope = json.empty() ? "" : json_envelope(json);
  put.indexed = std::move(indexed);
  return put;
}

Commit import_of(std::vector<RecordPut> records, TenantId tenant) {
  Commit commit;
  commit.tenant = std::move(tenant);
  commit.rows.records = std::move(records);
  return commit;
}

RunScript::RunScript(const std::string& name, TenantId tenant) : name_(name) {
  row.tenant = std::move(tenant);
  row.run = RunId(derived_uuid("run " + name));
  row.thread = ThreadId("thread " + name);
  row.user = UserId("ana");
  row.graph = "daily_auditor";
  row.graph_hash = sha256("the graph");
  row.input = json_envelope("{\"date\":\"2025-11-22\"}");
  row.options = "{}";
  row.created_at = Instant(std::chrono::microseconds(1'763'000'000'000'000));
  row.updated_at = row.created_at;
  row.node = "fetchNotes";
}

Commit RunScript::following(CommitKind kind) {
  Commit commit;
  commit.tenant = row.tenant;
  commit.run_guard = RunGuard{row.epoch, row.seq};
  CheckpointRow checkpoint;
  checkpoint.parent = row.checkpoint;
  ++row.seq;
  if (row.epoch == 0) row.epoch = 1;
  row.updated_at += std::chrono::milliseconds(1);
  row.checkpoint =
      CheckpointId(derived_uuid(name_ + author_ + std::to_string(row.seq) + row.tenant.text));
  checkpoint.id = row.checkpoint;
  checkpoint.run = row.run;
  checkpoint.seq = row.seq;
  checkpoint.state_seq = row.seq;
  checkpoint.epoch = row.epoch;
  checkpoint.session = row.session;
  checkpoint.kind = kind;
  checkpoint.node = row.node;
  checkpoint.superstep = static_cast<std::int64_t>(row.seq) - 1;
  checkpoint.next_tasks = "[\"" + row.node + "\"]";
  checkpoint.chain_hash = sha256(row.checkpoint.text());
  checkpoint.retry_count = row.retry_count;
  checkpoint.status = row.status;
  checkpoint.created_at = row.updated_at;
  commit.rows = rows_of(row, std::move(checkpoint));
  return commit;
}

Commit RunScript::first_in_thread() {
  Commit commit = following(CommitKind::input);
  commit.rows.events.push_back(event_of(row, 0, "status", "{\"status\":\"queued\"}"));
  if (row.ordinal > 0) commit.thread_guard = ThreadGuard{row.thread, newest};
  return commit;
}

RunScript RunScript::later(const std::string& name) const {
  RunScript script(name, row.tenant);
  script.row.thread = row.thread;
  script.row.ordinal = row.ordinal + 1;
  script.row.node.clear();
  script.newest = row.run;
  return script;
}

Commit RunScript::first() {
  Commit commit = first_in_thread();
  ThreadRow thread;
  thread.tenant = row.tenant;
  thread.thread = row.thread;
  thread.user = row.user;
  thread.graph = row.graph;
  thread.last_run = row.run;
  thread.created_at = row.created_at;
  commit.rows.thread = std::move(thread);
  return commit;
}

Commit RunScript::next() {
  row.status = RunStatus::running;
  row.node = "analyzeNotes";
  row.worked_ms += 5;
  Commit commit = following(CommitKind::node);
  std::string text = "\"" + name_ + author_ + std::to_string(row.seq) + "\"";
  commit.rows.values.push_back(value_of(row, "text", text));
  commit.rows.events.push_back(event_of(row, 0, "node", "{\"node\":" + text + "}"));
  return commit;
}

Commit RunScript::next_with(const std::vector<Written>& values) {
  row.status = RunStatus::running;
  Commit commit = following(CommitKind::node);
  for (const Written& written : values) commit.rows.values.push_back(value(written, row.seq));
  return commit;
}

Commit RunScript::pending(const std::vector<Written>& values,
                          std::optional<std::uint64_t> seq) const {
  Commit commit;
  commit.tenant = row.tenant;
  commit.run_guard = RunGuard{row.epoch, seq.value_or(row.seq), row.run};
  for (const Written& written : values) {
    commit.rows.values.push_back(value(written, commit.run_guard->seq + 1));
  }
  return commit;
}

ValueRow RunScript::value(const Written& written, std::uint64_t seq) const {
  ValueRow value;
  value.checkpoint_ns = written.checkpoint_ns;
  value.channel = written.channel;
  place(value, row, written.seq == 0 ? seq : written.seq);
  value.index = written.index;
  value.kind = written.kind;
  value.envelope = json_envelope("[" + std::to_string(value.seq * 100) + "]");
  return value;
}

TaskRow RunScript::task(std::int64_t position, TaskStatus status) const {
  TaskRow task;
  task.run = row.run;
  task.superstep = 1;
  task.position = position;
  task.task = TaskId(derived_uuid("task " + name_ + std::to_string(position)));
  task.status = status;
  task.envelope = json_envelope("{\"at\":" + std::to_string(position) + "}");
  return task;
}

EffectRow RunScript::effect(const std::string& name, EffectStatus status,
                            std::int64_t attempt) const {
  EffectRow effect;
  effect.run = row.run;
  effect.task = TaskId(derived_uuid("task " + name_));
  effect.name = name;
  effect.node = row.node;
  effect.effect_class = EffectClass::unkeyed;
  effect.status = status;
  effect.envelope = json_envelope("1");
  effect.attempt = attempt;
  effect.created_at = row.updated_at;
  effect.updated_at = row.updated_at;
  if (status == EffectStatus::done || status == EffectStatus::failed) effect.took_ms = 40 + attempt;
  return effect;
}

OutboxRow RunScript::message(std::int64_t index) const {
  OutboxRow message;
  message.run = row.run;
  message.seq = row.seq;
  message.index = index;
  message.topic = "mail";
  message.envelope = json_envelope("{\"to\":\"ana\"}");
  message.due_at = row.updated_at;
  message.created_at = row.updated_at;
  return message;
}

ApprovalRow RunScript::question(const std::string& name, Instant expires_at) const {
  ApprovalRow question;
  question.tenant = row.tenant;
  question.interrupt = interrupt_named(name_ + name);
  question.thread = row.thread;
  question.run = row.run;
  question.task = TaskId(derived_uuid("task " + name_ + name));
  question.user = row.user;
  question.graph = row.graph;
  question.node = row.node;
  question.question = "Go on?";
  question.payload = json_envelope("{\"risk\":7}");
  question.payload_hash = sha256("{\"risk\":7}");
  question.seq = row.seq + 1;
  question.created_at = row.updated_at;
  question.expires_at = expires_at;
  return question;
}

CheckpointRow RunScript::inner_checkpoint(const std::string& checkpoint_ns,
                                          std::uint64_t seq) const {
  CheckpointRow checkpoint;
  checkpoint.id = CheckpointId(derived_uuid(name_ + checkpoint_ns + std::to_string(seq)));
  if (seq > 1) checkpoint.parent = inner_checkpoint(checkpoint_ns, seq - 1).id;
  checkpoint.run = row.run;
  checkpoint.checkpoint_ns = checkpoint_ns;
  checkpoint.seq = seq;
  checkpoint.state_seq = seq;
  checkpoint.epoch = row.epoch;
  checkpoint.node = "inner node";
  checkpoint.next_tasks = "[]";
  checkpoint.created_at = row.updated_at;
  return checkpoint;
}

Commit RunScript::ask(Instant expires_at) {
  row.status = RunStatus::paused;
  row.reason = "approval";
  row.node = "awaitingApproval";
  Commit commit = following(CommitKind::pause);
  opened_ = ApprovalRow();
  opened_.tenant = row.tenant;
  opened_.interrupt = interrupt_named(name_ + author_ + std::to_string(row.seq) + row.tenant.text);
  opened_.thread = row.thread;
  opened_.run = row.run;
  opened_.task = TaskId(derived_uuid("task " + name_));
  opened_.user = row.user;
  opened_.graph = row.graph;
  opened_.node = row.node;
  opened_.question = "¿Guardar este resumen?";
  opened_.payload = json_envelope("{\"risk\":7}");
  opened_.payload_hash = sha256("{\"risk\":7}");
  opened_.roles = "owner";
  opened_.seq = row.seq;
  opened_.created_at = row.updated_at;
  opened_.expires_at = expires_at;
  commit.rows.opened.push_back(opened_);
  return commit;
}

Commit RunScript::decide(ApprovalStatus status, const std::string& decided_by) {
  RunRow before = row;
  row.reason.clear();
  row.status = RunStatus::queued;
  Commit commit = following(CommitKind::decision);
  commit.approval_guard = ApprovalGuard{opened_.interrupt, opened_.payload_hash};
  ApprovalRow decided = opened_;
  decided.status = status;
  decided.decided_by = decided_by;
  decided.comment = "by " + decided_by;
  decided.decided_at = row.updated_at;
  commit.rows.decided = std::move(decided);

  RunRow after = std::exchange(row, before);
  std::string author = std::exchange(author_, author_ + " expired");
  commit.if_expired = expire().rows;
  author_ = author;
  row = after;
  return commit;
}

Commit RunScript::expire() {
  row.reason.clear();
  row.status = RunStatus::completed;
  row.outcome = "expired";
  row.node = "end";
  Commit commit = following(CommitKind::expiry);
  commit.approval_guard = ApprovalGuard{.interrupt = opened_.interrupt,
                                        .payload_hash = opened_.payload_hash,
                                        .decided_at = opened_.decided_at,
                                        .expiry = ApprovalGuard::Expiry::passed};
  ApprovalRow decided = opened_;
  decided.status = ApprovalStatus::expired;
  decided.decided_at = row.updated_at;
  commit.rows.decided = std::move(decided);
  return commit;
}

template <typename T>
T Caller::ask(std::function<Result<T>(Snapshot&)> reader) {
  Result<T> found = block_on<Result<T>>(*loop_, read<T>(store_, std::move(reader)));
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? *std::move(found) : T();
}

Result<CommitOutcome> Caller::try_commit(Commit commit) {
  return block_on<Result<CommitOutcome>>(*loop_, store_.commit(std::move(commit)));
}

CommitOutcome Caller::commit(Commit commit) {
  auto outcome = try_commit(std::move(commit));
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  return outcome.ok() ? *outcome : CommitOutcome::fenced;
}

std::vector<TenantId> Caller::tenants() {
  return ask<std::vector<TenantId>>([](Snapshot& view) { return view.tenants(); });
}
std::vector<QueueRow> Caller::queues(const TenantId& tenant) {
  return ask<std::vector<QueueRow>>([tenant](Snapshot& view) { return view.queues(tenant); });
}
std::vector<QueueCount> Caller::queue_counts(const TenantId& tenant, Instant now, OfUser user) {
  return ask<std::vector<QueueCount>>(
      [tenant, now, user](Snapshot& view) { return view.queue_counts(tenant, now, user); });
}
std::vector<ConcurrencyCount> Caller::running_counts(const TenantId& tenant, ConcurrencyScope of) {
  return ask<std::vector<ConcurrencyCount>>(
      [tenant, of](Snapshot& view) { return view.running_counts(tenant, of); });
}
std::vector<SessionRow> Caller::sessions(SessionFilter filter) {
  return ask<std::vector<SessionRow>>([filter](Snapshot& view) { return view.sessions(filter); });
}
std::vector<RunRow> Caller::poll_runs(PollFilter filter) {
  auto found = block_on<Result<std::vector<RunRow>>>(*loop_, store_.poll_runs(std::move(filter)));
  if (!found.ok()) {
    ADD_FAILURE() << found.error().message;
    return {};
  }
  return *std::move(found);
}
std::vector<ThreadRow> Caller::threads(ThreadFilter filter) {
  return ask<std::vector<ThreadRow>>([filter](Snapshot& view) { return view.threads(filter); });
}
std::vector<RunRow> Caller::runs(RunFilter filter) {
  return ask<std::vector<RunRow>>([filter](Snapshot& view) { return view.runs(filter); });
}
std::vector<CheckpointRow> Caller::checkpoints(CheckpointFilter filter) {
  return ask<std::vector<CheckpointRow>>(
      [filter](Snapshot& view) { return view.checkpoints(filter); });
}
std::vector<ValueRow> Caller::values(ValueFilter filter) {
  return ask<std::vector<ValueRow>>([filter](Snapshot& view) { return view.values(filter); });
}
std::vector<EventRow> Caller::events(EventFilter filter) {
  return ask<std::vector<EventRow>>([filter](Snapshot& view) { return view.events(filter); });
}
std::vector<ApprovalRow> Caller::approvals(ApprovalFilter filter) {
  return ask<std::vector<ApprovalRow>>([filter](Snapshot& view) { return view.approvals(filter); });
}
std::vector<StoredRecord> Caller::records(RecordQuery query) {
  return ask<std::vector<StoredRecord>>([query](Snapshot& view) { return view.records(query); });
}
std::vector<TaskRow> Caller::tasks(TaskFilter filter) {
  return ask<std::vector<TaskRow>>([filter](Snapshot& view) { return view.tasks(filter); });
}
std::vector<EffectRow> Caller::effects(EffectFilter filter) {
  return ask<std::vector<EffectRow>>([filter](Snapshot& view) { return view.effects(filter); });
}
std::vector<OutboxRow> Caller::outbox(OutboxFilter filter) {
  return ask<std::vector<OutboxRow>>([filter](Snapshot& view) { return view.outbox(filter); });
}
std::vector<BlobRow> Caller::blobs(std::vector<Digest> ids, const TenantId& tenant) {
  return ask<std::vector<BlobRow>>(
      [ids, tenant](Snapshot& view) { return view.blobs(tenant, ids); });
}
std::vector<BlobUse> Caller::blob_uses(const TenantId& tenant) {
  return ask<std::vector<BlobUse>>(
      [tenant](Snapshot& view) { return view.blob_uses(tenant, Digest()); });
}
std::vector<StoredEnvelope> Caller::envelopes(EnvelopeFilter filter) {
  return ask<std::vector<StoredEnvelope>>(
      [filter](Snapshot& view) { return view.envelopes(filter); });
}

RunRow Caller::run(const RunId& id) {
  RunFilter filter{default_tenant(), id, {}, {}};
  auto rows = runs(filter);
  return rows.empty() ? RunRow() : rows.front();
}

ApprovalRow Caller::approval(const InterruptId& id) {
  ApprovalFilter filter{default_tenant(), id, {}};
  auto rows = approvals(filter);
  return rows.empty() ? ApprovalRow() : rows.front();
}

StoreSuite::StoreSuite() {
  auto opened = GetParam().open(folder_.path(), clock_, random_);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  if (!opened.ok()) std::abort();
  store_ = *std::move(opened);
  call_ = std::make_unique<Caller>(*store_);
}

}  // namespace belay::conformance
