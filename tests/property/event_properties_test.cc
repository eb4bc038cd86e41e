// The events of runs with parallel nodes and crashes: a reader that polls at arbitrary times and
// continues after the last id that it has seen gets the same events as one that reads at the end.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/property/wide_player.h"

namespace belay::property {
namespace {

void add(std::vector<std::string>& all, std::vector<std::string> more) {
  all.insert(all.end(), more.begin(), more.end());
}

RC_GTEST_PROP(WideEvents, AReaderWhoComesAndGoesGetsWhatIsReadAtTheEnd, ()) {
  auto scenario = *any_wide_scenario();
  auto crashes = *any_crashes();
  // The number of commits between two polls of the reader.
  auto pauses = *rc::gen::container<std::vector<int>>(8, rc::gen::inRange(1, 6));
  WidePlayer player(scenario);
  std::vector<std::string> seen;
  int left = 1;
  std::size_t looks = 0;
  player.when_committed = [&] {
    if (--left > 0) return;
    left = pauses[looks++ % pauses.size()];
    add(seen, player.events(player.last_event));
  };
  player.play(crashes);
  player.when_committed = nullptr;
  add(seen, player.events(player.last_event));
  RC_ASSERT(player.violations() == std::string());
  RC_ASSERT(seen == player.events());
}

RC_GTEST_PROP(WideEvents, FromAnyIdOnTheRestIsTheSame, ()) {
  auto scenario = *any_wide_scenario();
  WidePlayer player(scenario);
  player.play(*any_crashes());
  std::vector<std::string> all = player.events();
  for (std::size_t i = *rc::gen::inRange<std::size_t>(0, 5); i < all.size(); i += 5) {
    auto after = event_id_from(*parse_json(all[i]).value()["id"].as_string());
    std::vector<std::string> rest(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
    RC_ASSERT(player.events(after) == rest);
  }
  RC_ASSERT(player.violations() == std::string());
}

// The same for every pause between the polls of one reader, in a run with all kinds of nodes and
// with deferred commits (Durability::exit).
TEST(WideEvents, WithExitTheyAreTheSameToo) {
  using Kind = WideScenario::Kind;
  WideScenario scenario;
  scenario.layers = {{Kind::approve, Kind::work, Kind::slow},
                     {Kind::chain, Kind::sends},
                     {Kind::save, Kind::work, Kind::approve}};
  scenario.durability = static_cast<int>(Durability::exit);
  for (int each = 1; each < 12; ++each) {
    WidePlayer player(scenario);
    std::vector<std::string> seen;
    int left = each;
    player.when_committed = [&] {
      if (--left > 0) return;
      left = each;
      add(seen, player.events(player.last_event));
    };
    RunView view = player.play({});
    EXPECT_EQ(view.row.status, RunStatus::completed) << view.row.error;
    player.when_committed = nullptr;
    add(seen, player.events(player.last_event));
    EXPECT_EQ(seen, player.events()) << each;
    EXPECT_EQ(player.violations(), "");
  }
}

}  // namespace
}  // namespace belay::property
