#include "cron/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/cron_fixture.h"

namespace belay::cron {
namespace {

using testing::HasSubstr;

std::string canonical(std::string_view text) { return expression(text).to_string(); }
std::string error_of(std::string_view text) {
  auto parsed = CronExpression::parse(text);
  return parsed.ok() ? "accepted: " + parsed->to_string() : parsed.error().message;
}

TEST(CronExpressions, HaveACanonicalText) {
  struct Case {
    const char* text;
    const char* canonical;
  };
  for (const auto& [text, expected] : std::vector<Case>{
           {"0 9 * * MON-FRI", "0 9 * * MON-FRI"},
           {"  00 \t 09  * * mon-Fri ", "0 9 * * MON-FRI"},
           {"0 0 9 * * 1-5", "0 9 * * MON-FRI"},
           {"30 0 9 * * 1-5", "30 0 9 * * MON-FRI"},
           {"* * * * * *", "* * * * * *"},
           {"* * * * *", "* * * * *"},
           {"0-59 0-23 1-31 1-12 0-7", "0-59 0-23 * * *"},
           {"*/15 * * * *", "*/15 * * * *"},
           {"0,15,30,45 * * * *", "0,15,30,45 * * * *"},
           {"0-59/15 * * * *", "*/15 * * * *"},
           {"5/10 * * * *", "5/10 * * * *"},
           {"5-59/10 * * * *", "5/10 * * * *"},
           {"5-20/3 * * * *", "5-20/3 * * * *"},
           {"5-22/3 * * * *", "5-20/3 * * * *"},
           {"*/15,7 * * * *", "*/15,7 * * * *"},
           {"7,3,5,4 1 * * *", "3-5,7 1 * * *"},
           {"4,3 1 * * *", "3,4 1 * * *"},
           {"50/15 1 * * *", "50 1 * * *"},
           {"0 22-2 * * *", "0 0-2,22,23 * * *"},
           {"0 22-2/2 * * *", "0 0-2/2,22 * * *"},
           {"0 0 ? * ?", "0 0 * * *"},
           {"0 0 1 jan ?", "0 0 1 1 *"},
           {"0 0 1 */3 *", "0 0 1 */3 *"},
           {"0 0 1 JAN,APR,JUL,OCT *", "0 0 1 */3 *"},
           {"0 0 1 NOV-FEB *", "0 0 1 1,2,11,12 *"},
           {"0 0 * * 0", "0 0 * * SUN"},
           {"0 0 * * 7", "0 0 * * SUN"},
           {"0 0 * * SAT,SUN", "0 0 * * SAT,SUN"},
           {"0 0 * * FRI-MON", "0 0 * * MON,FRI-SUN"},
           {"0 0 * * 5-7", "0 0 * * FRI-SUN"},
           {"0 0 * * 6-2", "0 0 * * MON,TUE,SAT,SUN"},
           {"0 0 * * 7-2", "0 0 * * MON,TUE,SUN"},
           {"0 0 * * MON-SUN", "0 0 * * *"},
           {"0 0 * * */2", "0 0 * * TUE,THU,SAT,SUN"},
           {"0 0 * * FRI#2,5#4,MON#L,2L,suNl", "0 0 * * FRI#2,FRI#4,MON#L,TUE#L,SUN#L"},
           {"0 0 L,l-3,lw,15w,3 * *", "0 0 3,L,L-3,LW,15W * *"},
           {"0 0 13 * +FRI", "0 0 13 * +FRI"},
           {"0 0 * * +FRI", "0 0 * * FRI"},
           {"0 0 13 * +*", "0 0 13 * *"},
           {"@yearly", "0 0 1 1 *"},
           {"@annually", "0 0 1 1 *"},
           {"@monthly", "0 0 1 * *"},
           {"@weekly", "0 0 * * SUN"},
           {"@daily", "0 0 * * *"},
           {" @Midnight ", "0 0 * * *"},
           {"@hourly", "0 * * * *"},
           {"@every 90s", "@every 1m30s"},
           {"@every 1h30m", "@every 1h30m"},
           {"@EVERY 90M", "@every 1h30m"},
           {"@every 48h", "@every 2d"},
           {"@every 366d", "@every 366d"},
           {"@every 1s", "@every 1s"},
       }) {
    EXPECT_EQ(canonical(text), expected) << text;
    EXPECT_EQ(expression(expected), expression(text)) << text;
    EXPECT_EQ(canonical(expected), expected);
  }
}

TEST(CronExpressions, AreEqualIfTheyHaveTheSameTicks) {
  EXPECT_EQ(expression("0 0 * * 1-5"), expression("0 0 0 ? * mon,tue,wed,thu,fri"));
  EXPECT_EQ(expression("@daily"), expression("0 0 1-31 * *"));
  EXPECT_NE(expression("0 0 * * *"), expression("0 1 * * *"));
  EXPECT_NE(expression("0 0 * * *"), expression("@every 24h"));
  // A wildcard and a step decide what happens when the clock is set back.
  EXPECT_NE(expression("0,30 * * * *"), expression("0,30 0-23 * * *"));
  EXPECT_NE(expression("0,15,30,45 1 * * *"), expression("*/15 1 * * *"));
}

// The rule of Vixie cron: two restrictions of the days permit a day that matches one of them.
TEST(CronExpressions, ThatListEveryDayPermitEveryDay) {
  EXPECT_EQ(canonical("0 0 1-31 * MON"), "0 0 * * *");
  EXPECT_EQ(canonical("0 0 13 * SUN-SAT"), "0 0 * * *");
  EXPECT_EQ(canonical("0 0 1-31 * 0-6"), "0 0 * * *");
  EXPECT_EQ(canonical("0 0 1-31 * +MON"), "0 0 * * MON");
  EXPECT_EQ(canonical("0 0 13 * +SUN-SAT"), "0 0 13 * *");
  // A wildcard does not restrict the days, but each step above 1 is.
  EXPECT_EQ(canonical("0 0 * * MON"), "0 0 * * MON");
  EXPECT_EQ(canonical("0 0 */1 * MON"), "0 0 * * MON");
  EXPECT_EQ(canonical("0 0 */2 * MON"), "0 0 */2 * MON");
}

struct Fault {
  const char* text;
  const char* message;
};
const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"75 9 * * *", "minute \"75\" is out of range. Use 0 to 59."},
      {"60 0 9 * * *", "second \"60\" is out of range. Use 0 to 59."},
      {"0 24 * * *", "hour \"24\" is out of range. Use 0 to 23."},
      {"0 0 0 * *", "day of month \"0\" is out of range. Use 1 to 31, L, L-3, LW or 15W."},
      {"0 0 32 * *", "day of month \"32\" is out of range."},
      {"0 0 1 13 *", "month \"13\" is out of range. Use 1 to 12 or JAN to DEC."},
      {"0 0 1 JANUARY *", "month \"JANUARY\" cannot be read."},
      {"0 0 * * 8", "day of week \"8\" is out of range."},
      {"0 0 * * Noday", "day of week \"NODAY\" cannot be read."},
      {"5,,7 0 * * *", "minute \"5,,7\" has an empty value."},
      {",5 0 * * *", "minute \",5\" has an empty value."},
      {"5, 0 * * *", "minute \"5,\" has an empty value."},
      {"5- 0 * * *", "minute \"5-\" cannot be read."},
      {"-5 0 * * *", "minute \"-5\" cannot be read."},
      {"1-2-3 0 * * *", "minute \"1-2-3\" cannot be read."},
      {"1.5 0 * * *", "minute \"1.5\" cannot be read."},
      {"+5 0 * * *", "minute \"+5\" cannot be read."},
      {"99999999999999999999 0 * * *", "is out of range."},
      {"*/0 * * * *", "minute \"*/0\" must have a step from 1 to 59."},
      {"*/ * * * *", "minute \"*/\" must have a step from 1 to 59."},
      {"/5 * * * *", "minute \"/5\" cannot be read."},
      {"*/5/5 * * * *", "minute \"*/5/5\" must have a step from 1 to 59."},
      {"*/90 * * * *", "For an interval, use @every 90m."},
      {"0 */36 * * *", "For an interval, use @every 36h."},
      {"? * * * *", "minute \"?\" is possible only as day of month or day of week. Use *."},
      {"0 0 ?,5 * *", "day of month \"?,5\" must be only a ?, or have none."},
      {"L * * * *", "minute \"L\" cannot be read."},
      {"0 0 L-0 * *", "day of month \"L-0\" must have a number from 1 to 30 after L-."},
      {"0 0 L-31 * *", "day of month \"L-31\" must have a number from 1 to 30 after L-."},
      {"0 0 L/2 * *", "day of month \"L/2\" cannot be read."},
      {"0 0 W * *", "day of month \"W\" cannot be read."},
      {"0 0 1-15W * *", "day of month \"1-15W\" cannot be read."},
      {"0 0 * * L", "day of week \"L\" lacks its day. Write FRI#L for the last Friday"},
      {"0 0 * * FRI#6", "day of week \"FRI#6\" must have a number from 1 to 5, or L"},
      {"0 0 * * FRI#0", "day of week \"FRI#0\" must have a number from 1 to 5, or L"},
      {"0 0 * * #2", "day of week \"#2\" cannot be read."},
      {"0 0 * * MON-FRI#2", "day of week \"MON-FRI#2\" cannot be read."},
      {"0 0 * * +", "day of week \"\" has an empty value."},
      {"0 0 +1 * MON", "day of month \"+1\" cannot be read."},
      {"", "it is empty. Write 5 fields such as 0 9 * * MON-FRI, or a name such as @daily."},
      {"  \t ", "it is empty."},
      {"5", "it has 1 field. Write 5 (minute, hour, day of month, month, day of week) or 6"},
      {"0 9 * *", "it has 4 fields."},
      {"0 0 9 * * MON 2026", "it has 7 fields."},
      {"@reboot", "\"@reboot\" is not the name of a schedule. Use @yearly,"},
      {"@every", "\"@every\" is not the name of a schedule."},
      {"@daily 0 0 * * *", "\"@daily\" is a complete expression. Remove the text after it."},
      {"CRON_TZ=Europe/Madrid 0 9 * * *", "Set the time zone in the schedule, not in its"},
      {"@every 90", "interval \"90\" cannot be read."},
      {"@every 1.5h", "interval \"1.5h\" cannot be read."},
      {"@every 30m1h", "interval \"30m1h\" cannot be read."},
      {"@every 1h1h", "interval \"1h1h\" cannot be read."},
      {"@every -5s", "interval \"-5s\" cannot be read."},
      {"@every 500ms", "interval \"500ms\" cannot be read."},
      {"@every s", "interval \"s\" cannot be read."},
      {"@every 0s", "interval \"0s\" is too short. Use at least 1s."},
      {"@every 367d", "interval \"367d\" is too long. Use at most 366d."},
      {"@every 99999999999d", "interval \"99999999999d\" is too long."},
      {"0 9 * * MON\n", "day of week \"MON\\x0a\" cannot be read."},
      {"0 9 * * \xF0\x9F\x92\xA9", "day of week \"\\xf0\\x9f\\x92\\xa9\" cannot be read."},
  };
  return all;
}

TEST(CronExpressions, WithAFaultAreRefusedWithItsFieldAndTheRemedy) {
  for (const auto& [text, message] : faults()) {
    std::string error = error_of(text);
    EXPECT_THAT(error, HasSubstr(message)) << text;
    EXPECT_TRUE(error.starts_with("Invalid cron expression \"")) << error;
  }
}

TEST(CronExpressions, NameTheExpressionInAnError) {
  auto parsed = CronExpression::parse("75 9 * * *");
  EXPECT_EQ(parsed.error(), error(ErrorCode::invalid,
                                  "Invalid cron expression \"75 9 * * *\": minute \"75\" is out of "
                                  "range. Use 0 to 59."));
}

TEST(CronExpressions, ThatNoDateMatchesAreRefused) {
  for (const char* text :
       {"0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 30W FEB *", "0 0 31W 4 *", "0 0 L-29 2 *",
        "0 0 L-30 4 *", "0 0 30 2 +MON", "0 0 1-7 * +FRI#3", "0 0 1 * +MON#2"}) {
    EXPECT_THAT(error_of(text), HasSubstr("so that it never fires. Change one of these fields."))
        << text;
  }
  for (const char* text : {"0 0 29 2 *", "0 0 30 2 MON", "0 0 29 2 +MON", "0 0 * 2 FRI#5",
                           "0 0 L-28 2 *", "0 0 L-30 * *", "0 0 31W 2,3 *"}) {
    EXPECT_TRUE(CronExpression::parse(text).ok()) << text;
  }
}

TEST(CronExpressions, HaveALimitedLength) {
  std::string longest = "0 9 * * MON";
  longest.append(expression_bytes_max - longest.size(), ' ');
  EXPECT_TRUE(CronExpression::parse(longest).ok());
  EXPECT_THAT(error_of(longest + " "), HasSubstr("it has 513 bytes. Write at most 512."));
  // The text in the message is limited, too.
  EXPECT_LT(error_of(std::string(100'000, '\n')).size(), 1'000u);
  // Each second listed alone fits.
  std::string listed;
  for (int second = 0; second < 60; ++second) listed += std::to_string(second) + ",";
  listed.pop_back();
  EXPECT_EQ(canonical(listed + " " + listed + " 1 * * *"), "0-59 0-59 1 * * *");
}

}  // namespace
}  // namespace belay::cron
