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
  template <typename Node>
  std::vector<EffectRow> rows_of_a_run(Node node) {
    GraphBuilder<Search> made{"search"};
    made.node("work", std::move(node)).retry({.attempts = 2});
    made.edge(start, "work").edge("work", end);
    auto graph = std::move(made).build().value();
    auto runtime = process(graph);
    StartOptions options;
    RunView view = block_on(loop, runtime->start(graph, Search{}, options)).value();
    return recorded(view);
  }
  void pass(std::chrono::milliseconds time) { clock.move(time); }
};

// A store lists the rows of a run in the order in which they were committed.
TEST_F(ListedCalls, AreInTheOrderInWhichTheyWereMade) {
  std::vector<std::string> names;
  for (const EffectRow& row : rows_of_a_run(search_and_post)) names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("model/1/1", "a search", "model/1/2", "a post"));
}

std::vector<std::int64_t> durations(const std::vector<EffectRow>& rows) {
  std::vector<std::int64_t> all;
  for (const EffectRow& row : rows) all.push_back(row.took_ms);
  return all;
}

TEST_F(ListedCalls, HaveTheTimeThatTheModelTook) {
  model.takes(1'500ms);
  EXPECT_THAT(durations(rows_of_a_run(search_and_post)), ElementsAre(1'500, 0, 1'500, 0));
}

TEST_F(ListedCalls, HaveTheTimeThatTheEffectsTook) {
  auto node = [this](const Search&, Context& context) {
    pass(9s);  // not of an effect
    context.keyed_effect("a search", [this] {
      pass(700ms);
      return 1;
    });
    context.unkeyed_effect("a mail", {}, [this] {
      pass(1'200ms);
      return 1;
    });
    pass(9s);
    return Update<Search>();
  };
  EXPECT_THAT(durations(rows_of_a_run(node)), ElementsAre(700, 1'200));
}

// The time between the attempts is not part of the second call.
TEST_F(ListedCalls, HaveTheTimeOfTheNewestCall) {
  int calls = 0;
  auto node = [this, &calls](const Search&, Context& context) -> Update<Search> {
    context.unkeyed_effect("a mail", {}, [this, &calls]() -> Result<int> {
      pass(++calls == 1 ? 5s : 300ms);
      if (calls == 1) return error(ErrorCode::unavailable, "No connection.");
      return 1;
    });
    return {};
  };
  EXPECT_THAT(durations(rows_of_a_run(node)), ElementsAre(300));
  EXPECT_EQ(calls, 2);
}

TEST_F(ListedCalls, HaveTheTimeOfACallWhoseOutcomeIsUnknown) {
  auto node = [this](const Search&, Context& context) -> Update<Search> {
    context.unkeyed_effect("a mail", {}, [this]() -> Result<int> {
      pass(5s);
      return error(ErrorCode::uncertain, "The connection was lost.");
    });
    return {};
  };
  EXPECT_THAT(durations(rows_of_a_run(node)), ElementsAre(5'000));
}

}  // namespace
}  // namespace belay
