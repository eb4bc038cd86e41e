// Long on purpose: one short function for each request.

#include "client/remote_service.h"

#include <algorithm>
#include <tuple>

#include "belay/limits.h"
#include "client/remote_schedules.h"
#include "client/requests.h"
#include "client/run_watch.h"
#include "service/json_decode.h"
#include "service/steering.h"

namespace belay::client {
namespace {

constexpr std::chrono::milliseconds kAnswersWithin{60'000};  // in addition to the wait for the run
constexpr std::chrono::milliseconds kLook{2'000};            // poll interval without events
constexpr std::chrono::milliseconds kLastLines{2'000};       // for events at the end of a run
// Timeout of requests that read the whole store.
constexpr std::chrono::milliseconds kWholeStore{3'600'000};

// No function uses its principal: see remote_service.h.
class RemoteService final : public Service {
 public:
  explicit RemoteService(RemoteServiceParts parts) : parts_(std::move(parts)) {}

  Task<Result<AgentDocuments>> agents(const Principal&) override {
    Ask ask = ask_to("GET", "/api/agents");
    BELAY_CO_TRY(Value document, co_await connection().ask_again_for(std::move(ask)));
    Value::Array* agents = document.as_object() ? document_array(document, "agents") : nullptr;
    if (agents) co_return std::make_shared<const Value::Array>(std::move(*agents));
    Result<Done> missing = error(ErrorCode::invalid, "It has no list \"agents\".");
    co_return connection().fitting(std::move(missing)).error();
  }

  Task<Result<RunView>> start(const Principal&, StartRun wanted) override {
    BELAY_CO_CHECK(check_start(wanted));
    if (wanted.thread.empty() && wanted.idempotency_key.empty()) {
      wanted.thread = ThreadId(random_uuid(parts_.random).text());
      wanted.thread_is_new = true;
    }
    // Each start has a key: a request that is repeated after a lost response starts one run.
    std::string& key = wanted.idempotency_key;
    if (key.empty()) key = random_uuid(parts_.random).text();
    std::string target = Target("/api/agents").segment(wanted.agent).text() + "/runs";
    Ask ask = post(std::move(target), start_body(wanted));
    ask.headers.push_back({"Idempotency-Key", key});
    if (wanted.queued) co_return co_await get<RunView>(std::move(ask), run_view_from);
    if (wanted.thread_is_new) co_return co_await settle(wanted.thread, std::move(ask));
    bool may_wait = wanted.if_busy == BusyThread::enqueue;
    co_return co_await settle_started(wanted.thread, std::move(ask), may_wait);
  }
  Task<Result<RunView>> resume(const Principal&, ThreadId thread,
                               std::optional<Breakpoints> breakpoints,
                               std::optional<std::uint64_t> only_at,
                               std::optional<Consent> consent) override {
    Ask ask = post(thread_path(thread, "/resume"), resume_body(breakpoints, only_at, consent));
    co_return co_await settle(std::move(thread), std::move(ask));
  }
  Task<Result<std::vector<ThreadId>>> orphaned_threads(const Principal&,
                                                       std::optional<UserId> user) override {
    Target target("/api/left-behind");
    add_user(target, user);
    Ask ask = ask_to("GET", target.text());
    BELAY_CO_TRY(Value document, co_await connection().ask_again_for(std::move(ask)));
    Result<ThreadId> (*read)(const Value&) = [](const Value& item) -> Result<ThreadId> {
      const std::string* name = item.as_string();
      if (!name) return error(ErrorCode::invalid, "A thread id is not text.");
      return ThreadId(*name);
    };
    co_return connection().fitting(items_from<ThreadId>(document, "threads", read));
  }

  Task<Result<RunView>> cancel(const Principal&, ThreadId thread, std::string by,
                               std::string on_behalf_of, std::optional<RunId> run) override {
    Value::Object body;
    if (!by.empty()) body["by"] = std::move(by);
    if (!on_behalf_of.empty()) body["onBehalfOf"] = std::move(on_behalf_of);
    Target target(thread_path(thread, "/cancel"));
    add_run(target, run);
    Ask ask = post(target.text(), Value(std::move(body)));
    return get<RunView>(std::move(ask), run_view_from);
  }

  Task<Result<RunView>> fork(const Principal&, ForkOptions options) override {
    if (options.thread.empty()) options.thread = ThreadId(random_uuid(parts_.random).text());
    ThreadId thread = options.thread;
    Ask ask = post(thread_path(options.from, "/fork"), fork_body(options, false));
    if (options.queued) co_return co_await get<RunView>(std::move(ask), run_view_from);
    co_return co_await settle(std::move(thread), std::move(ask));
  }

  Task<Result<ForkPreview>> preview(const Principal&, ForkOptions options) override {
    Ask ask = post(thread_path(options.from, "/fork"), fork_body(options, true));
    return get<ForkPreview>(std::move(ask), preview_from);
  }

  Task<Result<ReplayReport>> replay(const Principal&, ThreadId thread,
                                    std::optional<RunId> run) override {
    Target target(thread_path(thread, "/replay"));
    add_run(target, run);
    Ask ask = post(target.text());
    ask.first_byte = kWholeStore;
    return get<ReplayReport>(std::move(ask), replay_from);
  }

  Task<Result<Value>> export_run(const Principal&, ThreadId thread,
                                 std::optional<RunId> run) override {
    Target target(thread_path(thread, "/export"));
    add_run(target, run);
    Ask ask = ask_to("GET", target.text());
    co_return co_await connection().ask_again_for(std::move(ask));
  }

  Task<Result<RunRow>> import_run(const Principal&, Value file, bool allow_unfinished) override {
    Value body = Value::object({{"file", std::move(file)}, {"mayGoOn", allow_unfinished}});
    return get<RunRow>(ask_to("POST", "/api/threads/import", std::move(body)), run_row_from);
  }

  Task<Result<RunView>> wait_for(const Principal&, ThreadId thread,
                                 std::optional<RunId> run) override {
    ThreadId known = thread;
    BELAY_CO_TRY(RunRow before, co_await run_of(ignored_, std::move(known), run));
    RunWatch watch(connection(), parts_.executor, parts_.observer, thread, before.run, before.seq);
    while (true) {
      auto followed = co_await follow(watch, thread, before.run);
      if (!followed.ok()) co_return std::move(followed).error();
      if (*followed) co_return **std::move(followed);
      co_await watch.news(kLook);
    }
  }

  Task<Result<RunRow>> run_of(const Principal&, ThreadId thread,
                              std::optional<RunId> run) override {
    Target target(thread_path(thread));
    add_run(target, run);
    return get<RunRow>(ask_to("GET", target.text()), run_row_from);
  }

  Task<Result<RunView>> status(const Principal&, ThreadId thread, std::optional<std::uint64_t> seq,
                               std::optional<RunId> run) override {
    Target target(thread_path(thread));
    if (seq) target.query("at", *seq);
    add_run(target, run);
    return get<RunView>(ask_to("GET", target.text()), run_view_from);
  }

  Task<Result<ListedThread>> thread(const Principal&, ThreadId thread) override {
    return get<ListedThread>(ask_to("GET", thread_path(thread)), thread_with_run_from);
  }

  Task<Result<ThreadRow>> edit_thread(const Principal&, ThreadId thread,
                                      ThreadSettings settings) override {
    Ask ask = ask_to("PATCH", thread_path(thread), thread_body(settings));
    return get<ThreadRow>(std::move(ask), thread_row_from);
  }

  Task<Result<SteeringMessage>> steer(const Principal&, ThreadId thread, Steer message) override {
    // A request that is repeated because its response was lost stores one message.
    if (message.id.empty()) message.id = random_uuid(parts_.random).text();
    Value body = Value::object({{"text", std::move(message.text)}, {"use", name_of(message.use)}});
    Ask ask = post(thread_path(thread, "/steering"), std::move(body));
    ask.headers.push_back({"Idempotency-Key", std::move(message.id)});
    return get<SteeringMessage>(std::move(ask), steering_from);
  }

  Task<Result<std::vector<SteeringMessage>>> steering(const Principal&, ThreadId thread) override {
    Target target(thread_path(thread, "/steering"));
    return get_list<SteeringMessage>(target, "messages", steering_from);
  }
  Task<Result<Value>> why(const Principal&, ThreadId thread, std::optional<RunId> run) override {
    Target target(thread_path(thread, "/why"));
    add_run(target, run);
    return document_with(std::move(target), "chain");
  }
  Schedules& schedules() override { return *schedules_; }
  Task<Result<ThreadDeletion>> delete_thread(const Principal&, ThreadId thread,
                                             KeptRuns kept) override {
    std::string path = deletion_path(thread_path(thread), kept);
    return get<ThreadDeletion>(ask_to("DELETE", std::move(path)), deletion_from);
  }
  Task<Result<std::vector<ListedThread>>> threads(const Principal&, ThreadPage page) override {
    Target target("/api/threads");
    target.query("limit", page_limit(page.limit));
    if (page.before) target.query("before", page.before->text);
    add_user(target, page.user);
    return get_list<ListedThread>(target, "threads", thread_from);
  }

  Task<Result<std::vector<RunRow>>> runs(const Principal&, RunPage page) override {
    std::vector<RunRow> found;
    if (page.statuses.empty()) {
      Target target = runs_target(page);
      co_return co_await get_list<RunRow>(target, "runs", run_row_from);
    }
    // The server accepts one status per request.
    for (RunStatus status : page.statuses) {
      Target target = runs_target(page);
      target.query("status", name_of(status));
      BELAY_CO_TRY(std::vector<RunRow> some,
                   co_await get_list<RunRow>(target, "runs", run_row_from));
      for (RunRow& row : some) found.push_back(std::move(row));
    }
    std::sort(found.begin(), found.end(), [](const RunRow& one, const RunRow& other) {
      return std::tie(one.created_at, one.run) > std::tie(other.created_at, other.run);
    });
    if (found.size() > page.limit) found.resize(page.limit);
    co_return std::move(found);
  }

  Task<Result<RunRow>> run(const Principal&, RunId run) override {
    std::string target = Target("/api/runs").segment(run.text()).text();
    return get<RunRow>(ask_to("GET", std::move(target)), run_row_from);
  }

  Task<Result<std::vector<RunHistory>>> history(const Principal&, HistoryPage page) override {
    Target target(thread_path(page.thread, "/history"));
    target.query("limit", page_limit(page.limit));
    if (page.before_seq) target.query("before", *page.before_seq);
    if (page.before_run) target.query("beforeRun", page.before_run->text());
    add_run(target, page.run);
    return get<std::vector<RunHistory>>(ask_to("GET", target.text()), history_from);
  }

  Task<Result<Value>> calls(const Principal&, CallPage page) override {
    Target target(thread_path(page.thread, "/calls"));
    target.query("limit", page_limit(page.limit));
    add_run(target, page.run);
    return document_with(std::move(target), "calls");
  }

  // A server shows the data of one user, or all data that the key may read.
  Task<Result<StatusSummary>> standing(const Principal&, Whose whose) override {
    Target target("/api/overview");
    add_user(target, whose.runs);
    return get<StatusSummary>(ask_to("GET", target.text()), status_summary_from);
  }

  Task<Result<std::unique_ptr<EventReader>>> events(const Principal&,
                                                    EventOptions options) override {
    return RemoteEvents::open(connection(), std::move(options));
  }

  Task<Result<Done>> preserve(const Principal&, ThreadId thread, bool preserve) override {
    Ask ask = ask_to(preserve ? "PUT" : "DELETE", thread_path(thread, "/preserved"));
    return done(std::move(ask));
  }

  Task<Result<std::vector<ApprovalRow>>> approvals(const Principal&, ApprovalPage page) override {
    Target target("/api/approvals");
    target.query("limit", page_limit(page.limit));
    if (!page.only_open) target.query("all", "true");
    if (page.before) target.query("before", page.before->text());
    add_user(target, page.user);
    return get_list<ApprovalRow>(target, "approvals", approval_from);
  }

  Task<Result<ApprovalRow>> approval(const Principal&, std::string id, Whose whose) override {
    Target target = Target("/api/approvals").segment(id);
    add_user(target, whose.approvals);
    return get<ApprovalRow>(ask_to("GET", target.text()), approval_from);
  }
  Task<Result<ApprovalRow>> approval_of(const Principal&, ThreadId thread, Whose whose) override {
    Target target(thread_path(thread, "/approval"));
    add_user(target, whose.approvals);
    return get<ApprovalRow>(ask_to("GET", target.text()), approval_from);
  }

  Task<Result<DecisionResult>> decide(const Principal&, InterruptId interrupt,
                                      Decision decision) override {
    Whose any;
    BELAY_CO_TRY(ApprovalRow before, co_await approval(ignored_, interrupt.text(), std::move(any)));
    Ask ask = post(Target("/api/approvals").segment(interrupt.text()).text() + "/decision",
                   decision_body(decision));
    ThreadId thread = before.thread;
    auto row = co_await run_of(ignored_, std::move(thread), before.run);
    // The run of another user is not visible; its decider receives only the approval.
    bool is_unseen = !row.ok() && row.error().code == ErrorCode::not_found;
    if (is_unseen) co_return co_await decided(std::move(ask), std::move(before));
    if (!row.ok()) co_return std::move(row).error();
    // The commit of the decision is reported by its response, not as progress.
    std::uint64_t after = row->status == RunStatus::paused ? row->seq + 1 : row->seq;
    RunWatch watch(connection(), parts_.executor, parts_.observer, before.thread, row->run, after);
    BELAY_CO_TRY(DecisionResult answer, co_await decided(std::move(ask), before));
    bool is_made = answer.kind == DecisionResult::Kind::accepted ||
                   answer.kind == DecisionResult::Kind::duplicate;
    if (!is_made) co_return std::move(answer);
    // Without capacity under the concurrency limits, the run is queued, and there is nothing to
    // wait for.
    bool is_at_work = answer.view.row.status == RunStatus::running;
    if (is_at_work) {
      Ask resume = post(thread_path(before.thread, "/resume"));
      BELAY_CO_TRY(answer.view, co_await settle_watched(watch, before.thread, row->run,
                                                        std::move(resume), true));
    }
    co_await watch.reach(answer.view.row.seq, kLastLines);
    co_return std::move(answer);
  }

  Task<Result<Value>> queues(const Principal&, std::optional<UserId> user) override {
    Target target("/api/queues");
    add_user(target, user);
    Ask ask = ask_to("GET", target.text());
    return connection().ask_again_for(std::move(ask));
  }
  Task<Result<Value>> workers(const Principal&) override {
    Ask ask = ask_to("GET", "/api/workers");
    return connection().ask_again_for(std::move(ask));
  }
  Task<Result<Value>> change_queue(const Principal&, QueueChange change) override {
    Value::Object body;
    if (change.paused) body["paused"] = *change.paused;
    if (change.runs_max) body["runsMax"] = *change.runs_max;
    if (change.per_key_max) body["perKeyMax"] = *change.per_key_max;
    std::string target = Target("/api/queues").segment(change.name).text();
    Ask ask = post(std::move(target), Value(std::move(body)));
    return connection().ask_again_for(std::move(ask));
  }

  Task<Result<Messages>> messages(const Principal&, MessagePage page) override {
    Target target("/api/outbox");
    target.query("limit", page_limit(page.limit));
    if (page.thread) target.query("threadId", page.thread->text);
    if (page.all) target.query("all", "true");
    add_user(target, page.user);
    return get<Messages>(ask_to("GET", target.text()), messages_from);
  }

  Task<Result<Done>> retry_message(const Principal&, std::string id) override {
    return move_message(std::move(id), "/retry");
  }
  Task<Result<Done>> give_up_message(const Principal&, std::string id) override {
    return move_message(std::move(id), "/give-up");
  }

  Task<Result<std::vector<RecordRow>>> find_records(const Principal&, UserId user,
                                                    RecordFilter filter) override {
    Target target("/api/records");
    target.segment(filter.collection);
    if (user != UserId("local")) target.query("userId", user.text);
    if (!filter.key.empty()) target.query("key", filter.key);
    add_field(target, filter);
    if (!filter.after.empty()) target.query("after", filter.after);
    target.query("limit", page_limit(filter.limit));
    return get_list<RecordRow>(target, "records", record_from_document);
  }

  Task<Result<Done>> save_records(const Principal&, std::vector<RecordWrite> records) override {
    if (records.empty()) co_return Done{};
    Value::Array items;
    for (const RecordWrite& each : records) {
      // The server accepts the records of one user per request, and saves them atomically.
      if (each.user != records.front().user) {
        co_return error(
            ErrorCode::invalid,
            "The records belong to several users. Send the records of one user at a time.");
      }
      Value::Array indexed;
      for (const auto& [name, value] : each.indexed) {
        indexed.push_back(Value::object({{"name", name}, {"value", value}}));
      }
      Value::Object item{{"collection", each.collection},
                         {"key", each.key},
                         {"json", each.json},
                         {"indexed", std::move(indexed)},
                         {"erase", each.erase}};
      if (each.expected_version) item["expectedVersion"] = *each.expected_version;
      items.emplace_back(std::move(item));
    }
    Value::Object body{{"records", std::move(items)}};
    const UserId& user = records.front().user;
    if (user != UserId("local")) body["userId"] = user.text;
    Ask ask = post("/api/records", Value(std::move(body)));
    co_return co_await done(std::move(ask));
  }

  Task<Result<StoreStatistics>> statistics(const Principal&) override {
    return get<StoreStatistics>(ask_to("GET", "/api/store"), statistics_from);
  }
  Task<Result<Compaction>> compact(const Principal&) override {
    return get<Compaction>(whole_store("/api/store/compact"), compaction_from);
  }
  Task<Result<Pruning>> prune(const Principal&, RetentionPolicy policy) override {
    Ask ask = whole_store("/api/store/prune");
    ask.body =
        Value::object({{"keepHours", policy.keep_finished.count()}, {"dryRun", policy.dry_run}});
    return get<Pruning>(std::move(ask), pruning_from);
  }
  Task<Result<CheckReport>> check(const Principal&) override {
    return get<CheckReport>(whole_store("/api/store/check"), check_from);
  }

 private:
  Connection& connection() { return parts_.connection; }

  Task<Result<Value>> document_with(Target target, std::string list) {
    Ask ask = ask_to("GET", target.text());
    BELAY_CO_TRY(Value document, co_await connection().ask_again_for(std::move(ask)));
    if (document[list].as_array()) co_return std::move(document);
    Result<Done> missing = error(ErrorCode::invalid, "It has no list \"" + list + "\".");
    co_return connection().fitting(std::move(missing)).error();
  }

  static Value::Array* document_array(Value& document, std::string_view name) {
    auto found = document.as_object()->find(name);
    return found == document.as_object()->end() ? nullptr : found->second.as_array();
  }
  static Ask whole_store(std::string target) {
    Ask ask = post(std::move(target));
    ask.first_byte = kWholeStore;
    return ask;
  }

  // For requests that may be repeated if the connection breaks.
  template <typename T>
  Task<Result<T>> get(Ask ask, Result<T> (*read)(const Value&)) {
    auto document = co_await connection().ask_again_for(std::move(ask));
    if (!document.ok()) co_return std::move(document).error();
    co_return connection().fitting(read(*document));
  }
  template <typename T>
  Task<Result<std::vector<T>>> get_list(Target target, std::string_view name,
                                        Result<T> (*read)(const Value&)) {
    auto document = co_await connection().ask_again_for(ask_to("GET", target.text()));
    if (!document.ok()) co_return std::move(document).error();
    co_return connection().fitting(items_from<T>(*document, name, read));
  }
  Task<Result<Done>> done(Ask ask) {
    auto document = co_await connection().ask_again_for(std::move(ask));
    if (!document.ok()) co_return std::move(document).error();
    co_return Done{};
  }

  // The slashes of "run/seq/index" are part of the path, unencoded.
  Task<Result<Done>> move_message(std::string id, std::string_view how) {
    bool is_id = std::count(id.begin(), id.end(), '/') == 2 && id.find("//") == id.npos &&
                 !id.starts_with('/') && !id.ends_with('/');
    if (!is_id) {
      co_return error(ErrorCode::invalid,
                      "Invalid message id \"" + id + "\": expected run/seq/index.");
    }
    Target target("/api/outbox");
    std::string_view rest = id;
    while (true) {
      std::size_t end = std::min(rest.find('/'), rest.size());
      target.segment(rest.substr(0, end));
      if (end == rest.size()) break;
      rest.remove_prefix(end + 1);
    }
    Ask ask = post(target.text() + std::string(how));
    auto reply = co_await connection().ask(std::move(ask));
    if (!reply.ok()) co_return std::move(reply).error();
    auto document = connection().document_of(*std::move(reply));
    if (!document.ok()) co_return std::move(document).error();
    co_return Done{};
  }

  // Sends a request that executes a run, and returns when the run has ended or is paused.
  Task<Result<RunView>> settle(ThreadId thread, Ask ask) {
    ThreadId known = thread;
    auto before = co_await run_of(ignored_, std::move(known), std::nullopt);
    bool is_new = !before.ok() && before.error().code == ErrorCode::not_found;
    if (!before.ok() && !is_new) co_return std::move(before).error();
    std::optional<RunId> run;
    if (!is_new) run = before->run;
    std::uint64_t after = is_new ? 0 : before->seq;
    RunWatch watch(connection(), parts_.executor, parts_.observer, thread, run, after);
    auto view = co_await settle_watched(watch, thread, run, std::move(ask), false);
    if (view.ok()) co_await watch.reach(view->row.seq, kLastLines);
    co_return std::move(view);
  }

  // The same for a start whose run is not known: the first response names it. `may_wait`: the run
  // might be queued until the earlier runs of its thread have ended; it is then returned.
  Task<Result<RunView>> settle_started(ThreadId thread, Ask ask, bool may_wait) {
    std::optional<RunRow> before;
    if (!thread.empty()) {
      auto known = co_await run_of(ignored_, std::move(thread), std::nullopt);
      bool is_new = !known.ok() && known.error().code == ErrorCode::not_found;
      if (!known.ok() && !is_new) co_return std::move(known).error();
      if (known.ok()) before = *std::move(known);
    }
    ask.headers.push_back({"Prefer", "wait=0"});
    BELAY_CO_TRY(RunView view, co_await get<RunView>(std::move(ask), run_view_from));
    RunId run = view.row.run;
    thread = view.row.thread;
    if (may_wait && view.row.status == RunStatus::queued) co_return std::move(view);
    std::uint64_t after = before && before->run == run ? before->seq : 0;
    RunWatch watch(connection(), parts_.executor, parts_.observer, thread, run, after);
    if (!is_settled(view.row.status)) {
      BELAY_CO_TRY(std::optional<RunView> followed, co_await follow(watch, thread, run));
      if (!followed) {
        Ask resume = post(thread_path(thread, "/resume"));
        BELAY_CO_TRY(followed,
                     co_await settle_watched(watch, thread, run, std::move(resume), true));
      }
      view = *std::move(followed);
    }
    co_await watch.reach(view.row.seq, kLastLines);
    co_return std::move(view);
  }

  // `is_repeated`: the run might already be running, possibly in another process. Without `run`,
  // the first response names it.
  Task<Result<RunView>> settle_watched(RunWatch& watch, ThreadId thread, std::optional<RunId> run,
                                       Ask ask, bool is_repeated) {
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(parts_.wait).count();
    ask.headers.push_back({"Prefer", "wait=" + std::to_string(std::max<std::int64_t>(seconds, 1))});
    ask.first_byte = parts_.wait + kAnswersWithin;
    Patience patience(connection().options().patience);
    while (true) {
      Ask again = ask;
      auto reply = co_await connection().ask(std::move(again));
      bool is_gone = !reply.ok() || (is_repeated && may_come_back(reply));
      if (is_gone && connection().has_answered() && may_come_back(reply)) {
        is_repeated = true;
        if (co_await patience.wait()) continue;
      }
      if (!reply.ok()) co_return std::move(reply).error();
      auto document = connection().document_of(*std::move(reply));
      // A repeated request fails with `conflict` if the first one, whose response was lost, has
      // started the run: the server executes it, and this call follows it.
      bool is_held = !document.ok() && document.error().code == ErrorCode::conflict && is_repeated;
      if (!document.ok() && !is_held) co_return std::move(document).error();
      if (!is_held) {
        BELAY_CO_TRY(RunView view, connection().fitting(run_view_from(*document)));
        if (!run) run = view.row.run;
        if (is_settled(view.row.status) && view.row.run == *run) co_return std::move(view);
      }
      auto followed = co_await follow(watch, thread, run);
      if (!followed.ok()) co_return std::move(followed).error();
      if (*followed) co_return **std::move(followed);
      // The run is orphaned: /resume claims it.
      ask.target = thread_path(thread, "/resume");
      ask.body = Value(Value::Object{});
      is_repeated = true;
      patience.renew(connection().options().patience);
    }
  }

  // Waits until the run has ended or is paused; nullopt if it is orphaned.
  Task<Result<std::optional<RunView>>> follow(RunWatch& watch, const ThreadId& thread,
                                              std::optional<RunId> run) {
    while (true) {
      ThreadId wanted = thread;
      BELAY_CO_TRY(RunView view, co_await status(ignored_, std::move(wanted), std::nullopt, run));
      run = view.row.run;
      if (is_settled(view.row.status)) co_return std::optional<RunView>(std::move(view));
      BELAY_CO_TRY(std::vector<ThreadId> left, co_await orphaned_threads(ignored_, std::nullopt));
      bool is_left = std::find(left.begin(), left.end(), thread) != left.end();
      if (is_left) co_return std::optional<RunView>();
      co_await watch.news(kLook);
    }
  }

  Task<Result<DecisionResult>> decided(Ask ask, ApprovalRow before) {
    bool is_repeated = false;
    BELAY_CO_TRY(DecisionResult answer, co_await ask_to_decide(std::move(ask), is_repeated));
    // The approval was open before, and now has the same decision: the first response was lost.
    bool is_ours = is_repeated && before.status == ApprovalStatus::open;
    if (is_ours && answer.kind == DecisionResult::Kind::duplicate) {
      answer.kind = DecisionResult::Kind::accepted;
    }
    co_return std::move(answer);
  }

  Task<Result<DecisionResult>> ask_to_decide(Ask ask, bool& is_repeated) {
    Patience patience(connection().options().patience);
    while (true) {
      Ask again = ask;
      auto reply = co_await connection().ask(std::move(again));
      bool is_gone = !reply.ok() || (is_repeated && may_come_back(reply));
      if (is_gone && may_come_back(reply)) {
        is_repeated = true;
        if (co_await patience.wait()) continue;
      }
      if (!reply.ok()) co_return std::move(reply).error();
      // A conflict contains the decision that was recorded first, and its decider.
      bool is_lost = reply->status == 409 && reply->document.find("answer");
      if (is_lost) co_return connection().fitting(decision_from(reply->document));
      auto document = connection().document_of(*std::move(reply));
      if (!document.ok()) co_return std::move(document).error();
      co_return connection().fitting(decision_from(*document));
    }
  }

  const RemoteServiceParts parts_;
  std::unique_ptr<Schedules> schedules_ = remote_schedules(parts_.connection, parts_.random);
  const Principal ignored_;  // of calls to this service itself
};

}  // namespace

std::unique_ptr<Service> make_remote_service(RemoteServiceParts parts) {
  return std::make_unique<RemoteService>(std::move(parts));
}

}  // namespace belay::client
