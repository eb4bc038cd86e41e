#include <gtest/gtest.h>

#include "belay/clock.h"

namespace belay {
namespace {

std::string in(const char* zone, const char* instant) {
  return TimeZone::named(zone).value().text_of(*instant_from(instant));
}

TEST(TimeZones, ShowAnInstantAsTheClocksOfThatPlaceDo) {
  EXPECT_EQ(in("Europe/Madrid", "2026-11-21T23:54:00.123456Z"), "2026-11-22 00:54:00.123456");
  EXPECT_EQ(in("Europe/Madrid", "2026-07-21T23:54:00Z"), "2026-07-22 01:54:00.000000");
  EXPECT_EQ(in("America/Lima", "2026-11-22T03:00:00Z"), "2026-11-21 22:00:00.000000");
  EXPECT_EQ(in("Asia/Kathmandu", "2026-01-01T00:00:00Z"), "2026-01-01 05:45:00.000000");
  EXPECT_EQ(in("UTC", "2026-01-01T00:00:00Z"), "2026-01-01 00:00:00.000000");
}

TEST(TimeZones, KnowWhenSummerTimeBeginsAndEnds) {
  EXPECT_EQ(in("Europe/Madrid", "2026-03-29T00:59:59Z"), "2026-03-29 01:59:59.000000");
  EXPECT_EQ(in("Europe/Madrid", "2026-03-29T01:00:00Z"), "2026-03-29 03:00:00.000000");
  EXPECT_EQ(in("Europe/Madrid", "2026-10-25T00:59:59Z"), "2026-10-25 02:59:59.000000");
  EXPECT_EQ(in("Europe/Madrid", "2026-10-25T01:00:00Z"), "2026-10-25 02:00:00.000000");
  EXPECT_EQ(in("America/New_York", "2050-07-01T12:00:00Z"), "2050-07-01 08:00:00.000000");
}

TEST(TimeZones, KnowTheHistoryOfAPlace) {
  // In 1910 Spain used Greenwich time.
  EXPECT_EQ(in("Europe/Madrid", "1910-02-06T22:09:00Z"), "1910-02-06 22:09:00.000000");
}

TEST(TimeZones, SayWhatDayItIsThere) {
  Instant late = *instant_from("2026-12-31T23:30:00Z");
  EXPECT_EQ(TimeZone().day_of(late), "2026-12-31");
  EXPECT_EQ(TimeZone::named("Europe/Madrid")->day_of(late), "2027-01-01");
  EXPECT_EQ(TimeZone::named("Pacific/Kiritimati")->day_of(late), "2027-01-01");
  EXPECT_EQ(TimeZone::named("America/Lima")->day_of(late), "2026-12-31");
}

TEST(TimeZones, AreThoseOfTheDatabaseAlone) {
  EXPECT_EQ(TimeZone::named("Europe/Madrid")->name(), "Europe/Madrid");
  for (const char* name : {"UTC", "Etc/UTC", "GMT", "Zulu"}) {
    ASSERT_TRUE(TimeZone::named(name)) << name;
    EXPECT_EQ(TimeZone::named(name)->name(), "UTC") << name;
  }
  for (const char* name : {"", "Madrid", "Europe/Nowhere", "GMT+2", "UTC+02:00", "Etc/Unknown",
                           "../../etc/passwd", "Europe/Madrid\n", "\xFF"}) {
    EXPECT_FALSE(TimeZone::named(name)) << name;
  }
}

TEST(TimeZones, OfTheMachineCanBeNamed) {
  TimeZone machine = TimeZone::of_machine();
  EXPECT_FALSE(machine.name().empty());
}

}  // namespace
}  // namespace belay
