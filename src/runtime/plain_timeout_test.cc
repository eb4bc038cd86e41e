// The timeout of a plain node counts when it returns, and a node that holds the loop is reported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Slow {
  std::vector<std::string> log{};
};

struct PlainTimeout : CrashingStoreFixture {
  std::vector<std::string> reports;

  // A plain node that takes `times[attempt - 1]`, and then a coroutine that takes `before_waiting`
  // until its first wait.
  Graph<Slow> slow_graph(std::vector<std::chrono::milliseconds> times,
                         std::chrono::milliseconds before_waiting = 0ms) {
    GraphBuilder<Slow> builder{"slow"};
    builder
        .node("plain",
              [this, times](const Slow&, Context& context) {
                clock.move(times[static_cast<std::size_t>(context.attempt()) - 1]);
                return append(&Slow::log, "plain " + std::to_string(context.attempt()));
              })
        .timeout(1s)
        .retry({.attempts = static_cast<int>(times.size()), .base = 1s});
    builder.node("waits", [this, before_waiting](const Slow&, Context&) -> Task<Update<Slow>> {
      clock.move(before_waiting);
      co_await sleep_for(10s);
      co_return append(&Slow::log, "waited");
    });
    builder.edge(start, "plain").edge("plain", "waits").edge("waits", end);
    return std::move(builder).build().value();
  }
  Result<RunView> run(const Graph<Slow>& graph, const std::string& depends_on = "") {
    RuntimeParts parts{store, loop, clock, random, model};
    parts.on_held_loop = [this](const HeldLoop& held) {
      reports.push_back(held.graph + " " + held.node + " " + std::to_string(held.held.count()));
    };
    auto runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
    if (!depends_on.empty()) runtime->protect(depends_on, {});
    return block_on(loop, runtime->start(graph, Slow{}, StartOptions{}));
  }
};

TEST_F(PlainTimeout, FailsTheAttemptWhenItsNodeReturns) {
  auto view = run(slow_graph({6s})).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "unavailable");
  EXPECT_THAT(view.row.error, HasSubstr("The node \"plain\" took longer than its 1000 ms."));
  EXPECT_THAT(*view.state["log"].as_array(), IsEmpty()) << "its update does not count";
}

TEST_F(PlainTimeout, IsRetriedLikeThatOfACoroutine) {
  auto view = run(slow_graph({2s, 1s})).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_EQ(view.row.retry_count, 1);
  EXPECT_EQ(to_json(view.state["log"]), R"(["plain 2","waited"])");
}

TEST_F(PlainTimeout, CountsForANodeWithADependency) {
  GraphBuilder<Slow> builder{"slow"};
  builder
      .node("plain",
            [this](const Slow&, Context&) {
              clock.move(2s);
              return append(&Slow::log, "plain");
            })
      .timeout(1s)
      .depends_on("smtp");
  builder.edge(start, "plain").edge("plain", end);
  auto view = run(std::move(builder).build().value(), "smtp").value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(reports, ElementsAre("slow plain 2000"));
}

TEST_F(PlainTimeout, ReportsEachNodeThatHeldTheLoop) {
  auto view = run(slow_graph({500ms}, 150ms)).value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_THAT(reports, ElementsAre("slow plain 500", "slow waits 150"));
}

TEST_F(PlainTimeout, ReportsACoroutineWithADependency) {
  GraphBuilder<Slow> builder{"slow"};
  builder
      .node("waits",
            [this](const Slow&, Context&) -> Task<Update<Slow>> {
              clock.move(150ms);
              co_await sleep_for(10s);
              co_return append(&Slow::log, "waited");
            })
      .depends_on("smtp");
  builder.edge(start, "waits").edge("waits", end);
  auto view = run(std::move(builder).build().value(), "smtp").value();
  EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
  EXPECT_THAT(reports, ElementsAre("slow waits 150"));
}

TEST_F(PlainTimeout, ReportsNothingUpToItsBound) {
  (void)run(slow_graph({100ms}, 100ms));
  EXPECT_THAT(reports, IsEmpty()) << "the coroutine waited for 10 s";
}

}  // namespace
}  // namespace belay
