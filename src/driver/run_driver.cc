#include "driver/run_driver.h"

#include "belay/limits.h"
#include "engine/advance.h"

namespace belay {
namespace {

// A run that never waits lets others go after this many commits.
constexpr int commits_before_giving_way = 64;

}  // namespace

RunDriver::RunDriver(RuntimeParts& parts, std::shared_ptr<const GraphDefinition> graph,
                     engine::Run run)
    : parts_(parts),
      graph_(std::move(graph)),
      records_(store_records(parts.store, run.row.tenant, run.row.user)),
      run_(std::move(run)) {}

RunDriver::~RunDriver() {
  stop_timer(node_timer_);
  stop_timer(retry_timer_);
  stop_timer(run_timer_);
}

Task<Result<RunDriver::End>> RunDriver::drive(engine::Event first) {
  inbox_.push_back(std::move(first));
  auto time_left = run_.options.timeout - milliseconds(run_.row.worked_ms);
  run_timer_ = parts_.executor.call_after(std::max(time_left, milliseconds(0)), [this] {
    run_timer_.reset();
    push(engine::RunTimedOut{moment()});
  });
  while (true) {
    if (inbox_.empty()) co_await wait_for_event();
    if (lost_) co_return End::lost;
    engine::Event event = std::move(inbox_.front());
    inbox_.pop_front();
    // A node that has ended gives its frame and its hold on the state back.
    if (node_ended_) node_.reset();
    node_ended_ = false;
    auto next = engine::advance(*graph_, std::move(run_), std::move(event));
    run_ = std::move(next.run);
    for (engine::Action& action : next.actions) {
      auto came_to = co_await carry_out(action);
      if (!came_to.ok()) co_return std::move(came_to).error();
      if (*came_to) co_return **came_to;
    }
  }
}

void RunDriver::lose() {
  lost_ = true;
  node_.reset();
  if (awaited_) awaited_->complete(Done{});
}

engine::Moment RunDriver::moment() {
  engine::Moment moment;
  moment.now = parts_.clock.now();
  moment.entropy = parts_.random.bits();
  return moment;
}

void RunDriver::push(engine::Event event) {
  inbox_.push_back(std::move(event));
  if (awaited_) awaited_->complete(Done{});
}

Task<Done> RunDriver::wait_for_event() {
  if (!watch_) watch_ = spawn<Done>(parts_.executor, watch_owner(), [](Done) {});
  commits_in_a_row_ = 0;
  while (inbox_.empty() && !lost_) {
    Completion<Done> arrival;
    awaited_ = arrival;
    co_await arrival;
    awaited_.reset();
  }
  co_return Done{};
}

Task<Done> RunDriver::give_way() {
  commits_in_a_row_ = 0;
  Completion<Done> turn;
  parts_.executor.post([turn] { turn.complete(Done{}); });
  co_await turn;
  co_return Done{};
}

Task<Result<std::optional<RunDriver::End>>> RunDriver::carry_out(engine::Action& action) {
  std::optional<End> goes_on;
  if (std::holds_alternative<engine::Rest>(action)) co_return std::optional(End::rested);
  if (auto* attempt = std::get_if<engine::StartNode>(&action)) {
    start_node(*attempt);
  } else if (auto* wait = std::get_if<engine::WaitForRetry>(&action)) {
    wait_for_retry(*wait);
  } else if (auto* commit = std::get_if<engine::WriteCommit>(&action)) {
    co_return co_await write(commit->commit);
  }
  co_return std::move(goes_on);
}

Task<Result<std::optional<RunDriver::End>>> RunDriver::write(Commit& commit) {
  // What is told afterwards; the rest of the commit goes to the store as it is.
  CommitRows told;
  if (parts_.observer) {
    told.run = commit.rows.run;
    told.checkpoint = commit.rows.checkpoint;
    told.opened = commit.rows.opened;
  }
  if (++commits_in_a_row_ > commits_before_giving_way) co_await give_way();
  auto outcome = co_await parts_.store.commit(std::move(commit));
  if (!outcome.ok()) co_return std::move(outcome).error();
  switch (*outcome) {
    case CommitOutcome::applied:
    case CommitOutcome::expired:
      break;
    case CommitOutcome::exists:
      co_return std::optional(End::exists);
    case CommitOutcome::fenced:
    case CommitOutcome::approval_closed:
      co_return std::optional(End::lost);
  }
  if (parts_.observer) tell(told);
  inbox_.push_front(engine::Committed{moment()});
  co_return std::optional<End>();
}

void RunDriver::start_node(const engine::StartNode& action) {
  attempt_ = action;
  attempt_began_ = parts_.clock.now();
  Context::Attempt attempt;
  attempt.tenant = run_.row.tenant;
  attempt.user = run_.row.user;
  attempt.thread = run_.row.thread;
  attempt.run = run_.row.run;
  attempt.task = action.task;
  attempt.node = action.node->name;
  attempt.attempt = action.attempt;
  attempt.previous_error = run_.task->previous_error;
  attempt.now = attempt_began_;
  attempt.seed = parts_.random.bits();
  attempt.options = run_.options;
  attempt.answers = run_.task->answers;
  attempt.model = &parts_.model;
  attempt.records = records_.get();
  context_ = std::make_unique<Context>(std::move(attempt));
  if (parts_.observer) tell(RunEvent::Kind::node_started, action.node->name, action.attempt);
  if (action.node->run_plain) {
    node_came_to(run_plain_node(*action.node, run_.state.get(), *context_));
    return;
  }
  if (action.node->timeout) limit_node(*action.node->timeout);
  node_ = spawn<NodeOutcome>(parts_.executor, run_task_node(*action.node, run_.state, *context_),
                             [this](NodeOutcome outcome) { node_came_to(std::move(outcome)); });
}

void RunDriver::limit_node(std::chrono::milliseconds limit) {
  node_timer_ = parts_.executor.call_after(limit, [this, limit] {
    node_timer_.reset();
    node_.reset();
    node_came_to(error(ErrorCode::unavailable, "The node \"" + attempt_.node->name +
                                                   "\" took longer than its " +
                                                   std::to_string(limit.count()) + " ms."));
  });
}

void RunDriver::node_came_to(NodeOutcome outcome) {
  stop_timer(node_timer_);
  node_ended_ = true;
  if (auto* done = std::get_if<NodeDone>(&outcome)) {
    push(engine::NodeEnded{moment(), attempt_.task, attempt_.attempt, std::move(done->changes),
                           std::move(done->effects)});
  } else if (auto* failure = std::get_if<Error>(&outcome)) {
    push(engine::NodeFailed{moment(), attempt_.task, attempt_.attempt, std::move(*failure)});
  } else {
    push(engine::NodeAsked{moment(), attempt_.task, attempt_.attempt,
                           std::move(std::get<Question>(outcome))});
  }
}

void RunDriver::wait_for_retry(const engine::WaitForRetry& action) {
  auto delay = std::max(action.due - parts_.clock.now(), Instant::duration::zero());
  retry_timer_ = parts_.executor.call_after(delay, [this, action] {
    retry_timer_.reset();
    push(engine::RetryDue{action.task, action.attempt});
  });
}

void RunDriver::stop_timer(std::optional<TimerId>& timer) {
  if (timer) parts_.executor.cancel(*timer);
  timer.reset();
}

// While a node works or a retry waits, nothing is committed that could tell that the run is no
// longer ours: so ask.
Task<Done> RunDriver::watch_owner() {
  while (true) {
    co_await sleep_for(limits::owner_watch_interval);
    std::function<Result<std::uint64_t>(Snapshot&)> find_epoch =
        [tenant = run_.row.tenant, run = run_.row.run](Snapshot& view) -> Result<std::uint64_t> {
      RunFilter filter;
      filter.tenant = tenant;
      filter.run = run;
      BELAY_TRY(auto rows, view.runs(filter));
      return rows.empty() ? 0 : rows.front().epoch;
    };
    auto epoch = co_await read<std::uint64_t>(parts_.store, std::move(find_epoch));
    if (!epoch.ok() || *epoch == run_.row.epoch) continue;
    // Not from here: this very task is destroyed with the driver.
    lost_ = true;
    if (awaited_) awaited_->complete(Done{});
    co_return Done{};
  }
}

void RunDriver::tell(const CommitRows& rows) {
  const CheckpointRow& checkpoint = *rows.checkpoint;
  auto kind = RunEvent::Kind::node_finished;
  std::string message;
  switch (checkpoint.kind) {
    case CommitKind::input:
    case CommitKind::claim:
    case CommitKind::timer:
    case CommitKind::release:
    case CommitKind::fork:
    case CommitKind::quarantine:
      return;
    case CommitKind::node:
      break;
    case CommitKind::attempt:
      kind = RunEvent::Kind::attempt_failed;
      message = run_.task->previous_error->message;
      break;
    case CommitKind::pause:
      kind = RunEvent::Kind::paused;
      if (!rows.opened.empty()) message = rows.opened.front().question;
      break;
    case CommitKind::decision:
    case CommitKind::expiry:
      kind = RunEvent::Kind::decided;
      break;
    case CommitKind::failure:
    case CommitKind::cancel:
      kind = RunEvent::Kind::finished;
      message = rows.run->error;
  }
  if (kind != RunEvent::Kind::finished) tell(kind, checkpoint.node, attempt_.attempt, message);
  if (is_final(rows.run->status)) {
    tell(RunEvent::Kind::finished, checkpoint.node, attempt_.attempt,
         rows.run->error.empty() ? rows.run->outcome : rows.run->error);
  }
}

void RunDriver::tell(RunEvent::Kind kind, std::string node, int attempt, std::string message) {
  RunEvent event;
  event.kind = kind;
  event.thread = run_.row.thread;
  event.run = run_.row.run;
  event.graph = graph_->name;
  event.node = std::move(node);
  event.attempt = attempt;
  event.seq = run_.row.seq;
  event.status = run_.row.status;
  event.message = std::move(message);
  Instant now = parts_.clock.now();
  if (kind == RunEvent::Kind::attempt_failed && run_.task) {
    event.duration = std::chrono::duration_cast<milliseconds>(run_.task->due - now);
  } else {
    event.duration = std::chrono::duration_cast<milliseconds>(now - attempt_began_);
  }
  parts_.observer(event);
}

}  // namespace belay
