// Long on purpose: one short function for each kind of document, in the order of json_encode.cc.

#include "service/json_decode.h"

#include <charconv>

#include "service/approval_terms_json.h"
#include "service/json_encode.h"

namespace belay {
namespace {

// The member's name in this document: servers of older versions send only its former name.
std::string_view name_in(const Value& document, std::string_view name, std::string_view former) {
  return document.find(name) || !document.find(former) ? name : former;
}

// Decodes the members of one document. done() returns the first error; values read after it must
// not be used.
class Members {
 public:
  // `what` starts each error message: "A run".
  Members(const Value& document, std::string_view what) : document_(document), what_(what) {
    if (!document.as_object())
      fail("must be a JSON object, but is of kind " + std::string(document.kind()));
  }

  const Value& operator[](std::string_view name) const { return document_[name]; }

  std::string text(std::string_view name) {
    if (const std::string* found = document_[name].as_string()) return *found;
    return wants(name, "a text"), "";
  }
  // Returns an empty text for null.
  std::string text_or_null(std::string_view name) {
    return document_[name].is_null() ? "" : text(name);
  }
  bool truth(std::string_view name) {
    if (const bool* found = document_[name].as_bool()) return *found;
    return wants(name, "true or false"), false;
  }
  std::int64_t number(std::string_view name) {
    if (auto found = document_[name].as_int()) return *found;
    return wants(name, "a whole number"), 0;
  }
  std::uint64_t count(std::string_view name) {
    if (auto found = document_[name].as_uint()) return *found;
    return wants(name, "a whole number"), 0;
  }
  Instant instant(std::string_view name) {
    if (auto found = instant_from(text(name))) return *found;
    return wants(name, "a time"), Instant{};
  }
  template <typename Id>
  Id id(std::string_view name) {
    if (auto found = uuid_from(text(name))) return Id(*found);
    return wants(name, "an id"), Id();
  }
  template <typename Id>
  Id id_or_null(std::string_view name) {
    return document_[name].is_null() ? Id() : id<Id>(name);
  }
  template <typename Enumeration>
  Enumeration one_of(std::string_view name) {
    auto found = decode_json<Enumeration>(document_[name]);
    if (found.ok() && document_[name].as_string()) return *found;
    return wants(name, "a known word"), Enumeration{};
  }
  Digest digest(std::string_view name) {
    if (auto found = digest_from(text(name))) return *found;
    return wants(name, "a SHA-256 in hexadecimal digits"), Digest{};
  }
  std::vector<std::string> texts(std::string_view name) {
    std::vector<std::string> all;
    const Value::Array* items = document_[name].as_array();
    if (!items) return wants(name, "a list"), all;
    for (const Value& item : *items) {
      const std::string* word = item.as_string();
      if (!word) return wants(name, "a list of texts"), all;
      all.push_back(*word);
    }
    return all;
  }
  // Decodes a document within this one.
  template <typename T>
  T inner(std::string_view name, Result<T> (*read)(const Value&)) {
    auto found = read(document_[name]);
    if (found.ok()) return *std::move(found);
    if (!fault_) fault_ = std::move(found).error();
    return T();
  }
  template <typename T>
  std::vector<T> items(std::string_view name, Result<T> (*read)(const Value&)) {
    if (!document_[name].as_array()) return wants(name, "a list"), std::vector<T>();
    auto found = items_from<T>(document_, name, read);
    if (found.ok()) return *std::move(found);
    if (!fault_) fault_ = std::move(found).error();
    return {};
  }
  // Returns a member of any type as a stored envelope.
  std::string envelope(std::string_view name) const {
    return json_envelope(to_json(document_[name]));
  }

  void wants(std::string_view name, std::string_view kind) {
    fail("needs " + std::string(kind) + " in \"" + std::string(name) + "\"");
  }

  template <typename T>
  Result<T> done(T value) {
    if (fault_) return *std::move(fault_);
    return value;
  }

 private:
  void fail(const std::string& how) {
    if (!fault_) fault_ = error(ErrorCode::invalid, std::string(what_) + " " + how + ".");
  }

  const Value& document_;
  const std::string_view what_;
  std::optional<Error> fault_;
};

// Parses "run/seq/index".
void read_message_id(Members& members, OutboxRow& row) {
  std::string text = members.text("id");
  std::size_t first = std::min(text.find('/'), text.size());
  std::size_t second = std::min(text.find('/', first + 1), text.size());
  auto run = uuid_from(std::string_view(text).substr(0, first));
  const char* end = text.data() + text.size();
  auto seq = std::from_chars(text.data() + std::min(first + 1, text.size()), end, row.seq);
  auto index = std::from_chars(text.data() + std::min(second + 1, text.size()), end, row.index);
  bool fits = run && seq.ec == std::errc() && seq.ptr == text.data() + second &&
              index.ec == std::errc() && index.ptr == end;
  if (!fits) return members.wants("id", "a message id");
  row.run = RunId(*run);
}

Result<RunRow> standing_run_from(const Value& document) {
  Members members(document, "A run");
  RunRow row;
  row.thread = ThreadId(members.text("threadId"));
  row.run = members.id<RunId>("runId");
  row.graph = members.text("agent");
  row.status = members.one_of<RunStatus>("status");
  row.node = members.text("currentNode");
  if (!members["dueAt"].is_null()) row.due_at = members.instant("dueAt");
  return members.done(std::move(row));
}

Result<Spending> spending_from(const Value& document) {
  Members members(document, "The spending");
  Spending spending;
  spending.spent.tokens = members.number("tokens");
  spending.spent.money = members.number("money");
  spending.reserved.tokens = members.number("reservedTokens");
  spending.reserved.money = members.number("reservedMoney");
  return members.done(spending);
}

Result<EffectRow> effect_from(const Value& document) {
  Members members(document, "An effect");
  EffectRow row;
  row.name = members.text("name");
  row.node = members.text("node");
  row.effect_class = members.one_of<EffectClass>("class");
  row.status = members.one_of<EffectStatus>("status");
  row.attempt = members.number("attempts");
  row.created_at = members.instant("createdAt");
  return members.done(std::move(row));
}

Result<OutboxRow> published_from(const Value& document) {
  Members members(document, "A message");
  OutboxRow row;
  row.topic = members.text("topic");
  row.seq = members.count("seq");
  row.status = members.one_of<OutboxStatus>("status");
  return members.done(std::move(row));
}

Result<Divergence> divergence_from(const Value& document) {
  Members members(document, "A divergence");
  Divergence first;
  first.seq = members.count("seq");
  first.node = members.text("node");
  first.what = members.text("what");
  first.recorded = members.text("recorded");
  first.replayed = members.text("replayed");
  return members.done(std::move(first));
}

Result<TableStatistics> table_from(const Value& document) {
  Members members(document, "A table");
  TableStatistics table;
  table.name = members.text("name");
  table.rows = members.count("rows");
  table.bytes = members.count("bytes");
  return members.done(std::move(table));
}

Result<Violation> violation_from(const Value& document) {
  Members members(document, "A violation");
  Violation violation;
  violation.rule = members.text("rule");
  violation.subject = members.text("subject");
  violation.message = members.text("message");
  return members.done(std::move(violation));
}

}  // namespace

std::optional<Digest> digest_from(std::string_view hex) {
  Digest digest{};
  bool fits = hex.size() == 2 * digest.size();
  for (std::size_t i = 0; fits && i < digest.size(); ++i) {
    const char* first = hex.data() + 2 * i;
    auto [past, failed] = std::from_chars(first, first + 2, digest[i], 16);
    fits = failed == std::errc() && past == first + 2;
  }
  if (!fits) return std::nullopt;
  return digest;
}

Result<RunRow> run_row_from(const Value& summary) {
  Members members(summary, "A run");
  RunRow row;
  row.tenant = default_tenant();
  row.thread = ThreadId(members.text("threadId"));
  row.run = members.id<RunId>("runId");
  row.graph = members.text("agent");
  row.user = UserId(members.text("userId"));
  bool is_gone = !members["storedStatus"].is_null();  // "status" is "code_gone" then
  row.status = members.one_of<RunStatus>(is_gone ? "storedStatus" : "status");
  row.reason = members.text_or_null("reason");
  row.outcome = members.text_or_null("outcome");
  row.node = members.text("currentNode");
  row.seq = members.count("seq");
  row.retry_count = members.number("retryCount");
  row.worked_ms = members.number("workedMs");
  row.created_at = members.instant("createdAt");
  row.updated_at = members.instant("updatedAt");
  if (!members["dueAt"].is_null()) row.due_at = members.instant("dueAt");
  if (!members["queue"].is_null()) row.queue = members.text("queue");
  if (!members["priority"].is_null()) row.priority = members.number("priority");
  if (!members["concurrencyKey"].is_null()) row.concurrency_key = members.text("concurrencyKey");
  if (!members["ordinal"].is_null()) row.ordinal = members.number("ordinal");
  if (!members["input"].is_null()) row.input = members.envelope("input");
  const Value& failed = members["error"];
  if (failed.is_null()) return members.done(std::move(row));
  Members failure(failed, "A run's error");
  row.error_code = failure.text("code");
  row.error = failure.text("message");
  BELAY_TRY(row, failure.done(std::move(row)));
  return members.done(std::move(row));
}

Result<RunView> run_view_from(const Value& document) {
  RunView view;
  BELAY_TRY(view.row, run_row_from(document));
  Members members(document, "A run");
  view.state = members["state"];
  if (!members["approval"].is_null()) {
    view.approval = members.inner("approval", approval_from);
    view.approvals = {*view.approval};
  }
  if (!members["spending"].is_null()) view.spending = members.inner("spending", spending_from);
  if (!members["uncertainEffects"].is_null()) {
    view.uncertain = members.items("uncertainEffects", effect_from);
  }
  view.held_by = members.text_or_null("heldBy");
  view.materials = members["materials"];
  if (!members["storedStatus"].is_null()) view.code_gone = view.held_by;
  return members.done(std::move(view));
}

Result<ApprovalRow> approval_from(const Value& document) {
  Members members(document, "An approval");
  ApprovalRow row;
  row.tenant = default_tenant();
  row.interrupt = members.id<InterruptId>("interruptId");
  row.thread = ThreadId(members.text("threadId"));
  row.run = members.id<RunId>("runId");
  row.graph = members.text("agent");
  row.user = UserId(members.text("userId"));
  row.node = members.text("node");
  row.question = members.text("question");
  row.status = members.one_of<ApprovalStatus>("status");
  row.payload = detail::payload_envelope(to_json(members["payload"]), terms_from(document));
  row.payload_hash = members.digest("payloadHash");
  row.created_at = members.instant("createdAt");
  const Value* expiry = document.find("expiresAt");
  bool expires = !expiry || !expiry->is_null();
  row.expires_at = expires ? members.instant("expiresAt") : never_expires;
  for (const std::string& role : members.texts("roles")) {
    row.roles += (row.roles.empty() ? "" : ",") + role;
  }
  if (!members["decidedAt"].is_null()) row.decided_at = members.instant("decidedAt");
  row.decided_by = members.text_or_null("decidedBy");
  row.on_behalf_of = members.text_or_null("onBehalfOf");
  row.comment = members.text_or_null("comment");
  row.edited = detail::reply_envelope(reply_from(document));
  return members.done(std::move(row));
}

Result<CheckpointRow> checkpoint_from(const Value& document) {
  Members members(document, "A commit");
  CheckpointRow row;
  row.id = members.id<CheckpointId>("checkpointId");
  row.parent = members.id_or_null<CheckpointId>("parentId");
  row.seq = members.count("seq");
  row.epoch = members.count("epoch");
  row.kind = members.one_of<CommitKind>("kind");
  row.node = members.text_or_null("node");
  row.superstep = members.number("superstep");
  row.status = members.one_of<RunStatus>("status");
  row.retry_count = members.number("retryCount");
  row.created_at = members.instant("createdAt");
  row.chain_hash = members.digest("hash");
  return members.done(std::move(row));
}

Result<ThreadRow> thread_row_from(const Value& document) {
  Members members(document, "A thread");
  ThreadRow row;
  row.tenant = default_tenant();
  row.thread = ThreadId(members.text("threadId"));
  row.graph = members.text("agent");
  row.user = UserId(members.text("userId"));
  row.created_at = members.instant("createdAt");
  // Servers of older versions send none of these members.
  row.title = members.text_or_null("title");
  const Value::Object* metadata = members["metadata"].as_object();
  if (metadata && !metadata->empty()) row.metadata = to_json(members["metadata"]);
  if (!members["expiresAt"].is_null()) row.expires_at = members.instant("expiresAt");
  if (!members["updatedAt"].is_null()) row.updated_at = members.instant("updatedAt");
  return members.done(std::move(row));
}

Result<ListedThread> thread_from(const Value& document) {
  Members members(document, "A thread");
  ListedThread listed;
  BELAY_TRY(listed.thread, thread_row_from(document));
  if (!members["run"].is_null()) {
    listed.run = members.inner("run", run_row_from);
    listed.thread.last_run = listed.run->run;
  }
  const bool* code_gone = members["codeGone"].as_bool();
  listed.code_gone = code_gone && *code_gone;
  return members.done(std::move(listed));
}

Result<ListedThread> thread_with_run_from(const Value& document) {
  ListedThread listed;
  BELAY_TRY(listed.run, run_row_from(document));
  const Value& thread = document["thread"];
  BELAY_TRY(listed.thread, thread_row_from(thread.is_null() ? document : thread));
  // Without "thread", from an older server, the members of the run have the same names.
  if (thread.is_null()) listed.thread.updated_at = {};
  listed.thread.last_run = listed.run->run;
  return listed;
}

namespace {

// The first run of a history, with the members that each version of a server sends.
Result<RunRow> run_of_history_from(const Value& document) {
  Members members(document, "A history");
  RunRow run;
  run.thread = ThreadId(members.text("threadId"));
  run.run = members.id<RunId>("runId");
  run.graph = members.text("agent");
  run.status = members.one_of<RunStatus>("status");
  run.reason = members.text_or_null("reason");
  if (!members["dueAt"].is_null()) run.due_at = members.instant("dueAt");
  return members.done(std::move(run));
}

}  // namespace

Result<std::vector<RunHistory>> history_from(const Value& document) {
  Members members(document, "A history");
  std::vector<RunHistory> all;
  if (members["runs"].is_null()) {
    BELAY_TRY(RunRow only, run_of_history_from(document));
    all.push_back({std::move(only), members.items("checkpoints", checkpoint_from)});
    return members.done(std::move(all));
  }
  std::vector<RunRow> runs = members.items("runs", run_row_from);
  for (RunRow& run : runs) all.push_back({std::move(run), {}});
  std::vector<CheckpointRow> checkpoints = members.items("checkpoints", checkpoint_from);
  BELAY_TRY(all, members.done(std::move(all)));
  std::size_t at = 0;
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    const std::string* run = document["checkpoints"].as_array()->at(i)["runId"].as_string();
    while (at < all.size() && (!run || all[at].run.run.text() != *run)) ++at;
    if (at == all.size()) {
      return error(ErrorCode::invalid, "A history needs the run of each commit in \"runs\".");
    }
    all[at].checkpoints.push_back(std::move(checkpoints[i]));
    all[at].materials.push_back(document["checkpoints"].as_array()->at(i)["materials"]);
  }
  return all;
}

Result<StatusSummary> status_summary_from(const Value& document) {
  Members members(document, "An overview");
  StatusSummary standing;
  standing.at_work = members.items("running", standing_run_from);
  standing.orphaned = members.items(name_in(document, "orphaned", "leftBehind"), standing_run_from);
  standing.queued = members.items("queued", standing_run_from);
  // A server of an older version does not send it.
  if (!members["codeGone"].is_null()) {
    standing.code_gone = members.items("codeGone", standing_run_from);
  }
  standing.open = members.items("approvals", approval_from);
  return members.done(std::move(standing));
}

Result<ForkPreview> preview_from(const Value& document) {
  Members members(document, "A preview");
  ForkPreview preview;
  preview.thread = ThreadId(members.text("threadId"));
  preview.seq = members.count("seq");
  preview.first_nodes = members.texts("next");
  preview.repeated_nodes = members.texts("again");
  preview.effects = members.items("effects", effect_from);
  preview.messages = members.items("messages", published_from);
  preview.approvals = members.items("approvals", approval_from);
  return members.done(std::move(preview));
}

Result<ReplayReport> replay_from(const Value& document) {
  Members members(document, "A replay");
  ReplayReport report;
  report.run.thread = ThreadId(members.text("threadId"));
  report.run.run = members.id<RunId>("runId");
  report.run.seq = members.count("commits");
  report.matching_commits = members.count("compared");
  if (!members["divergence"].is_null()) {
    report.divergence = members.inner("divergence", divergence_from);
  }
  return members.done(std::move(report));
}

namespace {

// A server of an older version sends former names alone: see json_encode.cc.
std::optional<DecisionResult::Kind> decision_kind_of_former_name(std::string_view name) {
  using Kind = DecisionResult::Kind;
  for (Kind kind : {Kind::accepted, Kind::duplicate, Kind::conflict, Kind::expired, Kind::closed}) {
    if (former_name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace

Result<DecisionResult> decision_from(const Value& document) {
  Members members(document, "A decision");
  DecisionResult answer;
  if (document.find("result")) {
    answer.kind = members.one_of<DecisionResult::Kind>("result");
  } else if (auto kind = decision_kind_of_former_name(members.text("answer"))) {
    answer.kind = *kind;
  } else {
    members.wants("answer", "a result that is known");
  }
  answer.approval = members.inner("approval", approval_from);
  answer.view = members.inner("run", run_view_from);
  return members.done(std::move(answer));
}

Result<OutboxRow> message_from(const Value& document) {
  Members members(document, "A message");
  OutboxRow row;
  read_message_id(members, row);
  row.topic = members.text("topic");
  row.status = members.one_of<OutboxStatus>("status");
  row.attempts = members.number("attempts");
  row.error = members.text_or_null("error");
  row.due_at = members.instant("dueAt");
  row.created_at = members.instant("createdAt");
  row.envelope = members.envelope("body");
  return members.done(std::move(row));
}

Result<Messages> messages_from(const Value& document) {
  Members members(document, "A list of messages");
  Messages messages;
  messages.rows = members.items("messages", message_from);
  messages.more = members.count("more");
  return members.done(std::move(messages));
}

Result<StoreStatistics> statistics_from(const Value& document) {
  Members members(document, "A store's measure");
  StoreStatistics found;
  found.tables = members.items("tables", table_from);
  found.bytes = members.count("bytes");
  found.free_bytes = members.count("freeBytes");
  return members.done(std::move(found));
}

Result<Compaction> compaction_from(const Value& document) {
  Members members(document, "A compaction");
  Compaction done;
  done.bytes_before = members.count("bytesBefore");
  done.bytes_after = members.count("bytesAfter");
  return members.done(done);
}

Result<ThreadDeletion> deletion_from(const Value& document) {
  Members members(document, "A deletion");
  ThreadDeletion done;
  done.runs = members.count("runs");
  return members.done(done);
}

Result<Pruning> pruning_from(const Value& document) {
  Members members(document, "A pruning");
  Pruning done;
  done.threads.threads = members.count("threads");
  done.threads.runs = members.count("runs");
  done.threads.preserved = members.count("preserved");
  // A server of an older version does not report them.
  bool has_records = !members["expiredRecords"].is_null();
  if (has_records) done.threads.records = members.count("expiredRecords");
  done.large_values = members.count("largeValues");
  done.dry_run = members.truth("dryRun");
  return members.done(done);
}

Result<CheckReport> check_from(const Value& document) {
  Members members(document, "A check");
  CheckReport report;
  report.violations = members.items("violations", violation_from);
  report.runs = members.count("runs");
  report.checkpoints = members.count("checkpoints");
  report.approvals = members.count("approvals");
  return members.done(std::move(report));
}

Result<StreamEvent> event_from(const Value& document) {
  Members members(document, "An event");
  StreamEvent event;
  if (!members["id"].is_null()) {
    event.id = event_id_from(members.text("id"));
    if (!event.id) members.wants("id", "an event id");
  }
  if (auto kind = event_kind_named(members.text("kind"))) {
    event.kind = *kind;
  } else {
    members.wants("kind", "a known kind");
  }
  event.thread = ThreadId(members.text("threadId"));
  event.run = members.id<RunId>("runId");
  event.checkpoint_ns = members.text_or_null(name_in(document, "namespace", "space"));
  event.node = members.text_or_null("node");
  event.task = members.id_or_null<TaskId>("taskId");
  if (!members["attempt"].is_null()) event.attempt = static_cast<int>(members.number("attempt"));
  if (!members["offset"].is_null()) event.offset = members.count("offset");
  event.at = members.instant("at");
  event.body = members["body"];
  return members.done(std::move(event));
}

Result<RecordRow> record_from_document(const Value& document) {
  Members members(document, "A record");
  RecordRow row;
  row.collection = members.text("collection");
  row.user = UserId(members.text("userId"));
  row.key = members.text("key");
  row.json = to_json(members["value"]);
  row.run = members.id_or_null<RunId>("runId");
  row.seq = members.count("seq");
  row.updated_at = members.instant("updatedAt");
  // A server of an earlier version returns none.
  if (!members["version"].is_null()) row.version = members.count("version");
  row.sort_value = members.text_or_null("sortValue");
  return members.done(std::move(row));
}

std::optional<Error> error_from_problem(const Value& problem) {
  const std::string* name = problem["code"].as_string();
  const std::string* sentence = problem["detail"].as_string();
  auto code = name ? error_code_named(*name) : std::nullopt;
  if (!code || !sentence) return std::nullopt;
  return error(*code, *sentence);
}

}  // namespace belay
