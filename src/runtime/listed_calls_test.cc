// The list of a run's calls: their order, and the time that model calls took.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/call_record.h"
#include "tests/support/crashing_store_fixture.h"

namespace belay {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

struct Search {
  std::string found{};
};

Task<Update<Search>> search_and_post(const Search&, Context& context) {
  auto first = (co_await context.model().complete("one")).value();
  auto found = context.keyed_effect("a search", [] { return std::string("found"); });
  auto second = (co_await context.model().complete(found)).value();
  context.keyed_effect("a post", [] { return std::string("posted"); });
  co_return set(&Search::found, first + second);
}

struct ListedCalls : CrashingStoreFixture {
  ListedCalls() {
    model.then_always([](const ModelRequest&) { return std::string("an answer"); });
  }
  std::vector<EffectRow> rows_of_a_run() {
    GraphBuilder<Search> made{"search"};
    made.node("work", search_and_post);
    made.edge(start, "work").edge("work", end);
    auto graph = std::move(made).build().value();
    auto runtime = process(graph);
    StartOptions options;
    RunView view = block_on(loop, runtime->start(graph, Search{}, options)).value();
    return recorded(view);
  }
};

// A store lists the rows of a run in the order in which they were committed.
TEST_F(ListedCalls, AreInTheOrderInWhichTheyWereMade) {
  std::vector<std::string> names;
  for (const EffectRow& row : rows_of_a_run()) names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("model/1/1", "a search", "model/1/2", "a post"));
}

TEST_F(ListedCalls, HaveTheTimeThatTheModelTook) {
  model.takes(1'500ms);
  std::vector<EffectRow> rows = rows_of_a_run();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(call_record_in(rows[0]).value().took_ms, 1'500);
  EXPECT_EQ(call_record_in(rows[2]).value().took_ms, 1'500);
}

}  // namespace
}  // namespace belay
