#include "langgraph/state.h"

#include <algorithm>

#include "langgraph/errors.h"
#include "langgraph/records.h"
#include "langgraph/state_change.h"
#include "langgraph/state_tasks.h"

namespace belay::langgraph {
namespace {

using server::Call;

// A page of the first read, which is enough for the newest checkpoints of most threads.
constexpr std::size_t kFirstCommits = limits::bounded(100, 2);
constexpr std::size_t kReadCommitsMax = 100'000;  // of one request

Value reference_in(const ThreadView& thread, const CheckpointId& id) {
  return id.is_null() ? Value() : checkpoint_reference(thread.id.text, id.text());
}

// The record of the run of the protocol that made the checkpoint: each begins after a commit.
const RunRecord* record_of_checkpoint(const ThreadOfStates& thread,
                                      const ThreadCheckpoint& checkpoint) {
  const RunRecord* found = nullptr;
  auto seq = static_cast<std::int64_t>(checkpoint.commit.seq);
  for (const RunRecord& each : thread.runs) {
    bool is_before = each.after < seq && is_record_of(each, *checkpoint.run);
    if (is_before && (!found || each.after > found->after)) found = &each;
  }
  return found;
}

// Returns the run with the state of the checkpoint.
Task<Result<RunView>> view_of_checkpoint(const Call& call, const ThreadCheckpoint& checkpoint) {
  ThreadId thread = checkpoint.run->thread;
  std::optional<RunId> run = checkpoint.run->run;
  std::optional<std::uint64_t> seq;
  if (!checkpoint.is_newest) seq = checkpoint.commit.seq;
  auto view = co_await call.service.status(call.who, std::move(thread), seq, run);
  // The run has continued since its commits were read: its current state is not this one's.
  bool is_later = view.ok() && !seq && view->row.seq != checkpoint.run->seq;
  if (!is_later) co_return std::move(view);
  thread = checkpoint.run->thread;
  seq = checkpoint.commit.seq;
  co_return co_await call.service.status(call.who, std::move(thread), seq, run);
}

}  // namespace

Task<Result<Done>> CheckpointReader::read_page() {
  HistoryPage page;
  page.thread = thread_;
  page.limit = read_ == 0 ? kFirstCommits : limits::list_rows_max;
  if (last_read_) {
    page.before_run = last_read_->first;
    page.before_seq = last_read_->second;
  }
  if (read_ >= kReadCommitsMax) {
    co_return error(ErrorCode::exhausted, "The checkpoint is beyond the newest " +
                                              std::to_string(kReadCommitsMax) +
                                              " commits of the thread.");
  }
  std::size_t limit = page.limit;
  BELAY_CO_TRY(std::vector<RunHistory> history, co_await service_.history(who_, std::move(page)));
  std::size_t found = 0;
  for (RunHistory& each : history) {
    auto run = std::make_shared<const RunRow>(std::move(each.run));
    for (CheckpointRow& row : each.checkpoints) {
      last_read_ = {run->run, row.seq};
      commits_.push_back({run, std::move(row)});
      ++found;
    }
  }
  read_ += found;
  has_all_ = found < limit;
  co_return Done{};
}

Task<Result<std::optional<ThreadCheckpoint>>> CheckpointReader::next_without_parent() {
  while (true) {
    while (commits_.size() < 2 && !has_all_) BELAY_CO_CHECK(co_await read_page());
    if (commits_.empty()) co_return std::optional<ThreadCheckpoint>();
    ReadCommit now = std::move(commits_.front());
    commits_.pop_front();
    bool begins = commits_.empty() || commits_.front().run->run != now.run->run ||
                  commits_.front().row.superstep != now.row.superstep;
    // Superstep 0 is that of a run that has not started.
    if (!begins || now.row.superstep == 0) continue;
    ThreadCheckpoint checkpoint;
    checkpoint.is_newest = run_ != now.run->run;
    checkpoint.run = std::move(now.run);
    checkpoint.commit = std::move(now.row);
    run_ = checkpoint.run->run;
    co_return std::optional(std::move(checkpoint));
  }
}

Task<Result<std::optional<ThreadCheckpoint>>> CheckpointReader::next() {
  if (!has_begun_) {
    has_begun_ = true;
    BELAY_CO_TRY(following_, co_await next_without_parent());
  }
  if (!following_) co_return std::optional<ThreadCheckpoint>();
  ThreadCheckpoint checkpoint = *std::move(following_);
  BELAY_CO_TRY(following_, co_await next_without_parent());
  BELAY_CO_CHECK(co_await set_parent(checkpoint));
  co_return std::optional(std::move(checkpoint));
}

Task<Result<Done>> CheckpointReader::set_parent(ThreadCheckpoint& checkpoint) {
  bool is_first = !following_ || following_->run->run != checkpoint.run->run;
  std::optional<RunCommit> from;
  if (is_first) from = origin_of(*checkpoint.run);
  if (!from) {
    if (following_) checkpoint.parent = following_->commit.id;
    co_return Done{};
  }
  HistoryPage page;
  page.thread = thread_;
  auto run = uuid_from(from->run);
  if (run) page.run = RunId(*run);
  page.before_seq = static_cast<std::uint64_t>(from->seq) + 1;
  page.limit = kFirstCommits;
  auto history = co_await service_.history(who_, std::move(page));
  bool is_pruned = !history.ok() && history.error().code == ErrorCode::not_found;
  if (!history.ok() && !is_pruned) co_return std::move(history).error();
  if (!history.ok() || history->empty()) co_return Done{};
  // The first commit of its superstep.
  const std::vector<CheckpointRow>& rows = history->front().checkpoints;
  for (const CheckpointRow& row : rows) {
    if (row.superstep != rows.front().superstep) break;
    checkpoint.parent = row.id;
  }
  co_return Done{};
}

Task<Result<CheckpointId>> CheckpointReader::parent_of_first(RunRow run) {
  // Only the commits of the runs before it.
  last_read_ = {run.run, 1};
  ThreadCheckpoint first;
  first.run = std::make_shared<const RunRow>(std::move(run));
  if (!origin_of(*first.run)) {
    BELAY_CO_TRY(following_, co_await next_without_parent());
  }
  BELAY_CO_CHECK(co_await set_parent(first));
  co_return first.parent;
}

Task<Result<CheckpointId>> parent_of_run(Service& service, Principal who, RunRow run) {
  CheckpointReader reader(service, std::move(who), run.thread);
  auto parent = co_await reader.parent_of_first(std::move(run));
  bool is_deleted = !parent.ok() && parent.error().code == ErrorCode::not_found;
  if (is_deleted) co_return CheckpointId();
  co_return std::move(parent);
}

Value checkpoint_reference(const std::string& thread, const std::string& id,
                           const std::string& space, const std::string& root) {
  if (id.empty()) return Value();
  Value map;
  if (!space.empty()) map = Value::object({{"", root}, {space, id}});
  return Value::object({{"thread_id", thread},
                        {"checkpoint_id", id},
                        {"checkpoint_ns", space},
                        {"checkpoint_map", std::move(map)}});
}

Task<Result<std::optional<ThreadCheckpoint>>> find_checkpoint(const Call& call, ThreadId thread,
                                                              std::optional<CheckpointId> id) {
  CheckpointReader reader(call, std::move(thread));
  while (true) {
    BELAY_CO_TRY(std::optional<ThreadCheckpoint> found, co_await reader.next());
    if (!found || !id || found->commit.id == *id) co_return std::move(found);
  }
}

Task<Result<ThreadOfStates>> find_thread_of_states(AgentServer& served, const Call& call,
                                                   ThreadId thread) {
  ThreadOfStates found;
  BELAY_CO_TRY(found.view, co_await find_thread(served.world, call, std::move(thread)));
  RecordFilter filter;
  filter.field = "thread";
  filter.value = found.view.id.text;
  UserId owner = found.view.user;
  BELAY_CO_TRY(UserRecords<RunRecord> records,
               co_await read_records<RunRecord>(call.service, call.who, std::move(owner),
                                                std::move(filter)));
  for (auto& each : records.records) found.runs.push_back(std::move(each.record));
  co_return std::move(found);
}

Task<Result<std::optional<RunCommit>>> commit_of_checkpoint(const server::Call& call,
                                                            const ThreadView* thread,
                                                            std::string id, bool newest) {
  if (id.empty()) co_return std::optional<RunCommit>();
  auto uuid = uuid_from(id);
  if (!uuid) co_return error(ErrorCode::invalid, "\"checkpoint_id\" must be a UUID.");
  std::optional<ThreadCheckpoint> found;
  bool is_newest = true;
  if (thread && thread->has_run()) {
    CheckpointReader reader(call, thread->id);
    BELAY_CO_TRY(found, co_await reader.next());
    while (found && found->commit.id != *uuid) {
      is_newest = false;
      BELAY_CO_TRY(found, co_await reader.next());
    }
  }
  if (!found) co_return error(ErrorCode::not_found, "Checkpoint with ID " + id + " not found.");
  if (is_newest && !newest) co_return std::optional<RunCommit>();
  co_return std::optional(
      RunCommit{found->run->run.text(), static_cast<std::int64_t>(found->commit.seq)});
}

Value checkpoint_metadata(const ThreadOfStates& thread, const ThreadCheckpoint& checkpoint) {
  const CheckpointRow& commit = checkpoint.commit;
  std::string_view source = "loop";
  if (commit.kind == CommitKind::input) source = source_of_first(*checkpoint.run);
  if (commit.kind == CommitKind::fork) source = "fork";
  Value of_thread = thread.view.metadata();
  Value::Object members{{"source", source},
                        {"step", commit.superstep},
                        {"parents", Value(Value::Object{})},
                        {"run_id", checkpoint.run->run.text()},
                        {"thread_id", thread.view.id.text},
                        {"graph_id", of_thread["graph_id"]},
                        {"assistant_id", of_thread["assistant_id"]}};
  const RunRecord* record = record_of_checkpoint(thread, checkpoint);
  if (!record) return Value(std::move(members));
  members["run_id"] = record->id;
  members["assistant_id"] = record->assistant_id;
  if (const Value::Object* own = record->metadata.as_object()) {
    for (const auto& [name, value] : *own) members.emplace(name, value);
  }
  return Value(std::move(members));
}

Task<Result<Value>> state_document(AgentServer& served, const Call& call,
                                   const ThreadOfStates& thread, ThreadCheckpoint checkpoint,
                                   bool subgraphs) {
  BELAY_CO_TRY(std::vector<StateTask> tasks, state_tasks(checkpoint.commit));
  BELAY_CO_TRY(RunView view, co_await view_of_checkpoint(call, checkpoint));
  add_interrupts(view, tasks);
  if (subgraphs) BELAY_CO_CHECK(co_await add_subgraphs(call, checkpoint, tasks));
  Value::Array next = next_nodes(tasks), interrupts;
  for (const StateTask& task : tasks) {
    interrupts.insert(interrupts.end(), task.interrupts.begin(), task.interrupts.end());
  }
  Value documents = task_documents(std::move(tasks), view.row.error);
  co_return Value::object({{"values", values_of(served, view)},
                           {"next", std::move(next)},
                           {"tasks", std::move(documents)},
                           {"metadata", checkpoint_metadata(thread, checkpoint)},
                           {"created_at", to_text(checkpoint.commit.created_at)},
                           {"checkpoint", reference_in(thread.view, checkpoint.commit.id)},
                           {"parent_checkpoint", reference_in(thread.view, checkpoint.parent)},
                           {"interrupts", std::move(interrupts)}});
}

Value empty_state() {
  return Value::object({{"values", Value(Value::Object{})},
                        {"next", Value(Value::Array{})},
                        {"tasks", Value(Value::Array{})},
                        {"metadata", Value(Value::Object{})},
                        {"created_at", Value()},
                        {"checkpoint", Value()},
                        {"parent_checkpoint", Value()},
                        {"interrupts", Value(Value::Array{})}});
}

const Value* state_of_subgraph(const Value& state, std::string_view checkpoint_ns) {
  const Value::Array* tasks = state["tasks"].as_array();
  if (!tasks) return nullptr;
  for (const Value& task : *tasks) {
    const Value& inside = task["state"];
    const std::string* name = inside["checkpoint"]["checkpoint_ns"].as_string();
    if (!name) continue;
    if (*name == checkpoint_ns) return &inside;
    if (const Value* deeper = state_of_subgraph(inside, checkpoint_ns)) return deeper;
  }
  return nullptr;
}

Result<NamedCheckpoint> checkpoint_in(const Value& named, std::string_view member) {
  NamedCheckpoint checkpoint;
  if (named.is_null()) return checkpoint;
  const Value& place = named["configurable"].as_object() ? named["configurable"] : named;
  const std::string* text = place.as_string();
  if (place.as_object()) {
    BELAY_TRY(auto space, text_member(place, "checkpoint_ns"));
    checkpoint.checkpoint_ns = std::move(space).value_or("");
    if (place["checkpoint_id"].is_null()) return checkpoint;
    text = place["checkpoint_id"].as_string();
  }
  auto id = text ? uuid_from(*text) : std::nullopt;
  if (!id) {
    return error(ErrorCode::invalid, "\"" + std::string(member) +
                                         "\" must be the id of a checkpoint, or an object with "
                                         "\"checkpoint_id\".");
  }
  checkpoint.id = CheckpointId(*id);
  return checkpoint;
}

}  // namespace belay::langgraph
