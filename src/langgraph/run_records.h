#pragma once
// langgraph/run_records.h - runs of the Agent Server API: parts of runs of the service.
//
// A run of the service is one run of the protocol, with the same id, until it waits for a person:
// there the run of the protocol ends. A resume is another run of the protocol on the same run of
// the service; it begins after the commit at which the request found it. The record of a run has
// the members that the service does not store. Runs that were started through other doors have no
// record; a decision through another door begins no run of the protocol.
//
// The id of a run of the service can be that of its Idempotency-Key. After a deletion of its thread
// through another door, its records remain, and the next run of the key has its id: the records of
// the deleted run are ignored, and replaced by those of the next one.
//
// Threading: on the executor that awaits.

#include "langgraph/threads.h"

namespace belay::langgraph {

struct RunRecord {
  static constexpr std::string_view collection = "langgraph_runs";

  std::string id{};             // of the protocol; of a start: that of the run of the service
  std::string thread{}, run{};  // of the service
  // That run was created then; unset: before this member existed.
  std::optional<Instant> run_created_at{};
  std::string assistant_id{};
  std::int64_t after = 0;               // begins after this commit; 0: the start of the run
  std::vector<std::string> answered{};  // the interrupts that it answers
  // Those of them that are open after it: it was one vote of several, or it has stopped before.
  std::vector<std::string> left_open{};
  bool is_partial = false;  // not all of its decisions are known to be made
  Value kwargs = Value::Object();
  Value metadata = Value::Object();
  std::string strategy{};  // multitask_strategy
  bool is_stateless = false;
  Instant created_at{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple{&RunRecord::thread}; }
  Instant expires_at() const { return created_at + limits::steering_kept; }
};

// Whose records have the record of a run that continues another one: an administrator finds the run
// by its id alone. It expires with the record; one without a record is ignored.
struct RunOwner {
  static constexpr std::string_view collection = "langgraph_run_owners";
  static constexpr bool is_of_tenant = true;

  std::string id{}, user{};
  Instant created_at{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  Instant expires_at() const { return created_at + limits::steering_kept; }
};

struct ProtocolRun {
  RunRecord record;
  RunRow row;                  // of the service
  bool is_superseded = false;  // a later run of the protocol continues the run of the service
};

// True if the record is of this run of the service, and not of a deleted one with its id.
bool is_record_of(const RunRecord& record, const RunRow& row);
// The record of a run of the protocol; nullopt if its run of the service does not exist.
Task<Result<std::optional<RunRecord>>> existing_record(const server::Call& call, UserId user,
                                                       std::string id);

// The record of a run of the service that has none.
RunRecord record_of_row(const RunRow& row);

// `not_found` for an id that is not a run of the thread, or that the caller cannot read.
Task<Result<ProtocolRun>> find_run(const server::Call& call, ThreadId thread, std::string id);
// The same, of any thread. `owner`: of its thread; unset: the caller, and for an administrator any.
Task<Result<ProtocolRun>> find_run_by_id(const server::Call& call, std::string id,
                                         std::optional<UserId> owner = std::nullopt);

// The run of the protocol with this id, of a run of the service.
Task<Result<ProtocolRun>> run_with_record(Service& service, Principal who, RunRow row,
                                          std::string id);

// The runs of a thread, newest first; at most kSearchedMax (records.h).
Task<Result<std::vector<ProtocolRun>>> runs_of_thread(const server::Call& call,
                                                      const ThreadView& thread);

// Saves the record of a new run. One of the same run, saved before, remains; that of a deleted run
// is replaced.
Task<Result<Done>> save_run(const server::Call& call, RunRecord record, UserId user);
// Deletes the thread of a run with its records; one that does not exist is deleted.
Task<Result<Done>> delete_thread_of_run(Service& service, Principal who, RunRow row);
// Deletes the records of the runs of a thread that do not exist any more.
Task<Result<Done>> forget_runs(Service& service, Principal who, ThreadId thread, UserId user);

// pending, running, success, error, timeout or interrupted. A run that waits for a person has ended
// with success; only a cancelled one is interrupted.
std::string_view status_of(const ProtocolRun& run);
bool is_run_status(std::string_view name);
// The document `Run` of the protocol.
Value run_document(const ProtocolRun& run);

}  // namespace belay::langgraph
