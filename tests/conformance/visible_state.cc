// Caller::all(): everything that a reader can see of a tenant, as text.

#include <algorithm>
#include <sstream>

#include "store/enum_names.h"
#include "store/row_fields.h"
#include "tests/conformance/store_suite.h"

namespace belay::conformance {
namespace {

constexpr std::size_t every = 1'000'000;

void print_member(std::ostream& out, const std::string& text) { out << text; }
void print_member(std::ostream& out, const Uuid& id) { out << id.text(); }
void print_member(std::ostream& out, const Digest& digest) { out << to_hex(digest); }
void print_member(std::ostream& out, Instant at) { out << at.time_since_epoch().count(); }
template <typename Tag>
void print_member(std::ostream& out, const NameId<Tag>& id) {
  out << id.text;
}
template <typename M>
  requires std::is_arithmetic_v<M>
void print_member(std::ostream& out, M number) {
  out << number;
}
template <typename E>
  requires std::is_enum_v<E>
void print_member(std::ostream& out, E value) {
  out << store::enum_name(value);
}

// Prints all fields of a row but its seals, which differ from commit to commit.
template <typename Row>
void print(std::ostream& out, const Row& row) {
  if constexpr (requires { row.run; }) out << row.run.text() << ' ';
  store::for_each_field<Row>([&](const auto& field) {
    if (field.column.ends_with("seal")) return;
    out << (field.column.empty() ? field.name : field.column) << '=';
    print_member(out, row.*field.member);
    out << ' ';
  });
  out << '\n';
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
  print_all(out, values(ValueFilter{tenant, run.run, {}, every, true}));
  print_all(out, values(ValueFilter{tenant, run.run, {}, run.seq, true, run.seq / 2}));
  print_all(out, values(ValueFilter{tenant, run.run, {}, run.seq, false}));
  print_all(out, values(ValueFilter{tenant, run.run, {}, run.seq / 2, false}));
  print_all(out, events(EventFilter{tenant, run.run, 0, -1, every}));
  print_all(out, approvals({.tenant = tenant, .run = run.run, .limit = every}));
  print_all(out, effects({.tenant = tenant, .run = run.run, .limit = every}));
  print_all(out, outbox({.tenant = tenant, .run = run.run, .limit = every}));
  print_pages(out, tenant, run.run);
}

// Prints the state of a thread as of each of its runs.
void Caller::print_thread(std::ostream& out, const TenantId& tenant, const ThreadId& thread) {
  ValueFilter all{.tenant = tenant, .run = {}, .thread = thread, .at_seq = ~std::uint64_t{0} >> 1};
  print_all(out, values(all));
  all.every_version = true;
  print_all(out, values(all));
  RunFilter of_thread{.tenant = tenant, .thread = thread, .limit = every};
  for (const RunRow& run : runs(of_thread)) {
    out << run.run.text() << " of " << thread.text << '\n';
    print_all(
        out,
        values({.tenant = tenant, .run = {}, .thread = thread, .at_seq = value_seq(run, run.seq)}));
    print_all(out, values({.tenant = tenant,
                           .run = {},
                           .thread = thread,
                           .at_seq = value_seq(run, run.seq / 2),
                           .every_version = true,
                           .after_seq = value_seq(run, 0)}));
  }
  of_thread.only_current = true;
  print_all(out, runs(of_thread));
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
  for (const ThreadRow& thread : threads({.tenant = tenant, .limit = every})) {
    print_thread(out, tenant, thread.thread);
  }
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
