#include "tests/conformance/told_run.h"

#include <sstream>

#include "store/enum_names.h"

namespace belay::conformance {
namespace {

const Instant kFarAway = Instant(std::chrono::hours(24 * 365 * 200));
constexpr const char* kFields[] = {"mood", "place"};

std::string text_of(Instant at) { return std::to_string(at.time_since_epoch().count()); }

template <typename... Parts>
void put(std::ostream& out, const Parts&... parts) {
  ((out << parts << '|'), ...);
  out << '\n';
}

void put_run(std::ostream& out, const RunRow& r) {
  put(out, r.run.text(), r.thread.text, r.user.text, r.graph, to_hex(r.graph_hash), r.input,
      r.options, text_of(r.created_at), r.forked_from.text(), r.forked_at, r.queue, r.priority,
      r.concurrency_key, r.ordinal, name_of(r.status), r.reason, r.outcome, r.error_code, r.error,
      r.seq, r.epoch, r.session.text(), r.checkpoint.text(), r.node, r.retry_count, r.worked_ms,
      text_of(r.updated_at), text_of(r.due_at), r.lost_claims);
}

void put_checkpoint(std::ostream& out, const CheckpointRow& c) {
  put(out, c.id.text(), c.parent.text(), c.checkpoint_ns, c.seq, c.state_seq, c.epoch,
      c.session.text(), name_of(c.kind), c.node, c.superstep, c.next_tasks, to_hex(c.chain_hash),
      c.retry_count, name_of(c.status), text_of(c.created_at));
}

void put_approval(std::ostream& out, const ApprovalRow& a) {
  put(out, a.interrupt.text(), a.thread.text, a.run.text(), a.task.text(), a.user.text, a.graph,
      a.node, a.question, a.payload, to_hex(a.payload_hash), a.roles, a.seq, text_of(a.created_at),
      text_of(a.expires_at), name_of(a.status), a.decided_by, a.comment, a.edited,
      to_hex(a.edited_hash), text_of(a.decided_at));
}

// Reads all data found by a run's id, or by the name of its thread or records.
Result<Done> read_run(Snapshot& view, const RunRow& run, std::ostream& out) {
  const TenantId& tenant = run.tenant;
  RunFilter one;
  one.tenant = tenant;
  one.run = run.run;
  one.limit = 1;
  BELAY_TRY(auto runs, view.runs(one));
  for (const RunRow& row : runs) put_run(out, row);
  ThreadFilter of_thread;
  of_thread.tenant = tenant;
  of_thread.thread = run.thread;
  BELAY_TRY(auto threads, view.threads(of_thread));
  for (const ThreadRow& t : threads) {
    put(out, t.thread.text, t.user.text, t.graph, text_of(t.created_at), t.last_run.text(),
        t.preserve, t.title, t.metadata, text_of(t.expires_at), text_of(t.updated_at));
  }
  for (const char* checkpoint_ns : {"", "inner"}) {
    BELAY_TRY(auto checkpoints, view.checkpoints({tenant, run.run, checkpoint_ns}));
    for (const CheckpointRow& row : checkpoints) put_checkpoint(out, row);
  }
  ValueFilter values;
  values.tenant = tenant;
  values.run = run.run;
  values.at_seq = 1'000;
  values.every_version = true;
  BELAY_TRY(auto written, view.values(values));
  values.thread = run.thread;
  values.at_seq = ~std::uint64_t{0} >> 1;
  BELAY_TRY(auto of_state, view.values(values));
  written.insert(written.end(), of_state.begin(), of_state.end());
  for (const ValueRow& v : written) {
    put(out, v.thread.text, v.checkpoint_ns, v.channel, v.seq, v.index, name_of(v.kind),
        v.envelope);
  }
  BELAY_TRY(auto events, view.events({tenant, run.run}));
  for (const EventRow& e : events) put(out, e.seq, e.index, e.type, e.body, text_of(e.created_at));
  ApprovalFilter of_run;
  of_run.tenant = tenant;
  of_run.run = run.run;
  BELAY_TRY(auto approvals, view.approvals(of_run));
  for (const ApprovalRow& row : approvals) put_approval(out, row);
  return Done{};
}

Result<Done> read_work(Snapshot& view, const RunRow& run, std::ostream& out) {
  const TenantId& tenant = run.tenant;
  BELAY_TRY(auto tasks, view.tasks({tenant, run.run}));
  for (const TaskRow& t : tasks) {
    put(out, t.superstep, t.position, t.task.text(), name_of(t.status), t.envelope);
  }
  EffectFilter effects;
  effects.tenant = tenant;
  effects.run = run.run;
  BELAY_TRY(auto journal, view.effects(effects));
  for (const EffectRow& e : journal) {
    put(out, e.task.text(), e.name, e.node, name_of(e.effect_class), name_of(e.status), e.envelope,
        e.attempt, text_of(e.created_at), text_of(e.updated_at), e.took_ms);
  }
  OutboxFilter outbox;
  outbox.tenant = tenant;
  outbox.run = run.run;
  BELAY_TRY(auto messages, view.outbox(outbox));
  for (const OutboxRow& m : messages) {
    put(out, m.seq, m.index, m.topic, m.envelope, name_of(m.status), m.attempts, m.error,
        text_of(m.due_at), text_of(m.created_at));
  }
  return Done{};
}

Result<Done> read_records(Snapshot& view, const ToldRun& told, std::ostream& out) {
  RecordQuery query;
  query.tenant = told.script.row.tenant;
  query.collection = "notes";
  query.user = told.script.row.user;
  BELAY_TRY(auto all, view.records(query));
  for (const StoredRecord& r : all) {
    put(out, r.key, r.envelope, r.run.text(), r.seq, text_of(r.updated_at));
  }
  for (std::size_t i = 0; i < told.indexed.size(); ++i) {
    query.field = kFields[i];
    query.value = told.indexed[i];
    BELAY_TRY(auto found, view.records(query));
    for (const StoredRecord& r : found) put(out, query.field, r.key, r.envelope);
  }
  return Done{};
}

}  // namespace

std::string ToldRun::word(const std::string& where) {
  words.push_back("told-" + where + "-" + name_ + std::to_string(words.size()));
  return words.back();
}

ToldRun::ToldRun(Store& store, const std::string& name)
    : script(name), later(script.later("later " + name)), call(store), name_(name) {
  script.row.input = json_envelope(json("input"));
  script.row.options = json("options");
  script.row.session = *store.open_session();
  script.row.graph = "graph_" + name;
  script.row.graph_hash = sha256(name);
  // Sets a different value for each member that a seal binds.
  script.row.queue = "queue_" + name;
  script.row.priority = 7;
  script.row.concurrency_key = "key_" + name;
  script.row.forked_from = RunId(derived_uuid("origin of " + name));
  script.row.forked_at = 11;
  Commit first_commit = script.first();
  first_commit.rows.thread->title = word("title");
  first_commit.rows.thread->metadata = json("metadata");
  first_commit.rows.thread->updated_at = script.row.updated_at;
  EXPECT_EQ(call.commit(first_commit), CommitOutcome::applied);
  Commit work = script.next();
  add_work(work);
  EXPECT_EQ(call.commit(work), CommitOutcome::applied);
  deliver();

  Commit ask = script.ask(kFarAway);
  ApprovalRow& first = ask.rows.opened.front();
  first.question = word("question");
  std::string shown = json("payload");
  first.payload = json_envelope(shown);
  first.payload_hash = sha256(shown);
  ApprovalRow second = first;
  second.interrupt = open = interrupt_named("second " + name);
  ask.rows.opened.push_back(second);
  EXPECT_EQ(call.commit(ask), CommitOutcome::applied);

  Commit decision = script.decide(ApprovalStatus::approved, word("decider"));
  decision.approval_guard->payload_hash = second.payload_hash;
  decision.rows.decided->comment = word("comment");
  std::string edited = json("edited");
  decision.rows.decided->edited = json_envelope(edited);
  decision.rows.decided->edited_hash = sha256(edited);
  script.row.error = word("error");
  script.row.reason = word("reason");
  script.row.error_code = "invalid";
  script.row.outcome = "saved";
  script.row.worked_ms = 13;
  script.row.lost_claims = 3;
  script.row.due_at = script.row.updated_at + std::chrono::hours(5);
  decision.rows.run = script.row;
  EXPECT_EQ(call.commit(decision), CommitOutcome::applied);
  start_later();
}

void ToldRun::start_later() {
  later.row.input = json_envelope(json("later-input"));
  later.row.graph = script.row.graph;
  later.row.graph_hash = script.row.graph_hash;
  EXPECT_EQ(call.commit(later.first_in_thread()), CommitOutcome::applied);
  Commit work = later.next_with({{"text"}, {"list", WriteOp::append, 1}});
  for (ValueRow& value : work.rows.values) value.envelope = json_envelope(json("later-value"));
  EXPECT_EQ(call.commit(work), CommitOutcome::applied);
}

void ToldRun::add_work(Commit& commit) {
  CommitRows& rows = commit.rows;
  rows.values.front().envelope = json_envelope(json("value"));
  rows.checkpoint->next_tasks = "[{\"node\":\"n\",\"input\":" + json("sent") + "}]";
  for (EventRow& event : rows.events) event.body = json("event");
  EventRow custom = rows.events.back();
  ++custom.index;
  custom.type = "custom";
  custom.body = json("custom");
  rows.events.push_back(custom);
  RecordPut put = record_put("key " + name_, json("record"));
  for (const char* field : kFields) {
    indexed.push_back(word("indexed"));
    put.indexed.emplace_back(field, indexed.back());
  }
  rows.records.push_back(put);
  rows.tasks.push_back(script.task(0, TaskStatus::done));
  rows.tasks.back().envelope = json_envelope(json("task"));
  rows.effects.push_back(script.effect("pay", EffectStatus::done));
  rows.effects.back().envelope = json_envelope(json("result"));
  rows.effects.push_back(script.effect("mail", EffectStatus::intended));
  rows.effects.back().envelope.clear();
  rows.outbox.push_back(script.message(0));
  rows.outbox.back().envelope = json_envelope(json("message"));
  CheckpointRow inner = script.inner_checkpoint("inner", 1);
  inner.chain_hash = sha256("inner");
  rows.inner_checkpoints.push_back(inner);
}

void ToldRun::deliver() {
  OutboxFilter filter;
  filter.tenant = script.row.tenant;
  filter.run = script.row.run;
  OutboxRow message = call.outbox(filter).at(0);
  Commit failed;
  failed.tenant = script.row.tenant;
  failed.message_guard = OutboxGuard{message.run, message.seq, message.index, message.attempts};
  ++message.attempts;
  message.error = word("refusal");
  failed.rows.outbox.push_back(message);
  EXPECT_EQ(call.commit(failed), CommitOutcome::applied);
}

Result<std::string> all_of(Store& store, const ToldRun& told) {
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::function<Result<std::string>(Snapshot&)> reader =
      [&](Snapshot& view) -> Result<std::string> {
    std::ostringstream out;
    BELAY_CHECK(read_run(view, told.script.row, out));
    BELAY_CHECK(read_run(view, told.later.row, out));
    BELAY_CHECK(read_work(view, told.script.row, out));
    BELAY_CHECK(read_records(view, told, out));
    return out.str();
  };
  return block_on<Result<std::string>>(*loop, read<std::string>(store, std::move(reader)));
}

}  // namespace belay::conformance
