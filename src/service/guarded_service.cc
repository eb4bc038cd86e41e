// Long on purpose: one short function for each operation of a service.

#include "service/guarded_service.h"

#include <algorithm>

#include "engine/run_options.h"

namespace belay {
namespace {

using Reach = Principal::Reach;

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
  GuardedService(Service& all, Principal who) : all_(all), who_(std::move(who)) {}

  std::optional<std::uint64_t> store_version() override { return all_.store_version(); }

  Task<Result<Value::Array>> agents() override { return all_.agents(); }

  Task<Result<RunView>> start(StartRun wanted) override {
    BELAY_CO_CHECK(check_user(wanted.user));
    BELAY_CO_CHECK(check_asks(wanted.run));
    co_return co_await all_.start(std::move(wanted));
  }

  Task<Result<RunView>> resume(ThreadId thread) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    co_return co_await all_.resume(std::move(thread));
  }

  Task<Result<std::vector<ThreadId>>> orphaned_threads(std::optional<UserId> user) override {
    BELAY_CO_TRY(user, whom(std::move(user)));
    co_return co_await all_.orphaned_threads(std::move(user));
  }

  Task<Result<RunView>> cancel(ThreadId thread, std::string by, std::string on_behalf_of,
                               std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    BELAY_CO_CHECK(take_name(by, on_behalf_of));
    co_return co_await all_.cancel(std::move(thread), std::move(by), std::move(on_behalf_of), run);
  }

  Task<Result<RunView>> fork(ForkOptions options) override {
    BELAY_CO_TRY(options, co_await as_mine(std::move(options)));
    co_return co_await all_.fork(std::move(options));
  }

  Task<Result<ForkPreview>> preview(ForkOptions options) override {
    BELAY_CO_TRY(options, co_await as_mine(std::move(options)));
    co_return co_await all_.preview(std::move(options));
  }

  Task<Result<ReplayReport>> replay(ThreadId thread, std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    co_return co_await all_.replay(std::move(thread), run);
  }

  Task<Result<Value>> export_run(ThreadId thread, std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    co_return co_await all_.export_run(std::move(thread), run);
  }

  Task<Result<RunRow>> import_run(Value file, bool allow_unfinished) override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.import_run(std::move(file), allow_unfinished);
  }

  Task<Result<RunView>> wait_for(ThreadId thread, std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    co_return co_await all_.wait_for(std::move(thread), run);
  }

  Task<Result<RunRow>> run_of(ThreadId thread, std::optional<RunId> run) override {
    // The error about an unknown run must not reveal that its thread exists.
    if (run) BELAY_CO_CHECK(co_await check_thread(thread));
    ThreadId named = thread;
    auto row = co_await all_.run_of(std::move(thread), run);
    if (run && !row.ok()) co_return std::move(row);
    bool is_absent = !row.ok() && row.error().code == ErrorCode::not_found;
    if (who_.reach == Reach::all || (!row.ok() && !is_absent)) co_return std::move(row);
    if (is_absent || row->user != who_.user) co_return no_thread(named);
    co_return std::move(row);
  }

  Task<Result<RunView>> status(ThreadId thread, std::optional<std::uint64_t> seq,
                               std::optional<RunId> run) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    co_return co_await all_.status(std::move(thread), seq, run);
  }

  Task<Result<ListedThread>> thread(ThreadId thread) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    co_return co_await all_.thread(std::move(thread));
  }

  Task<Result<ThreadRow>> edit_thread(ThreadId thread, ThreadSettings settings) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    co_return co_await all_.edit_thread(std::move(thread), std::move(settings));
  }

  Task<Result<ThreadDeletion>> delete_thread(ThreadId thread) override {
    BELAY_CO_CHECK(co_await check_thread(thread));
    co_return co_await all_.delete_thread(std::move(thread));
  }

  Task<Result<std::vector<ListedThread>>> threads(ThreadPage page) override {
    BELAY_CO_TRY(page.user, whom(std::move(page.user)));
    if (page.before) {
      ThreadId before = *page.before;
      BELAY_CO_CHECK(co_await check_thread(std::move(before)));
    }
    co_return co_await all_.threads(std::move(page));
  }

  Task<Result<std::vector<RunRow>>> runs(RunPage page) override {
    BELAY_CO_TRY(page.user, whom(std::move(page.user)));
    if (page.thread) {
      ThreadId thread = *page.thread;
      BELAY_CO_CHECK(co_await check_thread(std::move(thread)));
    }
    if (page.before && who_.reach != Reach::all) {
      auto before = co_await run(*page.before);
      if (!before.ok()) co_return std::move(before).error();
    }
    co_return co_await all_.runs(std::move(page));
  }

  Task<Result<RunRow>> run(RunId id) override {
    auto row = co_await all_.run(id);
    bool is_absent = !row.ok() && row.error().code == ErrorCode::not_found;
    if (who_.reach == Reach::all || (!row.ok() && !is_absent)) co_return std::move(row);
    if (is_absent || row->user != who_.user) co_return no_run(id);
    co_return std::move(row);
  }

  Task<Result<std::vector<RunHistory>>> history(HistoryPage page) override {
    ThreadId thread = page.thread;
    BELAY_CO_CHECK(co_await check_thread(std::move(thread)));
    co_return co_await all_.history(std::move(page));
  }

  Task<Result<Value>> calls(CallPage page) override {
    ThreadId thread = page.thread;
    BELAY_CO_CHECK(co_await check_thread(std::move(thread)));
    co_return co_await all_.calls(std::move(page));
  }

  Task<Result<StatusSummary>> standing(Whose whose) override {
    BELAY_CO_TRY(whose, seen(std::move(whose)));
    co_return co_await all_.standing(std::move(whose));
  }

  Task<Result<std::unique_ptr<EventReader>>> events(EventOptions options) override {
    ThreadId thread = options.thread;
    BELAY_CO_CHECK(co_await check_thread(std::move(thread)));
    if (options.run) {
      auto named = co_await run(*options.run);
      if (!named.ok()) co_return std::move(named).error();
    }
    co_return co_await all_.events(std::move(options));
  }

  Task<Result<Done>> preserve(ThreadId thread, bool preserve) override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.preserve(std::move(thread), preserve);
  }

  Task<Result<std::vector<ApprovalRow>>> approvals(ApprovalPage page) override {
    BELAY_CO_TRY(page.user, whose_approvals(std::move(page.user)));
    co_return co_await all_.approvals(std::move(page));
  }

  Task<Result<ApprovalRow>> approval(std::string id, Whose whose) override {
    BELAY_CO_TRY(whose, seen(std::move(whose)));
    co_return co_await all_.approval(std::move(id), std::move(whose));
  }

  Task<Result<ApprovalRow>> approval_of(ThreadId thread, Whose whose) override {
    BELAY_CO_TRY(whose, seen(std::move(whose)));
    co_return co_await all_.approval_of(std::move(thread), std::move(whose));
  }

  Task<Result<DecisionResult>> decide(InterruptId interrupt, Decision decision) override {
    if (who_.reach == Reach::own) decision.only_of = who_.user;
    BELAY_CO_CHECK(take_name(decision.decided_by, decision.on_behalf_of));
    BELAY_CO_CHECK(take_roles(decision.roles));
    auto answer = co_await all_.decide(interrupt, std::move(decision));
    bool is_of_another = answer.ok() && answer->view.row.user != who_.user;
    if (is_of_another && who_.reach != Reach::all) leave_out_state(answer->view);
    co_return std::move(answer);
  }

  Task<Result<Value>> queues(std::optional<UserId> user) override {
    BELAY_CO_TRY(user, whom(std::move(user)));
    co_return co_await all_.queues(std::move(user));
  }

  Task<Result<Value>> workers() override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.workers();
  }

  Task<Result<Value>> change_queue(QueueChange change) override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.change_queue(std::move(change));
  }

  Task<Result<Messages>> messages(MessagePage page) override {
    BELAY_CO_TRY(page.user, whom(std::move(page.user)));
    if (page.thread) {
      ThreadId thread = *page.thread;
      BELAY_CO_CHECK(co_await check_thread(std::move(thread)));
    }
    co_return co_await all_.messages(std::move(page));
  }

  Task<Result<Done>> retry_message(std::string id) override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.retry_message(std::move(id));
  }

  Task<Result<Done>> give_up_message(std::string id) override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.give_up_message(std::move(id));
  }

  Task<Result<std::vector<RecordRow>>> find_records(UserId user, RecordFilter filter) override {
    BELAY_CO_CHECK(check_user(user));
    if (!filter.user.empty()) BELAY_CO_CHECK(check_user(filter.user));
    co_return co_await all_.find_records(std::move(user), std::move(filter));
  }

  Task<Result<Done>> save_records(std::vector<RecordWrite> records) override {
    for (const RecordWrite& each : records) BELAY_CO_CHECK(check_user(each.user));
    co_return co_await all_.save_records(std::move(records));
  }

  Task<Result<StoreStatistics>> statistics() override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.statistics();
  }
  Task<Result<Compaction>> compact() override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.compact();
  }
  Task<Result<Pruning>> prune(RetentionPolicy policy) override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.prune(policy);
  }
  Task<Result<CheckReport>> check() override {
    BELAY_CO_CHECK(check_all());
    co_return co_await all_.check();
  }

 private:
  Result<Done> check_all() const {
    if (who_.reach == Reach::all) return Done{};
    return error(ErrorCode::forbidden, "This request requires the permission administer.");
  }

  Result<Done> check_user(const UserId& user) const {
    BELAY_CHECK(check_name("userId", user.text));
    if (who_.reach == Reach::all || user == who_.user) return Done{};
    return no_such_user(user);
  }

  // Returns the user whose data a query covers: the given one if permitted, otherwise the default.
  Result<std::optional<UserId>> whom(std::optional<UserId> user) const {
    if (user) BELAY_CHECK(check_user(*user));
    if (!user && who_.reach != Reach::all) user = who_.user;
    return user;
  }

  Result<std::optional<UserId>> whose_approvals(std::optional<UserId> user) const {
    if (who_.reach == Reach::own) return whom(std::move(user));
    if (user) BELAY_CHECK(check_name("userId", user->text));
    return user;
  }

  Result<Whose> seen(Whose whose) const {
    BELAY_TRY(whose.runs, whom(std::move(whose.runs)));
    BELAY_TRY(whose.approvals, whose_approvals(std::move(whose.approvals)));
    return whose;
  }

  Task<Result<Done>> check_thread(ThreadId thread) {
    if (who_.reach == Reach::all) co_return Done{};
    auto row = co_await run_of(std::move(thread), std::nullopt);
    if (!row.ok()) co_return std::move(row).error();
    co_return Done{};
  }

  // A run without approvals requires a permission, and so does its fork, which has the same
  // options. An unset option has the server's default, which applies to all callers.
  Result<Done> check_asks(const RunSettings& options) const {
    bool asks = options.require_approval.value_or(true);
    if (asks || who_.may_skip_approvals) return Done{};
    return error(ErrorCode::forbidden,
                 "This API key cannot start runs without approval. Keep approvals enabled, or use "
                 "a key with that permission.");
  }

  Task<Result<ForkOptions>> as_mine(ForkOptions options) {
    ThreadId from = options.from;
    BELAY_CO_TRY(RunRow row, co_await run_of(std::move(from), options.run));
    auto run = engine::options_from(row.options);
    if (!run.ok()) co_return std::move(run).error();
    BELAY_CO_CHECK(check_asks(*run));
    if (options.user.empty()) options.user = who_.user;
    BELAY_CO_CHECK(check_user(options.user));
    BELAY_CO_CHECK(take_roles(options.roles));
    options.may_decide = who_.reach != Reach::own;
    co_return std::move(options);
  }

  // The caller is recorded as the actor; another name is recorded in addition.
  Result<Done> take_name(std::string& name, std::string& on_behalf_of) const {
    bool is_another = !name.empty() && name != who_.user.text;
    if (is_another && !on_behalf_of.empty() && on_behalf_of != name) {
      return error(ErrorCode::forbidden, "This API key acts as \"" + who_.user.text +
                                             "\", not as \"" + name +
                                             "\". Name only one other user.");
    }
    if (is_another) on_behalf_of = std::move(name);
    if (on_behalf_of == who_.user.text) on_behalf_of.clear();
    name = who_.user.text;
    return Done{};
  }

  Result<Done> take_roles(std::vector<std::string>& roles) const {
    for (const std::string& role : roles) {
      if (std::find(who_.roles.begin(), who_.roles.end(), role) != who_.roles.end()) continue;
      return error(ErrorCode::forbidden, "This API key does not have the role \"" + role + "\".");
    }
    roles = who_.roles;
    return Done{};
  }

  Service& all_;
  const Principal who_;
};

}  // namespace

Error no_such_user(const UserId& user) {
  return error(ErrorCode::not_found,
               "User \"" + user.text + "\" is unknown, or this API key cannot read their data.");
}

std::unique_ptr<Service> make_guarded_service(Service& all, Principal who) {
  return std::make_unique<GuardedService>(all, std::move(who));
}

}  // namespace belay
