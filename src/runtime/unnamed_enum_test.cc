// Tests enum values without a name, which could not be read again: they are rejected before
// anything is written, wherever they occur, and the stored data remains readable.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/crashing_store_fixture.h"

namespace belay::unnamed_enum_test {

enum class Level { low, high };

struct Alarm {
  Level level = Level::low;
  std::vector<Level> levels{};
  std::optional<Level> before{};
  int count = 0;
};

struct Note {
  static constexpr std::string_view collection = "notes";
  static auto indexed() { return std::tuple{&Note::name}; }
  std::string name{};
  Level level = Level::low;
  std::string key() const { return name; }
};

namespace {

using ::testing::HasSubstr;

constexpr auto unnamed = static_cast<Level>(7);

struct UnnamedEnums : CrashingStoreFixture {
  static GraphBuilder<Alarm> after(auto node, std::vector<std::string_view> targets = {}) {
    GraphBuilder<Alarm> graph{"alarm"};
    graph.node("first", [](const Alarm&, Context&) { return set(&Alarm::level, Level::high); });
    graph.node("second", std::move(node)).destinations(std::move(targets));
    graph.edge(start, "first").edge("first", "second").edge("second", end);
    return graph;
  }
  // Expects that the run fails with `invalid` and that another process reads it unchanged.
  void expect_refused(GraphBuilder<Alarm> builder, const std::string& words) {
    auto graph = std::move(builder).build().value();
    StartOptions options;
    options.thread = ThreadId("alarm");
    auto view = block_on(loop, process(graph)->start(graph, Alarm{}, options)).value();
    EXPECT_EQ(view.row.status, RunStatus::failed);
    EXPECT_EQ(view.row.error_code, "invalid");
    EXPECT_THAT(view.row.error, HasSubstr(words));
    EXPECT_THAT(view.row.error, HasSubstr("An enum is 7"));
    auto read = block_on(loop, process(graph)->status(default_tenant(), ThreadId("alarm"))).value();
    EXPECT_EQ(read.state["level"], Value("high"));
    CheckScope scope;
    scope.graphs = {graph.definition()};
    auto report = block_on(loop, check_store(store, std::move(scope))).value();
    for (const Violation& each : report.violations) ADD_FAILURE() << each.rule << each.message;
  }
};

TEST_F(UnnamedEnums, OfAnUpdateFailTheRun) {
  expect_refused(after([](const Alarm&, Context&) { return set(&Alarm::level, unnamed); }),
                 "The channel \"level\" cannot be saved");
}

TEST_F(UnnamedEnums, InAListFailTheRun) {
  expect_refused(after([](const Alarm&, Context&) { return append(&Alarm::levels, unnamed); }),
                 "The channel \"levels\" cannot be saved");
}

TEST_F(UnnamedEnums, InAnOptionalFailTheRun) {
  expect_refused(after([](const Alarm&, Context&) { return set(&Alarm::before, unnamed); }),
                 "The channel \"before\" cannot be saved");
}

TEST_F(UnnamedEnums, OfAReducerFailTheRun) {
  auto graph = after([](const Alarm&, Context&) { return reduce(&Alarm::level, Level::low); });
  graph.reducer(&Alarm::level, [](Level, const Level&) { return unnamed; });
  expect_refused(std::move(graph), "The channel \"level\" cannot be saved");
}

TEST_F(UnnamedEnums, OfAnEffectFailTheRun) {
  expect_refused(after([](const Alarm&, Context& context) {
                   context.keyed_effect("look", [] { return unnamed; });
                   return unchanged<Alarm>();
                 }),
                 "The result of the effect \"look\" can't be recorded");
}

TEST_F(UnnamedEnums, OfARecordFailTheRun) {
  expect_refused(after([](const Alarm&, Context& context) {
                   context.save(Note{"a", unnamed});
                   return unchanged<Alarm>();
                 }),
                 "level");
}

TEST_F(UnnamedEnums, OfASendFailTheRun) {
  auto graph = after(
      [](const Alarm&, Context&) { return unchanged<Alarm>().send("third", unnamed); }, {"third"});
  graph.node("third", [](const Alarm&, Context&) { return unchanged<Alarm>(); });
  graph.edge("third", end);
  expect_refused(std::move(graph), "The input for \"third\" can't be sent");
}

TEST_F(UnnamedEnums, OfAnInputAreRefusedAtTheStart) {
  auto builder = after([](const Alarm&, Context&) { return unchanged<Alarm>(); });
  auto graph = std::move(builder).build().value();
  auto view = block_on(loop, process(graph)->start(graph, Alarm{.level = unnamed}, {}));
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().code, ErrorCode::invalid);
  EXPECT_THAT(view.error().message, HasSubstr("The input cannot be saved"));
  EXPECT_EQ(store.commits, 0);
}

}  // namespace
}  // namespace belay::unnamed_enum_test
