#include "tests/explorer/call.h"

#include <algorithm>
#include <list>

#include "belay/runtime.h"
#include "belay/testing.h"
#include "store/memory/memory_snapshot.h"

namespace belay::explorer {
namespace {

// A pending request in the list for as long as the frame of the waiting coroutine exists, which
// owns this object.
class Waiting {
 public:
  Waiting(std::list<Open>& all, Open open) : all_(all), place_(all.insert(all.end(), open)) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { all_.erase(place_); }

 private:
  std::list<Open>& all_;
  std::list<Open>::iterator place_;
};

std::uint64_t seed_of(const Call& call) {
  std::uint64_t seed = static_cast<std::uint64_t>(call.session);
  seed = seed * 16 + static_cast<std::uint64_t>(call.errand);
  return seed * 1'000'003 + call.began->number;
}

template <typename T>
Ended ended_as(const Result<T>& result) {
  Ended ended;
  if (!result.ok()) ended.error = result.error();
  return ended;
}

}  // namespace

std::string_view name_of(Errand errand) {
  static constexpr std::string_view names[] = {"start",  "resume", "approve",   "reject",
                                               "cancel", "expire", "start next"};
  return names[static_cast<int>(errand)];
}

std::string decider_of(const Call& call) {
  return "session " + std::to_string(call.session) + " " + std::string(name_of(call.errand)) + " " +
         std::to_string(call.began->number);
}

const SessionId& session_id(int number) {
  static const std::vector<SessionId> ids = [] {
    std::vector<SessionId> made;
    for (int each = 0; each < sessions_max; ++each) {
      made.emplace_back(derived_uuid("session " + std::to_string(each)));
    }
    return made;
  }();
  return ids.at(static_cast<std::size_t>(number));
}

const ThreadId& explored_thread() {
  static const ThreadId thread{"case"};
  return thread;
}

Instant first_day() { return *instant_from("2026-11-21T12:00:00Z"); }
Instant second_day() { return first_day() + std::chrono::hours(25); }

// The world of one call: its own loop, clock and random numbers, and a store whose results are
// those that the call receives.
class Player::Play final : public Store {
 public:
  Play(const Graph<Letter>& graph, const Call& call, const IsAlive& is_alive)
      : graph_(graph), call_(call), is_alive_(is_alive), random_(seed_of(call)) {
    model_.then_always([](const ModelRequest&) { return std::string(); });
  }

  Progress through(const std::vector<const Heard*>& heard) {
    auto runtime = Runtime::open(RuntimeParts{*this, loop_, clock_, random_, model_}).value();
    runtime->add(graph_);
    is_told_ = heard.empty();
    Spawned task = begin(*runtime);
    settle();
    for (const Heard* each : heard) {
      hear(*each, each == heard.back());
    }
    Progress progress;
    progress.ended = ended_;
    progress.sessions = asked_;
    if (!ended_) progress.open.assign(open_.begin(), open_.end());
    for (Open& open : progress.open) open.tell = nullptr;
    task.reset();
    return progress;
  }

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    Completion<Result<CommitOutcome>> answer;
    Open open;
    open.what = Open::What::commit;
    open.commit = std::make_shared<const Commit>(std::move(commit));
    open.tell = [answer](const Heard& heard) {
      if (heard.outcome) {
        answer.complete(*heard.outcome);
      } else {
        answer.complete(error(ErrorCode::uncertain, "The reply was lost."));
      }
    };
    Waiting waiting(open_, std::move(open));
    co_return co_await answer;
  }

  Task<Result<Done>> read(Reader reader) override {
    Completion<Result<Done>> answer;
    Open open;
    open.reader = reader;
    open.tell = [answer, reader](const Heard& heard) {
      store::MemorySnapshot snapshot(heard.seen->tables);
      answer.complete(reader(snapshot));
    };
    Waiting waiting(open_, std::move(open));
    co_return co_await answer;
  }

  Task<Done> wait_for_end(std::string node) {
    Completion<Done> end;
    Open open;
    open.what = Open::What::node;
    open.node = std::move(node);
    open.tell = [end](const Heard&) { end.complete(Done{}); };
    Waiting waiting(open_, std::move(open));
    co_return co_await end;
  }

  Result<SessionId> open_session() override { return session_id(call_.session); }
  void close_session(const SessionId&) override {}
  Result<bool> is_alive(const SessionId& session) override {
    if (!is_told_) return told_.at(next_told_++).second;
    asked_.emplace_back(session, is_alive_(session));
    return asked_.back().second;
  }

 private:
  template <typename T>
  Spawned spawn_call(Task<Result<T>> task) {
    std::function<void(Result<T>)> done = [this](Result<T> result) { ended_ = ended_as(result); };
    return spawn<Result<T>>(loop_, std::move(task), std::move(done));
  }

  Spawned begin(Runtime& runtime) {
    bool is_next = call_.errand == Errand::start_next;
    if (call_.errand == Errand::start || is_next) {
      StartOptions options;
      if (!graph_.definition()->one_run_per_thread) {
        options.idempotency_key = name_of(call_.errand);
        if (is_next) options.if_busy = BusyThread::enqueue;
      }
      options.user = UserId("ana");
      options.thread = explored_thread();
      options.run.timeout = std::chrono::hours(24 * 30);
      Letter letter;
      if (is_next) letter.log = {"next"};
      return spawn_call(runtime.start(graph_, std::move(letter), std::move(options)));
    }
    const TenantId& tenant = default_tenant();
    if (call_.errand == Errand::resume) {
      return spawn_call(runtime.resume(tenant, explored_thread()));
    }
    if (call_.errand == Errand::cancel) {
      return spawn_call(runtime.cancel(tenant, explored_thread(), "ana"));
    }
    if (call_.errand == Errand::expire) return spawn_call(runtime.process_due(tenant));
    Decision decision;
    decision.approved = call_.errand == Errand::approve;
    decision.decided_by = decider_of(call_);
    std::function<void(Result<DecisionResult>)> done = [this](Result<DecisionResult> result) {
      ended_ = ended_as(result);
      ended_->has_won = result.ok() && result->kind == DecisionResult::Kind::accepted;
    };
    auto task = runtime.decide(tenant, call_.began->approvals.front().interrupt, decision);
    return spawn<Result<DecisionResult>>(loop_, std::move(task), std::move(done));
  }

  void hear(const Heard& heard, bool is_last) {
    if (heard.now > clock_.now()) clock_.move(heard.now - clock_.now());
    is_told_ = is_last;
    told_ = heard.sessions;
    next_told_ = 0;
    auto open = open_.begin();
    std::advance(open, heard.open);
    auto tell = open->tell;
    tell(heard);
    settle();
  }

  void settle() {
    while (loop_.step()) {
    }
  }

  const Graph<Letter>& graph_;
  const Call& call_;
  const IsAlive& is_alive_;
  testing::SimulatedClock clock_{call_.now};
  testing::SeededRandom random_;
  testing::SimulatedLoop loop_{clock_};
  testing::ScriptedModel model_;
  std::list<Open> open_;
  std::optional<Ended> ended_;
  bool is_told_ = false;  // new requests are made for the first time
  std::vector<std::pair<SessionId, bool>> told_;
  std::size_t next_told_ = 0;
  std::vector<std::pair<SessionId, bool>> asked_;
};

namespace {

Graph<Letter> graph_of(Shape shape, const NodeWait& wait) {
  if (shape == Shape::talk) return turn_by_turn();
  return shape == Shape::wide ? side_by_side(wait) : one_after_another();
}

}  // namespace

Player::Player(Shape shape)
    : wait_([this](const std::string& node) { return play_->wait_for_end(node); }),
      graph_(graph_of(shape, wait_)) {}

Progress Player::play(const Call& call, const std::vector<const Heard*>& heard,
                      const IsAlive& is_alive) {
  Play play(graph_, call, is_alive);
  play_ = &play;
  Progress progress = play.through(heard);
  play_ = nullptr;
  return progress;
}

}  // namespace belay::explorer
