// Tests a worker whose store is unavailable, or accepts no commits, for longer than the store
// itself waits: its runs back off, and continue as soon as possible, without constant retries.

#include <gmock/gmock.h>

#include "store/forwarding_store.h"
#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

class AwayStore final : public ForwardingStore {
 public:
  explicit AwayStore(Store& inner) : ForwardingStore(inner) {}

  Task<Result<CommitOutcome>> commit(Commit commit) override {
    const auto& run = commit.rows.run;
    bool is_refused = takes_none || (run && run->thread == refused);
    if (!is_refused) co_return co_await inner().commit(std::move(commit));
    ++refusals;
    co_return away();
  }
  Task<Result<Done>> read(Reader reader) override {
    if (is_silent) co_return away();
    co_return co_await inner().read(std::move(reader));
  }
  Task<Result<std::vector<RunRow>>> poll_runs(PollFilter filter) override {
    if (is_silent) co_return away();
    co_return co_await inner().poll_runs(std::move(filter));
  }

  void leave() { takes_none = is_silent = true; }
  void come_back() { takes_none = is_silent = false; }

  bool takes_none = false;
  bool is_silent = false;  // reads fail
  ThreadId refused{};      // commits of this thread fail
  int refusals = 0;

 private:
  static Error away() { return error(ErrorCode::unavailable, "The store is away."); }
};

struct Chore {
  int done = 0;
};

struct StoreAway : RuntimeFixture {
  AwayStore away{*store};
  Graph<Chore> chore = chore_graph();
  std::unique_ptr<Runtime> worker = open_worker();
  std::vector<std::string> troubles;
  std::chrono::milliseconds takes = 10s;
  Spawned working;

  Graph<Chore> chore_graph() {
    GraphBuilder<Chore> builder{"chore"};
    builder.node("go", [this](const Chore&, Context&) -> Task<Update<Chore>> {
      co_await sleep_for(takes);
      co_return add(&Chore::done, 1);
    });
    builder.edge(start, "go").edge("go", end);
    return std::move(builder).build().value();
  }
  std::unique_ptr<Runtime> open_worker() {
    auto opened = Runtime::open(RuntimeParts{away, loop, clock, random, model}).value();
    opened->add(chore);
    return opened;
  }
  void work() {
    WorkerOptions options;
    options.on_error = [this](const Error& why) { troubles.push_back(why.message); };
    working = spawn<Result<std::size_t>>(loop, worker->run_worker(std::move(options)),
                                         [](const Result<std::size_t>&) {});
  }
  void enqueue(const std::string& thread, Instant not_before = {}) {
    runtime->add(chore);
    StartOptions options;
    options.thread = ThreadId(thread);
    block_on(loop, runtime->enqueue(chore, Chore{}, options, not_before)).value();
  }
  RunStatus status(const std::string& thread) {
    return block_on(loop, runtime->status(default_tenant(), ThreadId(thread))).value().row.status;
  }
  void pass(std::chrono::microseconds time) { loop.run_until(clock.now() + time); }
};

TEST_F(StoreAway, RunsThatItFailedGoOnAsSoonAsItIsBack) {
  enqueue("t");
  work();
  pass(5s);
  away.leave();
  pass(7s);  // the node has ended in the meantime, and its commit has failed
  EXPECT_EQ(away.refusals, 1);
  EXPECT_FALSE(troubles.empty());
  away.come_back();
  pass(11s);
  EXPECT_EQ(status("t"), RunStatus::completed);
}

TEST_F(StoreAway, WhileItTakesNoCommitsRunsAreTriedLessAndLessOften) {
  enqueue("t");
  work();
  pass(5s);
  away.takes_none = true;
  pass(5min);
  EXPECT_THAT(away.refusals, AllOf(Ge(10), Le(20)));
  away.takes_none = false;
  pass(41s);
  EXPECT_EQ(status("t"), RunStatus::completed);
}

TEST_F(StoreAway, HoweverLongTheyWereToRestItsReturnIsTheEndOfIt) {
  enqueue("t");
  work();
  pass(5s);
  away.takes_none = true;
  pass(37s);  // tried again after 1, 2, 4, 8 and 16 s, the last time just now
  int refusals = away.refusals;
  away.leave();
  pass(1s);
  away.come_back();
  pass(11s);
  EXPECT_EQ(away.refusals, refusals);
  EXPECT_EQ(status("t"), RunStatus::completed);
}

TEST_F(StoreAway, OneThatItFailsIsNotTriedEachTimeThatAnotherSucceeds) {
  for (int i = 0; i < 100; ++i) enqueue("good " + std::to_string(i), clock.now() + i * 100ms);
  enqueue("bad");
  away.refused = ThreadId("bad");
  takes = 500ms;
  work();
  pass(10s);  // ten runs per second end
  EXPECT_THAT(away.refusals, AllOf(Ge(5), Le(11)));
  EXPECT_EQ(status("good 50"), RunStatus::completed);
  away.refused = ThreadId();
  pass(3s);
  EXPECT_EQ(status("bad"), RunStatus::completed);
}

TEST_F(StoreAway, OneMessageOfARunIsTriedWhileItTakesNoCommits) {
  GraphBuilder<Chore> builder{"post"};
  builder.node("post", [](const Chore&, Context& context) {
    for (int i = 0; i < 3; ++i) context.publish("mail", Value(i));
    return add(&Chore::done, 1);
  });
  builder.edge(start, "post").edge("post", end);
  auto post = std::move(builder).build().value();
  runtime->add(post);
  block_on(loop, runtime->start(post, Chore{}, {})).value();
  std::vector<std::string> received;
  worker->deliver("mail",
                  [&](OutboxMessage message) -> Task<Result<Done>> {
                    received.push_back(to_json(message.body));
                    co_return Done{};
                  },
                  {});
  away.takes_none = true;
  work();
  pass(10ms);
  EXPECT_EQ(away.refusals, 1);
  EXPECT_TRUE(received.empty());
  away.come_back();
  pass(1min);
  EXPECT_EQ(received, (std::vector<std::string>{"0", "1", "2"}));
}

}  // namespace
}  // namespace belay
