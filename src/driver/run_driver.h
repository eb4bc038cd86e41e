#pragma once
// driver/run_driver.h - carries one run on: does what advance() says and tells it what happened.
//
// Threading: everything on the executor's thread. Destroying a driver stops its nodes where they
// wait; the store keeps what was committed, and any process can take the run over.

#include <deque>
#include <map>
#include <memory>

#include "belay/runtime.h"
#include "driver/effect_journal.h"
#include "driver/lease_gated_model.h"
#include "driver/node_boundary.h"
#include "driver/protected_model.h"
#include "driver/protection.h"
#include "driver/text_stream.h"
#include "engine/event.h"
#include "graph/ledger.h"

namespace belay {

class RunDriver {
 public:
  // Why a driver came to its end.
  enum class End {
    stopped,        // the run has ended, waits, or was given back; that is durable
    fenced,         // somebody else has moved the run on: nothing more may be done here
    exists,         // the first commit found the thread or the run there already
    limit_reached,  // as many runs as may be are at work: nothing was written, it stays where it is
    superseded,     // a decision came while the run was about to pause: read it again and go on
  };

  // `parts`, `protection` and `live` outlive the driver.
  RunDriver(RuntimeParts& parts, Protection& protection, TextHub& live,
            std::shared_ptr<const GraphDefinition> graph, engine::Run run);
  ~RunDriver();
  RunDriver(const RunDriver&) = delete;
  RunDriver& operator=(const RunDriver&) = delete;

  // Goes on until End, or until the store fails. Once.
  Task<Result<End>> drive(engine::Event first);

  // The run has been cancelled or taken over: stop at once, without a commit.
  void abandon();
  // An approval that this run asks for has been decided, without a commit of the run.
  // `corrupt` when its edited payload can't be read: it is then left as it is.
  Result<Done> on_decision(ApprovalRow approval);
  // Starts no more nodes, and releases the run once the running nodes have ended and are committed;
  // with `is_urgent` it abandons the running nodes and releases the run immediately.
  void release(bool is_urgent);

  // Once drive() has rested: the run's row, without its input.
  const RunRow& row() const { return run_.row; }
  // The run as it has ended, and nothing where only the store can tell. Once, after drive().
  std::optional<RunView> take_view();

  std::vector<ConcurrencyGuard> concurrency;  // that the first commit asks for
  std::function<void()> when_published;  // called after a commit that holds messages; may be null

 private:
  using TimerId = Executor::TimerId;

  // An attempt of a node that waits for something.
  struct Attempt {
    engine::AttemptId id;
    const GraphDefinition::Node* node = nullptr;
    std::string checkpoint_ns;
    Instant began{};
    std::unique_ptr<TaskJournal> journal;
    std::unique_ptr<ProtectedModel> model;         // null where the model is not protected
    std::unique_ptr<Context> context;              // null while it waits for what it uses
    std::optional<TextHub::TextProducer> speaker;  // once it has said something
    std::vector<Dependency::Slot> slots;           // of what it uses
    std::optional<TimerId> timer;
    Instant due{};                  // with a timer
    Instant::duration time_left{};  // while its calls of the model wait
    int waiting_calls = 0;
    Spawned task;  // last: it uses all of the above
  };

  engine::Moment moment();
  void push(engine::Event event);
  Task<Done> wait_for_event();
  Task<Done> yield_to_others();
  // Whether a decision waits in the inbox that this run can use.
  bool is_decision_waiting() const;
  engine::Event next_event();
  // What an action comes to; nothing when the run goes on. Uses the action up: it has to live until
  // then, since a commit is big enough for its moves to count.
  Task<Result<std::optional<End>>> perform(engine::Action& action);
  Task<Result<std::optional<End>>> write(engine::WriteCommit& action);
  Result<std::optional<End>> end_for_outcome(CommitOutcome outcome) const;
  // With Durability::async: waits for the commits that are still under way.
  Task<Result<std::optional<End>>> await_pending_commits();
  Task<Result<std::optional<End>>> run_plain(engine::StartNode& action);
  void start_node(engine::StartNode& action);
  // Records what nodes ask to be recorded, after every earlier commit.
  Task<Result<std::optional<End>>> write_journal();
  Task<Result<Done>> read_journal();
  void wait_for_task(const engine::WaitForTask& action);
  std::unique_ptr<Context> context_for(const engine::StartNode& action, Journal& journal,
                                       Model& model);
  void report_node_outcome(const engine::AttemptId& attempt, Instant began, NodeOutcome outcome,
                           NodeEffects left);
  void on_attempt_finished(Attempt& attempt, NodeOutcome outcome);
  void has_streamed(Attempt& attempt);
  const engine::Run& frame_of(const engine::AttemptId& attempt) const;
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
  std::shared_ptr<const GraphDefinition> graph_;
  std::unique_ptr<Records> records_;
  engine::Run run_;
  std::string input_;  // of the row, once the first commit has stored it
  std::deque<engine::Event> inbox_;
  EffectJournal journal_;
  Ledger ledger_;
  std::optional<Completion<Done>> awaited_;
  bool lost_ = false;
  bool has_begun_ = false;  // drive() has been called
  bool is_to_be_released_ = false;
  bool is_urgent_ = false;
  int commits_in_a_row_ = 0;
  std::optional<Instant> plain_since_;  // plain nodes have run since then without a commit

  // Of the attempt that was started last, for the observer.
  int last_attempt_ = 1;
  Instant last_began_{};

  struct Lagging {
    Completion<Result<CommitOutcome>> outcome;
    Spawned task;
  };
  std::deque<std::unique_ptr<Lagging>> lagging_;
  std::map<TaskId, TimerId> waits_;
  std::optional<TimerId> run_timer_;
  // Last: what they run uses all of the above.
  Spawned watch_;
  std::map<TaskId, Attempt> attempts_;
  std::vector<TaskId> over_;  // attempts whose task has ended, to be let go outside of it
};

// What an attempt leaves for its commit: the text that it has streamed becomes an event. Of one
// that came to nothing the text is dropped, of one that failed all but what tells of it.
NodeOutcome finish_attempt(const GraphDefinition::Node& node, const std::string& checkpoint_ns,
                           const engine::AttemptId& attempt, NodeOutcome outcome,
                           NodeEffects& left);

// A user's records, read through the store.
std::unique_ptr<Records> store_records(Store& store, TenantId tenant, UserId user);

}  // namespace belay
