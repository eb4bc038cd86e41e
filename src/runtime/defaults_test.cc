// Tests a runtime's defaults for settings that a start leaves unset, a graph's check of its input,
// and the list of orphaned runs.

#include <gmock/gmock.h>

#include "tests/support/runtime_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Defaults : RuntimeFixture {
  std::unique_ptr<Runtime> with(RunSettings settings, const Graph<Mail>& of) {
    RuntimeParts parts{*store, loop, clock, random, model};
    parts.run_defaults = settings;
    auto opened = Runtime::open(std::move(parts)).value();
    opened->add(of);
    return opened;
  }
  Result<RunView> start(Runtime& by, StartOptions options, std::string topic = "urgent") {
    return block_on(loop, by.start(graph, Mail{.topic = std::move(topic)}, std::move(options)));
  }
  bool is_empty(Runtime& by, std::string thread) {
    auto found = block_on(loop, by.status(default_tenant(), ThreadId(std::move(thread))));
    return !found.ok() && found.error().code == ErrorCode::not_found;
  }
};

TEST_F(Defaults, AreThoseOfTheRuntimeForWhatAStartLeavesUnset) {
  RunSettings settings;
  settings.require_approval = false;
  settings.max_retries = 1;
  settings.budget.tokens = 0;
  auto by = with(settings, graph);
  auto failed = start(*by, {}).value();
  EXPECT_EQ(failed.row.status, RunStatus::failed) << "no tokens";
  StartOptions options;
  options.run.budget.tokens = 100'000;
  EXPECT_EQ(start(*by, options)->row.outcome, "sent") << "nobody is asked";
  options.run.require_approval = true;
  EXPECT_EQ(start(*by, options)->row.status, RunStatus::paused);
}

TEST_F(Defaults, HoldForWhatIsPutIntoTheQueueToo) {
  RunSettings settings;
  settings.require_approval = false;
  auto by = with(settings, graph);
  StartOptions options;
  options.thread = ThreadId("t");
  ASSERT_TRUE(
      block_on(loop, by->enqueue(graph, Mail{.topic = "urgent"}, options, clock.now())).ok());
  WorkerOptions work;
  work.until_idle = true;
  // A worker with other defaults: the run keeps the settings with which it was enqueued.
  auto worker = with(RunSettings(), graph);
  ASSERT_TRUE(block_on(loop, worker->run_worker(work)).ok());
  EXPECT_EQ(block_on(loop, worker->status(default_tenant(), ThreadId("t")))->row.outcome, "sent");
}

TEST_F(Defaults, BeyondTheBoundsBeginNothing) {
  for (auto set : std::vector<std::function<void(RunSettings&)>>{
           [](RunSettings& s) { s.max_retries = 0; }, [](RunSettings& s) { s.max_retries = 21; },
           [](RunSettings& s) { s.timeout = 0ms; },
           [](RunSettings& s) { s.approval_expires = 0ms; },
           [](RunSettings& s) { s.budget.tokens = -1; }}) {
    StartOptions options;
    options.thread = ThreadId("t");
    set(options.run);
    auto refused = start(*runtime, options);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    auto queued =
        block_on(loop, runtime->enqueue(graph, Mail{.topic = "calm"}, options, clock.now() + 1h));
    EXPECT_EQ(queued.error().code, ErrorCode::invalid);
    EXPECT_TRUE(is_empty(*runtime, "t"));
  }
}

TEST_F(Defaults, AnInputThatTheGraphRefusesBeginsNothing) {
  GraphBuilder<Mail> builder{"checked"};
  builder.check_input([](const Mail& mail) -> Result<Done> {
    if (mail.topic.empty()) return error(ErrorCode::invalid, "A mail needs a topic.");
    if (mail.topic == "throw") throw std::runtime_error("no");
    return Done{};
  });
  builder.node("send", send_mail);
  builder.edge(belay::start, "send").edge("send", end);
  auto checked = std::move(builder).build().value();
  runtime->add(checked);
  for (const char* topic : {"", "throw"}) {
    StartOptions options;
    options.thread = ThreadId("t");
    auto refused = block_on(loop, runtime->start(checked, Mail{.topic = topic}, options));
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
    auto queued =
        block_on(loop, runtime->enqueue(checked, Mail{.topic = topic}, options, clock.now() + 1h));
    EXPECT_EQ(queued.error().code, ErrorCode::invalid);
    EXPECT_TRUE(is_empty(*runtime, "t"));
  }
  auto sent = block_on(loop, runtime->start(checked, Mail{.topic = "calm"}, StartOptions()));
  EXPECT_EQ(sent->row.outcome, "sent");
}

struct LeftBehind : RuntimeFixture {
  std::vector<ThreadId> left(Runtime& seen_by) {
    return block_on(loop, seen_by.orphaned_threads(default_tenant())).value();
  }
};

TEST_F(LeftBehind, IsNoRunThatWaitsForItsTimeOrForAWorker) {
  for (auto [thread, delay] : {std::pair("later", 24h), {"due", 0h}}) {
    StartOptions options;
    options.thread = ThreadId(thread);
    ASSERT_TRUE(
        block_on(loop, runtime->enqueue(graph, Mail{.topic = "calm"}, options, clock.now() + delay))
            .ok());
  }
  EXPECT_THAT(left(*runtime), IsEmpty());
  runtime.reset();
  auto other = process();
  EXPECT_THAT(left(*other), IsEmpty()) << "the process that put them there is gone: so what";
}

TEST_F(LeftBehind, AreAllRunsWhoseProcessIsDeadHoweverMany) {
  constexpr std::size_t count = limits::page_rows_max + 3;
  model.takes(1h);
  std::vector<Spawned> running;
  for (std::size_t i = 0; i < count; ++i) {
    StartOptions options;
    options.run.timeout = 24h;
    running.push_back(spawn<Result<RunView>>(
        loop, runtime->start(graph, Mail{.topic = "calm"}, options), [](Result<RunView>) {}));
  }
  loop.run_until(clock.now() + 1s);
  auto other = process();
  EXPECT_THAT(left(*other), IsEmpty());
  running.clear();
  runtime.reset();
  EXPECT_EQ(left(*other).size(), count);
}

TEST(Views, OfARunThatWasCancelledAreNoSuccess) {
  RunView view;
  for (auto [status, success] : {std::pair(RunStatus::completed, true),
                                 {RunStatus::paused, true},
                                 {RunStatus::running, true},
                                 {RunStatus::queued, true},
                                 {RunStatus::failed, false},
                                 {RunStatus::cancelled, false},
                                 {RunStatus::quarantined, false}}) {
    view.row.status = status;
    EXPECT_EQ(view.success(), success) << name_of(status);
  }
}

}  // namespace
}  // namespace belay
