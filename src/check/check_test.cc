// Each rule finds what breaks it, and what breaks one rule is reported by no other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "check/broken_stores.h"
#include "check/scenarios.h"

namespace belay::check {
namespace {

using ::testing::ElementsAre;

std::vector<BrokenStore> all_broken() {
  std::vector<BrokenStore> all = broken_properties();
  for (const BrokenStore& each : broken_invariants()) all.push_back(each);
  return all;
}

// Played once: the cases change copies of its rows.
struct Sound {
  Sound() {
    world.play_all();
    CheckScope scope = world.scope();
    std::function<Result<StoredRows>(Snapshot&)> reader = [scope](Snapshot& view) {
      return rows_in(view, scope.collections);
    };
    rows = block_on(world.loop, read<StoredRows>(*world.store, std::move(reader))).value();
  }
  Scenarios world;
  StoredRows rows;
};
Sound& sound() {
  static Sound played;
  return played;
}

CheckReport report_of(void (*tamper)(StoredRows&, CheckScope&)) {
  StoredRows rows = sound().rows;
  CheckScope scope = sound().world.scope();
  tamper(rows, scope);
  TamperedStore store(std::move(rows));
  return checked(sound().world.loop, store, std::move(scope));
}

struct BrokenStores : ::testing::TestWithParam<BrokenStore> {};

TEST_P(BrokenStores, AreFoundByTheirRuleAndNoOther) {
  CheckReport report = report_of(GetParam().tamper);
  std::set<std::string> rules;
  std::string told;
  for (const Violation& each : report.violations) {
    rules.insert(each.rule);
    told += "\n" + each.rule + " " + each.subject + ": " + each.message;
  }
  EXPECT_THAT(rules, ElementsAre(GetParam().rule)) << told;
}

INSTANTIATE_TEST_SUITE_P(EachRule, BrokenStores, ::testing::ValuesIn(all_broken()),
                         [](const auto& test) {
                           return std::string(test.param.rule) + "_" + test.param.name;
                         });

TEST(CheckRules, EachHasAStoreThatBreaksExactlyIt) {
  std::set<std::string_view> broken, known;
  for (const BrokenStore& each : all_broken()) broken.insert(each.rule);
  for (const CheckRule& each : check_rules()) {
    EXPECT_TRUE(known.insert(each.id).second) << each.id << " is there twice";
    EXPECT_TRUE(broken.contains(each.id)) << each.id << " has no breaking test";
    EXPECT_TRUE(each.sentence.ends_with(".")) << each.id;
  }
  EXPECT_EQ(broken.size(), known.size());
}

TEST(CheckRules, WhatTheTamperedStoreShowsUntouchedIsSound) {
  CheckReport report = report_of([](StoredRows&, CheckScope&) {});
  EXPECT_TRUE(report.violations.empty());
}

TEST(CheckRules, OneRunsManyViolationsAreCutWithTheirNumber) {
  CheckReport report = report_of([](StoredRows&, CheckScope& scope) {
    RunId run = sound().rows.run("completed").row.run;
    for (std::uint64_t seq = 101; seq <= 130; ++seq) scope.acknowledged.emplace_back(run, seq);
  });
  ASSERT_EQ(report.violations.size(), 10u);
  EXPECT_EQ(report.violations.back().message, "21 more like these.");
}

// Bytes at random places of a run's rows: found, and never a crash.
TEST(CheckRules, DamageAnywhereIsFound) {
  testing::SeededRandom random(5);
  for (int i = 0; i < 60; ++i) {
    StoredRows rows = sound().rows;
    RunContents& run = rows.runs[random.bits() % rows.runs.size()];
    std::string* bytes = &run.values[random.bits() % run.values.size()].envelope;
    if (i % 3 == 0) bytes = &run.checkpoints[random.bits() % run.checkpoints.size()].next_tasks;
    if (i % 7 == 0) bytes = &run.row.input;
    std::size_t place = random.bits() % bytes->size();
    (*bytes)[place] = static_cast<char>((*bytes)[place] ^ (1 << random.bits() % 8));
    if (i % 5 == 0) bytes->resize(place);
    TamperedStore store(std::move(rows));
    CheckReport report = checked(sound().world.loop, store, sound().world.scope());
    EXPECT_FALSE(report.violations.empty()) << "damage " << i;
  }
}

}  // namespace
}  // namespace belay::check
