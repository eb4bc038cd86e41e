#pragma once
// langgraph/threads.h - threads of the Agent Server API: a thread of the service, the record of one
// that has no run yet, or both.
//
// The service creates a thread with its first run. A thread that a client creates before is a
// ThreadRecord of the caller's user. The first commit of its first run marks the record: without a
// thread of the service, the record with the mark is the rest of a deletion through another door,
// or by retention. Then note_run_on_thread() moves the metadata to the thread of the service
// (thread_changes.h). Threads that were started through other doors are found as well, under any
// name; only UUIDs can be created here.
//
// Threading: on the executor that awaits.

#include <functional>

#include "langgraph/agent_server.h"

namespace belay::langgraph {

struct ThreadRecord {
  static constexpr std::string_view collection = "langgraph_threads";

  std::string id{};
  Value metadata = Value::Object();  // of a thread without a run
  Value config = Value::Object();
  Instant created_at{}, updated_at{};
  std::optional<Instant> expires{};
  bool has_begun = false;  // a run of the thread was started, or seen
  // The request that deletes the runs of the thread, which exists without them, until has_begun is
  // set again and the metadata has moved. Empty: none.
  std::string kept_by{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  Instant expires_at() const { return expires.value_or(Instant{}); }
  bool is_kept() const { return !has_begun && !kept_by.empty(); }
};

// At least one of the two is set.
struct ThreadView {
  ThreadId id;
  UserId user;
  std::optional<ThreadRecord> record;
  std::uint64_t record_version = 0;
  std::optional<ListedThread> listed;  // the thread of the service and its current run

  bool has_run() const { return listed && listed->run; }
  Instant created_at() const;
  Instant updated_at() const;
  // The members of both; graph_id and assistant_id are those of the thread's runs.
  Value metadata() const;
  std::optional<Instant> expiry() const;
  std::string_view status() const;  // idle, busy, interrupted, error
};

// The thread of the service with this name; nullopt if it does not exist, or the caller cannot read
// it.
Task<Result<std::optional<ListedThread>>> listed_thread(const server::Call& call, ThreadId thread);
// Erases the record of a thread if it has this version. A failure changes nothing.
Task<Done> erase_thread_record(const server::Call& call, ThreadId thread, UserId user,
                               std::uint64_t version);
// Erases the records that a deletion through another door has left: of the runs, and the marked one
// of the thread with its version.
Task<Done> erase_left_records(const server::Call& call, ThreadId thread, UserId user,
                              std::uint64_t version);
// The write by which the first commit of a run marks the record of its thread: a deletion of the
// thread that is acknowledged meanwhile is not undone, and the start fails with `conflict`. Empty
// if the thread has no record without the mark.
Result<std::vector<RecordWrite>> mark_of_first_run(const ThreadView& view);
// The error of a start whose thread was changed each time, for a number of attempts.
inline constexpr int kAttemptsMax = 8;
Error changed_too_often(const ThreadId& thread);
// True if the record of the thread was changed or deleted since the view was read: a start that
// failed with `conflict` is repeated.
Task<Result<bool>> is_outdated(server::ApiContext& world, const server::Call& call,
                               const ThreadView& view);
// `not_found` for a thread that does not exist, or that the caller cannot read. Erases the records
// that a deletion through another door has left.
Task<Result<ThreadView>> find_thread(server::ApiContext& world, const server::Call& call,
                                     ThreadId thread);

// The metadata of a thread of the service, as an object.
Value stored_metadata(const ThreadRow& thread);

// The document `Thread` of the protocol. `run`: the state of the current run; null: the members
// `values` and `interrupts` are null and empty.
Value thread_document(AgentServer& served, const ThreadView& thread, const RunView* run);

// The values of a run's state, as the protocol shows them: the channels, and, if none of them is
// `messages` or the agent has a form, the entries of the conversation (conversation.h) as that
// member.
Value values_of(const AgentServer& served, const RunView& run);
// Returns a function of a state of the run, and of whether the run has ended, that returns the
// values which this API shows for it.
std::function<Value(Value state, bool has_ended)> shown_values(const AgentServer& served,
                                                               RunRow row);
// The open approvals of a run as interrupts: {task id: [{"id", "value"}]}.
Value interrupts_of(const RunView& run);
// One interrupt: {"id": ..., "value": ...}. The id has 32 hexadecimal digits.
Value interrupt_document(const ApprovalRow& approval);

}  // namespace belay::langgraph
