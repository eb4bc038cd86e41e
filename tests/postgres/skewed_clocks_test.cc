// Machines whose clocks are wrong by minutes, on one server: they agree on which runs are due.

#include "belay/graph.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "tests/postgres/store_world.h"

namespace belay::postgres_tests {
namespace {

using namespace std::chrono_literals;

// The error of a wrong clock, and a shorter time: a machine that used its own clock would wrongly
// judge a run that is due in the shorter time, or that has been due for that long.
constexpr std::chrono::minutes kError{20};
constexpr std::chrono::minutes kLess{10};
// Longer than a claim takes on a busy machine, and much shorter than the errors.
constexpr std::chrono::seconds kPatience{30};

class WrongClock final : public Clock {
 public:
  explicit WrongClock(std::chrono::microseconds ahead) : ahead_(ahead) {}
  Instant now() override { return right_->now() + ahead_; }

 private:
  const std::unique_ptr<Clock> right_ = system_clock();
  const std::chrono::microseconds ahead_;
};

struct Trip {
  int rounds = 0;
};

// A process on a machine whose clock is ahead by this time, or behind if it is negative.
struct Machine {
  Machine(std::string called, std::chrono::minutes ahead, const std::string& url, Random& random,
          const Graph<Trip>& graph)
      : name(std::move(called)), clock(ahead) {
    store = open_store(url, clock, random).value();
    RuntimeParts parts{*store, *loop, clock, random, model};
    runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
  }

  RunView view(const std::string& thread) {
    return block_on(*loop, runtime->status(default_tenant(), ThreadId(thread))).value();
  }
  // Executes what it can claim now, and returns the number of these runs.
  std::size_t work() {
    WorkerOptions options;
    options.until_idle = true;
    return block_on(*loop, runtime->run_worker(std::move(options))).value();
  }
  // Works until it has claimed runs, and returns their number; 0 if it could not claim any for a
  // while.
  std::size_t work_soon() {
    std::size_t claimed = 0;
    wait_until(kPatience, [&] { return (claimed = work()) > 0; });
    return claimed;
  }

  const std::string name;
  WrongClock clock;
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<Store> store;
  testing::ScriptedModel model;
  std::unique_ptr<Runtime> runtime;
};

class PostgresSkewedClocks : public StoreWorld {
 protected:
  std::unique_ptr<Machine> machine(std::string name, std::chrono::minutes ahead) {
    return std::make_unique<Machine>(std::move(name), ahead, url(), random_, graph_);
  }
  Graph<Trip> trip() {
    GraphBuilder<Trip> builder{"trip"};
    builder.node("travel", [this](const Trip&, Context&) -> Task<Update<Trip>> {
      if (when_begun_) {
        std::exchange(when_begun_, nullptr)();
        co_await sleep_for(1h);
      }
      co_return add(&Trip::rounds, 1);
    });
    builder.edge(start, "travel").edge("travel", end);
    return std::move(builder).build().value();
  }
  Result<RunView> enqueue(Machine& by, const std::string& thread, Instant not_before) {
    StartOptions options;
    options.thread = ThreadId(thread);
    return block_on(*by.loop, by.runtime->enqueue(graph_, Trip{}, std::move(options), not_before));
  }

  std::function<void()> when_begun_;  // called by the next node, which then takes an hour
  const Graph<Trip> graph_ = trip();
  const std::unique_ptr<Clock> right_ = system_clock();
};

TEST_F(PostgresSkewedClocks, ARunThatIsDueIsClaimedByEachMachineAndOneThatIsNotByNone) {
  auto fast = machine("fast", kError);
  auto slow = machine("slow", -kError);
  auto exact = machine("exact", 0min);
  const Instant later = right_->now() + kLess;
  std::vector<std::string> not_due;
  for (Machine* from : {fast.get(), slow.get(), exact.get()}) {
    auto delayed = enqueue(*from, from->name + ", later", later);
    ASSERT_TRUE(delayed.ok()) << delayed.error().message;
    EXPECT_EQ(delayed->row.due_at, later);
    not_due.push_back(delayed->row.thread.text);
    for (Machine* by : {fast.get(), slow.get(), exact.get()}) {
      std::string thread = "from " + from->name + " to " + by->name;
      SCOPED_TRACE(thread);
      auto queued = enqueue(*from, thread, Instant());
      ASSERT_TRUE(queued.ok()) << queued.error().message;
      EXPECT_LT(std::chrono::abs(queued->row.due_at - right_->now()), kPatience);
      ASSERT_EQ(by->work_soon(), 1u);
      EXPECT_EQ(exact->view(thread).row.status, RunStatus::completed);
    }
  }
  ASSERT_LT(right_->now(), later) << "the test took too long to show anything";
  for (const std::string& thread : not_due) {
    RunRow row = exact->view(thread).row;
    EXPECT_EQ(row.status, RunStatus::queued) << thread;
    EXPECT_EQ(row.seq, 1u) << thread;
    EXPECT_EQ(row.due_at, later) << thread;
  }
  // Its time has come.
  run_sql("UPDATE belay.runs SET due_at = due_at - interval '15 minutes' WHERE status = 'queued'");
  std::size_t claimed = 0;
  wait_until(kPatience, [&] { return (claimed += slow->work()) == not_due.size(); });
  EXPECT_EQ(claimed, not_due.size());
}

TEST_F(PostgresSkewedClocks, ARunThatAMachineReleasesIsClaimedByTheNext) {
  for (std::chrono::minutes ahead : {kError, -kError}) {
    auto leaving = machine("leaving", ahead);
    auto next = machine("next", -ahead);
    std::string thread = ahead > 0min ? "from fast to slow" : "from slow to fast";
    SCOPED_TRACE(thread);
    ASSERT_TRUE(enqueue(*leaving, thread, Instant()).ok());
    when_begun_ = [&] { leaving->loop->post([&] { leaving->runtime->stop(); }); };
    ASSERT_EQ(leaving->work_soon(), 1u);
    RunRow row = next->view(thread).row;
    EXPECT_EQ(row.status, RunStatus::queued);
    EXPECT_TRUE(row.session.is_null());
    EXPECT_LT(std::chrono::abs(row.due_at - right_->now()), kPatience);
    // For some seconds, the poll of the first machine would still hide the run from the second one.
    run_sql("UPDATE belay.runs SET offered_to = NULL, offered_until = NULL");
    ASSERT_EQ(next->work_soon(), 1u);
    EXPECT_EQ(next->view(thread).row.status, RunStatus::completed);
    EXPECT_EQ(next->view(thread).state["rounds"], Value(1));
  }
}

}  // namespace
}  // namespace belay::postgres_tests
