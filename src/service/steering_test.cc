// Steering messages: each that was accepted is used exactly once, or its run ended without it.

#include "service/steering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "belay/agent.h"
#include "belay/storage.h"
#include "service/local_service.h"
#include "store/forwarding_store.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Nothing {
  std::string what{};
};

// A model that thinks for a second, calls a tool for as many steps as are wanted, and answers.
class SlowModel final : public Model {
 public:
  Task<Result<ModelReply>> generate(ModelRequest request) override {
    if (during) during(calls);
    ++calls;
    co_await sleep_for(1s);
    requests.push_back(request.messages);
    ModelReply reply;
    reply.provider = reply.model = reply.method = "slow";
    auto results = std::count_if(request.messages.begin(), request.messages.end(),
                                 [](const Message& each) { return each.role == Role::tool; });
    if (results < steps) {
      reply.stop_reason = StopReason::tool_calls;
      reply.tool_calls = {
          {"call_" + std::to_string(results), "look", Value::object({{"what", ""}})}};
    } else {
      reply.text = "answer " + std::to_string(request.messages.size());
    }
    if (!reply.text.empty()) request.on_text_delta(reply.text);
    co_return reply;
  }

  int steps = 2;
  int calls = 0;
  std::function<void(int call)> during;
  std::vector<std::vector<Message>> requests;
};

struct Steering : CrashingStoreFixture {
  SlowModel slow;
  std::vector<SteeringMessage> accepted;
  std::vector<Error> refused;
  std::list<Spawned> sends;

  Graph<AgentState> agent() {
    AgentOptions options;
    options.tools.push_back(
        make_tool<Nothing>({.name = "look", .effect = ToolEffect::reads},
                           [](const Nothing&, ToolContext&) { return std::string("seen"); }));
    return agent_graph("agent", std::move(options)).value();
  }
  std::unique_ptr<Runtime> worker() {
    RuntimeParts parts{store, loop, clock, random, slow};
    auto runtime = Runtime::open(std::move(parts)).value();
    runtime->add(agent());
    return runtime;
  }
  static StartOptions thread_t() {
    StartOptions options;
    options.thread = ThreadId("t");
    options.idempotency_key = "k";  // a later process continues the run
    return options;
  }
  static AgentState asked() {
    AgentState state;
    state.question = "Go?";
    return state;
  }
  // As another process: the store of this one might have stopped.
  void send(std::string id, SteeringUse use = SteeringUse::next_call, std::string text = "") {
    Steer message{text.empty() ? "text of " + id : text, use, "ana", std::move(id)};
    SteeringParts parts{*kept, clock, random, "belay"};
    auto task = steer_run(std::move(parts), default_tenant(), ThreadId("t"), std::move(message));
    std::function<void(Result<SteeringMessage>)> done = [this](Result<SteeringMessage> result) {
      if (result.ok())
        accepted.push_back(*std::move(result));
      else
        refused.push_back(std::move(result).error());
    };
    sends.push_back(spawn<Result<SteeringMessage>>(loop, std::move(task), std::move(done)));
  }
  RunView run(Runtime& runtime) {
    auto view = block_on(loop, runtime.start(agent(), asked(), thread_t()));
    EXPECT_TRUE(view.ok()) << view.error().message;
    return *std::move(view);
  }
  std::vector<SteeringMessage> messages() {
    SteeringParts parts{*kept, clock, random, "belay"};
    return block_on(loop, steering_of_thread(std::move(parts), default_tenant(), ThreadId("t")))
        .value();
  }
  static std::vector<std::string> questions(const RunView& view) {
    std::vector<std::string> texts;
    for (const Value& turn : *view.state["turns"].as_array()) {
      const std::string& text = *turn["question"].as_string();
      if (!text.empty()) texts.push_back(text);
    }
    return texts;
  }
};

TEST_F(Steering, IsPartOfTheNextCallAndOfNoOther) {
  slow.during = [this](int call) {
    if (call == 0) send("a");
  };
  auto runtime = worker();
  RunView view = run(*runtime);
  EXPECT_EQ(view.row.outcome, "answered");
  EXPECT_THAT(questions(view), ElementsAre("Go?", "text of a"));
  ASSERT_EQ(slow.requests.size(), 3u);
  EXPECT_EQ(slow.requests[1].back().text, "text of a") << "after the results of the first call";
  EXPECT_EQ(slow.requests[2].size(), slow.requests[1].size() + 2) << "then only the next result";
  ASSERT_EQ(messages().size(), 1u);
  EXPECT_FALSE(messages()[0].waits);
  EXPECT_FALSE(messages()[0].used_by.empty());
}

TEST_F(Steering, ThatComesDuringTheLastCallIsAnsweredInTheSameRun) {
  slow.during = [this](int call) {
    if (call == 2) send("a");
  };
  auto runtime = worker();
  RunView view = run(*runtime);
  EXPECT_THAT(questions(view), ElementsAre("Go?", "text of a"));
  EXPECT_EQ(slow.requests.size(), 4u);
  EXPECT_EQ(view.state["answer"], Value("answer 7"));
}

TEST_F(Steering, KeepsItsOrderWhenTheClockIsSetBack) {
  slow.during = [this](int call) {
    if (call != 0) return;
    send("c");
    loop.call_after(100ms, [this] {
      clock.move(-500ms);
      send("b");
    });
    loop.call_after(200ms, [this] { send("a"); });
  };
  auto runtime = worker();
  RunView view = run(*runtime);
  EXPECT_THAT(questions(view), ElementsAre("Go?", "text of c\n\ntext of b\n\ntext of a"));
}

// Between the decision of an agent that its run ends and the commit of the end, calls a function.
class SlowToEnd final : public ForwardingStore {
 public:
  SlowToEnd(Store& inner, std::function<void()> during)
      : ForwardingStore(inner), during_(std::move(during)) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (commit.rows.run && is_final(commit.rows.run->status)) {
      during_();
      co_await sleep_for(100ms);
    }
    auto outcome = co_await inner().commit(std::move(commit));
    co_return std::move(outcome);
  }

 private:
  const std::function<void()> during_;
};

TEST_F(Steering, WaitsWhileTheAgentDecidesWhetherTheRunEnds) {
  SlowToEnd slow_store(store, [this] { send("a"); });
  RuntimeParts parts{slow_store, loop, clock, random, slow};
  auto runtime = Runtime::open(std::move(parts)).value();
  runtime->add(agent());
  RunView view = run(*runtime);
  EXPECT_EQ(view.row.outcome, "answered");
  loop.run_until(clock.now() + 1s);
  EXPECT_THAT(accepted, IsEmpty());
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0].message, HasSubstr("has ended"));
}

TEST_F(Steering, ForAfterTheAnswerWaitsForIt) {
  slow.during = [this](int call) {
    if (call == 0) send("a", SteeringUse::after_answer);
  };
  auto runtime = worker();
  RunView view = run(*runtime);
  EXPECT_THAT(questions(view), ElementsAre("Go?", "text of a"));
  ASSERT_EQ(slow.requests.size(), 4u);
  EXPECT_EQ(slow.requests[2].back().role, Role::tool);
  EXPECT_EQ(slow.requests[3].back().text, "text of a");
}

TEST_F(Steering, BeforeTheFirstCallIsPartOfTheQuestion) {
  StartOptions options = thread_t();
  auto runtime = worker();
  block_on(loop, runtime->enqueue(agent(), asked(), options, clock.now())).value();
  send("a");
  send("b");
  loop.run_until(clock.now() + 1s);
  EXPECT_EQ(accepted.size(), 2u);
  block_on(loop, runtime->resume(default_tenant(), ThreadId("t"))).value();
  EXPECT_EQ(slow.requests.at(0).size(), 1u);
  EXPECT_EQ(slow.requests.at(0)[0].text, "Go?\n\ntext of a\n\ntext of b");
  EXPECT_EQ(slow.requests.at(1)[0].text, slow.requests.at(0)[0].text) << "the same bytes";
}

TEST_F(Steering, SentTwiceWithOneIdIsOneMessage) {
  slow.during = [this](int call) {
    if (call == 0) {
      send("a");
      send("a");
    }
    if (call == 2) {
      send("a");
      send("a", SteeringUse::next_call, "another text");
    }
  };
  auto runtime = worker();
  RunView view = run(*runtime);
  EXPECT_THAT(questions(view), ElementsAre("Go?", "text of a"));
  EXPECT_EQ(accepted.size(), 3u);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0].message, HasSubstr("Another message has the id \"a\""));
}

TEST_F(Steering, OfARunThatHasEndedIsRefused) {
  auto runtime = worker();
  run(*runtime);
  send("a");
  loop.run_until(clock.now() + 1s);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].code, ErrorCode::conflict);
  EXPECT_THAT(messages(), IsEmpty());
}

TEST_F(Steering, OfACancelledRunStaysUnused) {
  auto runtime = worker();
  slow.during = [&](int call) {
    if (call != 1) return;
    send("a");
    loop.call_after(100ms, [&] {
      auto task = runtime->cancel(default_tenant(), ThreadId("t"), "ana", "");
      sends.push_back(spawn<Result<RunView>>(loop, std::move(task), [](Result<RunView>) {}));
    });
  };
  EXPECT_EQ(run(*runtime).row.status, RunStatus::cancelled);
  ASSERT_EQ(messages().size(), 1u);
  EXPECT_TRUE(messages()[0].waits);
}

TEST_F(Steering, BeyondTheLimitOfStepsStaysUnused) {
  slow.steps = 100;
  slow.during = [this](int call) {
    if (call == 9) send("a");
  };
  auto runtime = worker();
  RunView view = run(*runtime);
  EXPECT_EQ(view.row.outcome, "steps_spent");
  ASSERT_EQ(messages().size(), 1u);
  EXPECT_TRUE(messages()[0].waits);
}

TEST_F(Steering, WithoutTextOrTooLongIsRefused) {
  auto runtime = worker();
  run(*runtime);
  send("a", SteeringUse::next_call, " ");
  send("b", SteeringUse::next_call, std::string(limits::steering_bytes_max + 1, 'x'));
  loop.run_until(clock.now() + 1s);
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_EQ(refused[0].code, ErrorCode::invalid);
  EXPECT_EQ(refused[1].code, ErrorCode::invalid);
}

TEST_F(Steering, CannotBeSavedAsARecord) {
  auto runtime = worker();
  LocalServiceParts parts{*kept, *kept, *runtime, loop, clock, random, {}, {}, {}};
  auto service = make_local_service(std::move(parts));
  SteeringMessage forged;
  forged.id = "a";
  Principal who;
  std::vector<RecordWrite> writes{record_write(forged, UserId("local")).value()};
  auto saved = block_on(loop, service->save_records(who, std::move(writes)));
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().code, ErrorCode::invalid);
}

TEST_F(Steering, OfAReplayedRunIsReplayed) {
  slow.during = [this](int call) {
    if (call == 0) send("a");
    if (call == 2) send("b");
  };
  auto runtime = worker();
  run(*runtime);
  ReplayOptions options;
  options.tenant = default_tenant();
  options.thread = ThreadId("t");
  auto report = block_on(loop, runtime->replay(std::move(options)));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->divergence)
      << report->divergence->node << ": " << report->divergence->what << "\n"
      << report->divergence->recorded << "\n"
      << report->divergence->replayed;
}

// Messages at any time, and processes that die at any commit.
TEST_F(Steering, IsUsedOnceInItsOrderWhicheverCommitTheProcessDiesAt) {
  int used = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    testing::SeededRandom chance{seed};
    kept = open_memory_store(clock, random);
    HaltingStore halting{*kept};
    accepted.clear();
    refused.clear();
    auto number = [&](int most) { return static_cast<int>(chance.bits() % most); };
    int count = 1 + number(4);
    for (int i = 0; i < count; ++i) {
      auto use = number(3) == 0 ? SteeringUse::after_answer : SteeringUse::next_call;
      auto at = std::chrono::milliseconds(number(4'200));
      loop.call_after(at, [this, i, use] { send("m" + std::to_string(i), use); });
    }
    std::optional<RunView> ended;
    halting.halt_at = 1 + number(12);
    halting.lands = number(2) == 0;
    for (int process = 0; process < 3 && !ended; ++process) {
      RuntimeParts parts{halting, loop, clock, random, slow};
      auto runtime = Runtime::open(std::move(parts)).value();
      runtime->add(agent());
      Spawned spawned = spawn<Result<RunView>>(loop, runtime->start(agent(), asked(), thread_t()),
                                               [&](Result<RunView> view) {
                                                 if (view.ok()) ended = *std::move(view);
                                               });
      loop.run_until(clock.now() + 1min);
      spawned.reset();
      runtime.reset();
      halting.halt_at = process == 0 && number(2) == 0 ? halting.commits + 1 + number(6) : 0;
    }
    ASSERT_TRUE(ended) << seed;
    ASSERT_EQ(ended->row.status, RunStatus::completed) << seed << ended->row.error;
    ASSERT_EQ(accepted.size() + refused.size(), static_cast<std::size_t>(count)) << seed;
    std::string all;
    for (const std::string& text : questions(*ended)) all += text + "\n\n";
    for (const SteeringMessage& message : accepted) {
      std::string text = message.text + "\n\n";
      std::size_t found = all.find(text);
      ASSERT_NE(found, all.npos) << seed << ": lost " << message.id << "\n" << all;
      EXPECT_EQ(all.find(text, found + 1), all.npos) << seed << ": twice " << message.id;
      ++used;
    }
    for (const SteeringMessage& message : messages()) {
      EXPECT_FALSE(message.waits) << seed;
    }
    // Of one use, the order of acceptance is that of use.
    std::size_t last = 0;
    for (const SteeringMessage& message : accepted) {
      if (message.use != name_of(SteeringUse::next_call)) continue;
      std::size_t found = all.find(message.text + "\n\n");
      EXPECT_GE(found, last) << seed;
      last = found;
    }
    sends.clear();
  }
  EXPECT_GT(used, 400);
}

}  // namespace
}  // namespace belay
