#include "langgraph/threads.h"

#include <algorithm>

#include "conversation/question_id.h"
#include "langgraph/assistants.h"
#include "langgraph/records.h"
#include "langgraph/run_records.h"

namespace belay::langgraph {
namespace {

using server::ApiContext;
using server::Call;

void add_missing_members(const Value& from, Value::Object& into) {
  if (!from.as_object()) return;
  for (const auto& [name, value] : *from.as_object()) into.emplace(name, value);
}

// Returns the record of the thread; nullopt if it has none.
Task<Result<std::optional<Versioned<ThreadRecord>>>> record_of_thread(const Call& call, UserId user,
                                                                      ThreadId thread) {
  auto records = records_of(call.service, call.who, std::move(user));
  co_return co_await records->get_versioned<ThreadRecord>(std::move(thread.text));
}

// Completes a view. Without a thread of the service, a marked record belongs to a deleted thread,
// unless the first run of the thread is newer than the read.
Task<Result<Done>> add_record(const Call& call, ThreadView& view, Versioned<ThreadRecord> record) {
  if (record.record.has_begun && !view.listed) {
    ThreadId thread = view.id;
    BELAY_CO_TRY(view.listed, co_await listed_thread(call, std::move(thread)));
    bool is_of_other = view.listed && view.listed->thread.user != view.user;
    if (is_of_other) view.user = view.listed->thread.user;
    if (is_of_other) co_return Done{};
    if (!view.listed) {
      ThreadId left = view.id;
      UserId owner = view.user;
      co_await erase_left_records(call, std::move(left), std::move(owner), record.version);
      co_return Done{};
    }
  }
  view.record_version = record.version;
  view.record = std::move(record.record);
  co_return Done{};
}

Value values_with(const conversation::Conversations& conversations, const RunView& run,
                  const std::string& question_id) {
  Value values = run.state;
  if (!values.as_object()) return Value(Value::Object{});
  if (values.find("messages") && !conversations.makes_entries(run.row.graph)) return values;
  Value::Array messages;
  for (const conversation::ChatEntry& entry : conversations.entries_of(
           run.row.graph, run.row.thread.text, run.state, is_final(run.row.status), question_id)) {
    messages.push_back(conversation::langchain_message(entry));
  }
  values.as_object()->insert_or_assign("messages", std::move(messages));
  return values;
}

}  // namespace

Value stored_metadata(const ThreadRow& thread) {
  if (thread.metadata.empty()) return Value(Value::Object{});
  return parse_json(thread.metadata).value_or(Value(Value::Object{}));
}

Instant ThreadView::created_at() const {
  if (!listed) return record->created_at;
  Instant created = listed->thread.created_at;
  return record ? std::min(record->created_at, created) : created;
}

Instant ThreadView::updated_at() const {
  Instant updated = created_at();
  if (record) updated = std::max(updated, record->updated_at);
  if (listed) updated = std::max(updated, listed->thread.updated_at);
  return has_run() ? std::max(updated, listed->run->updated_at) : updated;
}

Value ThreadView::metadata() const {
  Value::Object members;
  // The record of a kept thread has the changes that were made while its runs were deleted.
  bool is_newer = record && !record->kept_by.empty();
  if (is_newer) add_missing_members(record->metadata, members);
  if (listed) add_missing_members(stored_metadata(listed->thread), members);
  if (record) add_missing_members(record->metadata, members);
  if (!listed) return Value(std::move(members));
  const std::string& graph = listed->thread.graph;
  members.emplace("graph_id", graph);
  members.emplace("assistant_id", system_assistant_id(graph));
  return Value(std::move(members));
}

std::optional<Instant> ThreadView::expiry() const {
  if (record && record->expires) return record->expires;
  bool expires = listed && listed->thread.expires_at != Instant();
  return expires ? std::optional(listed->thread.expires_at) : std::nullopt;
}

std::string_view ThreadView::status() const {
  return has_run() ? name_of(thread_status(*listed->run)) : name_of(ThreadStatus::idle);
}

Task<Result<std::optional<ListedThread>>> listed_thread(const Call& call, ThreadId thread) {
  auto listed = co_await call.service.thread(call.who, std::move(thread));
  bool is_absent = !listed.ok() && listed.error().code == ErrorCode::not_found;
  if (is_absent) co_return std::optional<ListedThread>();
  if (!listed.ok()) co_return std::move(listed).error();
  co_return std::optional(*std::move(listed));
}

Task<Done> erase_thread_record(const Call& call, ThreadId thread, UserId user,
                               std::uint64_t version) {
  std::vector<RecordWrite> writes;
  writes.push_back(record_erasure(ThreadRecord::collection, user, std::move(thread.text)));
  writes.back().expected_version = version;
  (void)co_await call.service.save_records(call.who, std::move(writes));
  co_return Done{};
}

Task<Done> erase_left_records(const Call& call, ThreadId thread, UserId user,
                              std::uint64_t version) {
  // The record of the thread is the last one: if this fails, the next reader repeats it.
  ThreadId named = thread;
  UserId owner = user;
  auto forgotten = co_await forget_runs(call.service, call.who, std::move(named), std::move(owner));
  if (!forgotten.ok()) co_return Done{};
  co_return co_await erase_thread_record(call, std::move(thread), std::move(user), version);
}

Result<std::vector<RecordWrite>> mark_of_first_run(const ThreadView& view) {
  std::vector<RecordWrite> writes;
  if (!view.record || view.record->has_begun) return writes;
  ThreadRecord marked = *view.record;
  marked.has_begun = true;
  BELAY_CHECK(add_write(writes, marked, view.user, view.record_version));
  return writes;
}

Error changed_too_often(const ThreadId& thread) {
  return error(ErrorCode::conflict, "Thread " + thread.text +
                                        " was changed by other requests at the same time. Try "
                                        "again.");
}

Task<Result<bool>> is_outdated(ApiContext& world, const Call& call, const ThreadView& view) {
  if (!view.record) co_return false;
  ThreadId thread = view.id;
  auto now = co_await find_thread(world, call, std::move(thread));
  bool is_absent = !now.ok() && now.error().code == ErrorCode::not_found;
  if (is_absent) co_return true;
  if (!now.ok()) co_return std::move(now).error();
  co_return now->record_version != view.record_version;
}

Task<Result<ThreadView>> find_thread(ApiContext&, const Call& call, ThreadId thread) {
  if (auto id = uuid_from(thread.text)) thread = ThreadId(id->text());
  ThreadView view;
  view.id = thread;
  view.user = call.who.user;
  ThreadId named = thread;
  BELAY_CO_TRY(view.listed, co_await listed_thread(call, std::move(named)));
  if (view.listed) view.user = view.listed->thread.user;
  UserId owner = view.user;
  BELAY_CO_TRY(auto record, co_await record_of_thread(call, std::move(owner), std::move(thread)));
  if (record) BELAY_CO_CHECK(co_await add_record(call, view, *std::move(record)));
  if (view.record || view.listed) co_return std::move(view);
  co_return error(ErrorCode::not_found, "Thread with ID " + view.id.text + " not found.");
}

Value thread_document(AgentServer& served, const ThreadView& thread, const RunView* run) {
  Value values, failure;
  Value interrupts = Value(Value::Object{});
  if (run) {
    values = values_of(served, *run);
    interrupts = interrupts_of(*run);
    if (!run->row.error.empty()) failure = Value(run->row.error);
  }
  Instant changed = thread.has_run() ? thread.listed->run->updated_at : thread.created_at();
  return Value::object({{"thread_id", thread.id.text},
                        {"created_at", to_text(thread.created_at())},
                        {"updated_at", to_text(thread.updated_at())},
                        {"state_updated_at", to_text(changed)},
                        {"metadata", thread.metadata()},
                        {"status", thread.status()},
                        {"config", thread.record ? thread.record->config : Value(Value::Object{})},
                        {"values", std::move(values)},
                        {"interrupts", std::move(interrupts)},
                        {"error", std::move(failure)}});
}

Value values_of(const AgentServer& served, const RunView& run) {
  return values_with(served.options.conversations, run, conversation::question_id_of(run.row));
}

Value interrupt_document(const ApprovalRow& approval) {
  std::string id = approval.interrupt.text();
  std::erase(id, '-');
  bool expires = approval.expires_at != Instant{} && approval.expires_at != never_expires;
  Value value =
      Value::object({{"question", approval.question},
                     {"payload", payload_of(approval)},
                     {"node", approval.node},
                     {"expires_at", expires ? Value(to_text(approval.expires_at)) : Value()}});
  conversation::add_offered(approval, *value.as_object());
  return Value::object({{"id", std::move(id)}, {"value", std::move(value)}});
}

Value interrupts_of(const RunView& run) {
  Value::Object tasks;
  for (const ApprovalRow& approval : run.approvals) {
    if (approval.status != ApprovalStatus::open) continue;
    Value& task = tasks[approval.task.text()];
    if (task.is_null()) task = Value(Value::Array{});
    task.as_array()->push_back(interrupt_document(approval));
  }
  return Value(std::move(tasks));
}

std::function<Value(Value state, bool has_ended)> shown_values(const AgentServer& served,
                                                               RunRow row) {
  // Read once: a stream shows many states.
  std::string question = conversation::question_id_of(row);
  return [conversations = served.options.conversations, row = std::move(row),
          question = std::move(question)](Value state, bool has_ended) {
    RunView view;
    view.row = row;
    view.row.status = has_ended ? RunStatus::completed : RunStatus::running;
    view.state = std::move(state);
    return values_with(conversations, view, question);
  };
}

}  // namespace belay::langgraph
