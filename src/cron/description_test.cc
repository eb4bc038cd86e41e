#include <gtest/gtest.h>

#include "tests/support/cron_fixture.h"

namespace belay::cron {
namespace {

TEST(Descriptions, AreTheExpressionInEnglish) {
  struct Case {
    const char* text;
    const char* words;
  };
  for (const auto& [text, words] : std::vector<Case>{
           {"0 9 * * MON-FRI", "At 09:00 on Monday to Friday"},
           {"@daily", "At 00:00 every day"},
           {"@yearly", "At 00:00 on 1 January"},
           {"@monthly", "At 00:00 on day 1 of the month"},
           {"@weekly", "At 00:00 on Sunday"},
           {"@hourly", "Every hour"},
           {"* * * * *", "Every minute"},
           {"* * * * * *", "Every second"},
           {"*/10 * * * * *", "Every 10 seconds"},
           {"*/15 * * * *", "Every 15 minutes"},
           {"0,15,30,45 * * * *", "Every 15 minutes"},
           {"*/15 9-17 * * MON-FRI", "Every 15 minutes from 09:00 to 17:45 on Monday to Friday"},
           {"*/5 9 * * *", "Every 5 minutes from 09:00 to 09:55"},
           {"*/7 * * * *", "At every 7th minute from 0 to 56 of every hour"},
           {"5/10 * * * *", "At every 10th minute from 5 to 55 of every hour"},
           {"30 * * * *", "Every hour at minute 30"},
           {"30 9-17 * * *", "Every hour from 09:30 to 17:30"},
           {"15,45 9-17 * * *", "At minutes 15 and 45 of hours 9 to 17"},
           {"0 */2 * * *", "Every 2 hours"},
           {"0 */5 * * *", "At 00:00, 05:00, 10:00, 15:00 and 20:00 every day"},
           {"0 1-23/2 * * *", "At minute 0 of every 2nd hour from 1 to 23"},
           {"30 9,17 * * *", "At 09:30 and 17:30 every day"},
           {"15 30 9 * * *", "At 09:30:15 every day"},
           {"0,30 * * * * *", "Every 30 seconds"},
           {"*/30 * 9-10 * * *", "Every 30 seconds from 09:00:00 to 10:59:30"},
           {"5 * * * * *", "At second 5 of every minute"},
           {"5,10 0-10 9 * * *", "At seconds 5 and 10 of minutes 0 to 10 of hour 9"},
           {"0 9 * 6-8 *", "At 09:00 every day in June to August"},
           {"*/15 * * JAN,JUL *", "Every 15 minutes in January and July"},
           {"0 9 * 1 MON", "At 09:00 on Monday in January"},
           {"0 9 1,15 * *", "At 09:00 on days 1 and 15 of the month"},
           {"0 9 1 */3 *", "At 09:00 on day 1 of January, April, July and October"},
           {"0 9 1-31/2 * *", "At 09:00 on every 2nd day from 1 to 31 of the month"},
           {"0 9 L * *", "At 09:00 on the last day of the month"},
           {"0 9 L 2 *", "At 09:00 on the last day of February"},
           {"0 9 L-1,L-3 * *",
            "At 09:00 on the day before the last day and 3 days before the last day of the month"},
           {"0 9 LW * *", "At 09:00 on the last day from Monday to Friday of the month"},
           {"0 9 15W * *",
            "At 09:00 on the day from Monday to Friday nearest to day 15 of the month"},
           {"0 9 * * FRI#2", "At 09:00 on the second Friday of the month"},
           {"0 9 * 6 FRI#L", "At 09:00 on the last Friday of June"},
           {"0 9 * * SAT,SUN", "At 09:00 on Saturday and Sunday"},
           {"0 9 * * MON,FRI#L", "At 09:00 on Monday and the last Friday of the month"},
           {"0 9 * 6 MON,FRI#L", "At 09:00 on Monday and the last Friday of the month in June"},
           {"0 9 13 * FRI", "At 09:00 on day 13 of the month or on Friday"},
           {"0 9 13 6 FRI", "At 09:00 on day 13 of the month or on Friday, in June"},
           {"0 9 13 * +FRI", "At 09:00 on day 13 of the month if that is also Friday"},
           {"0 9 29 2 +MON,TUE",
            "At 09:00 on day 29 of February if that is also Monday or Tuesday"},
           {"@every 90s", "Every 90 seconds"},
           {"@every 1h30m", "Every 90 minutes"},
           {"@every 1h", "Every hour"},
           {"@every 1d", "Every 24 hours"},
       }) {
    EXPECT_EQ(expression(text).describe(), words) << text;
  }
}

TEST(Descriptions, OfSchedulesNameTheZone) {
  EXPECT_EQ(schedule("0 9 * * 1-5", "Europe/Madrid").describe(),
            "At 09:00 on Monday to Friday (Europe/Madrid)");
  EXPECT_EQ(schedule("@every 5m", "Europe/Madrid").describe(), "Every 5 minutes");
}

}  // namespace
}  // namespace belay::cron
