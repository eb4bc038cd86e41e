// Caller::all(): everything that a reader can see of a tenant, as text.

#include <algorithm>
#include <sstream>

#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

constexpr std::size_t every = 1'000'000;

std::int64_t count_of(Instant instant) { return instant.time_since_epoch().count(); }

void print(std::ostream& out, const ThreadRow& row) {
  out << "thread " << row.tenant.text << ' ' << row.thread.text << ' ' << row.user.text << ' '
      << row.graph << ' ' << row.last_run.text() << ' ' << count_of(row.created_at) << ' '
      << row.preserve << '\n';
}

void print(std::ostream& out, const RunRow& row) {
  out << "run " << row.tenant.text << ' ' << row.run.text() << ' ' << row.thread.text << ' '
      << row.user.text << ' ' << row.graph << ' ' << to_hex(row.graph_hash) << ' ' << row.input
      << ' ' << row.options << ' ' << count_of(row.created_at) << ' ' << name_of(row.status) << ' '
      << row.reason << ' ' << row.outcome << ' ' << row.error_code << ' ' << row.error << ' '
      << row.seq << ' ' << row.epoch << ' ' << row.session.text() << ' ' << row.checkpoint.text()
      << ' ' << row.node << ' ' << row.retry_count << ' ' << row.worked_ms << ' '
      << count_of(row.updated_at) << ' ' << count_of(row.due_at) << ' ' << row.lost_claims << ' '
      << row.forked_from.text() << ' ' << row.forked_at << ' ' << row.queue << ' ' << row.priority
      << ' ' << row.concurrency_key << '\n';
}

void print(std::ostream& out, const CheckpointRow& row) {
  out << "checkpoint " << row.id.text() << ' ' << row.parent.text() << ' ' << row.run.text() << ' '
      << row.checkpoint_ns << ' ' << row.seq << ' ' << row.epoch << ' ' << row.session.text() << ' '
      << name_of(row.kind) << ' ' << row.node << ' ' << row.superstep << ' ' << row.next_tasks
      << ' ' << to_hex(row.chain_hash) << ' ' << row.retry_count << ' ' << name_of(row.status)
      << ' ' << count_of(row.created_at) << ' ' << row.state_seq << '\n';
}

void print(std::ostream& out, const ValueRow& row) {
  out << "value " << row.run.text() << ' ' << row.checkpoint_ns << ' ' << row.channel << ' '
      << row.seq << ' ' << row.index << ' ' << name_of(row.kind) << ' ' << row.envelope << '\n';
}

void print(std::ostream& out, const EventRow& row) {
  out << "event " << row.run.text() << ' ' << row.seq << ' ' << row.index << ' ' << row.type << ' '
      << row.body << ' ' << count_of(row.created_at) << '\n';
}

void print(std::ostream& out, const ApprovalRow& row) {
  out << "approval " << row.tenant.text << ' ' << row.interrupt.text() << ' ' << row.thread.text
      << ' ' << row.run.text() << ' ' << row.task.text() << ' ' << row.user.text << ' ' << row.graph
      << ' ' << row.node << ' ' << row.question << ' ' << row.payload << ' '
      << to_hex(row.payload_hash) << ' ' << row.roles << ' ' << row.seq << ' '
      << count_of(row.created_at) << ' ' << count_of(row.expires_at) << ' ' << name_of(row.status)
      << ' ' << row.decided_by << ' ' << row.comment << ' ' << row.edited << ' '
      << to_hex(row.edited_hash) << ' ' << count_of(row.decided_at) << ' ' << row.on_behalf_of
      << '\n';
}

void print(std::ostream& out, const StoredRecord& row) {
  out << "record " << row.collection << ' ' << row.user.text << ' ' << row.key << ' '
      << row.envelope << ' ' << row.run.text() << ' ' << row.seq << ' ' << count_of(row.updated_at)
      << ' ' << row.version << ' ' << count_of(row.expires_at) << ' ' << row.sort_value << '\n';
}

void print(std::ostream& out, const TaskRow& row) {
  out << "task " << row.run.text() << ' ' << row.checkpoint_ns << ' ' << row.superstep << ' '
      << row.position << ' ' << row.task.text() << ' ' << name_of(row.status) << ' ' << row.envelope
      << '\n';
}

void print(std::ostream& out, const EffectRow& row) {
  out << "effect " << row.run.text() << ' ' << row.task.text() << ' ' << row.name << ' ' << row.node
      << ' ' << name_of(row.effect_class) << ' ' << name_of(row.status) << ' ' << row.envelope
      << ' ' << row.attempt << ' ' << count_of(row.created_at) << ' ' << count_of(row.updated_at)
      << '\n';
}

void print(std::ostream& out, const OutboxRow& row) {
  out << "message " << row.run.text() << ' ' << row.seq << ' ' << row.index << ' ' << row.topic
      << ' ' << row.envelope << ' ' << name_of(row.status) << ' ' << row.attempts << ' '
      << row.error << ' ' << count_of(row.due_at) << ' ' << count_of(row.created_at) << '\n';
}

template <typename Rows>
void print_all(std::ostream& out, const Rows& rows) {
  for (const auto& row : rows) print(out, row);
}

}  // namespace

void Caller::print_run(std::ostream& out, const RunRow& run) {
  const TenantId& tenant = run.tenant;
  print(out, run);
  for (const std::string& checkpoint_ns : {std::string(), std::string("inner")}) {
    print_all(out, checkpoints(CheckpointFilter{tenant, run.run, checkpoint_ns, {}, {}, every}));
    print_all(out, tasks(TaskFilter{tenant, run.run, checkpoint_ns}));
    print_all(
        out,
        values(
            {.tenant = tenant, .run = run.run, .at_seq = run.seq, .checkpoint_ns = checkpoint_ns}));
  }
  print_all(out, values(ValueFilter{tenant, run.run, every, true}));
  print_all(out, values(ValueFilter{tenant, run.run, run.seq, true, run.seq / 2}));
  print_all(out, values(ValueFilter{tenant, run.run, run.seq, false}));
  print_all(out, values(ValueFilter{tenant, run.run, run.seq / 2, false}));
  print_all(out, events(EventFilter{tenant, run.run, 0, -1, every}));
  print_all(out, approvals({.tenant = tenant, .run = run.run, .limit = every}));
  print_all(out, effects({.tenant = tenant, .run = run.run, .limit = every}));
  print_all(out, outbox({.tenant = tenant, .run = run.run, .limit = every}));
  print_pages(out, tenant, run.run);
}

// Prints the same rows, read in pages of two.
void Caller::print_pages(std::ostream& out, const TenantId& tenant, const RunId& run) {
  EffectFilter by_key{.tenant = tenant, .run = run, .after = {{TaskId(), ""}}, .limit = 2};
  for (auto page = effects(by_key); !page.empty(); page = effects(by_key)) {
    out << "page\n";
    print_all(out, page);
    by_key.after = {page.back().task, page.back().name};
  }
  OutboxFilter by_place{.tenant = tenant, .run = run, .after = {{0, -1}}, .limit = 2};
  by_place.without_body = true;
  for (auto page = outbox(by_place); !page.empty(); page = outbox(by_place)) {
    out << "page\n";
    print_all(out, page);
    by_place.after = {page.back().seq, page.back().index};
  }
  ApprovalFilter newest_first{.tenant = tenant, .run = run, .limit = 2};
  for (auto page = approvals(newest_first); !page.empty(); page = approvals(newest_first)) {
    out << "page\n";
    print_all(out, page);
    newest_first.before = page.back().interrupt;
  }
}

std::string Caller::all(const TenantId& tenant) {
  std::ostringstream out;
  out << rows(tenant);
  std::vector<std::string> texts;
  for (const StoredEnvelope& stored : envelopes({.tenant = tenant, .limit = every})) {
    texts.push_back(stored.subject + " = " + stored.envelope);
  }
  std::sort(texts.begin(), texts.end());  // positions differ between stores
  for (const std::string& text : texts) out << "envelope " << text << '\n';
  return out.str();
}

std::string Caller::rows(const TenantId& tenant) {
  std::ostringstream out;
  print_all(out, threads({.tenant = tenant, .limit = every}));
  for (const RunRow& run : runs({.tenant = tenant, .limit = every})) print_run(out, run);
  print_all(out, approvals({.tenant = tenant, .only_open = true, .limit = every}));
  print_all(out, effects({.tenant = tenant, .limit = every}));
  print_all(out, effects({.tenant = tenant, .statuses = {EffectStatus::intended}}));
  print_all(out, outbox({.tenant = tenant, .due_by = Instant::max(), .limit = every}));
  print_all(out, runs({.tenant = tenant, .due_by = Instant::max(), .limit = every}));
  RecordQuery query;
  query.tenant = tenant;
  query.collection = "notes";
  query.user = UserId("ana");
  query.limit = every;
  print_all(out, records(query));
  query.field = "date";
  for (const char* date : {"2025-11-20", "2025-11-21", "2025-11-22"}) {
    query.value = date;
    print_all(out, records(query));
  }
  query.field = "order:day";
  for (bool is_descending : {false, true}) {
    query.range.emplace();
    query.range->is_descending = is_descending;
    print_all(out, records(query));
  }
  return out.str();
}

}  // namespace belay::conformance
