// Each rule reports the stores that violate it, and no other rule reports them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/broken_stores.h"
#include "tests/support/run_scenarios.h"

namespace belay::check {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
      return rows_in(view, scope);
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
  std::set<std::string> expected{GetParam().rule};
  if (GetParam().also) expected.insert(GetParam().also);
  EXPECT_EQ(rules, expected) << told;
}

INSTANTIATE_TEST_SUITE_P(EachRule, BrokenStores, ::testing::ValuesIn(all_broken()),
                         [](const auto& test) {
                           return std::string(test.param.rule) + "_" + test.param.name;
                         });

// Other rules also report the damage; this one names the value.
TEST(CheckRules, AValueThatCanNotBeReadIsNamed) {
  CheckReport report = report_of([](StoredRows& rows, CheckScope&) {
    RunContents& run = rows.run("completed");
    for (ValueRow& value : run.values) {
      if (value.channel == "draft") value.envelope = json_envelope("\"A plan");
    }
  });
  std::vector<std::string> told;
  for (const Violation& each : report.violations) {
    if (each.rule == "I2") told.push_back(each.message);
  }
  EXPECT_THAT(told, Contains(HasSubstr("the value of \"draft\" at commit 3 cannot be read")));
}

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

// The rows of one run only.
StoredRows rows_of(std::size_t which) {
  StoredRows rows = sound().rows;
  rows.runs = {rows.runs[which % rows.runs.size()]};
  const RunRow& row = rows.runs.front().row;
  std::erase_if(rows.threads, [&](const ThreadRow& each) { return each.last_run != row.run; });
  std::erase_if(rows.records, [&](const StoredRecord& each) { return each.run != row.run; });
  return rows;
}

// Changes random bytes of a run's rows: every change is reported, without a crash. Pending writes
// of a superstep in progress are excepted: no chain hash covers them yet.
TEST(CheckRules, DamageAnywhereIsFound) {
  testing::SeededRandom random(5);
  for (int i = 0; i < 120; ++i) {
    StoredRows rows = rows_of(random.bits());
    RunContents& run = rows.runs.front();
    std::erase_if(run.values, [&](const ValueRow& each) {
      return each.seq > run.checkpoints.back().state_seq;
    });
    SpaceContents* checkpoint_ns = &run;
    if (!run.inner.empty() && i % 2 == 0) checkpoint_ns = &run.inner.begin()->second;
    if (checkpoint_ns->values.empty()) checkpoint_ns = &run;
    bool has_values = !checkpoint_ns->values.empty();
    std::string* bytes =
        &checkpoint_ns->checkpoints[random.bits() % checkpoint_ns->checkpoints.size()].next_tasks;
    if (i % 3 != 0 && has_values) {
      bytes = &checkpoint_ns->values[random.bits() % checkpoint_ns->values.size()].envelope;
    }
    if (i % 7 == 0) bytes = &run.row.input;
    std::size_t place = random.bits() % bytes->size();
    (*bytes)[place] = static_cast<char>((*bytes)[place] ^ (1 << random.bits() % 8));
    if (i % 5 == 0) bytes->resize(place);
    std::string thread = run.row.thread.text;
    TamperedStore store(std::move(rows));
    CheckReport report = checked(sound().world.loop, store, sound().world.scope());
    EXPECT_FALSE(report.violations.empty()) << "damage " << i << " of " << thread;
  }
}

struct Draft {
  std::string text = "Dear all";
};

// A store with one run whose approval has expired, with a message.
StoredRows rows_after_an_expiry(testing::SimulatedLoop& loop, testing::SimulatedClock& clock,
                                const Graph<Draft>& graph, const CheckScope& scope) {
  testing::SeededRandom random(7);
  testing::ScriptedModel model;
  auto store = open_memory_store(clock, random);
  RuntimeParts parts{*store, loop, clock, random, model};
  auto runtime = Runtime::open(std::move(parts)).value();
  runtime->add(graph);
  StartOptions options;
  options.thread = ThreadId("first");
  EXPECT_TRUE(block_on(loop, runtime->start(graph, Draft{}, std::move(options))).ok());
  loop.run_until(clock.now() + std::chrono::hours(2));
  EXPECT_EQ(block_on(loop, runtime->process_due(default_tenant()))->expired_approvals, 1u);
  std::function<Result<StoredRows>(Snapshot&)> reader = [scope](Snapshot& view) {
    return rows_in(view, scope);
  };
  return block_on(loop, read<StoredRows>(*store, std::move(reader))).value();
}

TEST(CheckRules, AnExpiryWithoutItsMessageIsFound) {
  GraphBuilder<Draft> builder{"draft"};
  builder
      .approval("review", &Draft::text,
                {.question = "Send?",
                 .expires = std::chrono::hours(1),
                 .on_expiry = ExpiryMessage{"late", Value("desk 7")}})
      .approved(end)
      .rejected(end);
  builder.edge(start, "review");
  auto graph = std::move(builder).build().value();
  CheckScope scope;
  scope.graphs = {graph.definition()};
  testing::SimulatedClock clock{*instant_from("2026-11-27T12:00:00Z")};
  testing::SimulatedLoop loop(clock);
  StoredRows rows = rows_after_an_expiry(loop, clock, graph, scope);
  auto violations = [&](StoredRows stored) {
    TamperedStore store(std::move(stored));
    std::vector<std::string> told;
    for (const Violation& each : checked(loop, store, scope).violations) {
      told.push_back(each.rule + ": " + each.message);
    }
    return told;
  };
  EXPECT_THAT(violations(rows), ElementsAre());
  StoredRows another_topic = rows;
  another_topic.run("first").outbox.at(0).topic = "early";
  EXPECT_THAT(violations(std::move(another_topic)),
              ElementsAre("I16: the outbox has a message of an expiry that is not its own."));
  rows.run("first").outbox.clear();
  EXPECT_THAT(violations(std::move(rows)),
              ElementsAre("I16: it has expired, but its message is not in the outbox."));
}

}  // namespace
}  // namespace belay::check
