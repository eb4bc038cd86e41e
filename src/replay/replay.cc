// Replay: executes a recorded run again, in the recorded order of its events.
//
// Long on purpose: all rules that select the next event are in one place.

#include "replay/replay.h"

#include <algorithm>

#include "belay/limits.h"
#include "driver/run_driver.h"
#include "engine/decision.h"
#include "engine/next_task.h"
#include "engine/run_factory.h"
#include "engine/run_options.h"
#include "engine/run_queries.h"
#include "events/commit_events.h"
#include "graph/question.h"
#include "load/stored_run.h"
#include "replay/immediate_timers.h"

namespace belay {

using engine::NodeTask;
using Turn = CompletionOrder::Turn;

namespace {

// Commits that interrupt an owner, at whichever point it was.
bool is_cut(CommitKind kind) {
  return kind == CommitKind::claim || kind == CommitKind::cancel || kind == CommitKind::release ||
         kind == CommitKind::quarantine || kind == CommitKind::consent;
}

bool is_from_outside(const engine::Event& event) {
  return std::holds_alternative<engine::Claimed>(event) ||
         std::holds_alternative<engine::Released>(event) ||
         std::holds_alternative<engine::Consented>(event) ||
         std::holds_alternative<engine::Cancelled>(event);
}

// True if the actions contain a commit that raises the run's seq, not only pending writes.
bool commits(const std::vector<engine::Action>& actions) {
  return std::any_of(actions.begin(), actions.end(), [](const engine::Action& action) {
    auto* write = std::get_if<engine::WriteCommit>(&action);
    return write && write->commit->run_guard->pending_for.is_null();
  });
}

engine::Moment at(Instant now) {
  engine::Moment moment;
  moment.now = now;
  return moment;
}

}  // namespace

engine::Moment Replay::moment() const { return at(target().created_at); }

// Returns the time of the next recorded commit in the namespace of the attempt.
engine::Moment Replay::moment_in(const engine::AttemptId& attempt) const {
  const engine::Run* frame = frame_of(attempt);
  const CheckpointRow* next = frame && !frame->checkpoint_ns.empty()
                                  ? recorded_.checkpoint(frame->checkpoint_ns, frame->row.seq + 1)
                                  : nullptr;
  return next ? at(next->created_at) : moment();
}

// The recorded start of a subgraph task is the time of the first commit of its subgraph.
engine::Moment Replay::moment_after_commit() const {
  for (const NodeTask& task : run_.tasks) {
    if (!task.node->subgraph || task.phase != NodeTask::Phase::ready) continue;
    std::string checkpoint_ns =
        engine::inner_checkpoint_ns(run_.checkpoint_ns, task.node->name, task.id);
    if (const CheckpointRow* first = recorded_.checkpoint(checkpoint_ns, 1))
      return at(first->created_at);
  }
  return at(run_.row.updated_at);
}

const engine::Run* Replay::frame_of(const engine::AttemptId& attempt) const {
  const engine::Run* frame = &run_;
  for (std::size_t position : attempt.path) {
    if (position >= frame->tasks.size() || !frame->tasks[position].inner) return nullptr;
    frame = frame->tasks[position].inner.get();
  }
  bool is_there =
      attempt.position < frame->tasks.size() && frame->tasks[attempt.position].id == attempt.task;
  return is_there ? frame : nullptr;
}

// The stored rows of the first superstep's tasks contain all that they have done since. The tasks
// of a fork that were complete in its original run are not executed again.
void Replay::start_again(bool is_fork) {
  for (NodeTask& task : run_.tasks) {
    if (is_fork && task.phase == NodeTask::Phase::done) continue;
    NodeTask unstarted;
    unstarted.id = task.id;
    unstarted.node = task.node;
    unstarted.position = task.position;
    unstarted.input = task.input;
    unstarted.decisions = task.decisions;
    task = std::move(unstarted);
  }
  if (is_fork) return;
  run_.unfinished = run_.tasks.size();
  run_.first_ready = 0;
  run_.pending_superstep.reset();
}

Result<engine::Event> Replay::begin() {
  BELAY_TRY(std::string_view text, json_in_envelope(recorded_.row.input));
  BELAY_TRY(Value input, parse_json(text));
  state_ = defaults_of(graph_);
  for (const auto& [name, value] : *input.as_object()) {
    state_.as_object()->insert_or_assign(name, value);
  }
  BELAY_TRY(RunOptions options, engine::options_from(recorded_.row.options));
  timeout_ms_ = options.timeout.count();
  is_loose_ = options.durability == Durability::exit;
  const CheckpointRow& first = target();
  if (recorded_.started) {
    engine::StoredRun started = std::move(*recorded_.started);
    BELAY_TRY(run_, engine::restore(graph_, started));
    state_ = engine::state_value(graph_, started, run_);
    start_again(!recorded_.row.forked_from.is_null());
    // The row as of an older commit has the nodes that this commit ended.
    if (!run_.tasks.empty()) run_.row.node = engine::nodes_text(run_.tasks);
    compared_ = recorded_.started_at;
    run_.options.timeout = std::chrono::hours(24 * 3650);
    return engine::Event(engine::Committed{at(recorded_.commits()[compared_ - 1].created_at)});
  }
  BELAY_TRY(std::shared_ptr<void> state, state_from(*graph_.state, input));
  RunRow row;
  row.tenant = recorded_.row.tenant;
  row.run = recorded_.row.run;
  row.thread = recorded_.row.thread;
  row.user = recorded_.row.user;
  row.session = first.session;
  if (is_loose_) options.durability = Durability::sync;
  if (options.beginning) {  // keeps the values as they were given
    row.input = recorded_.row.input;
    row.options = engine::options_text(options);
    BELAY_TRY(run_, engine::new_run_from(graph_, std::move(row)));
  } else {
    BELAY_TRY(run_, engine::new_run(graph_, std::move(row), options, std::move(state)));
  }
  run_.options.timeout = std::chrono::hours(24 * 3650);
  engine::Started begun{moment()};
  if (first.status == RunStatus::queued) begun.queued_until = first.created_at;
  return engine::Event(begun);
}

Task<Result<ReplayReport>> Replay::run() {
  BELAY_CO_TRY(engine::Event first, begin());
  std::optional<engine::Event> event = std::move(first);
  // Events since the newest compared commit: changed code might never reach another commit.
  std::uint64_t events = 0;
  // A run whose first commit is its last one has nothing to compare.
  for (std::uint64_t before = 0; event && compared_ < recorded_.commits().size();) {
    events = std::exchange(before, compared_) == compared_ ? events + 1 : 0;
    bool may_be_lost = is_cut(target().kind) && !is_from_outside(*event);
    note_nodes();
    auto earlier = may_be_lost ? std::optional(copy_of(run_)) : std::nullopt;
    auto next = engine::advance(graph_, std::move(run_), *std::exchange(event, std::nullopt));
    run_ = std::move(next.run);
    if (earlier && commits(next.actions)) {
      // The recorded process died before it stored this commit: the run returns to the state before
      // the event.
      run_ = *std::move(earlier);
      event = from_outside();
      continue;
    }
    for (engine::Action& action : next.actions) take_up(action);
    if (compared_ < recorded_.commits().size()) order_.set_timers(run_, target());
    if (events > limits::superstep_tasks_max) differs("commit", "one", "none");
    if (divergence_ || compared_ == recorded_.commits().size()) break;
    event = co_await next_event();
    if (event || divergence_) continue;
    if (lacking_.empty()) {
      differs("commit", std::string(name_of(target().kind)), "none: no event is left");
    } else {
      Missing& missing = *lacking_.front().missing;
      differs(missing.what, missing.recorded, missing.replayed, lacking_.front().start.node->name);
    }
  }
  ReplayReport report;
  report.run = recorded_.row;
  report.matching_commits = compared_;
  report.divergence = std::move(divergence_);
  co_return std::move(report);
}

void Replay::take_up(engine::Action& action) {
  if (divergence_ || compared_ == recorded_.commits().size()) return;
  if (auto* wanted = std::get_if<engine::StartNode>(&action)) {
    started_.push_back(std::move(*wanted));
  } else if (auto* wait = std::get_if<engine::WaitForTask>(&action)) {
    waits_.push_back(std::move(*wait));
  } else if (auto* write = std::get_if<engine::WriteCommit>(&action)) {
    is_committed_ = true;
    compare_inner(write->commit->rows);
    bool is_pending = !write->commit->run_guard->pending_for.is_null();
    if (!is_pending && !divergence_) compare(*write->commit);
  }
}

Task<std::optional<engine::Event>> Replay::next_event() {
  std::optional<engine::Event> event;
  // If the next recorded commit is a claim, cancel, release or quarantine, the owner was
  // interrupted: it did not continue after its newest commit, or only as far as the recording
  // shows.
  bool comes_from_outside = is_cut(target().kind);
  bool is_over = comes_from_outside && !order_.has_more(run_, target());
  if (std::exchange(is_committed_, false) && !is_over) {
    event = engine::Committed{moment_after_commit(), has_held_decision()};
    co_return std::move(event);
  }
  bool rests = run_.row.status != RunStatus::running;
  if (!comes_from_outside || is_over || rests) event = from_outside();
  if (event || rests) co_return std::move(event);
  co_await run_started();
  for (Turn latest : {Turn::now, Turn::at_end, Turn::ends_all, Turn::later}) {
    if (comes_from_outside && latest == Turn::ends_all) break;
    event = from_inside(latest);
    if (event) co_return std::move(event);
  }
  if (comes_from_outside) event = from_outside();
  co_return std::move(event);
}

Task<Done> Replay::run_started() {
  while (!started_.empty()) {
    engine::StartNode wanted = std::move(started_.front());
    started_.pop_front();
    // Its superstep might have failed in the meantime.
    if (!frame_of(wanted.attempt)) continue;
    Ran ran = co_await run_attempt(std::move(wanted));
    (ran.missing ? lacking_ : ran_).push_back(std::move(ran));
  }
  co_return Done{};
}

// Returns the next event within the run itself whose turn is not after `latest`. The event that
// causes the kind of the next commit comes last.
std::optional<engine::Event> Replay::from_inside(Turn latest) {
  CommitKind kind = target().kind;
  std::optional<engine::Event> event;
  bool decides = kind == CommitKind::decision || kind == CommitKind::expiry;
  if (!decides) event = decision(latest);
  if (!event) event = asked(latest);
  // A retry might have waited while another task, which started late because of the limit of
  // parallel tasks, raised an interrupt and received its decision.
  bool asks_more = order_.asks_more(run_, target());
  if (!event && asks_more) event = ended(latest);
  if (!event && kind != CommitKind::timer) event = due(latest);
  if (!event && !asks_more) event = ended(latest);
  if (!event && decides) event = decision(latest);
  if (!event && kind == CommitKind::timer) event = due(latest);
  return event;
}

Turn Replay::turn_of(const Ran& ran) const {
  if (!order_.is_known() || !frame_of(ran.start.attempt)) return Turn::now;
  if (std::holds_alternative<InterruptRequest>(ran.outcome)) return turn_of_question(ran);
  // An attempt does not end its task if a retry follows.
  if (std::holds_alternative<Error>(ran.outcome) && recorded_failure(ran.start)) return Turn::now;
  return order_.turn_of(run_, ran.start.attempt, target());
}

// Whether the attempt's error is the one that the run has recorded. Of an error that Belay raised
// the recorded text can be that of an older version, so its code is compared.
bool Replay::fails_run(const Ran& ran) const {
  const Error* failure = std::get_if<Error>(&ran.outcome);
  if (!failure) return false;
  if (failure->message == recorded_.row.error) return true;
  return !node_errors_.contains(failure->message) &&
         name_of(failure->code) == recorded_.row.error_code;
}

Turn Replay::turn_of_question(const Ran& ran) const {
  const InterruptRequest& question = std::get<InterruptRequest>(ran.outcome);
  InterruptId interrupt = engine::interrupt_of(
      ran.start.attempt.task, question_key(question.name, to_json(question.payload)));
  for (const ApprovalRow& row : recorded_.approvals) {
    if (row.interrupt == interrupt) return row.seq <= target().seq ? Turn::now : Turn::later;
  }
  return Turn::now;
}

// Returns the next interrupt of an attempt. Its decision might have come while other tasks ran.
std::optional<engine::Event> Replay::asked(Turn latest) {
  auto first = std::find_if(ran_.begin(), ran_.end(), [&](const Ran& ran) {
    return std::holds_alternative<InterruptRequest>(ran.outcome) && turn_of(ran) <= latest;
  });
  return taken(first);
}

// Returns the next end of an attempt.
std::optional<engine::Event> Replay::ended(Turn latest) {
  // An attempt whose calls are not recorded might be the one that failed the run.
  if (ran_.empty() && !lacking_.empty() && target().kind == CommitKind::failure) {
    auto code = error_code_named(recorded_.row.error_code);
    Ran failed = std::move(lacking_.front());
    lacking_.pop_front();
    failed.outcome = error(code.value_or(ErrorCode::invalid), recorded_.row.error);
    ran_.push_back(std::move(failed));
  }
  // A subgraph might still raise an interrupt that was decided while other tasks ran: therefore
  // outer attempts end last. The attempt that fails the run also ends last.
  auto rank = [this](const Ran& ran) {
    return std::pair(fails_run(ran), -static_cast<std::ptrdiff_t>(ran.start.attempt.path.size()));
  };
  auto first = ran_.end();
  for (auto ran = ran_.begin(); ran != ran_.end(); ++ran) {
    if (turn_of(*ran) > latest) continue;
    if (first == ran_.end() || rank(*ran) < rank(*first)) first = ran;
  }
  return taken(first);
}

// Returns an event that does not come from the run's own tasks: a claim, a release, a cancel, the
// timer or the decision that continued a paused run, or the run's timeout.
std::optional<engine::Event> Replay::from_outside() {
  const CheckpointRow& next = target();
  bool rests = run_.row.status != RunStatus::running;
  switch (next.kind) {
    case CommitKind::claim:
    case CommitKind::quarantine:
      if (next.kind == CommitKind::quarantine) {
        run_.row.lost_claims = limits::lost_claims_max;
        run_.row.session = SessionId(run_.row.run);
      }
      started_.clear();
      ran_.clear();
      lacking_.clear();
      waits_.clear();
      return engine::Claimed{moment(), next.session, next.kind == CommitKind::claim};
    case CommitKind::release:
      started_.clear();
      ran_.clear();
      lacking_.clear();
      waits_.clear();
      return engine::Released{moment()};
    case CommitKind::cancel:
      return engine::Cancelled{moment(), "", "", false,
                               engine::was_cancelled_without_code(recorded_.events, next.seq)};
    case CommitKind::consent:
      return engine::Consented{moment(), {}, {}};
    case CommitKind::timer:
      if (rests) {
        order_.wake(run_, next);
        engine::Resumed resumed{moment(), next.session};
        auto tasks = engine::next_tasks_from(next.next_tasks);
        if (run_.at_breakpoint && tasks.ok()) {
          resumed.breakpoints = tasks->breakpoints.value_or(run_.options.breakpoints);
        }
        return resumed;
      }
      break;
    case CommitKind::failure:
      if (next.status == RunStatus::failed &&
          recorded_.row.error.starts_with("The run worked for longer than its ")) {
        run_.options.timeout = milliseconds(timeout_ms_);
        return engine::RunTimedOut{moment()};
      }
      break;
    default:
      break;
  }
  return rests ? decision(Turn::now) : std::nullopt;
}

// Returns the next recorded decision on an open approval: for a paused run, the one that continued
// it; else, one that was made while other tasks ran. Null without one.
const ApprovalRow* Replay::next_decision(Turn latest) const {
  bool rests = run_.row.status != RunStatus::running;
  std::vector<InterruptId> asked;
  engine::collect_open_interrupts(run_, asked);
  const ApprovalRow* first = nullptr;
  for (const ApprovalRow& row : recorded_.approvals) {
    bool is_asked = std::find(asked.begin(), asked.end(), row.interrupt) != asked.end();
    if (!is_asked || !engine::is_decided(row.status) || decided_.contains(row.interrupt)) continue;
    auto wake = recorded_.wakes.find(target().seq);
    bool is_wake = wake != recorded_.wakes.end() && wake->second == row.interrupt;
    if (rests ? !is_wake : !is_held_decision(row, latest)) continue;
    if (!first || row.decided_at < first->decided_at) first = &row;
  }
  return first;
}

// True if the run must not pause: it had not applied all decisions that were stored.
bool Replay::has_held_decision() const {
  return run_.row.status == RunStatus::running && next_decision(Turn::later);
}

std::optional<engine::Event> Replay::decision(Turn latest) {
  const ApprovalRow* first = next_decision(latest);
  if (!first) return std::nullopt;
  decided_.insert(first->interrupt);
  auto event = engine::stored_decision(*first, moment(), target().session);
  if (!event.ok()) return std::nullopt;
  bool rests = run_.row.status != RunStatus::running;
  event->to_queue = rests && target().status == RunStatus::queued;
  event->more = has_held_decision();
  return *std::move(event);
}

bool Replay::is_held_decision(const ApprovalRow& row, Turn latest) const {
  if (is_waker(row.interrupt) || row.decided_at > target().created_at) return false;
  return !order_.is_known() || order_.turn_of(run_, row.interrupt, target()) <= latest;
}

bool Replay::is_waker(const InterruptId& interrupt) const {
  return std::any_of(recorded_.wakes.begin(), recorded_.wakes.end(),
                     [&](const auto& each) { return each.second == interrupt; });
}

// Returns the next retry or timer that was due before the next commit. A retry counts towards the
// limit of parallel tasks: therefore it is not started before its recorded turn.
std::optional<engine::Event> Replay::due(Turn latest) {
  for (auto wait = waits_.begin(); wait != waits_.end(); ++wait) {
    const engine::Run* frame = frame_of(wait->attempt);
    bool sleeps = frame && frame->tasks[wait->attempt.position].phase == NodeTask::Phase::sleeping;
    if (frame && order_.is_known()) {
      if (order_.turn_of(run_, wait->attempt, target()) > latest) continue;
    } else if (sleeps && wait->due > target().created_at) {
      continue;
    }
    engine::AttemptId attempt = std::move(wait->attempt);
    waits_.erase(wait);
    if (!frame) return due(latest);
    return engine::TaskDue{moment_in(attempt), std::move(attempt)};
  }
  return std::nullopt;
}

// Removes the attempt from `ran_` and returns its event; nullopt for the end iterator.
std::optional<engine::Event> Replay::taken(std::deque<Ran>::iterator attempt) {
  if (attempt == ran_.end()) return std::nullopt;
  Ran ran = std::move(*attempt);
  ran_.erase(attempt);
  engine::Moment now = moment_in(ran.start.attempt);
  if (auto* answer = std::get_if<NodeUpdate>(&ran.outcome)) {
    return engine::NodeEnded{now, std::move(ran.start.attempt), std::move(*answer),
                             std::move(ran.left), false};
  }
  if (auto* failure = std::get_if<Error>(&ran.outcome)) {
    return engine::NodeFailed{now, std::move(ran.start.attempt), std::move(*failure),
                              std::move(ran.left)};
  }
  return engine::NodeInterrupted{now, std::move(ran.start.attempt),
                                 std::move(std::get<InterruptRequest>(ran.outcome)),
                                 std::move(ran.left)};
}

std::optional<Error> Replay::recorded_failure(const engine::StartNode& wanted) const {
  auto task = recorded_.failures.find(wanted.attempt.task);
  if (task == recorded_.failures.end()) return std::nullopt;
  auto found = task->second.find(wanted.attempt.attempt);
  return found == task->second.end() ? std::optional<Error>() : std::optional(found->second);
}

std::unique_ptr<Context> Replay::context_for(const engine::StartNode& wanted, Journal& journal,
                                             Instant now) const {
  Context::Attempt attempt = attempt_of(run_, *frame_of(wanted.attempt), wanted);
  attempt.now = now;
  attempt.options.timeout = milliseconds(timeout_ms_);
  attempt.records = &records_;
  attempt.journal = &journal;
  attempt.replays = true;
  return std::make_unique<Context>(std::move(attempt));
}

Task<Replay::Ran> Replay::run_attempt(engine::StartNode wanted) {
  const engine::Run& frame = *frame_of(wanted.attempt);
  Instant now = engine::began_at(run_, frame, frame.tasks[wanted.attempt.position]);
  auto failure = recorded_failure(wanted);
  Ran ran;
  ran.outcome = NodeUpdate();
  // A recorded timeout is not repeated here, because no time passes: the node is not executed.
  bool timed_out = failure && failure->message.starts_with("The node \"" + wanted.node->name +
                                                           "\" took longer than its ");
  while (!timed_out) {
    RecordedJournal journal(recorded_, wanted.attempt.task, now, failure,
                            begun_[wanted.attempt.task]);
    auto context = context_for(wanted, journal, now);
    if (wanted.node->run_plain) {
      ran.outcome = run_plain_node(*wanted.node, wanted.state.get(), *context);
    } else {
      ImmediateTimers timers(executor_);
      Completion<NodeOutcome> ended;
      std::function<void(NodeOutcome)> done = [ended](NodeOutcome outcome) {
        ended.complete(std::move(outcome));
      };
      auto task = run_task_node(*wanted.node, wanted.state, *context);
      Spawned running = spawn<NodeOutcome>(timers, std::move(task), std::move(done));
      ran.outcome = co_await ended;
    }
    ran.left = context->take_effects();
    ran.missing = journal.missing();
    if (auto* row = std::get_if<EffectRow>(&ran.outcome)) {
      journal.begin_again(*row);
      continue;
    }
    if (!journal.starts_again()) break;
  }
  if (timed_out || (ran.missing && failure)) {
    ran.outcome = *failure;
    ran.missing.reset();
  }
  if (auto* failed = std::get_if<Error>(&ran.outcome)) node_errors_.insert(failed->message);
  ran.outcome = finish_attempt(*wanted.node, frame.checkpoint_ns, wanted.attempt,
                               std::move(ran.outcome), ran.left);
  ran.start = std::move(wanted);
  co_return std::move(ran);
}

Task<Result<ReplayReport>> replay_run(RuntimeParts& parts,
                                      std::shared_ptr<const GraphRegistry> graphs,
                                      ReplayOptions options) {
  std::function<Result<RecordedRun>(Snapshot&)> reader =
      [options, graphs = std::move(graphs)](Snapshot& view) -> Result<RecordedRun> {
    RunRow row;
    if (options.run) {
      BELAY_TRY(row, run_row(view, options.tenant, *options.run));
    } else {
      BELAY_TRY(row, current_run(view, options.tenant, options.thread));
    }
    if (row.thread != options.thread) {
      return error(ErrorCode::not_found, "Run " + row.run.text() + " does not belong to thread \"" +
                                             options.thread.text + "\".");
    }
    return recorded_run(view, *graphs, std::move(row));
  };
  auto recorded = co_await read<RecordedRun>(parts.store, std::move(reader));
  if (!recorded.ok()) co_return std::move(recorded).error();
  auto records = store_records(parts.store, parts.clock, recorded->row.tenant, recorded->row.user);
  Replay replay(*std::move(recorded), parts.executor, *records);
  co_return co_await replay.run();
}

}  // namespace belay
