#pragma once
// driver/run_driver.h - executes one run: performs the actions that advance() returns and feeds the
// resulting events back to it.
//
// Threading: call everything on the executor's thread. The destructor destroys suspended nodes; all
// committed data stays in the store, and any process can claim the run.

#include <deque>
#include <map>
#include <memory>

#include "belay/runtime.h"
#include "driver/effect_journal.h"
#include "driver/lease_gated_model.h"
#include "driver/node_boundary.h"
#include "driver/protected_model.h"
#include "driver/protection.h"
#include "engine/event.h"
#include "events/text_stream.h"
#include "graph/ledger.h"
#include "load/graph_registry.h"

namespace belay {

// A node that holds the executor's thread for longer is reported.
inline constexpr std::chrono::milliseconds loop_held_max{100};

class RunDriver {
 public:
  // The reason why drive() returned.
  enum class End {
    stopped,  // the run has ended, is paused, or was released; that is durable
    fenced,   // another commit has advanced the run: the driver must not do anything more
    // The first commit found that the thread or the run already exists, that the thread has got
    // another run since it was read, or that a record does not have its expected version.
    not_started,
    limit_reached,  // concurrency limit: nothing was written, the stored run is unchanged
    superseded,     // a decision was recorded before the pause: read the run again, and continue it
    // A record that a node saves does not have its expected version: nothing was written.
    record_changed,
  };

  // `parts`, `protection` and `live` must outlive the driver. `graphs` contains `graph`.
  RunDriver(RuntimeParts& parts, Protection& protection, TextHub& live,
            std::shared_ptr<const GraphRegistry> graphs,
            std::shared_ptr<const GraphDefinition> graph, engine::Run run);
  ~RunDriver();
  RunDriver(const RunDriver&) = delete;
  RunDriver& operator=(const RunDriver&) = delete;

  // Executes the run until one of the ends above, or fails with the error of the store. Call once.
  Task<Result<End>> drive(engine::Event first);

  // The run has been cancelled or claimed by another session: stops immediately, without a commit.
  void abandon();
  // Passes on a decision that was recorded without a commit of the run. `corrupt` if the edited
  // payload cannot be read: the run then continues to wait for the approval.
  Result<Done> on_decision(ApprovalRow approval);
  // Starts no more nodes, and releases the run once the running nodes have ended and are committed;
  // with `is_urgent` it abandons the running nodes and releases the run immediately.
  void release(bool is_urgent);

  // The row of the run, without its input. Requires: drive() has returned.
  const RunRow& row() const { return run_.row; }
  // Returns the view of an ended run; nullopt if the run has not ended or only the store has all of
  // the data. Call once, after drive() has returned.
  std::optional<RunView> take_view();
  // The nodes with an attempt that waits for a slot, each with the dependency.
  std::vector<std::pair<std::string, std::string>> slot_waits() const;

  std::vector<ConcurrencyGuard> concurrency;  // guards of the first commit
  std::function<void()> when_published;       // called after a commit with messages; may be null

 private:
  using TimerId = Executor::TimerId;

  // A running attempt of a node whose function is a coroutine, or that uses a dependency.
  struct Attempt {
    engine::AttemptId id;
    const GraphDefinition::Node* node = nullptr;
    std::string checkpoint_ns;
    Instant began{};
    std::unique_ptr<TaskJournal> journal;
    std::unique_ptr<ProtectedModel> model;         // null if the model is not protected
    std::unique_ptr<Context> context;              // null while the attempt waits for slots
    std::optional<TextHub::TextProducer> speaker;  // set once the attempt has streamed text
    std::vector<Dependency::Slot> slots;           // of the dependencies that it uses
    std::optional<TimerId> timer;                  // of the node's timeout
    Instant due{};                                 // of `timer`
    Instant::duration time_left{};                 // while calls of the model wait for a slot
    int waiting_calls = 0;                         // calls of the model that wait for a slot
    std::string waits_for_slot_of;                 // the attempt itself; empty: of none
    Spawned task;                                  // last: it uses all members above
  };

  engine::Moment moment();
  void push(engine::Event event);
  Task<Done> wait_for_event();
  Task<Done> yield_to_others();
  // True if the inbox contains a decision that a task of this run waits for.
  bool is_decision_waiting() const;
  engine::Event next_event();
  // Performs an action. nullopt if the run continues. Consumes the action, which must outlive the
  // coroutine: it is passed by reference because moving a commit is expensive.
  Task<Result<std::optional<End>>> perform(engine::Action& action);
  Task<Result<std::optional<End>>> write(engine::WriteCommit& action);
  Result<std::optional<End>> end_for_outcome(CommitOutcome outcome) const;
  // With Durability::async: waits until the commits in progress are durable.
  Task<Result<std::optional<End>>> await_pending_commits();
  Task<Result<std::optional<End>>> run_plain(engine::StartNode& action);
  NodeOutcome call_plain(const engine::StartNode& action, Context& context);
  // Reports a node that held the executor's thread for too long.
  void note_held(const GraphDefinition::Node& node, Instant::duration held);
  void start_node(engine::StartNode& action);
  // Commits the journal rows that nodes wait for, after every earlier commit.
  Task<Result<std::optional<End>>> write_journal();
  // Reads the effects and the decisions that were recorded without a commit of the run.
  Task<Result<Done>> read_records();
  Task<Result<Done>> read_journal();
  // Replaces the run by its stored rows, after its claim.
  Task<Result<std::optional<End>>> read_claimed();
  void wait_for_task(const engine::WaitForTask& action);
  std::unique_ptr<Context> context_for(const engine::StartNode& action, Journal& journal,
                                       Model& model);
  void report_node_outcome(const engine::AttemptId& attempt, Instant began, NodeOutcome outcome,
                           NodeEffects left);
  void on_attempt_finished(Attempt& attempt, NodeOutcome outcome);
  void has_streamed(Attempt& attempt);
  // The run, or the subgraph, with the task of the attempt; null if the task is gone.
  const engine::Run* find_frame(const engine::AttemptId& attempt) const;
  // REQUIRES: the task exists.
  const engine::Run& frame_of(const engine::AttemptId& attempt) const;
  void report_task_finished(const engine::AttemptId& attempt);
  void stop_attempts();
  void begin_attempt(const engine::StartNode& action, Attempt& attempt);
  void limit_attempt(Attempt& attempt, Instant::duration left);
  // protected_attempt.cc
  void start_protected(engine::StartNode& action, std::vector<Dependency*> used);
  Task<NodeOutcome> run_protected(engine::StartNode action, Attempt& attempt,
                                  std::vector<Dependency*> used);
  std::unique_ptr<Context> context_for(const engine::StartNode& action, Attempt& attempt);
  void note_wait(Attempt& attempt, bool waits);
  static void leave_dependencies(Attempt& attempt, const NodeOutcome& outcome);
  void stop_timer(std::optional<TimerId>& timer);
  Task<Done> watch_owner();
  Task<Result<Done>> find_decided();
  static std::string given_up(const CommitRows& rows);
  void report_progress(const CommitRows& rows);
  void report_progress(ProgressEvent::Kind kind, std::string node, int attempt,
                       std::string message = {});

  RuntimeParts& parts_;
  LeaseGatedModel model_{parts_.model, parts_.store};
  Protection& protection_;
  TextHub& live_;
  std::shared_ptr<const GraphRegistry> graphs_;
  std::shared_ptr<const GraphDefinition> graph_;
  std::unique_ptr<Records> records_;
  engine::Run run_;
  std::string input_;  // moved out of the row once the first commit has stored it
  std::deque<engine::Event> inbox_;
  EffectJournal journal_;
  Ledger ledger_;
  std::optional<Completion<Done>> awaited_;
  bool lost_ = false;         // another session owns the run, or the run was cancelled
  bool has_started_ = false;  // drive() has been called
  bool is_to_be_released_ = false;
  bool is_urgent_ = false;              // the release must not wait for running nodes
  int commits_in_a_row_ = 0;            // without a wait in between
  std::optional<Instant> plain_since_;  // plain nodes have run since then without a commit

  // Of the attempt that was started or finished last, for the observer.
  int last_attempt_ = 1;
  Instant last_began_{};

  // With Durability::async: commits that were sent and are not known to be durable, oldest first.
  struct Lagging {
    Completion<Result<CommitOutcome>> outcome;
    Spawned task;
  };
  std::deque<std::unique_ptr<Lagging>> lagging_;
  std::map<TaskId, TimerId> waits_;
  std::optional<TimerId> run_timer_;
  // Last: their coroutines use all members above.
  Spawned watch_;
  std::map<TaskId, Attempt> attempts_;
  std::vector<TaskId> over_;  // finished attempts; drive() destroys them
};

// Prepares the effects of a finished attempt for its commit. The streamed text of a completed
// attempt becomes an event; any other attempt drops its text. A failed attempt also drops its
// records, messages and outcome, and keeps its events and its journal.
NodeOutcome finish_attempt(const GraphDefinition::Node& node, const std::string& checkpoint_ns,
                           const engine::AttemptId& attempt, NodeOutcome outcome,
                           NodeEffects& left);

// Returns an object that reads the records of a user from the store.
std::unique_ptr<Records> store_records(Store& store, Clock& clock, TenantId tenant, UserId user);
// Saves records outside of a run, all or none.
Task<Result<Done>> save_records(Store& store, TenantId tenant, std::vector<RecordWrite> records);
// Saves records as a pending write of the run. False, and nothing is saved, if the run has
// committed since this row of it was read.
Task<Result<bool>> save_records_for(Store& store, const RunRow& run,
                                    std::vector<RecordWrite> records);

}  // namespace belay
