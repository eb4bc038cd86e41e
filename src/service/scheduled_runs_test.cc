#include "service/scheduled_runs.h"

#include <gmock/gmock.h>

#include <thread>

#include "tests/support/service_fixture.h"

namespace belay {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;

class ScheduledRuns : public ServiceFixture {
 protected:
  static ModuleSchedule every(std::chrono::seconds interval, std::string item = "a hat") {
    ModuleSchedule schedule{"orders", "order", interval};
    schedule.input = Value::object({{"item", std::move(item)}});
    return schedule;
  }
  Result<std::size_t> start_at(Instant now, const std::vector<ModuleSchedule>& schedules) {
    return wait(
        start_scheduled_runs(*service_, *runtime_, local_program, UserId("ana"), schedules, now));
  }
  std::vector<std::string> threads() {
    ThreadPage page;
    page.limit = 100;
    std::vector<std::string> names;
    for (const ListedThread& each : wait(service_->threads(local_program, page)).value()) {
      names.push_back(each.thread.thread.text);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  const Instant noon_ = instant_from("2026-11-27T12:00:00Z").value();
};

TEST_F(ScheduledRuns, StartAtEachTimeOnceAndNotAtTheFirstOne) {
  std::vector<ModuleSchedule> hourly = {every(hours(1))};
  EXPECT_EQ(start_at(noon_ + minutes(5), hourly).value(), 0u) << "the schedule is new";
  EXPECT_EQ(start_at(noon_ + minutes(59), hourly).value(), 0u);
  EXPECT_EQ(start_at(noon_ + minutes(60), hourly).value(), 1u);
  EXPECT_EQ(start_at(noon_ + minutes(61), hourly).value(), 0u);
  EXPECT_EQ(start_at(noon_ + hours(2), hourly).value(), 1u);
  EXPECT_EQ(threads(), (std::vector<std::string>{"orders " + to_text(noon_ + hours(1)),
                                                 "orders " + to_text(noon_ + hours(2))}));
  RunRow run = wait(service_->run_of(local_program, ThreadId(threads().front()))).value();
  EXPECT_EQ(run.status, RunStatus::queued);
  EXPECT_EQ(run.user, UserId("ana"));
}

TEST_F(ScheduledRuns, OfTimesWithoutAProcessStartOnlyForTheLatest) {
  std::vector<ModuleSchedule> hourly = {every(hours(1))};
  EXPECT_EQ(start_at(noon_, hourly).value(), 0u);
  EXPECT_EQ(start_at(noon_ + hours(100) + minutes(7), hourly).value(), 1u);
  EXPECT_EQ(threads(), std::vector<std::string>{"orders " + to_text(noon_ + hours(100))});
}

TEST_F(ScheduledRuns, AreNotRepeatedWhenTheClockIsSetBack) {
  std::vector<ModuleSchedule> hourly = {every(hours(1))};
  EXPECT_EQ(start_at(noon_, hourly).value(), 0u);
  EXPECT_EQ(start_at(noon_ + hours(1), hourly).value(), 1u);
  EXPECT_EQ(start_at(noon_ - hours(3), hourly).value(), 0u);
  EXPECT_EQ(start_at(noon_ + hours(1), hourly).value(), 0u);
  EXPECT_EQ(start_at(noon_ + hours(2), hourly).value(), 1u);
}

// As after a crash between the start and the commit of the time.
TEST_F(ScheduledRuns, ThatWereStartedBeforeACrashAreFound) {
  std::vector<ModuleSchedule> hourly = {every(hours(1))};
  EXPECT_EQ(start_at(noon_, hourly).value(), 0u);
  StartRun start = order("orders " + to_text(noon_ + hours(1)), "a hat");
  start.user = UserId("ana");
  start.idempotency_key = start.thread.text;
  start.queued = true;
  ASSERT_TRUE(wait(service_->start(local_program, start)).ok());
  EXPECT_TRUE(start_at(noon_ + hours(1), hourly).ok());
  EXPECT_EQ(threads().size(), 1u);
  EXPECT_EQ(start_at(noon_ + hours(1), hourly).value(), 0u);
}

TEST_F(ScheduledRuns, OfOtherSchedulesStartBesideOneThatFails) {
  ModuleSchedule bad = every(hours(1));
  bad.name = "bad";
  bad.input = Value::object({{"itme", "a hat"}});
  std::vector<ModuleSchedule> both = {bad, every(hours(1))};
  EXPECT_EQ(start_at(noon_, both).value(), 0u);
  for (int tries = 0; tries < 2; ++tries) {
    auto refused = start_at(noon_ + hours(1), both);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("itme"));
  }
  EXPECT_EQ(threads(), std::vector<std::string>{"orders " + to_text(noon_ + hours(1))});
  both[0].input = Value::object({{"item", "a cap"}});
  EXPECT_EQ(start_at(noon_ + hours(1), both).value(), 1u) << "the start is repeated";
}

TEST_F(ScheduledRuns, HaveTimesThatDoNotDependOnTheirProcess) {
  ModuleSchedule schedule = every(minutes(90));
  Instant time = time_of_schedule(schedule, noon_ + minutes(17));
  EXPECT_EQ(time_of_schedule(schedule, time), time);
  EXPECT_EQ(time_of_schedule(schedule, time + minutes(90) - Instant::duration(1)), time);
  EXPECT_EQ(time_of_schedule(schedule, time + minutes(90)), time + minutes(90));
}

TEST_F(ScheduledRuns, WithoutANameOrAnIntervalAreRefused) {
  EXPECT_TRUE(check_schedule(every(std::chrono::seconds(1))).ok());
  auto too_often = check_schedule(every(std::chrono::seconds(0)));
  ASSERT_FALSE(too_often.ok());
  EXPECT_THAT(too_often.error().message, HasSubstr("\"orders\""));
  ModuleSchedule nameless = every(hours(1));
  nameless.name = "";
  EXPECT_FALSE(check_schedule(nameless).ok());
  nameless.name = std::string(limits::identifier_bytes_max - 31, 'n');
  EXPECT_FALSE(check_schedule(nameless).ok());
}

}  // namespace
}  // namespace belay
