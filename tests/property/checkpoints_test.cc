// The contents of checkpoints and the history of a thread: the cases of the specification's
// checkpointer.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "tests/property/player.h"

namespace belay::property {
// A state with any text, number and list.
struct Luggage {
  std::string text;
  std::int64_t number = 0;
  double real = 0;
  std::vector<std::string> list = {};
  std::map<std::string, std::string> names = {};
  std::optional<bool> flag = std::nullopt;
};

namespace {

// Characters of one to four bytes of UTF-8, and those that JSON must escape.
rc::Gen<std::string> any_text() {
  auto letter = rc::gen::element<std::string>("a", "B", "0", " ", "\"", "\\", "\n", "\t", "\x01",
                                              "é", "ß", "漢", "\xF0\x9F\x98\x80", "\u2028", "/");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(letter),
                      [](const std::vector<std::string>& letters) {
                        std::string text;
                        for (const std::string& each : letters) text += each;
                        return text;
                      });
}

RunView carry(Player& player, Luggage luggage, const std::string& thread) {
  GraphBuilder<Luggage> builder{"carrier"};
  builder.node("take", [](const Luggage& taken, Context&) {
    return set(&Luggage::text, taken.text)
        .set(&Luggage::list, taken.list)
        .set(&Luggage::names, taken.names)
        .set(&Luggage::flag, taken.flag);
  });
  builder.edge(start, "take").edge("take", end);
  auto graph = std::move(builder).build().value();
  player.runtime->add(graph);
  StartOptions options;
  options.thread = ThreadId(thread);
  return player.wait(player.runtime->start(graph, std::move(luggage), std::move(options))).value();
}

RC_GTEST_PROP(Checkpoints, WhateverIsSavedIsLoaded, ()) {
  Luggage luggage;
  luggage.text = *any_text();
  luggage.number = *rc::gen::arbitrary<std::int64_t>();
  luggage.real = *rc::gen::arbitrary<double>();
  luggage.list = *rc::gen::container<std::vector<std::string>>(any_text());
  luggage.names = *rc::gen::container<std::map<std::string, std::string>>(any_text(), any_text());
  if (*rc::gen::arbitrary<bool>()) luggage.flag = *rc::gen::arbitrary<bool>();
  std::string expected = encode_json(luggage).value();
  Player player;
  RunView view = carry(player, luggage, "t");
  for (std::uint64_t seq = 1; seq <= view.row.seq; ++seq) {
    auto loaded =
        player.wait(player.runtime->status_at(default_tenant(), ThreadId("t"), seq)).value();
    RC_ASSERT(loaded.row.thread == ThreadId("t"));
    RC_ASSERT(encode_json(decode_json<Luggage>(loaded.state).value()).value() == expected);
  }
}

TEST(Checkpoints, SavingAValidStateGivesAnIdThatSortsByTime) {
  Player player;
  RunView view = carry(player, Luggage{}, "t");
  auto checkpoints = player.checkpoints(view);
  ASSERT_EQ(checkpoints.size(), 2u);
  EXPECT_TRUE(uuid_from(checkpoints[0].id.text()).has_value());
  EXPECT_LT(checkpoints[0].id, checkpoints[1].id);
  EXPECT_EQ(view.row.checkpoint, checkpoints[1].id);
}

TEST(Checkpoints, LoadingAThreadGivesItsNewest) {
  Player player;
  carry(player, Luggage{}, "t");
  RunView loaded = player.status("t");
  EXPECT_EQ(loaded.row.checkpoint, player.checkpoints(loaded).back().id);
  EXPECT_EQ(loaded.row.status, RunStatus::completed);
}

TEST(Checkpoints, LoadingOneGivesTheStateAsItWasThen) {
  Player player;
  GraphBuilder<Luggage> builder{"counter"};
  builder.node("count",
               [](const Luggage&, Context&) { return add(&Luggage::number, std::int64_t{1}); });
  builder.edge(start, "count")
      .branch("count", [](const Luggage& taken) { return taken.number >= 5; }, {"count", end});
  auto graph = std::move(builder).build().value();
  player.runtime->add(graph);
  StartOptions options;
  options.thread = ThreadId("t");
  player.wait(player.runtime->start(graph, Luggage{}, options)).value();
  for (std::uint64_t seq = 1; seq <= 6; ++seq) {
    auto loaded = player.wait(player.runtime->status_at(default_tenant(), ThreadId("t"), seq));
    EXPECT_EQ(loaded->state["number"].as_uint(), seq - 1);
  }
}

TEST(Checkpoints, LoadingWhatDoesNotExistIsNotFound) {
  Player player;
  carry(player, Luggage{}, "t");
  auto beyond = player.wait(player.runtime->status_at(default_tenant(), ThreadId("t"), 3));
  EXPECT_EQ(beyond.error().code, ErrorCode::not_found);
  auto unknown = player.wait(player.runtime->status(default_tenant(), ThreadId("unknown")));
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
}

TEST(Checkpoints, SavingWhatIsNoJsonFailsTheRunAndWritesNothingOfIt) {
  Player player;
  GraphBuilder<Luggage> builder{"spoiler"};
  builder.node("spoil", [](const Luggage&, Context&) {
    return set(&Luggage::real, std::numeric_limits<double>::quiet_NaN())
        .set(&Luggage::text, std::string("changed"));
  });
  builder.edge(start, "spoil").edge("spoil", end);
  auto graph = std::move(builder).build().value();
  player.runtime->add(graph);
  auto view = player.wait(player.runtime->start(graph, Luggage{}, StartOptions{})).value();
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_EQ(view.row.error_code, "invalid");
  EXPECT_EQ(view.state["text"], Value(""));
}

RC_GTEST_PROP(Checkpoints, EachDecisionAddsOneToTheHistory, ()) {
  Scenario scenario;
  scenario.nodes = {{NodePlan::work, 0, 1, true},
                    {NodePlan::approve, *rc::gen::inRange(0, 4), 1, true},
                    {NodePlan::save, 0, 1, true}};
  scenario.seed = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
  auto verdicts =
      *rc::gen::container<std::vector<int>>(rc::gen::element<int>(approve, reject, edit));
  Player player;
  RunView view = player.play_until_asked(scenario);
  for (int verdict : verdicts) {
    if (!view.approval) break;
    std::uint64_t before = view.row.seq;
    InterruptId interrupt = view.approval->interrupt;
    Decision decision = player.decision(verdict);
    player.wait(player.runtime->decide(default_tenant(), interrupt, std::move(decision))).value();
    view = player.status("t");
    auto checkpoints = player.checkpoints(view);
    RC_ASSERT(checkpoints.at(before).kind == CommitKind::decision);
    RC_ASSERT(checkpoints.size() == view.row.seq);
    RC_ASSERT(view.row.checkpoint == checkpoints.back().id);
    player.reopen();
    RC_ASSERT(player.status("t").row == view.row);
  }
  RC_ASSERT(player.violations() == std::string());
}

}  // namespace
}  // namespace belay::property
