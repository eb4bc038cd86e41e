// Long on purpose: how the record drives a run, and what is compared.

#include <algorithm>
#include <deque>
#include <set>

#include "belay/limits.h"
#include "driver/commit_events.h"
#include "driver/recorded_journal.h"
#include "driver/runtime_body.h"
#include "driver/timers_at_once.h"
#include "engine/advance.h"
#include "engine/advancing.h"
#include "engine/decision.h"
#include "engine/next_task.h"

namespace belay {
namespace {

using engine::NodeTask;

// Next tasks without what time and chance put into them.
std::string comparable_tasks(const std::string& text) {
  auto tasks = parse_json(text);
  if (!tasks.ok() || !tasks->as_array()) return text;
  for (Value& each : *tasks->as_array()) {
    if (each.as_object()) each.as_object()->erase("due");
  }
  return to_json(*tasks);
}

std::vector<std::string> texts_of(const std::vector<EventRow>& events, std::uint64_t seq) {
  std::vector<std::string> texts;
  for (const EventRow& row : events) {
    if (row.seq == seq && row.index > 0) texts.push_back(row.type + " " + row.body);
  }
  return texts;
}

std::vector<std::string> texts_of(const std::vector<OutboxRow>& messages, std::uint64_t seq) {
  std::vector<std::string> texts;
  for (const OutboxRow& row : messages) {
    if (row.seq != seq) continue;
    auto body = json_in_envelope(row.envelope);
    texts.push_back(row.topic + " " + (body.ok() ? std::string(*body) : "unreadable"));
  }
  return texts;
}

void add(std::vector<std::string>& to, std::vector<std::string> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all.empty() ? "none" : all;
}

class Replay {
 public:
  Replay(RecordedRun recorded, Executor& executor, Records& records)
      : recorded_(std::move(recorded)),
        graph_(*recorded_.graph),
        executor_(executor),
        records_(records),
        is_loose_(false) {}

  Task<Result<ReplayReport>> run();

 private:
  using Missing = RecordedJournal::Missing;

  // What an attempt came to.
  struct Ran {
    engine::StartNode start;
    NodeOutcome outcome;
    NodeEffects left;
    std::optional<Missing> missing;
  };

  const CheckpointRow& target() const { return recorded_.commits()[compared_]; }
  Result<engine::Event> begin();
  Task<std::optional<engine::Event>> next_event();
  std::optional<engine::Event> from_outside();
  std::optional<engine::Event> decision(bool held);
  bool is_waker(const InterruptId& interrupt) const;
  std::optional<engine::Event> due();
  std::optional<engine::Event> from_attempt(Ran ran);
  Task<Ran> run_attempt(engine::StartNode start);
  std::unique_ptr<Context> context_for(const engine::StartNode& start, Journal& journal,
                                       Instant now) const;
  std::optional<Error> recorded_failure(const engine::StartNode& start) const;
  void take_up(engine::Action& action);
  // Null where its subgraph's visit is over.
  const engine::Run* frame_of(const engine::AttemptId& attempt) const;
  engine::Moment moment() const;
  engine::Moment moment_in(const engine::AttemptId& attempt) const;
  engine::Moment moment_after_commit() const;

  void compare(const Commit& commit);
  void compare_inner(const CommitRows& rows);
  void compare_state(const CommitRows& rows);
  bool is_passed_over(const CheckpointRow& replayed) const;
  void differs(std::string what, std::string recorded, std::string replayed, std::string node = {});
  void expect(const std::string& what, const std::string& recorded, const std::string& replayed) {
    if (recorded != replayed) differs(what, recorded, replayed);
  }

  RecordedRun recorded_;
  const GraphDefinition& graph_;
  Executor& executor_;
  Records& records_;
  // Held back to the end: one recorded commit for several of these.
  bool is_loose_;

  engine::Run run_;
  std::uint64_t compared_ = 0;
  std::optional<Divergence> divergence_;
  Value state_;  // as it is recorded
  bool is_committed_ = false;
  std::deque<engine::StartNode> started_;
  std::deque<Ran> ran_;
  std::deque<Ran> lacking_;
  std::deque<engine::WaitForTask> waits_;
  std::set<InterruptId> decided_;
  std::map<TaskId, RecordedJournal::Begun> begun_;
  std::vector<std::string> events_, messages_;  // of commits passed over
  std::int64_t timeout_ms_ = 0;
};

engine::Moment at(Instant now) {
  engine::Moment moment;
  moment.now = now;
  return moment;
}

engine::Moment Replay::moment() const { return at(target().created_at); }

// Of what commits in a subgraph's space, where that is recorded.
engine::Moment Replay::moment_in(const engine::AttemptId& attempt) const {
  const engine::Run* frame = frame_of(attempt);
  const CheckpointRow* next = frame && !frame->space.empty()
                                  ? recorded_.checkpoint(frame->space, frame->row.seq + 1)
                                  : nullptr;
  return next ? at(next->created_at) : moment();
}

// The first commit of a subgraph tells when its task began.
engine::Moment Replay::moment_after_commit() const {
  for (const NodeTask& task : run_.tasks) {
    if (!task.node->subgraph || task.phase != NodeTask::Phase::ready) continue;
    std::string space = engine::inner_space(run_.space, task.node->name, task.id);
    if (const CheckpointRow* first = recorded_.checkpoint(space, 1)) return at(first->created_at);
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

void Replay::differs(std::string what, std::string recorded, std::string replayed,
                     std::string node) {
  if (divergence_) return;
  Divergence found;
  found.seq = target().seq;
  if (node.empty()) node = target().node;
  found.node = std::move(node);
  found.what = std::move(what);
  found.recorded = std::move(recorded);
  found.replayed = std::move(replayed);
  divergence_ = std::move(found);
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
  if (recorded_.forked) {
    BELAY_TRY(run_, engine::restore(graph_, std::move(*recorded_.forked)));
    for (NodeTask& task : run_.tasks) {
      if (task.phase != NodeTask::Phase::done) task.phase = NodeTask::Phase::ready;
    }
    compared_ = 1;
    run_.options.timeout = std::chrono::hours(24 * 3650);
    return engine::Event(engine::Committed{at(first.created_at)});
  }
  BELAY_TRY(std::shared_ptr<void> state, state_from(*graph_.state, input));
  RunRow row;
  row.tenant = recorded_.row.tenant;
  row.run = recorded_.row.run;
  row.thread = recorded_.row.thread;
  row.user = recorded_.row.user;
  row.session = first.session;
  if (is_loose_) options.durability = Durability::sync;
  BELAY_TRY(run_, engine::new_run(graph_, std::move(row), options, std::move(state)));
  run_.options.timeout = std::chrono::hours(24 * 3650);
  engine::Begun begun{moment()};
  if (first.status == RunStatus::queued) begun.queued_until = first.created_at;
  return engine::Event(begun);
}

Task<Result<ReplayReport>> Replay::run() {
  BELAY_CO_TRY(engine::Event first, begin());
  std::optional<engine::Event> event = std::move(first);
  // Events since the newest commit that was compared: code that has changed may never get to one.
  std::uint64_t events = 0;
  for (std::uint64_t before = 0; event;) {
    events = std::exchange(before, compared_) == compared_ ? events + 1 : 0;
    auto next = engine::advance(graph_, std::move(run_), *std::exchange(event, std::nullopt));
    run_ = std::move(next.run);
    for (engine::Action& action : next.actions) take_up(action);
    if (events > limits::superstep_tasks_max) differs("commit", "one", "none");
    if (divergence_ || compared_ == recorded_.commits().size()) break;
    event = co_await next_event();
    if (event || divergence_) continue;
    if (lacking_.empty()) {
      differs("commit", std::string(name_of(target().kind)), "none: nothing moves any more");
    } else {
      Missing& missing = *lacking_.front().missing;
      differs(missing.what, missing.recorded, missing.replayed, lacking_.front().start.node->name);
    }
  }
  ReplayReport report;
  report.run = recorded_.row;
  report.compared = compared_;
  report.divergence = std::move(divergence_);
  co_return std::move(report);
}

void Replay::take_up(engine::Action& action) {
  if (divergence_ || compared_ == recorded_.commits().size()) return;
  if (auto* start = std::get_if<engine::StartNode>(&action)) {
    started_.push_back(std::move(*start));
  } else if (auto* wait = std::get_if<engine::WaitForTask>(&action)) {
    waits_.push_back(std::move(*wait));
  } else if (auto* write = std::get_if<engine::WriteCommit>(&action)) {
    is_committed_ = true;
    compare_inner(write->commit->rows);
    bool is_pending = !write->commit->guard->pending_for.is_null();
    if (!is_pending && !divergence_) compare(*write->commit);
  }
}

Task<std::optional<engine::Event>> Replay::next_event() {
  std::optional<engine::Event> event;
  // What the engine would have done after its newest commit a process that died did not.
  bool is_cut = target().kind == CommitKind::claim || target().kind == CommitKind::cancel;
  if (std::exchange(is_committed_, false) && !is_cut) {
    event = engine::Committed{moment_after_commit()};
    co_return std::move(event);
  }
  event = from_outside();
  if (event || run_.row.status != RunStatus::running) co_return std::move(event);
  event = decision(true);
  if (!event) event = due();
  if (event) co_return std::move(event);
  while (!started_.empty()) {
    engine::StartNode start = std::move(started_.front());
    started_.pop_front();
    // Its superstep may have failed meanwhile.
    if (!frame_of(start.attempt)) continue;
    Ran ran = co_await run_attempt(std::move(start));
    bool asks = std::holds_alternative<Question>(ran.outcome);
    if (ran.missing) {
      lacking_.push_back(std::move(ran));
    } else if (asks) {
      event = from_attempt(std::move(ran));
      co_return std::move(event);
    } else {
      ran_.push_back(std::move(ran));
    }
  }
  // An attempt whose calls are not on record may be the one that failed the run.
  if (ran_.empty() && !lacking_.empty() && target().kind == CommitKind::failure) {
    auto code = error_code_named(recorded_.row.error_code);
    Ran failed = std::move(lacking_.front());
    lacking_.pop_front();
    failed.outcome = error(code.value_or(ErrorCode::invalid), recorded_.row.error);
    ran_.push_back(std::move(failed));
  }
  if (ran_.empty()) co_return std::move(event);
  // A subgraph may yet ask what was answered while others worked: the outer ones end last.
  auto first = std::max_element(ran_.begin(), ran_.end(), [](const Ran& one, const Ran& other) {
    return one.start.attempt.path.size() < other.start.attempt.path.size();
  });
  Ran ran = std::move(*first);
  ran_.erase(first);
  event = from_attempt(std::move(ran));
  co_return std::move(event);
}

// What nobody in the run does: other processes, people who cancel, time.
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
      return engine::TakenOver{moment(), next.session, next.kind == CommitKind::claim};
    case CommitKind::release:
      started_.clear();
      ran_.clear();
      lacking_.clear();
      waits_.clear();
      return engine::Released{moment()};
    case CommitKind::cancel:
      return engine::Cancelled{moment(), ""};
    case CommitKind::timer:
      if (rests) return engine::Resumed{moment(), next.session};
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
  return rests ? decision(false) : std::nullopt;
}

// The next recorded answer to what is asked. `held`: one that came while others still worked.
std::optional<engine::Event> Replay::decision(bool held) {
  std::vector<InterruptId> asked;
  engine::list_asked(run_, asked);
  const ApprovalRow* first = nullptr;
  for (const ApprovalRow& row : recorded_.approvals) {
    bool is_asked = std::find(asked.begin(), asked.end(), row.interrupt) != asked.end();
    if (!is_asked || !engine::is_decided(row.status) || decided_.contains(row.interrupt)) continue;
    auto wake = recorded_.wakes.find(target().seq);
    bool is_wake = wake != recorded_.wakes.end() && wake->second == row.interrupt;
    if (!held && !is_wake) continue;
    if (held && (is_waker(row.interrupt) || row.decided_at > target().created_at)) continue;
    if (!first || row.decided_at < first->decided_at) first = &row;
  }
  if (!first) return std::nullopt;
  decided_.insert(first->interrupt);
  auto event = engine::stored_decision(*first, moment(), target().session);
  if (!event.ok()) return std::nullopt;
  return *std::move(event);
}

bool Replay::is_waker(const InterruptId& interrupt) const {
  return std::any_of(recorded_.wakes.begin(), recorded_.wakes.end(),
                     [&](const auto& each) { return each.second == interrupt; });
}

// Retries at once; waits that were over by the next commit.
std::optional<engine::Event> Replay::due() {
  for (auto wait = waits_.begin(); wait != waits_.end(); ++wait) {
    const engine::Run* frame = frame_of(wait->attempt);
    bool sleeps = frame && frame->tasks[wait->attempt.position].phase == NodeTask::Phase::sleeping;
    if (sleeps && wait->due > target().created_at) continue;
    engine::AttemptId attempt = std::move(wait->attempt);
    waits_.erase(wait);
    if (!frame) return due();
    return engine::TaskDue{moment_in(attempt), std::move(attempt)};
  }
  return std::nullopt;
}

std::optional<engine::Event> Replay::from_attempt(Ran ran) {
  engine::Moment now = moment_in(ran.start.attempt);
  if (auto* answer = std::get_if<NodeAnswer>(&ran.outcome)) {
    return engine::NodeEnded{now, std::move(ran.start.attempt), std::move(*answer),
                             std::move(ran.left), false};
  }
  if (auto* failure = std::get_if<Error>(&ran.outcome)) {
    return engine::NodeFailed{now, std::move(ran.start.attempt), std::move(*failure),
                              std::move(ran.left)};
  }
  return engine::NodeAsked{now, std::move(ran.start.attempt),
                           std::move(std::get<Question>(ran.outcome)), std::move(ran.left)};
}

std::optional<Error> Replay::recorded_failure(const engine::StartNode& start) const {
  auto task = recorded_.failures.find(start.attempt.task);
  if (task == recorded_.failures.end()) return std::nullopt;
  auto found = task->second.find(start.attempt.attempt);
  return found == task->second.end() ? std::optional<Error>() : std::optional(found->second);
}

std::unique_ptr<Context> Replay::context_for(const engine::StartNode& start, Journal& journal,
                                             Instant now) const {
  Context::Attempt attempt = attempt_of(run_, *frame_of(start.attempt), start);
  attempt.now = now;
  attempt.options.timeout = milliseconds(timeout_ms_);
  attempt.records = &records_;
  attempt.journal = &journal;
  attempt.replays = true;
  return std::make_unique<Context>(std::move(attempt));
}

Task<Replay::Ran> Replay::run_attempt(engine::StartNode start) {
  const engine::Run& frame = *frame_of(start.attempt);
  Instant now = engine::began_at(run_, frame, frame.tasks[start.attempt.position]);
  auto failure = recorded_failure(start);
  Ran ran;
  ran.outcome = NodeAnswer();
  // A node that ran out of its time does not do so here.
  bool timed_out = failure && failure->message.starts_with("The node \"" + start.node->name +
                                                           "\" took longer than its ");
  while (!timed_out) {
    RecordedJournal journal(recorded_, start.attempt.task, now, failure,
                            begun_[start.attempt.task]);
    auto context = context_for(start, journal, now);
    if (start.node->run_plain) {
      ran.outcome = run_plain_node(*start.node, start.state.get(), *context);
    } else {
      TimersAtOnce timers(executor_);
      Completion<NodeOutcome> ended;
      std::function<void(NodeOutcome)> done = [ended](NodeOutcome outcome) {
        ended.complete(std::move(outcome));
      };
      auto task = run_task_node(*start.node, start.state, *context);
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
  ran.outcome =
      settle_left(*start.node, frame.space, start.attempt, std::move(ran.outcome), ran.left);
  ran.start = std::move(start);
  co_return std::move(ran);
}

// With Durability::exit steps that the recorded run held back have no commit of their own.
bool Replay::is_passed_over(const CheckpointRow& replayed) const {
  if (!is_loose_ || is_final(replayed.status)) return false;
  return replayed.superstep < target().superstep || replayed.kind != target().kind;
}

void Replay::compare(const Commit& commit) {
  const CheckpointRow& recorded = target();
  const CheckpointRow& replayed = *commit.rows.checkpoint;
  add(events_, texts_of(commit.rows.events, replayed.seq));
  add(messages_, texts_of(commit.rows.outbox, replayed.seq));
  if (is_passed_over(replayed)) return;
  expect("kind of commit", std::string(name_of(recorded.kind)),
         std::string(name_of(replayed.kind)));
  if (!is_loose_) expect("nodes", recorded.node, replayed.node);
  compare_state(commit.rows);
  expect("events", joined(texts_of(recorded_.events, recorded.seq)),
         joined(std::exchange(events_, {})));
  expect("messages", joined(texts_of(recorded_.messages, recorded.seq)),
         joined(std::exchange(messages_, {})));
  for (const ApprovalRow& row : commit.rows.opened) {
    bool is_there = std::any_of(recorded_.approvals.begin(), recorded_.approvals.end(),
                                [&](const auto& each) { return each.interrupt == row.interrupt; });
    if (!is_there) differs("question", "none", row.question, row.node);
  }
  if (!is_loose_) {
    expect("next tasks", comparable_tasks(recorded.next_tasks),
           comparable_tasks(replayed.next_tasks));
  }
  expect("status", std::string(name_of(recorded.status)), std::string(name_of(replayed.status)));
  if (is_final(recorded.status)) {
    expect("outcome", recorded_.row.outcome, run_.row.outcome);
    expect("error", recorded_.row.error, run_.row.error);
  }
  if (divergence_) return;
  ++compared_;
  // A retry begins when it is recorded to have begun.
  if (recorded.kind != CommitKind::attempt || run_.tasks.empty()) return;
  auto next = engine::next_tasks_from(recorded.next_tasks);
  if (next.ok() && next->tasks.size() == 1) run_.tasks.front().due = next->tasks.front().due;
}

// The channels that either has changed.
void Replay::compare_state(const CommitRows& rows) {
  const CheckpointRow& now = target();
  std::uint64_t before = compared_ == 0 ? 0 : recorded_.commits()[compared_ - 1].state_seq;
  std::set<std::string> changed;
  for (const ValueRow& row : recorded_.values[{}]) {
    if (row.seq <= before || row.seq > now.state_seq) continue;
    changed.insert(row.channel);
    auto value = value_in(row.envelope);
    if (row.kind == ValueKind::reduce || !value.ok()) continue;
    engine::fold(row.kind, *std::move(value), (*state_.as_object())[row.channel]);
  }
  if (now.kind == CommitKind::failure || now.state_seq < now.seq) return;
  for (const ValueRow& row : rows.values) {
    if (row.space.empty()) changed.insert(row.channel);
  }
  for (const std::string& name : changed) {
    for (const ChannelType& channel : graph_.state->channels) {
      if (channel.name != name) continue;
      Encoder text;
      channel.encode(run_.state.get(), text, nullptr);
      auto value = parse_json(text.text);
      expect("channel " + name, to_json(state_[name]), value.ok() ? to_json(*value) : text.problem);
    }
  }
}

// What subgraphs commit. Where the record has nothing, the run went another way first.
void Replay::compare_inner(const CommitRows& rows) {
  for (const CheckpointRow& replayed : rows.inner_checkpoints) {
    const CheckpointRow* recorded = recorded_.checkpoint(replayed.space, replayed.seq);
    if (!recorded || divergence_) continue;
    bool is_same = recorded->kind == replayed.kind && recorded->node == replayed.node;
    if (!is_same) {
      differs("nodes in " + replayed.space,
              std::string(name_of(recorded->kind)) + " " + recorded->node,
              std::string(name_of(replayed.kind)) + " " + replayed.node, replayed.node);
    }
    std::string tasks = comparable_tasks(recorded->next_tasks);
    if (tasks != comparable_tasks(replayed.next_tasks)) {
      differs("next tasks in " + replayed.space, tasks, comparable_tasks(replayed.next_tasks),
              replayed.node);
    }
  }
  for (const ValueRow& replayed : rows.values) {
    if (replayed.space.empty() || replayed.kind == ValueKind::reduce) continue;
    for (const ValueRow& recorded : recorded_.values[replayed.space]) {
      bool is_it = recorded.channel == replayed.channel && recorded.seq == replayed.seq &&
                   recorded.index == replayed.index && recorded.kind == replayed.kind;
      auto text = json_in_envelope(recorded.envelope);
      auto other = json_in_envelope(replayed.envelope);
      if (!is_it || !text.ok() || !other.ok() || *text == *other) continue;
      differs("channel " + replayed.channel + " in " + replayed.space, std::string(*text),
              std::string(*other), replayed.space.substr(0, replayed.space.find(':')));
    }
  }
}

}  // namespace

Task<Result<ReplayReport>> Runtime::Body::replay(ReplayOptions options) {
  std::function<Result<RecordedRun>(Snapshot&)> reader =
      [options, graphs = graphs_](Snapshot& view) -> Result<RecordedRun> {
    RunRow row;
    if (options.run) {
      BELAY_TRY(row, run_row(view, options.tenant, *options.run));
    } else {
      BELAY_TRY(row, latest_run(view, options.tenant, options.thread));
    }
    if (row.thread != options.thread) {
      return error(ErrorCode::not_found, "The run " + row.run.text() + " is not of thread \"" +
                                             options.thread.text + "\".");
    }
    return recorded_run(view, *graphs, std::move(row));
  };
  auto recorded = co_await read<RecordedRun>(parts_.store, std::move(reader));
  if (!recorded.ok()) co_return std::move(recorded).error();
  auto records = store_records(parts_.store, recorded->row.tenant, recorded->row.user);
  Replay replay(*std::move(recorded), parts_.executor, *records);
  co_return co_await replay.run();
}

}  // namespace belay
