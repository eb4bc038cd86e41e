// Tests a store that fails once, at each of its calls in turn: before the call has an effect, or
// after it, with a lost reply. A decision, an expiry or a claim then either fails or succeeds, and
// its repetition has the result that it would have had without the failure.
//
// Long on purpose: all cases use one fixture.

#include <gtest/gtest.h>

#include "belay/check.h"
#include "store/forwarding_store.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;

class FailingStore final : public ForwardingStore {
 public:
  enum class Moment { before, after };

  explicit FailingStore(Store& inner) : ForwardingStore(inner) {}

  // Fails at the n-th call from now.
  void fail_at(int call, Moment moment) {
    left_ = call;
    moment_ = moment;
  }
  // Returns true if the call has failed. No later call fails.
  bool heal() { return std::exchange(left_, 0) <= 0; }

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    bool fails = --left_ == 0;
    if (fails && moment_ == Moment::before) co_return failure();
    auto outcome = co_await inner().commit(std::move(commit));
    if (fails) co_return failure();
    co_return std::move(outcome);
  }
  Task<Result<Done>> read(Reader reader) override {
    if (--left_ == 0) co_return failure();
    co_return co_await inner().read(std::move(reader));
  }
  Result<bool> is_alive(const SessionId& session) override {
    if (--left_ == 0) return failure();
    return inner().is_alive(session);
  }

 private:
  static Error failure() { return error(ErrorCode::unavailable, "The disk is busy."); }

  int left_ = 0;
  Moment moment_ = Moment::before;
};

struct Voyage {
  std::string place{};
  std::vector<std::string> seen{};
};

// One process with a working store, and one whose store fails.
struct Attempt : RuntimeFixture {
  FailingStore failing{*store};
  std::unique_ptr<Runtime> tried = open_on_failing();
  Graph<Voyage> trip = trip_graph();
  Spawned walking;

  void TestBody() override {}

  std::unique_ptr<Runtime> open_on_failing() {
    RuntimeParts parts{failing, loop, clock, random, model};
    parts.process_limits.queued = 10;
    auto opened = Runtime::open(std::move(parts)).value();
    opened->add(graph);
    return opened;
  }

  // An approval and a walk of ten minutes in one superstep: the run is running while the approval
  // is open.
  Graph<Voyage> trip_graph() {
    GraphBuilder<Voyage> builder{"trip"};
    builder.node("leave", [](const Voyage&, Context&) { return append(&Voyage::seen, "door"); });
    builder.node("walk", [](const Voyage&, Context&) -> Task<Update<Voyage>> {
      co_await sleep_for(10min);
      co_return append(&Voyage::seen, "town");
    });
    builder.approval("ask", &Voyage::place, {.question = "On?", .expires = 1min})
        .approved("home")
        .rejected("home");
    builder.node("home", [](const Voyage&, Context&) { return append(&Voyage::seen, "home"); });
    builder.edge(start, "leave").edge("leave", "walk").edge("leave", "ask");
    builder.edge("walk", "home").edge("home", end);
    return std::move(builder).build().value();
  }

  // A run that consists of a wait of an hour.
  Graph<Voyage> rest_graph() {
    GraphBuilder<Voyage> builder{"rest"};
    builder.wait("rest", 1h).edge(start, "rest").edge("rest", end);
    return std::move(builder).build().value();
  }

  RunView view(const std::string& thread) {
    return block_on(loop, runtime->status(default_tenant(), ThreadId(thread))).value();
  }
  RunView begin_mail() {
    StartOptions options;
    options.thread = ThreadId("t");
    return start_mail("urgent", options).value();
  }
  // Starts a trip in the process with the working store; its approval is open.
  void begin_trip() {
    runtime->add(trip);
    tried->add(trip);
    StartOptions options;
    options.thread = ThreadId("t");
    options.run.timeout = 24h;
    walking = spawn<Result<RunView>>(loop, runtime->start(trip, Voyage{}, options),
                                     [](const Result<RunView>&) {});
    loop.run_until(clock.now() + 1s);
  }
  // Calls `act` in a process that dies during a call of the model.
  void die_at_the_model(const std::function<Task<Result<RunView>>(Runtime&)>& act) {
    auto dying = process();
    model.takes(1h);
    auto running = spawn<Result<RunView>>(loop, act(*dying), [](const Result<RunView>&) {});
    loop.run_until(clock.now() + 1s);
    running.reset();
    model.takes(0ms);
  }
  void leave_one_behind() {
    StartOptions options;
    options.thread = ThreadId("lost");
    options.run.timeout = 24h;
    die_at_the_model(
        [&](Runtime& dying) { return dying.start(graph, Mail{.topic = "calm"}, options); });
  }
  // Damages the stored data of a waiting run.
  void damage() {
    std::function<Result<std::vector<StoredEnvelope>>(Snapshot&)> reader = [](Snapshot& view) {
      return view.envelopes(EnvelopeFilter{.tenant = default_tenant()});
    };
    auto found = block_on(loop, read<std::vector<StoredEnvelope>>(*store, std::move(reader)));
    for (const StoredEnvelope& each : found.value()) {
      if (each.envelope != json_envelope("\"Dear urgent\"")) continue;
      Commit commit;
      commit.tenant = default_tenant();
      commit.rows.rewrites.push_back(
          {each.position, sha256(each.envelope), json_envelope("\"Dear robber\"")});
      block_on(loop, store->commit(std::move(commit))).value();
    }
  }
  // Returns the only open approval, from the store: the view of a running run does not contain it.
  InterruptId asked() {
    std::function<Result<std::vector<ApprovalRow>>(Snapshot&)> reader = [](Snapshot& view) {
      ApprovalFilter filter;
      filter.tenant = default_tenant();
      return view.approvals(filter);
    };
    return block_on(loop, read<std::vector<ApprovalRow>>(*store, std::move(reader)))
        .value()
        .at(0)
        .interrupt;
  }
  std::vector<OutboxRow> outbox() {
    std::function<Result<std::vector<OutboxRow>>(Snapshot&)> reader = [](Snapshot& view) {
      OutboxFilter filter;
      filter.tenant = default_tenant();
      return view.outbox(filter);
    };
    return block_on(loop, read<std::vector<OutboxRow>>(*store, std::move(reader))).value();
  }
  bool is_sound() {
    auto checked = block_on(loop, check_store(*store, CheckScope{}));
    return checked.ok() && checked->violations.empty();
  }
};

using Deed = std::function<void(Attempt&)>;

// Fails the store at each call of `act` in turn; then calls `again`, which must end the same way.
void fail_everywhere(const Deed& prepare, const Deed& act, const Deed& again,
                     bool stays_sound = true) {
  for (auto moment : {FailingStore::Moment::before, FailingStore::Moment::after}) {
    bool failed = true;
    int call = 1;
    for (; failed; ++call) {
      SCOPED_TRACE(
          "call " + std::to_string(call) +
          (moment == FailingStore::Moment::before ? ", before it is done" : ", once it is done"));
      ASSERT_LT(call, 200);
      Attempt attempt;
      prepare(attempt);
      attempt.failing.fail_at(call, moment);
      act(attempt);
      failed = attempt.failing.heal();
      again(attempt);
      EXPECT_EQ(attempt.is_sound(), stays_sound);
    }
    EXPECT_GT(call, 2) << "the store was hardly asked";
  }
}

template <typename T>
void expect_busy_unless_ok(const Result<T>& result) {
  if (result.ok()) return;
  EXPECT_EQ(result.error().code, ErrorCode::unavailable) << result.error().message;
}

Result<DecisionResult> approve_by(Attempt& attempt, Runtime& runtime, InterruptId interrupt) {
  return block_on(attempt.loop,
                  runtime.decide(default_tenant(), interrupt, RuntimeFixture::approve()));
}

void work_until_idle(Attempt& attempt) {
  WorkerOptions options;
  options.until_idle = true;
  options.retry_delay_max = 1ms;
  auto worked = block_on(attempt.loop, attempt.tried->run_worker(std::move(options)));
  expect_busy_unless_ok(worked);
}

TEST(StoreFailures, ADecisionIsTakenOnceWhateverCallFails) {
  fail_everywhere(
      [](Attempt& attempt) { attempt.begin_mail(); },
      [](Attempt& attempt) {
        auto answer = approve_by(attempt, *attempt.tried, attempt.asked());
        expect_busy_unless_ok(answer);
      },
      [](Attempt& attempt) {
        RunView stands = attempt.view("t");
        if (stands.approval) {
          EXPECT_EQ(approve_by(attempt, *attempt.tried, attempt.asked())->kind,
                    DecisionResult::Kind::accepted);
        }
        block_on(attempt.loop, attempt.tried->resume(default_tenant(), ThreadId("t"))).value();
        EXPECT_EQ(attempt.view("t").row.outcome, "sent");
      });
}

TEST(StoreFailures, ADecisionOfARunAtWorkIsTakenOnceWhateverCallFails) {
  InterruptId interrupt;
  fail_everywhere(
      [&](Attempt& attempt) {
        attempt.begin_trip();
        interrupt = attempt.asked();
      },
      [&](Attempt& attempt) {
        auto answer = approve_by(attempt, *attempt.tried, interrupt);
        expect_busy_unless_ok(answer);
      },
      [&](Attempt& attempt) {
        auto answer = approve_by(attempt, *attempt.tried, interrupt).value();
        bool counts = answer.kind == DecisionResult::Kind::accepted ||
                      answer.kind == DecisionResult::Kind::duplicate;
        EXPECT_TRUE(counts);
        attempt.loop.run();
        EXPECT_EQ(attempt.view("t").row.status, RunStatus::completed);
      });
}

TEST(StoreFailures, ADecisionIsToldAgainOnceTheStoreAnswers) {
  InterruptId interrupt;
  fail_everywhere(
      [&](Attempt& attempt) {
        attempt.begin_mail();
        interrupt = attempt.asked();
        EXPECT_EQ(approve_by(attempt, *attempt.runtime, interrupt)->kind,
                  DecisionResult::Kind::accepted);
      },
      [&](Attempt& attempt) {
        auto answer = approve_by(attempt, *attempt.tried, interrupt);
        expect_busy_unless_ok(answer);
      },
      [&](Attempt& attempt) {
        EXPECT_EQ(approve_by(attempt, *attempt.tried, interrupt)->kind,
                  DecisionResult::Kind::duplicate);
      });
}

void apply_due(Attempt& attempt) {
  auto applied = block_on(attempt.loop, attempt.tried->process_due(default_tenant()));
  expect_busy_unless_ok(applied);
}

TEST(StoreFailures, AnExpiryIsAppliedOnceWhateverCallFails) {
  fail_everywhere(
      [](Attempt& attempt) {
        attempt.begin_mail();
        attempt.clock.move(25h);
      },
      apply_due,
      [&](Attempt& attempt) {
        apply_due(attempt);
        block_on(attempt.loop, attempt.tried->resume(default_tenant(), ThreadId("t"))).value();
        EXPECT_EQ(attempt.view("t").row.outcome, "expired");
      });
  fail_everywhere(
      [](Attempt& attempt) {
        attempt.begin_trip();
        attempt.asked();
        attempt.loop.run_until(attempt.clock.now() + 2min);
      },
      apply_due,
      [&](Attempt& attempt) {
        apply_due(attempt);
        attempt.loop.run();
        EXPECT_EQ(attempt.view("t").row.status, RunStatus::completed);
      });
}

TEST(StoreFailures, ATimerGoesOffOnceWhateverCallFails) {
  fail_everywhere(
      [](Attempt& attempt) {
        auto rest = attempt.rest_graph();
        attempt.runtime->add(rest);
        attempt.tried->add(rest);
        StartOptions options;
        options.thread = ThreadId("t");
        block_on(attempt.loop, attempt.runtime->start(rest, Voyage{}, options)).value();
        attempt.clock.move(2h);
      },
      apply_due,
      [&](Attempt& attempt) {
        apply_due(attempt);
        block_on(attempt.loop, attempt.tried->resume(default_tenant(), ThreadId("t"))).value();
        EXPECT_EQ(attempt.view("t").row.status, RunStatus::completed);
      });
}

TEST(StoreFailures, ARunIsInTheQueueOnceWhateverCallFails) {
  auto enqueue = [](Attempt& attempt) {
    StartOptions options;
    options.thread = ThreadId("t");
    return block_on(attempt.loop, attempt.tried->enqueue(attempt.graph, Mail{.topic = "calm"},
                                                         options, Instant()));
  };
  fail_everywhere([](Attempt&) {},
                  [&](Attempt& attempt) {
                    auto queued = enqueue(attempt);
                    expect_busy_unless_ok(queued);
                  },
                  [&](Attempt& attempt) {
                    EXPECT_EQ(enqueue(attempt).value().row.status, RunStatus::queued);
                    EXPECT_EQ(attempt.all_runs().size(), 1u);
                    work_until_idle(attempt);
                    EXPECT_EQ(attempt.view("t").row.outcome, "sent");
                  });
}

TEST(StoreFailures, ADamagedRunIsQuarantinedOnceWhateverCallFails) {
  fail_everywhere(
      [](Attempt& attempt) {
        attempt.begin_mail();
        attempt.damage();
        attempt.clock.move(25h);
      },
      work_until_idle,
      [](Attempt& attempt) {
        work_until_idle(attempt);
        RunRow row = attempt.all_runs().at(0);
        EXPECT_EQ(row.status, RunStatus::quarantined);
        EXPECT_EQ(row.seq, 4u) << "input, write, pause, quarantine";
      },
      false);
}

TEST(StoreFailures, AWorkerTakesUpEveryRunWhateverCallFails) {
  fail_everywhere(
      [](Attempt& attempt) {
        StartOptions options;
        options.thread = ThreadId("queued");
        block_on(attempt.loop,
                 attempt.runtime->enqueue(attempt.graph, Mail{.topic = "calm"}, options, Instant()))
            .value();
        attempt.begin_mail();
        attempt.leave_one_behind();
        attempt.clock.move(25h);
      },
      work_until_idle,
      [](Attempt& attempt) {
        work_until_idle(attempt);
        EXPECT_EQ(attempt.view("queued").row.outcome, "sent");
        EXPECT_EQ(attempt.view("t").row.outcome, "expired");
        EXPECT_EQ(attempt.view("lost").row.outcome, "sent");
      });
}

TEST(StoreFailures, AForkIsMadeOnceWhateverCallFails) {
  auto fork = [](Attempt& attempt, bool queued) {
    ForkOptions options;
    options.from = ThreadId("t");
    options.seq = 2;
    options.thread = ThreadId("fork");
    options.queued = queued;
    return block_on(attempt.loop, attempt.tried->fork(options));
  };
  for (bool queued : {false, true}) {
    for (bool exists : {false, true}) {
      SCOPED_TRACE(std::string(queued ? "queued" : "at once") + (exists ? ", there already" : ""));
      fail_everywhere(
          [&](Attempt& attempt) {
            attempt.begin_mail();
            if (exists) fork(attempt, queued).value();
          },
          [&](Attempt& attempt) { expect_busy_unless_ok(fork(attempt, queued)); },
          [&](Attempt& attempt) {
            fork(attempt, queued).value();
            EXPECT_EQ(attempt.all_runs().size(), 2u);
            work_until_idle(attempt);
            EXPECT_EQ(attempt.view("fork").row.status, RunStatus::paused);
          });
    }
  }
}

TEST(StoreFailures, AForkWhoseProcessHasDiedGoesOnWhateverCallFails) {
  ForkOptions options;
  options.from = ThreadId("t");
  options.seq = 1;
  options.thread = ThreadId("fork");
  auto fork = [&](Attempt& attempt) {
    return block_on(attempt.loop, attempt.tried->fork(options));
  };
  fail_everywhere(
      [&](Attempt& attempt) {
        attempt.begin_mail();
        attempt.die_at_the_model([&](Runtime& dying) { return dying.fork(options); });
      },
      [&](Attempt& attempt) { expect_busy_unless_ok(fork(attempt)); },
      [&](Attempt& attempt) {
        fork(attempt).value();
        work_until_idle(attempt);
        EXPECT_EQ(attempt.view("fork").row.status, RunStatus::paused);
      });
}

TEST(StoreFailures, ACancelIsMadeOnceWhateverCallFails) {
  auto cancel = [](Attempt& attempt) {
    return block_on(attempt.loop, attempt.tried->cancel(default_tenant(), ThreadId("t"), "ana"));
  };
  fail_everywhere([](Attempt& attempt) { attempt.begin_mail(); },
                  [&](Attempt& attempt) { expect_busy_unless_ok(cancel(attempt)); },
                  [&](Attempt& attempt) {
                    EXPECT_EQ(cancel(attempt).value().row.status, RunStatus::cancelled);
                    EXPECT_EQ(attempt.view("t").row.seq, 4u) << "input, write, pause, cancel";
                  });
}

TEST(StoreFailures, EachReadSaysThatTheStoreIsAway) {
  auto read_all = [](Attempt& attempt) {
    ThreadId thread("t");
    Runtime& tried = *attempt.tried;
    expect_busy_unless_ok(block_on(attempt.loop, tried.status(default_tenant(), thread)));
    expect_busy_unless_ok(block_on(attempt.loop, tried.status_at(default_tenant(), thread, 2)));
    ForkOptions fork;
    fork.from = thread;
    expect_busy_unless_ok(block_on(attempt.loop, tried.preview(fork)));
    ReplayOptions replay;
    replay.thread = thread;
    expect_busy_unless_ok(block_on(attempt.loop, tried.replay(replay)));
    expect_busy_unless_ok(
        block_on(attempt.loop, tried.orphaned_threads(default_tenant(), std::nullopt)));
    EventOptions options;
    options.thread = thread;
    options.follow = false;
    auto reader = block_on(attempt.loop, tried.events(options));
    expect_busy_unless_ok(reader);
    while (reader.ok()) {
      auto some = block_on(attempt.loop, (*reader)->next());
      expect_busy_unless_ok(some);
      if (!some.ok() || some->empty()) break;
    }
  };
  fail_everywhere([](Attempt& attempt) { attempt.begin_mail(); }, read_all, read_all);
}

// Each message reaches its receiver; if the store fails after the call, the message is delivered
// again.
TEST(StoreFailures, EveryMessageIsDeliveredWhateverCallFails) {
  std::map<std::string, int> received;
  Receiver receiver = [&](OutboxMessage message) -> Task<Result<Done>> {
    ++received[to_json(message.body)];
    co_return Done{};
  };
  fail_everywhere(
      [&](Attempt& attempt) {
        received.clear();
        GraphBuilder<Voyage> builder{"post"};
        builder.node("post", [](const Voyage&, Context& context) {
          for (int i = 0; i < 3; ++i) context.publish("mail", Value(i));
          return append(&Voyage::seen, "post");
        });
        builder.edge(start, "post").edge("post", end);
        auto post = std::move(builder).build().value();
        attempt.runtime->add(post);
        attempt.tried->add(post);
        StartOptions options;
        options.thread = ThreadId("t");
        block_on(attempt.loop, attempt.runtime->start(post, Voyage{}, options)).value();
        attempt.tried->deliver("mail", receiver, {});
      },
      work_until_idle,
      [&](Attempt& attempt) {
        attempt.clock.move(2min);  // a call in progress would have timed out
        work_until_idle(attempt);
        EXPECT_EQ(received.size(), 3u);
        for (const auto& [body, times] : received) EXPECT_LE(times, 2) << body;
        for (const OutboxRow& row : attempt.outbox()) {
          EXPECT_EQ(row.status, OutboxStatus::delivered);
        }
      });
}

}  // namespace
}  // namespace belay
