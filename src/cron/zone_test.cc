#include "cron/zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cron/zone_file.h"
#include "tests/support/cron_fixture.h"

namespace belay::cron {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::HasSubstr;

// The bytes of a file of the database.
struct ZoneFile {
  std::vector<std::int64_t> times;
  std::string indices;  // of `offsets`, one byte for each time
  std::vector<std::int32_t> offsets;
  std::string rule;
  char version = '2';
  int leap_seconds = 0;

  static void append(std::string& bytes, std::int64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) {
      bytes += static_cast<char>(value >> shift);
    }
  }
  std::string part(int time_bytes) const {
    std::string bytes = "TZif";
    bytes += version;
    bytes.append(15, '\0');
    for (std::size_t count : {std::size_t{0}, std::size_t{0}, std::size_t(leap_seconds),
                              times.size(), offsets.size(), std::size_t{4}}) {
      append(bytes, static_cast<std::int64_t>(count), 4);
    }
    for (std::int64_t time : times) append(bytes, time, time_bytes);
    bytes += indices;
    for (std::int32_t offset : offsets) {
      append(bytes, offset, 4);
      bytes.append(2, '\0');  // is_dst, index of the name
    }
    bytes.append("QQQ\0", 4);
    bytes.append(static_cast<std::size_t>(leap_seconds * (time_bytes + 4)), '\0');
    return bytes;
  }
  std::string bytes() const {
    return version < '2' ? part(4) : part(4) + part(8) + "\n" + rule + "\n";
  }
};

ZoneFile sample() { return {{-1'000, 2'000}, {"\1\2", 2}, {600, 3'600, 7'200}, "QQQ-2"}; }

Zone zone_of(const ZoneFile& file) {
  return Zone("Test/Zone", decode_zone_file(file.bytes()).value());
}
std::string fault_of(const std::string& bytes) {
  auto periods = decode_zone_file(bytes);
  return periods.ok() ? "accepted" : periods.error().message;
}
seconds offset(const Zone& zone, std::int64_t at) {
  return zone.period_at(sys_seconds(seconds(at))).offset;
}
seconds offset(const Zone& zone, std::string_view instant) {
  return zone.period_at(std::chrono::floor<seconds>(at(instant))).offset;
}

TEST(Zones, HaveThePeriodsOfTheirFile) {
  for (char version : {'\0', '2', '3', '4'}) {
    ZoneFile file = sample();
    file.version = version;
    Zone zone = zone_of(file);
    EXPECT_EQ(offset(zone, -1'001), seconds(600));
    EXPECT_EQ(offset(zone, -1'000), seconds(3'600));
    EXPECT_EQ(offset(zone, 1'999), seconds(3'600));
    EXPECT_EQ(offset(zone, 2'000), seconds(7'200));
    EXPECT_EQ(offset(zone, "9999-12-31T23:59:59Z"), seconds(7'200));
    Period middle = zone.period_at(sys_seconds(seconds(0)));
    EXPECT_EQ(middle.begin, sys_seconds(seconds(-1'000)));
    EXPECT_EQ(middle.end, sys_seconds(seconds(2'000)));
  }
}

// As zic writes since 2020 by default: the rule alone describes the present.
TEST(Zones, WhoseFileHasOnlyARuleFollowIt) {
  ZoneFile file{{}, "", {-18'000}, "EST5EDT,M3.2.0,M11.1.0"};
  for (int transitions = 0; transitions < 2; ++transitions) {
    Zone zone = zone_of(file);
    EXPECT_EQ(offset(zone, "2026-03-08T06:59:59Z"), hours(-5));
    EXPECT_EQ(offset(zone, "2026-03-08T07:00:00Z"), hours(-4));
    EXPECT_EQ(offset(zone, "2026-11-01T05:59:59Z"), hours(-4));
    EXPECT_EQ(offset(zone, "2026-11-01T06:00:00Z"), hours(-5));
    EXPECT_EQ(offset(zone, "2400-07-01T00:00:00Z"), hours(-4));
    EXPECT_EQ(offset(zone, "2400-12-31T00:00:00Z"), hours(-5));
    file.times = {1'167'609'600};  // 2007: the rule begins there
    file.indices = std::string("\0", 1);
  }
  EXPECT_EQ(offset(zone_of(file), "1990-07-01T00:00:00Z"), hours(-5));
}

TEST(Zones, FollowEveryKindOfRule) {
  auto rule = [](const char* text) { return zone_of({{}, "", {0}, text}); };
  // 29 February is not counted with J, and is counted without.
  EXPECT_EQ(offset(rule("AAA0BBB,J60,J300"), "2024-03-01T01:59:59Z"), hours(0));
  EXPECT_EQ(offset(rule("AAA0BBB,J60,J300"), "2024-03-01T02:00:00Z"), hours(1));
  EXPECT_EQ(offset(rule("AAA0BBB,J60,J300"), "2023-03-01T02:00:00Z"), hours(1));
  EXPECT_EQ(offset(rule("AAA0BBB,59/0,300"), "2024-02-29T00:00:00Z"), hours(1));
  EXPECT_EQ(offset(rule("AAA0BBB,59/0,300"), "2023-02-28T23:59:59Z"), hours(0));
  EXPECT_EQ(offset(rule("AAA0BBB,59/0,300"), "2023-03-01T00:00:00Z"), hours(1));
  // The fourth Thursday, and 50 hours after its midnight: Gaza.
  EXPECT_EQ(offset(rule("EET-2EEST,M3.4.4/50,M10.4.4/50"), "2025-03-28T23:59:59Z"), hours(2));
  EXPECT_EQ(offset(rule("EET-2EEST,M3.4.4/50,M10.4.4/50"), "2025-03-29T00:00:00Z"), hours(3));
  // An hour before midnight: Nuuk.
  EXPECT_EQ(offset(rule("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"), "2025-03-30T00:59:59Z"), hours(-2));
  EXPECT_EQ(offset(rule("<-02>2<-01>,M3.5.0/-1,M10.5.0/0"), "2025-03-30T01:00:00Z"), hours(-1));
  // South of the equator, daylight time includes the end of the year; Ireland's rule is reversed.
  EXPECT_EQ(offset(rule("AEST-10AEDT,M10.1.0,M4.1.0/3"), "2026-01-01T00:00:00Z"), hours(11));
  EXPECT_EQ(offset(rule("AEST-10AEDT,M10.1.0,M4.1.0/3"), "2026-07-01T00:00:00Z"), hours(10));
  EXPECT_EQ(offset(rule("IST-1GMT0,M10.5.0,M3.5.0/1"), "2026-01-01T00:00:00Z"), hours(0));
  EXPECT_EQ(offset(rule("IST-1GMT0,M10.5.0,M3.5.0/1"), "2026-07-01T00:00:00Z"), hours(1));
  // Daylight time during the complete year.
  for (const char* instant : {"2025-12-31T23:59:59Z", "2026-01-01T02:59:59Z",
                              "2026-01-01T03:00:00Z", "2026-07-01T00:00:00Z"}) {
    EXPECT_EQ(offset(rule("QQQ3EDT4,0/0,J365/23"), instant), hours(-4)) << instant;
  }
  EXPECT_EQ(offset(rule("<+0545>-5:45"), "2026-01-01T00:00:00Z"), seconds(0)) << "as in the file";
}

TEST(Zones, RefuseARuleThatIsInvalid) {
  for (const char* text : {"A",
                           "CE-1",
                           "CET",
                           "CET-",
                           "CET-25",
                           "CET-1CEST",
                           "CET-1CEST,",
                           "CET-1CEST,M3.5.0",
                           "CET-1CEST,M3.5.0,",
                           "CET-1CEST,M13.5.0,M10.5.0",
                           "CET-1CEST,M0.5.0,M10.5.0",
                           "CET-1CEST,M3.6.0,M10.5.0",
                           "CET-1CEST,M3.0.0,M10.5.0",
                           "CET-1CEST,M3.5.7,M10.5.0",
                           "CET-1CEST,M3.5,M10.5.0",
                           "CET-1CEST,J0,J5",
                           "CET-1CEST,J366,J5",
                           "CET-1CEST,366,5",
                           "CET-1CEST,M3.5.0/168,M10.5.0",
                           "CET-1CEST,M3.5.0,M10.5.0/3x",
                           "CET-1CEST-,M3.5.0,M10.5.0",
                           "<CET-1",
                           "<C>-1",
                           "CET-1:60",
                           "CET-1 ",
                           "CET-1CEST,M+3.5.0,M10.5.0"}) {
    EXPECT_FALSE(ZoneRule::parse(text).ok()) << text;
    ZoneFile file = sample();
    file.rule = text;
    EXPECT_THAT(fault_of(file.bytes()), HasSubstr("its rule for the future cannot be read"));
  }
}

TEST(Zones, RefuseAFileThatIsDamaged) {
  const std::string whole = sample().bytes();
  ASSERT_EQ(fault_of(whole), "accepted");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(fault_of(whole.substr(0, size)), "accepted") << size;
  }
  auto changed = [](auto change) {
    ZoneFile file = sample();
    change(file);
    return fault_of(file.bytes());
  };
  EXPECT_THAT(changed([](ZoneFile& file) { file.times = {2'000, -1'000}; }),
              HasSubstr("its transitions are not in ascending order"));
  EXPECT_THAT(changed([](ZoneFile& file) { file.times = {2'000, 2'000}; }),
              HasSubstr("its transitions are not in ascending order"));
  EXPECT_THAT(changed([](ZoneFile& file) { file.indices = "\1\3"; }),
              HasSubstr("refers to an offset that is missing"));
  EXPECT_THAT(changed([](ZoneFile& file) { file.offsets[1] = 26 * 3'600; }),
              HasSubstr("an offset exceeds 26 hours"));
  EXPECT_THAT(changed([](ZoneFile& file) { file = {{}, "", {}, ""}; }),
              HasSubstr("it has no offset from UTC"));
  EXPECT_THAT(changed([](ZoneFile& file) { file.leap_seconds = 2; }),
              HasSubstr("Use the zone without the prefix right/."));
  // A count that is larger than the file.
  std::string large = whole;
  large[32] = '\x7f';
  EXPECT_THAT(fault_of(large), HasSubstr("does not begin with a header"));
  EXPECT_THAT(fault_of("#!/bin/sh"), HasSubstr("does not begin with a header"));
}

TEST(Zones, KnowTheLatestTimeThatTheirClockHasShown) {
  Zone madrid = zone("Europe/Madrid");
  auto sys = [](std::string_view text) { return std::chrono::floor<seconds>(at(text)); };
  auto local = [](std::string_view text) {
    return LocalTime(std::chrono::floor<seconds>(at(text)).time_since_epoch());
  };
  EXPECT_EQ(madrid.latest_local(sys("2026-10-25T00:59:59Z")), local("2026-10-25T02:59:59Z"));
  EXPECT_EQ(madrid.latest_local(sys("2026-10-25T01:30:00Z")), local("2026-10-25T02:59:59Z"));
  EXPECT_EQ(madrid.latest_local(sys("2026-10-25T02:00:00Z")), local("2026-10-25T03:00:00Z"));
  EXPECT_EQ(madrid.first_instant_of(local("2026-10-25T02:30:00Z")), sys("2026-10-25T00:30:00Z"));
  EXPECT_EQ(madrid.first_instant_of(local("2026-03-29T02:30:00Z")), sys("2026-03-29T01:00:00Z"));
  EXPECT_EQ(madrid.first_instant_of(local("2026-03-29T03:00:00Z")), sys("2026-03-29T01:00:00Z"));
}

}  // namespace
}  // namespace belay::cron
