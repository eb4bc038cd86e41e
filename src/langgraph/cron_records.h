#pragma once
// langgraph/cron_records.h - crons: runs of an assistant at the ticks of a schedule.
//
// A cron is a schedule of the service (belay/schedule.h), named "cron-" and its id, and a record of
// the same user with the members that a schedule does not have. The schedule is the only source of
// the times, the zone, the pause and the agent: a change through another door is visible here. A
// record without its schedule, which a crash can leave, is not a cron.
//
// `multitask_strategy` is the overlap of the schedule: enqueue (the default) and reject concern the
// run of the tick before, interrupt cancels it. The run of a tick waits in the queue for the
// earlier runs of its thread.
//
// Threading: on the executor that awaits.

#include "langgraph/agent_server.h"

namespace belay::langgraph {

struct CronRecord {
  static constexpr std::string_view collection = "langgraph_crons";

  std::string id{};  // a UUID
  std::string assistant_id{}, graph_id{};
  std::string thread_id{};          // empty: each run has a new thread
  Value payload = Value::Object();  // the members of the body that describe its runs
  bool deletes_threads = false;     // on_run_completed: delete
  Value metadata = Value::Object();
  Instant created_at{}, updated_at{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  std::string schedule_name() const { return "cron-" + id; }
};

struct Cron {
  CronRecord record;
  std::uint64_t version = 0;  // of the record
  ScheduleView view;
};

// The document `Cron` of the protocol.
Value cron_document(const Cron& cron);

// The crons of the caller's user.
Task<Result<std::vector<Cron>>> all_crons(const server::Call& call);
// `not_found` for an id that is not a cron of the user.
Task<Result<Cron>> find_cron(const server::Call& call, UserId user, std::string id);

// Returns the id of the cron that the request creates: that of its Idempotency-Key, or a random
// one.
Result<std::string> new_cron_id(AgentServer& served, const server::Call& call);
// Saves a cron: first its paused schedule, which checks all members, then the record and its watch
// (cron_runs.h), then the schedule is resumed if `enabled`. A crash in between leaves a schedule
// that starts nothing, and the same request with the same key completes it, or returns the cron.
// `conflict` if the key names another one.
Task<Result<Cron>> add_cron(AgentServer& served, const server::Call& call, UserId user,
                            CronRecord record, ScheduleChange change, bool enabled);
// Changes the schedule, then the record, then its watch. `conflict` if the record was changed
// meanwhile.
Task<Result<Cron>> change_cron(AgentServer& served, const server::Call& call, Cron cron,
                               ScheduleChange change);
// Deletes the schedule, then the watch and the record; also what a crash between them has left.
Task<Result<Done>> delete_cron(AgentServer& served, const server::Call& call, UserId user,
                               std::string id);

}  // namespace belay::langgraph
