// Long on purpose: one world, with everything that a test needs from it.

// Executes the scenario of a World: one process after another on one store, until the run stops.

#include <algorithm>
#include <filesystem>

#include "belay/testing.h"
#include "testing/inline_store.h"
#include "testing/process.h"

namespace belay::testing::detail {
namespace {

using Others = WorldPlan::Others;

// If a run pauses more often than this, it is considered an endless loop.
constexpr int turns_max = 1'000;

// Page size for reads: the store of a test is small and is read in one page.
constexpr std::size_t all = 1'000'000;

Value json_of(const std::string& envelope) {
  auto text = json_in_envelope(envelope);
  return text.ok() ? parse_json(*text).value_or(Value()) : Value();
}

std::vector<std::string> parts_of(const std::string& names) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < names.size()) {
    std::size_t comma = std::min(names.find(',', begin), names.size());
    parts.push_back(names.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

// If a call was stopped while it waited, it has not happened: its status is still `intended`.
bool has_happened(const EffectRow& call) {
  return call.status != EffectStatus::failed && call.status != EffectStatus::intended;
}

// Returns the true answer to an approval that asks whether an uncertain effect has happened, as a
// decider would give it who has checked the external system. nullopt for any other approval.
std::optional<Decision> truth_about_effect(const ApprovalRow& approval, const Traces& traces) {
  Value shown = json_of(approval.payload);
  const std::string* effect = shown["effect"].as_string();
  const std::string* key = shown["key"].as_string();
  if (!effect || !key) return std::nullopt;
  if (*key != approval.run.text() + "/" + approval.task.text() + "/" + *effect) return std::nullopt;
  const EffectRow* call = traces.last_call(approval.task, *effect);
  Decision decision;
  bool happened = call != nullptr && has_happened(*call);
  decision.choice = happened ? "happened" : "redo";
  if (happened && call->status == EffectStatus::done) {
    (*shown.as_object())["result"] = json_of(call->envelope);
    decision.edited = std::move(shown);
  }
  return decision;
}

// Chooses the first choice that approves, or that rejects.
Decision plain_decision(const ApprovalTerms& terms, bool approves) {
  Decision decision;
  decision.approved = approves;
  for (const ApprovalChoice& each : terms.choices) {
    if (each.approves != approves) continue;
    decision.choice = each.name;
    break;
  }
  return decision;
}

// Returns the nodes that have ended, in order: those of the commits that end a superstep.
std::vector<std::string> path_of(const std::vector<CheckpointRow>& commits) {
  std::vector<std::string> path;
  std::int64_t superstep = 0;
  for (const CheckpointRow& commit : commits) {
    bool ends_it = commit.superstep > superstep && &commit != &commits.front();
    superstep = commit.superstep;
    if (!ends_it) continue;
    for (std::string& node : parts_of(commit.node)) path.push_back(std::move(node));
  }
  return path;
}

Result<Done> read_run(Snapshot& view, RunId run, RunTrace& played) {
  const TenantId& tenant = default_tenant();
  CheckpointFilter checkpoints;
  checkpoints.tenant = tenant;
  checkpoints.run = run;
  checkpoints.limit = all;
  BELAY_TRY(played.commits, view.checkpoints(checkpoints));
  EventFilter events;
  events.tenant = tenant;
  events.run = run;
  events.limit = all;
  BELAY_TRY(played.events, view.events(events));
  ApprovalFilter approvals;
  approvals.tenant = tenant;
  approvals.run = run;
  approvals.limit = all;
  BELAY_TRY(played.approvals, view.approvals(approvals));
  OutboxFilter outbox;
  outbox.tenant = tenant;
  outbox.run = run;
  outbox.limit = all;
  BELAY_TRY(auto messages, view.outbox(outbox));
  for (const OutboxRow& row : messages) {
    played.messages.push_back({row.topic, json_of(row.envelope)});
  }
  return Done{};
}

Result<Done> read_records(Snapshot& view, const std::string& collection, const UserId& user,
                          std::vector<RecordRow>& records) {
  RecordQuery query;
  query.tenant = default_tenant();
  query.collection = collection;
  query.user = user;
  query.limit = all;
  BELAY_TRY(auto stored, view.records(query));
  for (StoredRecord& each : stored) {
    BELAY_TRY(std::string_view json, json_in_envelope(each.envelope));
    RecordRow& row = records.emplace_back();
    row.json = json;
    row.collection = std::move(each.collection);
    row.user = std::move(each.user);
    row.key = std::move(each.key);
    row.run = each.run;
    row.seq = each.seq;
    row.updated_at = each.updated_at;
  }
  return Done{};
}

class NoHttp final : public HttpAccess {
 public:
  Task<Result<HttpReply>> send(HttpCall) override {
    co_return error(ErrorCode::invalid,
                    "This world has no HTTP access. Add one: World{}.http(access).");
  }
  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string>) override {
    return std::shared_ptr<HttpAccess>(std::make_shared<NoHttp>());
  }
};

class Player {
 public:
  explicit Player(const WorldPlan& plan) : plan_(plan) {
    traces_.script = plan.script;
    traces_.committed_script = plan.script;
  }

  RunTrace play();

 private:
  // A process and its store, model and graph. It is kept after its death, because posted work
  // refers to it.
  struct Life {
    Life(SimulatedLoop& loop, std::optional<CrashPoint> crash) : process(loop, std::move(crash)) {}
    Process process;
    std::unique_ptr<ProcessStore> store;
    std::unique_ptr<ProcessModel> model;
    std::shared_ptr<const GraphDefinition> graph;
  };

  Result<Done> open();
  // Executes the run in one process. Returns its result; nullopt if the process died.
  std::optional<Result<RunView>> live(Life& life);
  Task<Result<RunView>> go_on(Runtime& runtime);
  // Continues a paused run: makes the planned decisions, or lets time pass until its timer or its
  // expiry. Returns false if neither is possible.
  Task<Result<bool>> take_turn(Runtime& runtime, const RunView& view);
  Task<Result<bool>> decide_all(Runtime& runtime, const RunView& view);
  Task<Result<std::optional<Decision>>> decision_on(const ApprovalRow& approval);
  Task<Result<std::vector<ApprovalRow>>> approvals_of(RunId run);
  Result<Done> gather(RunTrace& played);
  Result<Done> check(RunTrace& played);

  const WorldPlan& plan_;
  SimulatedClock clock_{plan_.start_time};
  SeededRandom random_{plan_.seed};
  SimulatedLoop loop_{clock_};
  Traces traces_;
  std::unique_ptr<Store> store_;
  std::vector<std::unique_ptr<Life>> lives_;
};

Result<Done> Player::open() {
  if (plan_.sqlite_folder.empty()) {
    store_ = open_memory_store(clock_, random_);
  } else {
    std::filesystem::path folder = plan_.sqlite_folder;
    std::filesystem::path path;
    std::error_code unknown;
    int number = 0;
    do {
      path = folder / ("played-" + std::to_string(++number) + ".db");
    } while (std::filesystem::exists(path, unknown));
    BELAY_TRY(auto store, open_sqlite_store(path.string(), clock_, random_));
    store_ = std::make_unique<InlineStore>(std::move(store));
  }
  if (plan_.records.empty()) return Done{};
  RuntimeParts parts{*store_, loop_, clock_, random_, traces_.script};
  BELAY_TRY(auto runtime, Runtime::open(std::move(parts)));
  for (const RecordWrite& record : plan_.records) traces_.know_collection(record.collection);
  return block_on(loop_, runtime->save(default_tenant(), plan_.records));
}

RunTrace Player::play() {
  RunTrace played;
  played.error = plan_.fault;
  if (played.error) return played;
  auto opened = open();
  if (!opened.ok()) {
    played.error = std::move(opened).error();
    return played;
  }
  std::optional<Result<RunView>> rested;
  while (!rested) {
    std::optional<CrashPoint> crash;
    auto died = static_cast<std::size_t>(played.crashes);
    if (died < plan_.crashes.size()) crash = plan_.crashes[died];
    Life& life = *lives_.emplace_back(std::make_unique<Life>(loop_, std::move(crash)));
    rested = live(life);
    played.moments = life.process.take_moments();
    if (rested) continue;
    ++played.crashes;
    traces_.script = traces_.committed_script;
  }
  if (rested->ok()) {
    played.view = **std::move(rested);
  } else {
    played.error = std::move(*rested).error();
  }
  if (auto gathered = gather(played); !gathered.ok()) played.error = std::move(gathered).error();
  return played;
}

std::optional<Result<RunView>> Player::live(Life& life) {
  Model* model = plan_.model.get();
  life.store = std::make_unique<ProcessStore>(life.process, *store_, traces_);
  life.model =
      std::make_unique<ProcessModel>(life.process, model ? *model : traces_.script, traces_);
  life.graph = watched(*plan_.graph, life.process, traces_);
  RuntimeParts parts{*life.store, life.process, clock_, random_, *life.model};
  parts.effect_observer = watch_effects(life.process, traces_);
  parts.http = plan_.http ? plan_.http : std::make_shared<NoHttp>();
  auto runtime = Runtime::open(std::move(parts));
  if (!runtime.ok()) return Result<RunView>(std::move(runtime).error());
  (*runtime)->add(life.graph);
  std::optional<Result<RunView>> rested;
  std::function<void(Result<RunView>)> done = [&](Result<RunView> view) {
    rested = std::move(view);
    loop_.stop();
  };
  Spawned running;
  life.process.post(
      [&] { running = spawn<Result<RunView>>(life.process, go_on(**runtime), done); });
  loop_.run();
  running.reset();
  runtime->reset();
  if (life.process.is_dead()) return std::nullopt;
  if (rested) return rested;
  return Result<RunView>(
      error(ErrorCode::unavailable, "The run waits forever: no event is left in this world."));
}

Task<Result<RunView>> Player::go_on(Runtime& runtime) {
  auto input = plan_.graph->state->copy(plan_.input.get());
  StartOptions options = plan_.start;
  options.thread = ThreadId("played");
  options.idempotency_key = "played";  // a process that follows a crash repeats the start
  auto view = co_await runtime.start(plan_.graph->name, std::move(input), options);
  for (int turn = 0; view.ok() && view->row.status == RunStatus::paused; ++turn) {
    if (turn == turns_max) {
      co_return error(ErrorCode::exhausted, "The run has paused " + std::to_string(turns_max) +
                                                " times: it does not make progress.");
    }
    auto moved = co_await take_turn(runtime, *view);
    if (!moved.ok()) co_return std::move(moved).error();
    if (!*moved) break;
    view = co_await runtime.status(options.tenant, options.thread);
  }
  co_return std::move(view);
}

Task<Result<bool>> Player::take_turn(Runtime& runtime, const RunView& view) {
  TenantId tenant = view.row.tenant;
  if (pause_reason(view.row) == PauseReason::breakpoint) {
    auto resumed = co_await runtime.resume(tenant, view.row.thread);
    if (!resumed.ok()) co_return std::move(resumed).error();
    co_return true;
  }
  auto decided = co_await decide_all(runtime, view);
  if (!decided.ok() || *decided) co_return std::move(decided);
  bool is_asleep = pause_reason(view.row) == PauseReason::timer;
  if (!is_asleep && plan_.others != Others::expire) co_return false;
  if (view.row.due_at == never_expires) co_return false;
  co_await sleep_for(std::max(view.row.due_at - clock_.now(), Instant::duration::zero()));
  auto due = co_await runtime.process_due(tenant);
  if (!due.ok()) co_return std::move(due).error();
  co_return due->total() > 0;
}

Task<Result<bool>> Player::decide_all(Runtime& runtime, const RunView& view) {
  bool any = false;
  for (const ApprovalRow& approval : view.approvals) {
    auto decision = co_await decision_on(approval);
    if (!decision.ok()) co_return std::move(decision).error();
    if (!*decision) continue;
    Decision made = **std::move(decision);
    auto answer = co_await runtime.decide(approval.tenant, approval.interrupt, std::move(made));
    if (!answer.ok()) co_return std::move(answer).error();
    any = true;
  }
  co_return any;
}

// Counts the earlier decisions in the store, not in this process: a previous process might have
// made some of them.
Task<Result<std::optional<Decision>>> Player::decision_on(const ApprovalRow& approval) {
  auto asked = co_await approvals_of(approval.run);
  if (!asked.ok()) co_return std::move(asked).error();
  std::size_t decided = 0;
  for (const ApprovalRow& each : *asked) {
    if (each.node != approval.node) continue;
    auto reply = reply_of(each);
    bool has_votes = reply.ok() && !reply->votes.empty();
    if (has_votes) decided += reply->votes.size();
    if (!has_votes && each.status != ApprovalStatus::open) ++decided;
  }
  BELAY_CO_TRY(ApprovalTerms terms, terms_of(approval));
  BELAY_CO_TRY(ApprovalReply votes, reply_of(approval));
  std::optional<Decision> decision;
  for (const auto& [node, said] : plan_.decisions) {
    if (node != approval.node || decided-- > 0) continue;
    decision = said;
    break;
  }
  bool answers = plan_.others == Others::approve || plan_.others == Others::reject;
  if (!decision && answers) {
    decision = truth_about_effect(approval, traces_);
    if (!decision) decision = plain_decision(terms, plan_.others == Others::approve);
  }
  if (decision && decision->decided_by.empty()) {
    decision->decided_by = "somebody";
    if (!votes.votes.empty()) decision->decided_by += std::to_string(votes.votes.size() + 1);
  }
  if (decision && decision->roles.empty()) decision->roles = parts_of(approval.roles);
  co_return std::move(decision);
}

Task<Result<std::vector<ApprovalRow>>> Player::approvals_of(RunId run) {
  ApprovalFilter filter;
  filter.tenant = default_tenant();
  filter.run = run;
  filter.limit = all;
  std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [filter](Snapshot& view) {
    return view.approvals(filter);
  };
  co_return co_await read<std::vector<ApprovalRow>>(*store_, std::move(reader));
}

Result<Done> Player::gather(RunTrace& played) {
  played.attempts = std::move(traces_.attempts);
  played.calls = std::move(traces_.calls);
  played.requests = std::move(traces_.requests);
  RunId run = played.view.row.run;
  auto reader = [&](Snapshot& view) -> Result<Done> {
    if (!run.is_null()) {
      BELAY_CHECK(read_run(view, run, played));
    }
    for (const std::string& collection : traces_.collections) {
      BELAY_CHECK(read_records(view, collection, plan_.start.user, played.records));
    }
    return Done{};
  };
  BELAY_CHECK(block_on(loop_, store_->read(reader)));
  std::reverse(played.approvals.begin(), played.approvals.end());
  std::reverse(played.commits.begin(), played.commits.end());
  played.path = path_of(played.commits);
  return check(played);
}

Result<Done> Player::check(RunTrace& played) {
  CheckScope scope;
  scope.graphs = {plan_.graph};
  scope.acknowledged = std::move(traces_.acknowledged);
  scope.done_effects = std::move(traces_.done_effects);
  scope.collections = traces_.collections;
  BELAY_TRY(CheckReport report, block_on(loop_, check_store(*store_, std::move(scope))));
  played.violations = std::move(report.violations);
  const RunRow& row = played.view.row;
  if (!played.violations.empty()) {
    const Violation& first = played.violations.front();
    played.error = error(ErrorCode::corrupt, "Rule " + first.rule + " does not hold for " +
                                                 first.subject + ": " + first.message);
  } else if (!played.error && row.status == RunStatus::failed) {
    auto code = error_code_named(row.error_code);
    played.error = error(code.value_or(ErrorCode::invalid), row.error);
  }
  return Done{};
}

}  // namespace

int RunTrace::calls_of(std::string_view effect) const {
  auto is_of = [&](const EffectRow& call) { return call.name == effect; };
  return static_cast<int>(std::count_if(calls.begin(), calls.end(), is_of));
}

int RunTrace::effects_of(std::string_view effect) const {
  std::vector<TaskId> keys;
  int count = 0;
  for (const EffectRow& call : calls) {
    if (call.name != effect || !has_happened(call)) continue;
    bool is_known = std::find(keys.begin(), keys.end(), call.task) != keys.end();
    if (call.effect_class == EffectClass::keyed && is_known) continue;
    keys.push_back(call.task);
    ++count;
  }
  return count;
}

RunTrace play(const WorldPlan& plan) { return Player(plan).play(); }

}  // namespace belay::testing::detail

namespace belay::testing {

CrashPoint before_commit(int number) {
  return {CrashPoint::When::before_commit, number, 0, "before commit " + std::to_string(number)};
}

CrashPoint after_commit(int number) {
  return {CrashPoint::When::answer_lost, number, 0, "after commit " + std::to_string(number)};
}

}  // namespace belay::testing
