// Long on purpose: one short function for each operation of a service.

#include "service/access.h"

#include <algorithm>

#include "engine/run_options.h"
#include "service/schedule_access.h"
#include "service/user_access.h"

namespace belay {
namespace {

Error no_thread(const ThreadId& thread) {
  return error(ErrorCode::not_found, "Unknown thread \"" + thread.text + "\".");
}

Error no_run(const RunId& run) {
  return error(ErrorCode::not_found, "Unknown run \"" + run.text() + "\".");
}

// Removes the parts of another user's run that its decider must not see: keeps the result of the
// decision and the state that the approval showed.
void leave_out_state(RunView& view) {
  view.state = Value();
  view.spending.reset();
  view.uncertain.clear();
  view.row.input.clear();
  view.row.options.clear();
  view.row.error.clear();
}

class GuardedService final : public Service {
 public:
  explicit GuardedService(std::unique_ptr<Service> all)
      : all_(std::move(all)), schedules_(with_access_rules(all_->schedules())) {}

  std::optional<std::uint64_t> store_version() override { return all_->store_version(); }

  Task<Result<AgentDocuments>> agents(const Principal& who) override { return all_->agents(who); }

  Task<Result<RunView>> start(const Principal& who, StartRun wanted) override {
    BELAY_CO_CHECK(check_user(who, wanted.user));
    BELAY_CO_CHECK(check_asks(who, wanted.run));
    for (const RecordWrite& each : wanted.records) BELAY_CO_CHECK(check_user(who, each.user));
    set_caller_of_run(who, wanted.user, wanted.run.configuration);
    if (wanted.edit && !is_unrestricted(who)) wanted.edit->may_decide = reach_of(who) != Reach::own;
    co_return co_await all_->start(who, std::move(wanted));
  }

  Task<Result<RunView>> resume(const Principal& who, ThreadId thread,
                               std::optional<Breakpoints> breakpoints,
                               std::optional<std::uint64_t> only_at,
                               std::optional<Consent> consent) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    if (consent) BELAY_CO_CHECK(take_name(who, consent->by, consent->on_behalf_of));
    co_return co_await all_->resume(who, std::move(thread), std::move(breakpoints), only_at,
                                    std::move(consent));
  }

  Task<Result<std::vector<ThreadId>>> orphaned_threads(const Principal& who,
                                                       std::optional<UserId> user) override {
    BELAY_CO_TRY(user, whom(who, std::move(user)));
    co_return co_await all_->orphaned_threads(who, std::move(user));
  }

  Task<Result<RunView>> cancel(const Principal& who, ThreadId thread, std::string by,
                               std::string on_behalf_of, std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    BELAY_CO_CHECK(take_name(who, by, on_behalf_of));
    co_return co_await all_->cancel(who, std::move(thread), std::move(by), std::move(on_behalf_of),
                                    run);
  }

  Task<Result<RunView>> fork(const Principal& who, ForkOptions options) override {
    BELAY_CO_TRY(options, co_await as_mine(who, std::move(options)));
    co_return co_await all_->fork(who, std::move(options));
  }

  Task<Result<ForkPreview>> preview(const Principal& who, ForkOptions options) override {
    BELAY_CO_TRY(options, co_await as_mine(who, std::move(options)));
    co_return co_await all_->preview(who, std::move(options));
  }

  Task<Result<ReplayReport>> replay(const Principal& who, ThreadId thread,
                                    std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->replay(who, std::move(thread), run);
  }

  Task<Result<Value>> export_run(const Principal& who, ThreadId thread,
                                 std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->export_run(who, std::move(thread), run);
  }

  Task<Result<RunRow>> import_run(const Principal& who, Value file,
                                  bool allow_unfinished) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->import_run(who, std::move(file), allow_unfinished);
  }

  Task<Result<RunView>> wait_for(const Principal& who, ThreadId thread,
                                 std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->wait_for(who, std::move(thread), run);
  }

  Task<Result<RunRow>> run_of(const Principal& who, ThreadId thread,
                              std::optional<RunId> run) override {
    // The error about an unknown run must not reveal that its thread exists.
    if (run) BELAY_CO_CHECK(co_await check_thread(who, thread));
    ThreadId named = thread;
    auto row = co_await all_->run_of(who, std::move(thread), run);
    if (run && !row.ok()) co_return std::move(row);
    bool is_absent = !row.ok() && row.error().code == ErrorCode::not_found;
    if (reach_of(who) == Reach::all || (!row.ok() && !is_absent)) co_return std::move(row);
    if (is_absent || row->user != who.user) co_return no_thread(named);
    co_return std::move(row);
  }

  Task<Result<RunView>> status(const Principal& who, ThreadId thread,
                               std::optional<std::uint64_t> seq,
                               std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->status(who, std::move(thread), seq, run);
  }

  Task<Result<ListedThread>> thread(const Principal& who, ThreadId thread) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->thread(who, std::move(thread));
  }

  Task<Result<ThreadRow>> edit_thread(const Principal& who, ThreadId thread,
                                      ThreadSettings settings) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->edit_thread(who, std::move(thread), std::move(settings));
  }

  Task<Result<SteeringMessage>> steer(const Principal& who, ThreadId thread,
                                      Steer message) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->steer(who, std::move(thread), std::move(message));
  }

  Task<Result<std::vector<SteeringMessage>>> steering(const Principal& who,
                                                      ThreadId thread) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->steering(who, std::move(thread));
  }

  Schedules& schedules() override { return *schedules_; }

  Task<Result<ThreadDeletion>> delete_thread(const Principal& who, ThreadId thread,
                                             KeptRuns kept) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->delete_thread(who, std::move(thread), kept);
  }

  Task<Result<std::vector<ListedThread>>> threads(const Principal& who, ThreadPage page) override {
    BELAY_CO_TRY(page.user, whom(who, std::move(page.user)));
    if (page.before) {
      ThreadId before = *page.before;
      BELAY_CO_CHECK(co_await check_thread(who, std::move(before)));
    }
    co_return co_await all_->threads(who, std::move(page));
  }

  Task<Result<std::vector<RunRow>>> runs(const Principal& who, RunPage page) override {
    BELAY_CO_TRY(page.user, whom(who, std::move(page.user)));
    if (page.thread) {
      ThreadId thread = *page.thread;
      BELAY_CO_CHECK(co_await check_thread(who, std::move(thread)));
    }
    if (page.before && reach_of(who) != Reach::all) {
      auto before = co_await run(who, *page.before);
      if (!before.ok()) co_return std::move(before).error();
    }
    co_return co_await all_->runs(who, std::move(page));
  }

  Task<Result<RunRow>> run(const Principal& who, RunId id) override {
    auto row = co_await all_->run(who, id);
    bool is_absent = !row.ok() && row.error().code == ErrorCode::not_found;
    if (reach_of(who) == Reach::all || (!row.ok() && !is_absent)) co_return std::move(row);
    if (is_absent || row->user != who.user) co_return no_run(id);
    co_return std::move(row);
  }

  Task<Result<std::vector<RunHistory>>> history(const Principal& who, HistoryPage page) override {
    ThreadId thread = page.thread;
    BELAY_CO_CHECK(co_await check_thread(who, std::move(thread)));
    co_return co_await all_->history(who, std::move(page));
  }

  Task<Result<Value>> calls(const Principal& who, CallPage page) override {
    ThreadId thread = page.thread;
    BELAY_CO_CHECK(co_await check_thread(who, std::move(thread)));
    co_return co_await all_->calls(who, std::move(page));
  }

  Task<Result<Value>> why(const Principal& who, ThreadId thread,
                          std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(who, thread));
    co_return co_await all_->why(who, std::move(thread), run);
  }

  Task<Result<StatusSummary>> standing(const Principal& who, Whose whose) override {
    BELAY_CO_TRY(whose, seen(who, std::move(whose)));
    co_return co_await all_->standing(who, std::move(whose));
  }

  Task<Result<std::unique_ptr<EventReader>>> events(const Principal& who,
                                                    EventOptions options) override {
    ThreadId thread = options.thread;
    BELAY_CO_CHECK(co_await check_thread(who, std::move(thread)));
    if (options.run) {
      auto named = co_await run(who, *options.run);
      if (!named.ok()) co_return std::move(named).error();
    }
    co_return co_await all_->events(who, std::move(options));
  }

  Task<Result<Done>> preserve(const Principal& who, ThreadId thread, bool preserve) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->preserve(who, std::move(thread), preserve);
  }

  Task<Result<std::vector<ApprovalRow>>> approvals(const Principal& who,
                                                   ApprovalPage page) override {
    BELAY_CO_TRY(page.user, whose_approvals(who, std::move(page.user)));
    co_return co_await all_->approvals(who, std::move(page));
  }

  Task<Result<ApprovalRow>> approval(const Principal& who, std::string id, Whose whose) override {
    BELAY_CO_TRY(whose, seen(who, std::move(whose)));
    co_return co_await all_->approval(who, std::move(id), std::move(whose));
  }

  Task<Result<ApprovalRow>> approval_of(const Principal& who, ThreadId thread,
                                        Whose whose) override {
    BELAY_CO_TRY(whose, seen(who, std::move(whose)));
    co_return co_await all_->approval_of(who, std::move(thread), std::move(whose));
  }

  Task<Result<DecisionResult>> decide(const Principal& who, InterruptId interrupt,
                                      Decision decision) override {
    if (reach_of(who) == Reach::own) decision.only_of = who.user;
    BELAY_CO_CHECK(take_name(who, decision.decided_by, decision.on_behalf_of));
    BELAY_CO_CHECK(take_roles(who, decision.roles));
    auto answer = co_await all_->decide(who, interrupt, std::move(decision));
    bool is_of_another = answer.ok() && answer->view.row.user != who.user;
    if (is_of_another && reach_of(who) != Reach::all) leave_out_state(answer->view);
    co_return std::move(answer);
  }

  Task<Result<Value>> queues(const Principal& who, std::optional<UserId> user) override {
    BELAY_CO_TRY(user, whom(who, std::move(user)));
    co_return co_await all_->queues(who, std::move(user));
  }

  Task<Result<Value>> workers(const Principal& who) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->workers(who);
  }

  Task<Result<Value>> change_queue(const Principal& who, QueueChange change) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->change_queue(who, std::move(change));
  }

  Task<Result<Messages>> messages(const Principal& who, MessagePage page) override {
    BELAY_CO_TRY(page.user, whom(who, std::move(page.user)));
    if (page.thread) {
      ThreadId thread = *page.thread;
      BELAY_CO_CHECK(co_await check_thread(who, std::move(thread)));
    }
    co_return co_await all_->messages(who, std::move(page));
  }

  Task<Result<Done>> retry_message(const Principal& who, std::string id) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->retry_message(who, std::move(id));
  }

  Task<Result<Done>> give_up_message(const Principal& who, std::string id) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->give_up_message(who, std::move(id));
  }

  Task<Result<std::vector<RecordRow>>> find_records(const Principal& who, UserId user,
                                                    RecordFilter filter) override {
    BELAY_CO_CHECK(check_user(who, user));
    if (!filter.user.empty()) BELAY_CO_CHECK(check_user(who, filter.user));
    co_return co_await all_->find_records(who, std::move(user), std::move(filter));
  }

  Task<Result<Done>> save_records(const Principal& who, std::vector<RecordWrite> records) override {
    for (const RecordWrite& each : records) BELAY_CO_CHECK(check_user(who, each.user));
    co_return co_await all_->save_records(who, std::move(records));
  }

  Task<Result<StoreStatistics>> statistics(const Principal& who) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->statistics(who);
  }
  Task<Result<Compaction>> compact(const Principal& who) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->compact(who);
  }
  Task<Result<Pruning>> prune(const Principal& who, RetentionPolicy policy) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->prune(who, policy);
  }
  Task<Result<CheckReport>> check(const Principal& who) override {
    BELAY_CO_CHECK(check_all(who));
    co_return co_await all_->check(who);
  }

 private:
  static Result<Done> check_all(const Principal& who) {
    if (reach_of(who) == Reach::all) return Done{};
    return error(ErrorCode::forbidden, "This request requires the permission administer.");
  }

  static Result<std::optional<UserId>> whose_approvals(const Principal& who,
                                                       std::optional<UserId> user) {
    if (reach_of(who) == Reach::own) return whom(who, std::move(user));
    if (user && !is_unrestricted(who)) BELAY_CHECK(check_name("userId", user->text));
    return user;
  }

  static Result<Whose> seen(const Principal& who, Whose whose) {
    BELAY_TRY(whose.runs, whom(who, std::move(whose.runs)));
    BELAY_TRY(whose.approvals, whose_approvals(who, std::move(whose.approvals)));
    return whose;
  }

  Task<Result<Done>> check_thread(const Principal& who, ThreadId thread) {
    if (reach_of(who) == Reach::all) co_return Done{};
    auto row = co_await run_of(who, std::move(thread), std::nullopt);
    if (!row.ok()) co_return std::move(row).error();
    co_return Done{};
  }

  // A run without approvals requires a permission, and so does its fork, which has the same
  // options. An unset option has the server's default, which applies to all callers.
  static Result<Done> check_asks(const Principal& who, const RunSettings& options) {
    bool asks = options.require_approval.value_or(true);
    if (asks || who.may_skip_approvals || is_unrestricted(who)) return Done{};
    return error(ErrorCode::forbidden,
                 "This API key cannot start runs without approval. Keep approvals enabled, or use "
                 "a key with that permission.");
  }

  Task<Result<ForkOptions>> as_mine(const Principal& who, ForkOptions options) {
    if (is_unrestricted(who)) co_return std::move(options);
    ThreadId from = options.from;
    BELAY_CO_TRY(RunRow row, co_await run_of(who, std::move(from), options.run));
    auto run = engine::options_from(row.options);
    if (!run.ok()) co_return std::move(run).error();
    BELAY_CO_CHECK(check_asks(who, *run));
    if (options.user.empty()) options.user = who.user;
    BELAY_CO_CHECK(check_user(who, options.user));
    BELAY_CO_CHECK(take_roles(who, options.roles));
    options.may_decide = reach_of(who) != Reach::own;
    co_return std::move(options);
  }

  // The caller is recorded as the actor; another name is recorded in addition.
  static Result<Done> take_name(const Principal& who, std::string& name,
                                std::string& on_behalf_of) {
    if (is_unrestricted(who)) return Done{};
    bool is_another = !name.empty() && name != who.user.text;
    if (is_another && !on_behalf_of.empty() && on_behalf_of != name) {
      return error(ErrorCode::forbidden, "This API key acts as \"" + who.user.text +
                                             "\", not as \"" + name +
                                             "\". Name only one other user.");
    }
    if (is_another) on_behalf_of = std::move(name);
    if (on_behalf_of == who.user.text) on_behalf_of.clear();
    name = who.user.text;
    return Done{};
  }

  static Result<Done> take_roles(const Principal& who, std::vector<std::string>& roles) {
    if (is_unrestricted(who)) return Done{};
    for (const std::string& role : roles) {
      if (std::find(who.roles.begin(), who.roles.end(), role) != who.roles.end()) continue;
      return error(ErrorCode::forbidden, "This API key does not have the role \"" + role + "\".");
    }
    roles = who.roles;
    return Done{};
  }

  const std::unique_ptr<Service> all_;
  const std::unique_ptr<Schedules> schedules_;
};

}  // namespace

std::unique_ptr<Service> with_access_rules(std::unique_ptr<Service> all) {
  return std::make_unique<GuardedService>(std::move(all));
}

}  // namespace belay
