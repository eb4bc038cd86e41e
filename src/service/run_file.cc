// Long on purpose: lists the members of every row once, for both directions.

#include "service/run_file.h"

#include <algorithm>

#include "base/hex.h"
#include "check/read_store.h"
#include "service/find_run.h"
#include "service/json_decode.h"
#include "store/enum_names.h"
#include "store/row_fields.h"
#include "store/thread_reads.h"

namespace belay {
namespace {

constexpr std::int64_t kVersion = 1;

// The bytes of a stored value.
struct Envelope {
  std::string& bytes;
};

// A member that is omitted if it has its usual value: older files do not contain it.
template <typename T>
struct Usually {
  T& value;
  T usual;
};

std::string hex_of(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (char c : bytes) append_hex(static_cast<std::uint8_t>(c), hex);
  return hex;
}

std::optional<std::string> bytes_of(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    std::size_t high = hex_digits.find(hex[i]);
    std::size_t low = hex_digits.find(hex[i + 1]);
    if (high == hex_digits.npos || low == hex_digits.npos) return std::nullopt;
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

// Writes the members of a row to an object.
class Writer {
 public:
  void operator()(std::string_view name, const std::string& text) { put(name, text); }
  void operator()(std::string_view name, std::int64_t number) { put(name, number); }
  void operator()(std::string_view name, std::uint64_t number) { put(name, number); }
  void operator()(std::string_view name, bool truth) { put(name, truth); }
  void operator()(std::string_view name, const Uuid& id) {
    if (!id.is_null()) put(name, id.text());
  }
  template <typename Tag>
  void operator()(std::string_view name, const NameId<Tag>& id) {
    put(name, id.text);
  }
  void operator()(std::string_view name, const Digest& digest) {
    if (digest != Digest{}) put(name, to_hex(digest));
  }
  void operator()(std::string_view name, const Instant& at) {
    if (at != Instant{}) put(name, to_text(at));
  }
  template <typename T>
  void operator()(std::string_view name, Usually<T> member) {
    if (member.value != member.usual) (*this)(name, member.value);
  }
  void operator()(std::string_view name, Envelope envelope) {
    if (envelope.bytes.empty()) return;
    auto json = json_in_envelope(envelope.bytes);
    if (json.ok() && json_envelope(*json) == envelope.bytes) {
      put(name, std::string(*json));
    } else {
      put(name, Value::object({{"hex", hex_of(envelope.bytes)}}));
    }
  }
  template <typename E>
    requires std::is_enum_v<E>
  void operator()(std::string_view name, const E& value) {
    put(name, name_of(value));
  }

  Value take() { return Value(std::move(members_)); }

 private:
  void put(std::string_view name, Value value) {
    members_.emplace(std::string(name), std::move(value));
  }

  Value::Object members_;
};

// Reads the members of a row; records the first invalid one.
class Reader {
 public:
  explicit Reader(const Value& row, std::string& wrong) : row_(row), wrong_(wrong) {}

  void operator()(std::string_view name, std::string& text) { take(name, text_of(name), text); }
  void operator()(std::string_view name, std::int64_t& number) {
    take(name, row_[name].as_int(), number);
  }
  void operator()(std::string_view name, std::uint64_t& number) {
    take(name, row_[name].as_uint(), number);
  }
  void operator()(std::string_view name, bool& truth) {
    const bool* found = row_[name].as_bool();
    take(name, found ? std::optional(*found) : std::nullopt, truth);
  }
  template <typename Tag>
  void operator()(std::string_view name, NameId<Tag>& id) {
    (*this)(name, id.text);
    if (!check_name(name, id.text).ok()) does_not_fit(name);
  }
  template <typename T>
  void operator()(std::string_view name, Usually<T> member) {
    if (row_[name].is_null()) {
      member.value = std::move(member.usual);
    } else {
      (*this)(name, member.value);
    }
  }
  // Omitted members remain null, or empty.
  void operator()(std::string_view name, Uuid& id) {
    if (!row_[name].is_null()) take(name, uuid_from(text_of(name).value_or("")), id);
  }
  void operator()(std::string_view name, Digest& digest) {
    if (!row_[name].is_null()) take(name, digest_from(text_of(name).value_or("")), digest);
  }
  void operator()(std::string_view name, Instant& at) {
    if (!row_[name].is_null()) take(name, instant_from(text_of(name).value_or("")), at);
  }
  void operator()(std::string_view name, Envelope envelope) {
    const Value& value = row_[name];
    if (value.is_null()) return;
    if (const std::string* text = value.as_string()) {
      envelope.bytes = json_envelope(*text);
      return;
    }
    const std::string* hex = value["hex"].as_string();
    take(name, hex ? bytes_of(*hex) : std::nullopt, envelope.bytes);
  }
  template <typename E>
    requires std::is_enum_v<E>
  void operator()(std::string_view name, E& value) {
    take(name, store::enum_named<E>(text_of(name).value_or("")), value);
  }

 private:
  std::optional<std::string> text_of(std::string_view name) const {
    const std::string* found = row_[name].as_string();
    return found ? std::optional(*found) : std::nullopt;
  }
  template <typename Found, typename T>
  void take(std::string_view name, Found found, T& into) {
    if (found) {
      into = *std::move(found);
    } else {
      does_not_fit(name);
    }
  }
  void does_not_fit(std::string_view name) {
    if (wrong_.empty()) wrong_ = "\"" + std::string(name) + "\"";
  }

  const Value& row_;
  std::string& wrong_;
};

// Visits the fields of a row that files contain (store/row_fields.h), for both directions. Members
// that all rows of a file share (tenant, run, thread) are stored only in its run.
template <typename Row, typename Visit>
void visit(Row& row, Visit& each) {
  store::for_each_field<Row>([&](const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    using M = std::remove_cvref_t<decltype(row.*field.member)>;
    auto& member = row.*field.member;
    if constexpr (Field::use == store::Use::envelope) {
      each(field.name, Envelope{member});
    } else if constexpr (Field::use == store::Use::rarely_set) {
      each(field.name, Usually<M>{member, Row().*field.member});
    } else if constexpr (Field::use == store::Use::only_stored) {
      return;
    } else if constexpr (std::derived_from<M, Uuid>) {
      each(field.name, static_cast<Uuid&>(member));
    } else {
      each(field.name, member);
    }
  });
}

template <typename Row>
Value written(Row row) {
  Writer writer;
  visit(row, writer);
  return writer.take();
}

template <typename Row>
Value written(const std::vector<Row>& rows) {
  Value::Array all;
  for (const Row& row : rows) all.push_back(written(row));
  return Value(std::move(all));
}

void write_space(const check::SpaceContents& checkpoint_ns, Value::Object& members) {
  members.emplace("checkpoints", written(checkpoint_ns.checkpoints));
  members.emplace("values", written(checkpoint_ns.values));
  members.emplace("tasks", written(checkpoint_ns.tasks));
}

// Requires a file without its digest.
std::string digest_of(const Value& file) { return to_hex(sha256(to_json(file))); }

// An error in a list names the row.
template <typename Row>
void read_rows(const Value& document, std::string_view name, std::vector<Row>& rows,
               std::string& wrong) {
  const Value::Array* items = document[name].as_array();
  if (!items) {
    if (wrong.empty()) wrong = "the list \"" + std::string(name) + "\"";
    return;
  }
  for (std::size_t i = 0; i < items->size() && wrong.empty(); ++i) {
    Row row;
    Reader reader((*items)[i], wrong);
    visit(row, reader);
    if (!wrong.empty())
      wrong += " in item " + std::to_string(i) + " of \"" + std::string(name) + "\"";
    rows.push_back(std::move(row));
  }
}

void read_space(const Value& document, check::SpaceContents& checkpoint_ns, std::string& wrong) {
  read_rows(document, "checkpoints", checkpoint_ns.checkpoints, wrong);
  read_rows(document, "values", checkpoint_ns.values, wrong);
  read_rows(document, "tasks", checkpoint_ns.tasks, wrong);
}

void name_space(check::SpaceContents& checkpoint_ns, const RunRow& run) {
  for (CheckpointRow& row : checkpoint_ns.checkpoints) {
    row.run = run.run;
    row.checkpoint_ns = checkpoint_ns.checkpoint_ns;
  }
  for (ValueRow& row : checkpoint_ns.values) {
    row.run = run.run;
    row.checkpoint_ns = checkpoint_ns.checkpoint_ns;
  }
  for (TaskRow& row : checkpoint_ns.tasks) {
    row.run = run.run;
    row.checkpoint_ns = checkpoint_ns.checkpoint_ns;
  }
}

// Sets the members that are stored only in the run.
void name_rows(RunFile& file, const TenantId& tenant) {
  RunRow& run = file.contents.row;
  run.tenant = tenant;
  file.thread.tenant = tenant;
  file.thread.last_run = run.run;
  name_space(file.contents, run);
  for (auto& [name, checkpoint_ns] : file.contents.inner) name_space(checkpoint_ns, run);
  for (EventRow& row : file.contents.events) row.run = run.run;
  for (EffectRow& row : file.contents.effects) row.run = run.run;
  for (OutboxRow& row : file.contents.outbox) row.run = run.run;
  for (ApprovalRow& row : file.contents.approvals) {
    row.tenant = tenant;
    row.run = run.run;
    row.thread = run.thread;
    row.user = run.user;
    row.graph = run.graph;
  }
}

void add_work(check::SpaceContents& checkpoint_ns, CommitRows& rows) {
  std::move(checkpoint_ns.values.begin(), checkpoint_ns.values.end(),
            std::back_inserter(rows.values));
  std::move(checkpoint_ns.tasks.begin(), checkpoint_ns.tasks.end(), std::back_inserter(rows.tasks));
}

// A file contains the values that a later run of a thread has found, with the seq 0, and its own
// ones. In the store they are values of the thread's state; the found ones precede the run.
void own_by_thread(check::RunContents& run) {
  for (ValueRow& value : run.values) {
    value.run = RunId();
    value.thread = run.row.thread;
    value.seq = value_seq(run.row, value.seq);
  }
}

Commit commit_of(RunFile file, const TenantId& tenant) {
  Commit commit;
  commit.tenant = tenant;
  commit.run_guard.emplace();
  commit.imports = true;
  CommitRows& rows = commit.rows;
  rows.thread = std::move(file.thread);
  check::RunContents& run = file.contents;
  rows.run = run.row;
  if (run.row.ordinal > 0) own_by_thread(run);
  rows.checkpoint = std::move(run.checkpoints.back());
  run.checkpoints.pop_back();
  rows.earlier = std::move(run.checkpoints);
  add_work(run, rows);
  for (auto& [name, checkpoint_ns] : run.inner) {
    std::move(checkpoint_ns.checkpoints.begin(), checkpoint_ns.checkpoints.end(),
              std::back_inserter(rows.inner_checkpoints));
    add_work(checkpoint_ns, rows);
  }
  rows.events = std::move(run.events);
  rows.effects = std::move(run.effects);
  rows.opened = std::move(run.approvals);
  rows.outbox = std::move(run.outbox);
  return commit;
}

Error is_damaged(std::string why) {
  return error(ErrorCode::corrupt,
               "The file contains an invalid run: " + std::move(why) + " Export it again.");
}

// Checks the run in a temporary store in memory that contains nothing else.
Task<Result<Done>> check_file(RunFile file, CheckScope scope, Clock& clock, Random& random) {
  std::unique_ptr<Store> scratch = open_memory_store(clock, random);
  Commit commit = commit_of(std::move(file), scope.tenant);
  auto written = co_await scratch->commit(std::move(commit));
  if (!written.ok()) co_return is_damaged(written.error().message);
  BELAY_CO_TRY(CheckReport report, co_await check_store(*scratch, std::move(scope)));
  if (report.violations.empty()) co_return Done{};
  const Violation& first = report.violations.front();
  co_return is_damaged(first.rule + ": " + first.message);
}

}  // namespace

Value run_file(const check::RunContents& contents, const ThreadRow& thread, Instant exported_at) {
  Value::Object members;
  members.emplace("belay", "run");
  members.emplace("version", kVersion);
  members.emplace("exportedAt", to_text(exported_at));
  members.emplace("thread", written(thread));
  members.emplace("run", written(contents.row));
  write_space(contents, members);
  members.emplace("events", written(contents.events));
  members.emplace("effects", written(contents.effects));
  members.emplace("messages", written(contents.outbox));
  members.emplace("approvals", written(contents.approvals));
  Value::Object inner;
  for (const auto& [name, checkpoint_ns] : contents.inner) {
    Value::Object part;
    write_space(checkpoint_ns, part);
    inner.emplace(name, std::move(part));
  }
  members.emplace("inner", std::move(inner));
  Value file(std::move(members));
  std::string digest = digest_of(file);
  file.as_object()->emplace("digest", std::move(digest));
  return file;
}

Result<RunFile> run_file_from(const Value& document) {
  const Value::Object* members = document.as_object();
  if (!members || document["belay"] != Value("run")) {
    return error(ErrorCode::invalid, "The file is not an exported run.");
  }
  auto version = document["version"].as_int();
  if (!version || *version < 1 || *version > kVersion) {
    return error(ErrorCode::invalid,
                 "The file has a newer format than this Belay supports. Use a newer Belay.");
  }
  Value::Object without_digest = *members;
  without_digest.erase("digest");
  if (document["digest"] != Value(digest_of(Value(std::move(without_digest))))) {
    return error(
        ErrorCode::corrupt,
        "The file was changed after its export: its digest does not match. Export it again.");
  }
  RunFile file;
  std::string wrong;
  Reader thread(document["thread"], wrong);
  visit(file.thread, thread);
  Reader run(document["run"], wrong);
  visit(file.contents.row, run);
  read_space(document, file.contents, wrong);
  read_rows(document, "events", file.contents.events, wrong);
  read_rows(document, "effects", file.contents.effects, wrong);
  read_rows(document, "messages", file.contents.outbox, wrong);
  read_rows(document, "approvals", file.contents.approvals, wrong);
  const Value::Object* inner = document["inner"].as_object();
  if (!inner && wrong.empty()) wrong = "\"inner\"";
  for (auto each = inner ? inner->begin() : Value::Object::const_iterator();
       inner && wrong.empty() && each != inner->end(); ++each) {
    check::SpaceContents& checkpoint_ns = file.contents.inner[each->first];
    checkpoint_ns.checkpoint_ns = each->first;
    read_space(each->second, checkpoint_ns, wrong);
  }
  if (wrong.empty() && file.contents.checkpoints.empty()) wrong = "the empty list of its commits";
  if (!wrong.empty())
    return error(ErrorCode::invalid, "The file is not a valid exported run: see " + wrong + ".");
  return file;
}

Task<Result<Value>> export_run(Store& store, CheckScope scope, ThreadId thread,
                               std::optional<RunId> wanted, Instant now, std::string call) {
  // One snapshot for all rows: the run can be executing while it is exported.
  std::function<Result<Value>(Snapshot&)> reader = [scope, thread, wanted, now,
                                                    call](Snapshot& view) -> Result<Value> {
    BELAY_TRY(RunRow run, run_of_thread(view, scope.tenant, thread, call, wanted));
    BELAY_TRY(auto contents, check::read_run(view, scope, run.run));
    BELAY_TRY(std::optional<ThreadRow> row, store::find_thread(view, scope.tenant, thread));
    if (!contents || !row) {
      return error(ErrorCode::not_found, "The run of \"" + thread.text + "\" no longer exists.");
    }
    return run_file(*contents, *row, now);
  };
  return read<Value>(store, std::move(reader));
}

namespace {

// Returns the existing run if it contains exactly the commit that ends the file: the same import
// succeeded before. Later changes of the run do not matter.
Task<Result<std::optional<RunRow>>> imported_before(Store& store, RunRow imported, Digest hash) {
  std::function<Result<std::optional<RunRow>>(Snapshot&)> reader =
      [imported = std::move(imported), hash](Snapshot& view) -> Result<std::optional<RunRow>> {
    RunFilter runs;
    runs.tenant = imported.tenant;
    runs.run = imported.run;
    BELAY_TRY(std::vector<RunRow> rows, view.runs(runs));
    CheckpointFilter checkpoints;
    checkpoints.tenant = imported.tenant;
    checkpoints.run = imported.run;
    checkpoints.seq = imported.seq;
    BELAY_TRY(std::vector<CheckpointRow> commits, view.checkpoints(checkpoints));
    bool is_there = !rows.empty() && rows.front().thread == imported.thread && !commits.empty() &&
                    commits.front().id == imported.checkpoint && commits.front().chain_hash == hash;
    if (!is_there) return std::optional<RunRow>();
    return std::optional(std::move(rows.front()));
  };
  return read<std::optional<RunRow>>(store, std::move(reader));
}

}  // namespace

Task<Result<RunRow>> import_run(Store& store, CheckScope scope, RunFile file, bool allow_unfinished,
                                Clock& clock, Random& random) {
  name_rows(file, scope.tenant);
  RunRow run = file.contents.row;
  if (!has_started(run)) {
    co_return error(ErrorCode::invalid,
                    "The run cannot be imported: it waited for earlier runs of thread \"" +
                        run.thread.text + "\", and has no state. Export one of these.");
  }
  if (!is_final(run.status) && !allow_unfinished) {
    co_return error(ErrorCode::invalid, "The run has not ended: it is " +
                                            std::string(name_of(run.status)) +
                                            ", so it could continue both here and in its original "
                                            "store. Use --allow-unfinished to import it anyway.");
  }
  for (OutboxRow& message : file.contents.outbox) {
    if (message.status != OutboxStatus::waiting) continue;
    message.status = OutboxStatus::given_up;
    message.attempts = std::max<std::int64_t>(message.attempts, 1);  // the discard counts as one
    message.error = "It was undelivered when the run was exported: the original store delivers it.";
  }
  RunFile copy = file;
  BELAY_CO_CHECK(co_await check_file(std::move(copy), scope, clock, random));
  Digest hash = file.contents.checkpoints.back().chain_hash;
  Commit commit = commit_of(std::move(file), scope.tenant);
  BELAY_CO_TRY(CommitOutcome outcome, co_await store.commit(std::move(commit)));
  if (outcome == CommitOutcome::applied) co_return std::move(run);
  // The rows exist. If an import of the same file has written them, for example one whose reply was
  // lost, this one succeeds as well.
  BELAY_CO_TRY(auto there, co_await imported_before(store, run, hash));
  if (there) co_return *std::move(there);
  co_return error(ErrorCode::conflict, "The thread \"" + run.thread.text + "\" or its run " +
                                           run.run.text() + " already exists.");
}

}  // namespace belay
