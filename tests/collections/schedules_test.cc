// Schedules as a collection, on each store: each time starts one run, whichever processes tick and
// wherever they stop.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/storage.h"
#include "belay/testing.h"
#include "store/forwarding_store.h"
#include "testing/inline_store.h"
#include "tests/collections/schedules.h"
#include "tests/conformance/temporary_folder.h"

namespace belay::collections {
namespace {

using namespace std::chrono_literals;

struct Report {
  int pages = 0;
};

std::shared_ptr<void> empty_report(const Schedule&) { return std::make_shared<Report>(); }

enum class Kind { memory, sqlite, encrypted };

// Fails its commits from a chosen one on, as if the process had died.
class EndingStore final : public ForwardingStore {
 public:
  explicit EndingStore(Store& inner) : ForwardingStore(inner) {}
  Task<Result<CommitOutcome>> commit(Commit commit) override {
    if (left == 0) {
      co_return error(ErrorCode::unavailable, "The process has ended.");
    }
    --left;
    co_return co_await inner().commit(std::move(commit));
  }
  int left = -1;  // commits until then; negative: never
};

struct Schedules : ::testing::TestWithParam<Kind> {
  conformance::TemporaryFolder folder;
  testing::SimulatedClock clock{*instant_from("2026-11-23T08:00:00Z")};
  testing::SeededRandom random{7};
  testing::SimulatedLoop loop{clock};
  testing::ScriptedModel model;
  std::unique_ptr<Store> bare = open();
  std::unique_ptr<Store> encrypted = wrap();
  Store& all = encrypted ? *encrypted : *bare;
  EndingStore store{all};
  Graph<Report> graph = report_graph();

  std::unique_ptr<Store> open() {
    if (GetParam() == Kind::memory) return open_memory_store(clock, random);
    auto sqlite = open_sqlite_store(folder.file("schedules.db"), clock, random).value();
    return std::make_unique<testing::InlineStore>(std::move(sqlite));
  }
  std::unique_ptr<Store> wrap() {
    if (GetParam() != Kind::encrypted) return nullptr;
    EncryptionOptions options;
    options.keys = KeyRing::from_text("k1:" + std::string(64, 'a')).value();
    return make_encrypted_store(*bare, random, std::move(options));
  }
  static Graph<Report> report_graph() {
    GraphBuilder<Report> builder{"report"};
    builder.node("write", [](const Report&, Context&) { return add(&Report::pages, 1); });
    builder.edge(start, "write").edge("write", end);
    return std::move(builder).build().value();
  }
  std::unique_ptr<Runtime> process() {
    auto made = Runtime::open(RuntimeParts{store, loop, clock, random, model}).value();
    made->add(graph);
    return made;
  }
  void save(Runtime& runtime, const Schedule& schedule) {
    std::vector<RecordWrite> writes{record_write(schedule, UserId()).value()};
    block_on(loop, runtime.save(default_tenant(), std::move(writes))).value();
  }
  Schedule schedule(std::string id, Instant next, int minutes = 60) const {
    Schedule made;
    made.id = std::move(id);
    made.owner = "ana";
    made.graph = "report";
    made.minutes = minutes;
    made.next = next;
    return made;
  }
  std::vector<std::string> threads() {
    std::function<Result<std::vector<ThreadRow>>(Snapshot&)> reader = [](Snapshot& view) {
      ThreadFilter filter;
      filter.tenant = default_tenant();
      filter.limit = 1'000;
      return view.threads(filter);
    };
    auto rows = block_on(loop, read<std::vector<ThreadRow>>(store, std::move(reader))).value();
    std::vector<std::string> names;
    for (const ThreadRow& row : rows) names.push_back(row.thread.text);
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_P(Schedules, StartOneRunForEachTimeThatIsDue) {
  auto runtime = process();
  block_on(loop, open_collection(store, default_tenant(), collection_type<Schedule>())).value();
  for (int i = 0; i < 45; ++i) {
    save(*runtime, schedule("s" + std::to_string(100 + i), clock.now() + std::chrono::minutes(i)));
  }
  Schedule paused = schedule("paused", clock.now() - 1h);
  paused.is_paused = true;
  save(*runtime, paused);
  loop.run_until(clock.now() + 29min);
  auto report = block_on(loop, tick(*runtime, default_tenant(), clock.now(), empty_report)).value();
  EXPECT_EQ(report.started, 30u);
  EXPECT_EQ(
      block_on(loop, tick(*runtime, default_tenant(), clock.now(), empty_report)).value().started,
      0u);
  EXPECT_EQ(threads().size(), 30u);
  WorkerOptions options;
  options.until_idle = true;
  EXPECT_EQ(block_on(loop, runtime->run_worker(options)).value(), 30u);
}

TEST_P(Schedules, OfTwoProcessesAtOnceStartEachTimeOnce) {
  auto one = process();
  auto other = process();
  for (int i = 0; i < 50; ++i) save(*one, schedule("s" + std::to_string(i), clock.now()));
  std::vector<TickReport> reports;
  std::vector<Spawned> ticks;
  loop.post([&] {
    for (Runtime* runtime : {one.get(), other.get()}) {
      ticks.push_back(spawn<Result<TickReport>>(
          loop, tick(*runtime, default_tenant(), clock.now(), empty_report),
          [&](Result<TickReport> report) { reports.push_back(report.value()); }));
    }
  });
  loop.run_until(clock.now() + 1s);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].started + reports[1].started, 50u);
  EXPECT_EQ(threads().size(), 50u);
}

TEST_P(Schedules, SurviveAnEndAfterAnyCommitOfATick) {
  for (int commits = 0; commits < 8; ++commits) {
    SCOPED_TRACE(commits);
    std::string id = "after" + std::to_string(commits) + " ";
    std::size_t before = threads().size();
    {
      auto runtime = process();
      for (int i = 0; i < 3; ++i) save(*runtime, schedule(id + std::to_string(i), clock.now()));
      store.left = commits;
      (void)block_on(loop, tick(*runtime, default_tenant(), clock.now(), empty_report));
      store.left = -1;
    }
    auto next = process();
    block_on(loop, tick(*next, default_tenant(), clock.now(), empty_report)).value();
    EXPECT_EQ(threads().size(), before + 3);
    auto records = next->records(default_tenant(), UserId("ben"));
    auto page = block_on(loop, read_page<Schedule>(*records, RecordSpan("due"))).value();
    for (const Versioned<Schedule>& each : page.records) {
      EXPECT_GT(each.record.next, clock.now()) << each.record.id;
    }
  }
}

TEST_P(Schedules, ThatWereLateSkipTheTimesThatHavePassed) {
  auto runtime = process();
  save(*runtime, schedule("hourly", clock.now()));
  loop.run_until(clock.now() + 5h + 1min);
  EXPECT_EQ(
      block_on(loop, tick(*runtime, default_tenant(), clock.now(), empty_report)).value().started,
      1u);
  EXPECT_EQ(threads().size(), 1u);
  auto records = runtime->records(default_tenant(), UserId("ana"));
  auto page = block_on(loop, read_page<Schedule>(*records, RecordSpan("due"))).value();
  EXPECT_EQ(page.records.at(0).record.next, clock.now() + 59min);
}

INSTANTIATE_TEST_SUITE_P(Store, Schedules,
                         ::testing::Values(Kind::memory, Kind::sqlite, Kind::encrypted),
                         [](const ::testing::TestParamInfo<Kind>& kind) {
                           return kind.param == Kind::memory   ? "Memory"
                                  : kind.param == Kind::sqlite ? "Sqlite"
                                                               : "Encrypted";
                         });

}  // namespace
}  // namespace belay::collections
