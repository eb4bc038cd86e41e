#include "scheduler/tick_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "belay/testing.h"
#include "scheduler/schedule_rules.h"

namespace belay::scheduler {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct TickDecisions : ::testing::Test {
  static Instant at(std::string_view text) { return instant_from(text).value(); }

  Schedule add(ScheduleChange wanted = {}) {
    if (!wanted.expression) wanted.expression = "@every 10s";
    wanted.agent = "job";
    auto made = new_schedule(UserId("ana"), "hourly", wanted, zones, now);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.ok() ? *made : Schedule();
  }
  static ScheduleChange with_overlap(Overlap overlap) {
    ScheduleChange wanted;
    wanted.overlap = name_of(overlap);
    return wanted;
  }
  // Applies a decision: its entries replace those of equal keys.
  void take(TickDecision decision) {
    schedule = std::move(decision.schedule);
    for (ScheduleTick& entry : decision.entries) entries[entry.key()] = std::move(entry);
  }
  cron::Schedule times() { return times_of(schedule, zones).value(); }
  void decide(bool is_open) { take(decide_ticks(schedule, times(), is_open, now)); }
  void started() { take(with_start(schedule, times(), "run", "thread", now)); }
  std::vector<std::string> decisions() const {
    std::map<Instant, std::string> sorted;
    for (const auto& [key, entry] : entries) {
      sorted[entry.at] = entry.decision + " " + std::to_string(entry.count);
    }
    std::vector<std::string> texts;
    for (const auto& [first, text] : sorted) texts.push_back(text);
    return texts;
  }
  using Texts = std::vector<std::string>;

  const cron::ZoneDatabase zones;
  Instant now = at("2026-11-28T12:00:01Z");
  Schedule schedule;
  std::map<std::string, ScheduleTick> entries;
};

TEST_F(TickDecisions, StartATickWhenItsTimeHasCome) {
  schedule = add();
  EXPECT_EQ(schedule.wake, at("2026-11-28T12:00:10Z"));
  now = schedule.wake - 1us;
  decide(false);
  EXPECT_FALSE(schedule.starting);
  now += 1us;
  decide(false);
  ASSERT_TRUE(schedule.starting);
  EXPECT_EQ(*schedule.starting, at("2026-11-28T12:00:10Z"));
  EXPECT_EQ(schedule.wake, now) << "the run is not started yet";
  started();
  EXPECT_EQ(schedule.wake, at("2026-11-28T12:00:20Z"));
  EXPECT_EQ(decisions(), Texts{"started 1"});
  EXPECT_EQ(schedule.last_run, "run");
}

TEST_F(TickDecisions, SkipTicksOfAnOpenRunAsOneEntry) {
  schedule = add();
  for (int i = 0; i < 3'600; i += 10) {
    now += 10s;
    decide(true);
  }
  EXPECT_EQ(decisions(), Texts{"skipped 360"});
  EXPECT_EQ(schedule.skipped, 360);
  now += 10s;
  decide(false);
  started();
  now += 20s;
  decide(true);
  EXPECT_EQ(decisions(), (Texts{"skipped 360", "started 1", "skipped 2"}));
}

TEST_F(TickDecisions, BufferOneTickUntilTheRunHasEnded) {
  schedule = add(with_overlap(Overlap::buffer_one));
  now += 10s;
  decide(true);
  ASSERT_TRUE(schedule.buffered);
  EXPECT_EQ(schedule.wake, now + 1s);
  now += 20s;
  decide(true);
  EXPECT_EQ(decisions(), (Texts{"buffered 1", "skipped 2"}));
  Instant buffered = *schedule.buffered;
  decide(false);
  EXPECT_EQ(schedule.starting, buffered);
  EXPECT_FALSE(schedule.buffered);
  started();
  EXPECT_EQ(decisions(), (Texts{"started 1", "skipped 2"}));
}

TEST_F(TickDecisions, AllowRunsBesideEachOtherAndCancelOthers) {
  schedule = add(with_overlap(Overlap::allow));
  now += 30s;
  for (int i = 0; i < 3; ++i) {
    decide(true);
    ASSERT_TRUE(schedule.starting) << i;
    EXPECT_FALSE(schedule.starting_cancels);
    started();
  }
  decide(true);
  EXPECT_FALSE(schedule.starting);
  EXPECT_EQ(decisions(), (Texts{"started 1", "started 1", "started 1"}));

  schedule = add(with_overlap(Overlap::cancel_other));
  now += 10s;
  decide(false);
  EXPECT_FALSE(schedule.starting_cancels);
  started();
  now += 10s;
  decide(true);
  EXPECT_TRUE(schedule.starting_cancels);
}

TEST_F(TickDecisions, MissTheTicksOfAnOutageAsOneEntry) {
  schedule = add();
  now += std::chrono::hours(1000);
  decide(false);
  ASSERT_TRUE(schedule.starting);
  EXPECT_EQ(now - *schedule.starting, 51s) << "the first within the catch-up window";
  EXPECT_EQ(decisions(), Texts{"missed " + std::to_string(360'000 - 6)});
  EXPECT_THAT(entries.begin()->second.reason, HasSubstr("60 s"));
}

TEST_F(TickDecisions, DelayATickByItsJitter) {
  ScheduleChange wanted;
  wanted.expression = "@every 1h";
  wanted.jitter_seconds = 600;
  schedule = add(wanted);
  Instant tick = at("2026-11-28T13:00:00Z");
  EXPECT_GE(schedule.wake, tick);
  EXPECT_LT(schedule.wake, tick + 600s);
  now = schedule.wake - 1us;
  decide(false);
  EXPECT_FALSE(schedule.starting);
  now += 1us;
  decide(false);
  EXPECT_EQ(schedule.starting, tick);
}

TEST_F(TickDecisions, RepeatNothingWhenTheClockIsSetBack) {
  schedule = add();
  now += 10s;
  decide(false);
  started();
  for (std::chrono::seconds back : {5s, 100s, 100'000s}) {
    now -= back;
    decide(false);
    EXPECT_FALSE(schedule.starting);
    EXPECT_EQ(schedule.wake, at("2026-11-28T12:00:20Z"));
  }
  EXPECT_EQ(decisions(), Texts{"started 1"});
}

TEST_F(TickDecisions, OfAPausedScheduleWaitForItsResumption) {
  schedule = add(with_overlap(Overlap::buffer_one));
  now += 10s;
  decide(true);
  ScheduleChange pause;
  pause.paused = true;
  pause.reason = "Holidays";
  take(changed_schedule(schedule, pause, zones, now).value());
  EXPECT_FALSE(schedule.waits);
  EXPECT_EQ(decisions(), Texts{"skipped 1"}) << "the buffered tick";
  now += 30s;
  decide(false);
  EXPECT_FALSE(schedule.starting);
  ScheduleChange resume;
  resume.paused = false;
  take(changed_schedule(schedule, resume, zones, now).value());
  EXPECT_TRUE(schedule.waits);
  EXPECT_EQ(decisions(), (Texts{"skipped 1", "missed 3"}));
  EXPECT_EQ(entries.rbegin()->second.reason, "The schedule was paused: Holidays");
  EXPECT_TRUE(schedule.reason.empty());
}

TEST_F(TickDecisions, SkipTheBufferedTickOfAPausedScheduleAlone) {
  schedule = add(with_overlap(Overlap::buffer_one));
  for (int i = 0; i < 3; ++i) {
    now += 10s;
    decide(true);
  }
  EXPECT_EQ(decisions(), (Texts{"buffered 1", "skipped 2"}));
  ScheduleChange pause;
  pause.paused = true;
  take(changed_schedule(schedule, pause, zones, now).value());
  EXPECT_EQ(decisions(), (Texts{"skipped 1", "skipped 2"}));
  for (const auto& [key, entry] : entries) EXPECT_LE(entry.at, entry.until);
  EXPECT_EQ(schedule.skipped, 3);
}

TEST_F(TickDecisions, OfAChangedExpressionBeginWithTheChange) {
  schedule = add();
  now += 15s;
  ScheduleChange change;
  change.expression = "@every 5s";
  take(changed_schedule(schedule, change, zones, now).value());
  EXPECT_EQ(decisions(), Texts{"missed 1"});
  EXPECT_EQ(schedule.wake, at("2026-11-28T12:00:20Z"));
}

TEST_F(TickDecisions, ThatStartStillDoWhenTheScheduleIsPausedMeanwhile) {
  schedule = add();
  now += 10s;
  decide(false);
  ScheduleChange pause;
  pause.paused = true;
  take(changed_schedule(schedule, pause, zones, now).value());
  EXPECT_TRUE(schedule.waits);
  ASSERT_TRUE(schedule.starting);
  started();
  EXPECT_FALSE(schedule.waits);
  EXPECT_EQ(decisions(), Texts{"started 1"});
}

TEST_F(TickDecisions, EndWithTheLastTick) {
  schedule = add();
  now = at("9999-12-31T23:59:59Z");
  decide(false);
  for (int i = 0; i < 10 && schedule.starting; ++i) {
    started();
    decide(false);
  }
  EXPECT_FALSE(schedule.waits);
}

struct Refused {
  std::string what;
  ScheduleChange change;
  std::string message;
};

TEST_F(TickDecisions, OfInvalidMembersAreRefused) {
  auto with = [](auto member, auto value) {
    ScheduleChange change;
    change.agent = "job";
    change.expression = "@every 10s";
    change.*member = value;
    return change;
  };
  using C = ScheduleChange;
  std::vector<Refused> rows = {
      {"never", with(&C::expression, "0 0 30 2 *"), "30"},
      {"no expression", with(&C::expression, ""), ""},
      {"nonsense", with(&C::expression, "every day"), ""},
      {"zone", with(&C::zone, "Europe/Madrit"), "Europe/Madrit"},
      {"path", with(&C::zone, "../../etc/passwd"), ""},
      {"overlap", with(&C::overlap, "queue"), "buffer_one"},
      {"catch-up", with(&C::catch_up_seconds, -1), "catchUpSeconds"},
      {"jitter", with(&C::jitter_seconds, 100'000), "jitterSeconds"},
      {"agent", with(&C::agent, ""), "agent"},
      {"queue", with(&C::queue, ""), "queue"},
      {"input", with(&C::input, Value("text")), "object"},
      {"reason", with(&C::reason, "because"), "paused"},
  };
  for (const Refused& row : rows) {
    auto made = new_schedule(UserId("ana"), "hourly", row.change, zones, now);
    ASSERT_FALSE(made.ok()) << row.what;
    EXPECT_EQ(made.error().code, ErrorCode::invalid) << row.what;
    EXPECT_THAT(made.error().message, HasSubstr(row.message)) << row.what;
  }
  for (const std::string& name : {std::string(), std::string(300, 'n'), std::string("a\nb")}) {
    ScheduleChange change = with(&C::zone, "UTC");
    EXPECT_FALSE(new_schedule(UserId("ana"), name, change, zones, now).ok());
  }
}

// Any policy, any clock and any ends of runs: each tick has exactly one decision.
TEST_F(TickDecisions, AreOneForEachTick) {
  std::int64_t decided = 0;
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    testing::SeededRandom chance{seed};
    auto number = [&](std::uint64_t most) {
      return static_cast<std::int64_t>(chance.bits() % most);
    };
    now = at("2026-11-28T12:00:01Z");
    entries.clear();
    ScheduleChange wanted = with_overlap(static_cast<Overlap>(number(4)));
    wanted.expression = std::array{"@every 1s", "@every 7s", "*/5 * * * * *", "1,2,30 * * * * *",
                                   "* * * * *"}[static_cast<std::size_t>(number(5))];
    wanted.catch_up_seconds = number(3) == 0 ? 0 : number(120);
    wanted.jitter_seconds = number(2) == 0 ? 0 : number(10);
    schedule = add(wanted);
    Instant created = now;
    bool is_open = false;
    for (int i = 0; i < 60; ++i) {
      now += std::chrono::milliseconds(number(4) == 0 ? number(400'000) : number(3'000));
      if (number(8) == 0) now -= std::chrono::milliseconds(number(100'000));
      decide(is_open);
      if (schedule.starting && number(4) != 0) {
        started();
        is_open = true;
      } else if (schedule.starting) {
        take(with_failure(schedule, times(), "no", now));
      }
      if (number(3) == 0) is_open = false;
    }
    std::map<Instant, ScheduleTick> in_order;
    std::int64_t count = 0;
    for (const auto& [key, entry] : entries) {
      ASSERT_TRUE(in_order.emplace(entry.at, entry).second) << seed;
      count += entry.count;
    }
    EXPECT_EQ(count, times().count(created, schedule.decided)) << seed;
    Instant last = created;
    for (const auto& [first, entry] : in_order) {
      EXPECT_GT(entry.at, last) << seed;
      EXPECT_EQ(entry.count, times().count(entry.at - 1us, entry.until)) << seed;
      last = entry.until;
    }
    decided += count;
  }
  EXPECT_GT(decided, 10'000);
}

}  // namespace
}  // namespace belay::scheduler
