#include "tests/doors/doors.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "belay/clock.h"
#include "tests/cli/served.h"

namespace belay::doors {
namespace {

Value member_of(const Value& document, std::string_view path) {
  Value found = document;
  while (!path.empty()) {
    std::size_t point = std::min(path.find('.'), path.size());
    found = Value(found[path.substr(0, point)]);
    path.remove_prefix(std::min(point + 1, path.size()));
  }
  return found;
}

// Formats the result like Row::expected.
std::string said(const Row& row, const Came& came) {
  if (!came.error.empty()) return came.error;
  std::string words =
      std::holds_alternative<Save>(row.asked) ? "saved" : cli::tests::text(came.document["status"]);
  const Value& outcome = came.document["outcome"];
  if (outcome.as_string()) words += " " + *outcome.as_string();
  std::string members;
  for (const std::string& path : row.look) {
    members += (members.empty() ? "" : ", ") + path + "=" +
               cli::tests::text(member_of(came.document, path));
  }
  return members.empty() ? words : words + " {" + members + "}";
}

// Replaces "today in Pacific/Kiritimati" by the current day there.
std::string with_today(std::string expected) {
  constexpr std::string_view words = "today in ";
  std::size_t at = expected.find(words);
  if (at == expected.npos) return expected;
  std::size_t end = expected.find('}', at);
  std::string zone = expected.substr(at + words.size(), end - at - words.size());
  std::string day = TimeZone::named(zone).value().day_of(system_clock()->now());
  return expected.replace(at, end - at, day);
}

Came ask(Door& door, const Row& row) {
  if (const auto* start = std::get_if<Start>(&row.asked)) return door.start(*start);
  if (const auto* save = std::get_if<Save>(&row.asked)) return door.save(*save);
  return door.approve(std::get<Approve>(row.asked));
}

// Rows with the same settings, key and work in progress share one world.
using WorldKey = std::tuple<std::map<std::string, std::string>, std::string, bool>;
WorldKey world_of(const Row& row) { return {row.environment, row.key, row.is_busy}; }

void play(unsigned door) {
  providers::ScriptedProvider provider;
  std::map<WorldKey, std::unique_ptr<Door>> doors;
  // A server that no further row uses would take time from the others.
  std::map<WorldKey, std::size_t> rows_left;
  for (const Row& row : rows()) {
    if ((row.doors & door) != 0) ++rows_left[world_of(row)];
  }
  for (const Row& row : rows()) {
    if ((row.doors & door) == 0) continue;
    SCOPED_TRACE(name_of_door(door) + ": " + row.about + ": " + row.name);
    std::map<std::string, std::string> environment = row.environment;
    for (auto& [name, value] : environment) {
      if (value == "{hang}") value = provider.url();
    }
    std::unique_ptr<Door>& opened = doors[world_of(row)];
    if (!opened || environment.contains("BELAY_TEST_MODEL_FAILS")) {
      opened = make_door(door, environment, row.key);
      if (row.is_busy) {
        EXPECT_TRUE(opened->occupy());
      }
    }
    std::string before = with_today(row.expected);
    Came came = ask(*opened, row);
    // The day might end during the request.
    std::string answer = said(row, came);
    EXPECT_TRUE(answer == before || answer == with_today(row.expected))
        << "expected " << before << ", came " << answer << "\n"
        << came.words << to_json(came.document);
    bool was_refused = std::holds_alternative<Approve>(row.asked) && !came.error.empty();
    if (was_refused) {
      EXPECT_EQ(came.left, "paused") << "a refused edit decides nothing";
    }
    if (--rows_left[world_of(row)] == 0) opened.reset();
  }
}

TEST(Doors, LibraryAnswersAsTheTableSays) { play(library); }
TEST(Doors, CommandAnswersAsTheTableSays) { play(command); }
TEST(Doors, CommandWithAServerAnswersAsTheTableSays) { play(remote); }
TEST(Doors, ServerOfACommandAnswersAsTheTableSays) { play(server); }
TEST(Doors, AgentRouteAnswersAsTheTableSays) { play(agent_route); }
TEST(Doors, RunsRouteAnswersAsTheTableSays) { play(runs_route); }

TEST(Doors, EverySettingHasARowOrAReason) {
  cli::tests::World world;
  Value shown = world.run({"config", "explain", "--json"}).json();
  std::set<std::string> settings;
  for (const Value& each : *shown["settings"].as_array()) {
    settings.insert(cli::tests::text(each["name"]));
  }
  ASSERT_GT(settings.size(), 30u);
  std::set<std::string> named;
  for (const Row& row : rows()) {
    if (!row.about.empty()) named.insert(row.about);
    EXPECT_NE(row.doors, 0u) << row.name;
  }
  for (const auto& [setting, reason] : settings_without_rows()) {
    EXPECT_FALSE(named.contains(setting)) << setting << " has a row: " << reason;
    EXPECT_FALSE(reason.empty()) << setting;
    named.insert(setting);
  }
  EXPECT_EQ(named, settings);
}

}  // namespace
}  // namespace belay::doors
