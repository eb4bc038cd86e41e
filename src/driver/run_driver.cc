// RunDriver: the loop that executes one run, and how each action becomes an event.
//
// The order of three things keeps a run consistent: a commit is durable before the actions that
// depend on it start (except with Durability::async, within bounds), no event but Committed reaches
// advance() while a commit is in progress, and after the outcome `fenced` nothing more is written.
//
// Long on purpose: one loop with its actions and events.

#include "driver/run_driver.h"

#include <algorithm>

#include "base/append_all.h"
#include "belay/limits.h"
#include "engine/advance.h"
#include "engine/decision.h"
#include "engine/restore.h"
#include "engine/run_queries.h"
#include "load/stored_run.h"

namespace belay {
namespace {

// After this many commits without a wait, a run yields the executor's thread to other work.
constexpr int commits_before_giving_way = limits::bounded(64, 2);
// With Durability::async: maximum number of commits in progress. At this number, the next commit
// waits until all of them are durable.
constexpr std::size_t lagging_commits_max = limits::bounded(64, 2);
// The results of plain nodes of one superstep are committed at least this often.
constexpr milliseconds plain_nodes_slice{10};

bool is_end(const engine::Event& event) {
  return std::holds_alternative<engine::NodeEnded>(event) ||
         std::holds_alternative<engine::NodeFailed>(event);
}

}  // namespace

RunDriver::RunDriver(RuntimeParts& parts, Protection& protection, TextHub& live,
                     std::shared_ptr<const GraphRegistry> graphs,
                     std::shared_ptr<const GraphDefinition> graph, engine::Run run)
    : parts_(parts),
      protection_(protection),
      live_(live),
      graphs_(std::move(graphs)),
      graph_(std::move(graph)),
      records_(store_records(parts.store, parts.clock, run.row.tenant, run.row.user)),
      run_(std::move(run)),
      journal_([this] {
        if (awaited_) awaited_->complete(Done{});
      }),
      ledger_(run_.options.budget) {}

RunDriver::~RunDriver() {
  stop_attempts();
  for (auto& [task, timer] : waits_) parts_.executor.cancel(timer);
  stop_timer(run_timer_);
}

Task<Result<RunDriver::End>> RunDriver::drive(engine::Event first) {
  // Race: the last owner can be alive although its session has expired. Its pending writes leave
  // the seq of the run unchanged, therefore the guard of the claim does not detect those that
  // became durable after the run was read. That owner is fenced only from the claim on: everything
  // that it has written is read after the claim.
  bool was_running = run_.row.status == RunStatus::running;
  bool reads_again = was_running && std::holds_alternative<engine::Claimed>(first);
  inbox_.push_back(std::move(first));
  // A process that is shutting down claims the run only to release it.
  if (is_to_be_released_) push(engine::Released{moment(), is_urgent_});
  has_started_ = true;
  auto time_left = run_.options.timeout - milliseconds(run_.row.worked_ms);
  run_timer_ = parts_.executor.call_after(std::max(time_left, milliseconds(0)), [this] {
    run_timer_.reset();
    push(engine::RunTimedOut{moment()});
  });
  if (run_.row.seq > 0 && !reads_again) BELAY_CO_CHECK(co_await read_records());
  while (true) {
    if (inbox_.empty() && !journal_.has_requests()) co_await wait_for_event();
    if (lost_) co_return End::fenced;
    // A node waits for these rows before it calls its effect.
    if (journal_.has_requests()) {
      auto written = co_await write_journal();
      if (!written.ok()) co_return std::move(written).error();
      if (*written) co_return **written;
      continue;
    }
    engine::Event event = next_event();
    // Destroys finished attempts before advance(): their coroutines hold a reference to the state,
    // which would otherwise have to be copied before it can be changed.
    for (const TaskId& task : std::exchange(over_, {})) attempts_.erase(task);
    auto next = engine::advance(*graph_, std::move(run_), std::move(event));
    run_ = std::move(next.run);
    for (engine::Action& action : next.actions) {
      auto came_to = co_await perform(action);
      if (!came_to.ok()) co_return std::move(came_to).error();
      if (*came_to) co_return **came_to;
    }
    if (!std::exchange(reads_again, false) || run_.row.status != RunStatus::running) continue;
    auto came_to = co_await read_claimed();
    if (!came_to.ok()) co_return std::move(came_to).error();
    if (*came_to) co_return **came_to;
  }
}

engine::Event RunDriver::next_event() {
  engine::Event event = std::move(inbox_.front());
  inbox_.pop_front();
  // A pause between two decisions that are stored would require that the second one is not.
  if (auto* decided = std::get_if<engine::Decided>(&event)) decided->more = is_decision_waiting();
  auto* ended = std::get_if<engine::NodeEnded>(&event);
  // Several plain nodes have ended in a row: with `more`, their results share one commit. The time
  // is limited, because a crash repeats all nodes whose results are not committed.
  if (!ended || inbox_.empty() || !is_end(inbox_.front())) {
    plain_since_.reset();
    return event;
  }
  Instant now = parts_.clock.now();
  if (!plain_since_) plain_since_ = now;
  // `now >= *plain_since_`: a clock that was set back would otherwise delay the commit until it has
  // caught up.
  ended->more = now >= *plain_since_ && now - *plain_since_ < plain_nodes_slice;
  if (!ended->more) plain_since_.reset();
  return event;
}

bool RunDriver::is_decision_waiting() const {
  return std::any_of(inbox_.begin(), inbox_.end(), [this](const engine::Event& event) {
    const auto* decided = std::get_if<engine::Decided>(&event);
    return decided && engine::waits_for(run_, decided->approval.interrupt);
  });
}

std::optional<RunView> RunDriver::take_view() {
  // The state in memory of a failed run can contain updates that were not committed. The spending
  // of a run with a budget is read from the store.
  if (run_.row.status != RunStatus::completed || run_.options.budget.is_set()) return std::nullopt;
  auto state = engine::state_value(*graph_, run_);
  if (!state) return std::nullopt;
  RunView view;
  view.state = *std::move(state);
  view.materials = value_of(run_.materials);
  view.row = std::move(run_.row);
  if (view.row.input.empty()) view.row.input = std::move(input_);
  return view;
}

void RunDriver::abandon() {
  lost_ = true;
  stop_attempts();
  if (awaited_) awaited_->complete(Done{});
}

void RunDriver::stop_attempts() {
  for (auto& [task, attempt] : attempts_) stop_timer(attempt.timer);
  attempts_.clear();
}

Result<Done> RunDriver::on_decision(ApprovalRow approval) {
  BELAY_TRY(engine::Event event,
            engine::stored_decision(std::move(approval), moment(), run_.row.session));
  push(std::move(event));
  return Done{};
}

// Does not push the event before drive() has pushed the first one: until then, the run might still
// belong to another process.
void RunDriver::release(bool is_urgent) {
  is_to_be_released_ = true;
  is_urgent_ = is_urgent_ || is_urgent;
  if (!has_started_ || (run_.is_draining && !is_urgent)) return;
  push(engine::Released{moment(), is_urgent});
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
  // The watch starts with the first wait: a run that commits all the time detects a lost ownership
  // by its guard.
  if (!watch_) watch_ = spawn<Done>(parts_.executor, watch_owner(), [](Done) {});
  commits_in_a_row_ = 0;
  while (inbox_.empty() && !journal_.has_requests() && !lost_) {
    Completion<Done> arrival;
    awaited_ = arrival;
    co_await arrival;
    awaited_.reset();
  }
  co_return Done{};
}

Task<Done> RunDriver::yield_to_others() {
  commits_in_a_row_ = 0;
  Completion<Done> turn;
  parts_.executor.post([turn] { turn.complete(Done{}); });
  co_await turn;
  co_return Done{};
}

Task<Result<std::optional<RunDriver::End>>> RunDriver::perform(engine::Action& action) {
  if (std::holds_alternative<engine::Stop>(action)) {
    // End::stopped promises durability, and one of these commits might be fenced.
    auto caught_up = co_await await_pending_commits();
    if (!caught_up.ok() || *caught_up) co_return std::move(caught_up);
    co_return std::optional(End::stopped);
  }
  if (auto* attempt = std::get_if<engine::StartNode>(&action)) {
    auto used = protection_.used_by(*attempt->node);
    if (!used.empty()) {
      start_protected(*attempt, std::move(used));
    } else if (attempt->node->run_plain) {
      co_return co_await run_plain(*attempt);
    } else {
      start_node(*attempt);
    }
  } else if (auto* wait = std::get_if<engine::WaitForTask>(&action)) {
    wait_for_task(*wait);
  } else if (auto* commit = std::get_if<engine::WriteCommit>(&action)) {
    co_return co_await write(*commit);
  }
  co_return std::optional<End>();
}

Result<std::optional<RunDriver::End>> RunDriver::end_for_outcome(CommitOutcome outcome) const {
  switch (outcome) {
    case CommitOutcome::applied:
    case CommitOutcome::expired:
      return std::optional<End>();
    case CommitOutcome::exists:
    case CommitOutcome::thread_changed:
      return std::optional(End::not_started);
    case CommitOutcome::approval_closed:
      return std::optional(End::superseded);
    case CommitOutcome::limit_reached:
      return std::optional(End::limit_reached);
    case CommitOutcome::record_changed:
      return std::optional(End::record_changed);
    case CommitOutcome::fenced:
      break;
  }
  return std::optional(End::fenced);
}

Task<Result<std::optional<RunDriver::End>>> RunDriver::await_pending_commits() {
  while (!lagging_.empty()) {
    auto outcome = co_await lagging_.front()->outcome;
    lagging_.pop_front();
    if (!outcome.ok()) co_return std::move(outcome).error();
    auto came_to = end_for_outcome(*outcome);
    if (*came_to) co_return std::move(came_to);
  }
  co_return std::optional<End>();
}

Task<Result<std::optional<RunDriver::End>>> RunDriver::write(engine::WriteCommit& action) {
  // A copy of the rows that report_progress() needs after the commit, which is moved to the store.
  CommitRows told;
  bool is_first = action.commit->run_guard && action.commit->run_guard->seq == 0;
  bool is_pending = action.commit->run_guard && !action.commit->run_guard->pending_for.is_null();
  if (parts_.observer && !is_pending) {
    told.run = action.commit->rows.run;
    told.checkpoint = action.commit->rows.checkpoint;
    told.opened = action.commit->rows.opened;
    bool is_release = told.checkpoint && told.checkpoint->kind == CommitKind::release;
    if (is_release) told.events = action.commit->rows.events;
  }
  bool publishes = !action.commit->rows.outbox.empty() && when_published;
  if (++commits_in_a_row_ > commits_before_giving_way) co_await yield_to_others();
  bool asks_for_place = !is_pending && !concurrency.empty();
  if (asks_for_place) action.commit->concurrency = std::exchange(concurrency, {});
  // With Durability::async, a step can start before the previous commit is durable. If the store
  // refuses one of these commits, all later ones are fenced: each requires the seq of the one
  // before. A commit with a ConcurrencyGuard must not lag: no node may run before it is counted.
  if (action.may_lag && !asks_for_place && lagging_.size() < lagging_commits_max) {
    auto lagging = std::make_unique<Lagging>();
    auto task = parts_.store.commit(std::move(*action.commit));
    auto completion = lagging->outcome;
    std::function<void(Result<CommitOutcome>)> done = [completion](Result<CommitOutcome> outcome) {
      completion.complete(std::move(outcome));
    };
    lagging->task = spawn<Result<CommitOutcome>>(parts_.executor, std::move(task), std::move(done));
    lagging_.push_back(std::move(lagging));
  } else {
    auto caught_up = co_await await_pending_commits();
    if (!caught_up.ok() || *caught_up) co_return std::move(caught_up);
    auto outcome = co_await parts_.store.commit(std::move(*action.commit));
    if (!outcome.ok()) co_return std::move(outcome).error();
    if (is_first && *outcome == CommitOutcome::record_changed) {
      co_return std::optional(End::not_started);
    }
    auto came_to = end_for_outcome(*outcome);
    if (*came_to) co_return std::move(came_to);
    if (publishes) when_published();
  }
  // The input is durable, and no later commit changes it: the row need not carry it any more.
  if (is_first) input_ = std::exchange(run_.row.input, {});
  if (told.run) report_progress(told);
  live_.wake(run_.row.run);
  engine::Committed committed{moment()};
  // A decision that is already in the inbox must be applied before the run can pause. At the front:
  // advance() must not receive any event of the meantime before Committed.
  committed.more = is_decision_waiting();
  inbox_.push_front(committed);
  co_return std::optional<End>();
}

Task<Result<std::optional<RunDriver::End>>> RunDriver::write_journal() {
  auto requests = journal_.take_requests();
  engine::EffectsRecorded event{moment(), {}};
  for (EffectJournal::Request& request : requests) append_all(event.rows, request.rows);
  bool has_intents = std::any_of(event.rows.begin(), event.rows.end(), [](const EffectRow& row) {
    return row.status == EffectStatus::intended;
  });
  auto next = engine::advance(*graph_, std::move(run_), std::move(event));
  run_ = std::move(next.run);
  // The run has ended meanwhile: its nodes call no more effects.
  if (next.actions.empty()) co_return std::optional<End>();
  for (engine::Action& action : next.actions) {
    auto came_to = co_await perform(action);
    if (!came_to.ok() || *came_to) co_return std::move(came_to);
  }
  // If the lease might expire, another process could soon claim the run, find by its probe that the
  // call has not happened, and make it, too. A process that is suspended after this check can
  // still make a late call: docs/effects.md.
  while (has_intents && !parts_.store.lease_is_fresh()) {
    co_await sleep_for(limits::lease_poll_interval);
    if (lost_) co_return std::optional(End::fenced);
  }
  // Only now can the nodes call their effects. A crash before this line leaves the intents
  // unstored, or stored with uncertain effects.
  for (EffectJournal::Request& request : requests) request.recorded.complete(Done{});
  co_return std::optional<End>();
}

// Executes a plain function. It ends where it needs a durable journal row (an exception carries the
// row here), and is called again, as the same attempt, after the row is committed.
Task<Result<std::optional<RunDriver::End>>> RunDriver::run_plain(engine::StartNode& action) {
  last_attempt_ = action.attempt.attempt;
  last_began_ = parts_.clock.now();
  if (parts_.observer)
    report_progress(ProgressEvent::Kind::node_started, action.node->name, last_attempt_);
  TaskJournal journal(journal_, action.attempt.task, parts_.clock);
  auto context = context_for(action, journal, model_);
  auto outcome = call_plain(action, *context);
  while (auto* row = std::get_if<EffectRow>(&outcome)) {
    EffectJournal::Request request;
    request.rows = journal.take_kept();
    request.rows.push_back(*row);
    journal_.add_request(std::move(request));
    auto written = co_await write_journal();
    if (!written.ok() || *written) co_return std::move(written);
    journal_.let_begin(action.attempt.task, row->name);
    journal_.remember(std::move(*row));
    context = context_for(action, journal, model_);
    outcome = call_plain(action, *context);
  }
  outcome = within_timeout(*action.node, parts_.clock.now() - last_began_, std::move(outcome));
  NodeEffects left = context->take_effects();
  left.journal = journal.take_kept();
  outcome = finish_attempt(*action.node, frame_of(action.attempt).checkpoint_ns, action.attempt,
                           std::move(outcome), left);
  report_node_outcome(action.attempt, last_began_, std::move(outcome), std::move(left));
  co_return std::optional<End>();
}

NodeOutcome RunDriver::call_plain(const engine::StartNode& action, Context& context) {
  Instant began = parts_.clock.now();
  auto outcome = run_plain_node(*action.node, action.state.get(), context);
  note_held(*action.node, parts_.clock.now() - began);
  return outcome;
}

void RunDriver::note_held(const GraphDefinition::Node& node, Instant::duration held) {
  if (!parts_.on_held_loop || held <= loop_held_max) return;
  parts_.on_held_loop({run_.row.tenant, graph_->name, node.name,
                       std::chrono::duration_cast<std::chrono::milliseconds>(held)});
}

const engine::Run* RunDriver::find_frame(const engine::AttemptId& attempt) const {
  const engine::Run* frame = &run_;
  for (std::size_t position : attempt.path) {
    if (position >= frame->tasks.size() || !frame->tasks[position].inner) return nullptr;
    frame = frame->tasks[position].inner.get();
  }
  return attempt.position < frame->tasks.size() ? frame : nullptr;
}

const engine::Run& RunDriver::frame_of(const engine::AttemptId& attempt) const {
  const engine::Run* frame = find_frame(attempt);
  BELAY_ASSERT(frame);
  return *frame;
}

std::unique_ptr<Context> RunDriver::context_for(const engine::StartNode& action, Journal& journal,
                                                Model& model) {
  Context::Attempt attempt = attempt_of(run_, frame_of(action.attempt), action);
  attempt.model = &model;
  attempt.http = parts_.http.get();
  attempt.records = records_.get();
  attempt.journal = &journal;
  attempt.ledger = &ledger_;
  if (parts_.effect_observer) attempt.effect_observer = &parts_.effect_observer;
  if (parts_.redact_prompt) attempt.redact_prompt = &parts_.redact_prompt;
  return std::make_unique<Context>(std::move(attempt));
}

void RunDriver::begin_attempt(const engine::StartNode& action, Attempt& attempt) {
  last_attempt_ = action.attempt.attempt;
  last_began_ = parts_.clock.now();
  if (parts_.observer)
    report_progress(ProgressEvent::Kind::node_started, action.node->name, last_attempt_);
  attempt.began = last_began_;
  attempt.context = context_for(action, attempt);
  attempt.context->when_streamed([this, &attempt] { has_streamed(attempt); });
  if (attempt.node->timeout) limit_attempt(attempt, *attempt.node->timeout);
}

void RunDriver::start_node(engine::StartNode& action) {
  Attempt& attempt = attempts_[action.attempt.task];
  attempt.journal = std::make_unique<TaskJournal>(journal_, action.attempt.task, parts_.clock);
  attempt.id = action.attempt;
  attempt.checkpoint_ns = frame_of(action.attempt).checkpoint_ns;
  attempt.node = action.node;
  begin_attempt(action, attempt);
  auto task = run_task_node(*attempt.node, std::move(action.state), *attempt.context);
  TaskId id = attempt.id.task;
  std::function<void(NodeOutcome)> done = [this, id](NodeOutcome outcome) {
    stop_timer(attempts_.at(id).timer);
    on_attempt_finished(attempts_.at(id), std::move(outcome));
  };
  const GraphDefinition::Node& node = *attempt.node;
  Instant began = parts_.clock.now();
  attempt.task = spawn<NodeOutcome>(parts_.executor, std::move(task), std::move(done));
  note_held(node, parts_.clock.now() - began);  // until its first wait
}

void RunDriver::limit_attempt(Attempt& attempt, Instant::duration left) {
  attempt.due = parts_.clock.now() + left;
  attempt.timer = parts_.executor.call_after(left, [this, id = attempt.id.task] {
    Attempt& late = attempts_.at(id);
    late.timer.reset();
    // Before the coroutine is destroyed: its model calls then count as failures of the dependency.
    if (late.model) late.model->time_out();
    late.task.reset();
    Error why = timed_out(*late.node);
    on_attempt_finished(late, std::move(why));
  });
}

void RunDriver::has_streamed(Attempt& attempt) {
  if (!attempt.speaker) {
    attempt.speaker.emplace(live_, *attempt.context, attempt.checkpoint_ns);
  }
  live_.wake(run_.row.run);
  if (live_.on_text) live_.on_text(run_.row);
}

void RunDriver::on_attempt_finished(Attempt& attempt, NodeOutcome outcome) {
  attempt.speaker.reset();
  leave_dependencies(attempt, outcome);
  NodeEffects left;
  if (attempt.context) left = attempt.context->take_effects();
  left.journal = attempt.journal->take_kept();
  outcome =
      finish_attempt(*attempt.node, attempt.checkpoint_ns, attempt.id, std::move(outcome), left);
  report_node_outcome(attempt.id, attempt.began, std::move(outcome), std::move(left));
  // Not destroyed here: this function can be called from the coroutine that the attempt owns.
  over_.push_back(attempt.id.task);
}

void RunDriver::report_node_outcome(const engine::AttemptId& attempt, Instant began,
                                    NodeOutcome outcome, NodeEffects left) {
  last_began_ = began;
  if (auto* answer = std::get_if<NodeUpdate>(&outcome)) {
    left.journaled = journal_.count(attempt.task);
    journal_.forget(attempt.task);
    report_task_finished(attempt);
    push(engine::NodeEnded{moment(), attempt, std::move(*answer), std::move(left), false});
  } else if (auto* failure = std::get_if<Error>(&outcome)) {
    push(engine::NodeFailed{moment(), attempt, std::move(*failure), std::move(left)});
  } else {
    push(engine::NodeInterrupted{moment(), attempt, std::move(std::get<InterruptRequest>(outcome)),
                                 std::move(left)});
  }
}

void RunDriver::wait_for_task(const engine::WaitForTask& action) {
  auto delay = std::max(action.due - parts_.clock.now(), Instant::duration::zero());
  TaskId task = action.attempt.task;
  if (auto known = waits_.find(task); known != waits_.end()) parts_.executor.cancel(known->second);
  waits_[task] = parts_.executor.call_after(delay, [this, attempt = action.attempt] {
    waits_.erase(attempt.task);
    push(engine::TaskDue{moment(), attempt});
  });
}

void RunDriver::stop_timer(std::optional<TimerId>& timer) {
  if (timer) parts_.executor.cancel(*timer);
  timer.reset();
}

// While a node runs or a retry waits, no commit can detect that the run has another owner, and no
// event reports a decision that another process has recorded. Therefore both are polled.
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
    // An unavailable store does not prove a lost ownership: the guard of the next commit decides.
    if (!epoch.ok()) continue;
    if (*epoch == run_.row.epoch) {
      // If this read fails, the next interval repeats it.
      if (engine::has_open_interrupts(run_)) (void)co_await find_decided();
      continue;
    }
    // Only sets a flag, on which drive() returns: this coroutine is a member of the driver, and
    // must not cause its destruction.
    lost_ = true;
    if (awaited_) awaited_->complete(Done{});
    co_return Done{};
  }
}

// Reads approvals of this run that were decided without a commit of the run, and queues them as
// events.
Task<Result<Done>> RunDriver::find_decided() {
  std::vector<InterruptId> asked;
  engine::collect_open_interrupts(run_, asked);
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader =
      [tenant = run_.row.tenant, run = run_.row.run, asked = std::move(asked)](Snapshot& view) {
        return decided_of(view, tenant, run, asked);
      };
  auto rows = co_await read<std::vector<ApprovalRow>>(parts_.store, std::move(reader));
  if (!rows.ok()) co_return std::move(rows).error();
  for (ApprovalRow& row : *rows) {
    // The run might have applied the decision during this read.
    if (engine::waits_for(run_, row.interrupt)) BELAY_CO_CHECK(on_decision(std::move(row)));
  }
  co_return Done{};
}

}  // namespace belay
