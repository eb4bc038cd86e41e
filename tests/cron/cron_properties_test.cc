// Random expressions: their text, their ticks against those that a clock shows, and the relations
// between next(), previous(), ticks() and count().

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "cron/local_times.h"
#include "cron/value_runs.h"
#include "tests/cron/random_expression.h"
#include "tests/cron/tick_oracle.h"
#include "tests/support/cron_fixture.h"

namespace belay::cron {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Changes of all kinds: of one hour, at midnight, of half an hour, of two hours, of a complete day,
// in a leap year, in the far future, and of a zone that was at Greenwich before.
struct Change {
  const char* zone;
  const char* instant;
};
constexpr Change kChanges[] = {
    {"Europe/Madrid", "2026-03-29T01:00:00Z"},
    {"Europe/Madrid", "2026-10-25T01:00:00Z"},
    {"America/New_York", "2024-03-10T07:00:00Z"},
    {"America/New_York", "2100-11-07T06:00:00Z"},
    {"America/Sao_Paulo", "2018-11-04T03:00:00Z"},
    {"America/Sao_Paulo", "2019-02-17T02:00:00Z"},
    {"Australia/Lord_Howe", "2026-10-03T15:30:00Z"},
    {"Australia/Lord_Howe", "2026-04-04T15:00:00Z"},
    {"Pacific/Apia", "2011-12-30T10:00:00Z"},
    {"Pacific/Kiritimati", "1994-12-31T10:00:00Z"},
    {"America/Nuuk", "2026-03-29T01:00:00Z"},
    {"America/Nuuk", "2026-10-25T01:00:00Z"},
    {"Asia/Beirut", "2026-03-28T22:00:00Z"},
    {"Africa/Cairo", "2026-10-29T21:00:00Z"},
    {"Africa/Casablanca", "2026-02-15T02:00:00Z"},
    {"Africa/Casablanca", "2026-03-22T02:00:00Z"},
    {"Antarctica/Troll", "2026-03-29T01:00:00Z"},
    {"Antarctica/Troll", "2026-10-25T01:00:00Z"},
    {"America/Juneau", "1867-10-19T00:33:32Z"},
    {"Pacific/Kwajalein", "1993-08-21T12:00:00Z"},
    {"UTC", "2024-02-29T00:00:00Z"},
    {"Asia/Kathmandu", "2000-02-29T18:15:00Z"},
};

// BELAY_CRON_SEED selects other expressions (scripts/campaigns).
std::uint64_t seed(std::uint64_t property) {
  const char* given = std::getenv("BELAY_CRON_SEED");
  return (given == nullptr ? 0 : std::strtoull(given, nullptr, 10)) * 16 + property;
}

struct Drawn {
  RandomExpression expression;
  CronExpression parsed;
};

// Returns an expression that some date matches.
Drawn draw(std::mt19937_64& random) {
  while (true) {
    RandomExpression expression = random_expression(random, Syntax::full);
    auto parsed = CronExpression::parse(expression.text);
    if (parsed.ok()) return {std::move(expression), *std::move(parsed)};
  }
}

std::int64_t number(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

TEST(CronProperties, CanonicalTextsReadAsEqualExpressions) {
  std::mt19937_64 random(seed(1));
  for (int i = 0; i < 3'000; ++i) {
    Drawn drawn = draw(random);
    std::string text = drawn.parsed.to_string();
    auto again = CronExpression::parse(text);
    ASSERT_TRUE(again.ok()) << drawn.expression.text << ": " << again.error().message;
    EXPECT_EQ(*again, drawn.parsed) << drawn.expression.text << " " << text;
    EXPECT_EQ(again->to_string(), text) << drawn.expression.text;
    EXPECT_LE(text.size(), expression_bytes_max);
    EXPECT_FALSE(drawn.parsed.describe().empty());
    EXPECT_EQ(drawn.parsed.fields().is_repeating(), drawn.expression.repeats)
        << drawn.expression.text;
  }
}

TEST(CronProperties, AnExpressionIsRefusedIfNoDateMatchesIt) {
  std::mt19937_64 random(seed(2));
  int refused = 0;
  for (int i = 0; i < 4'000; ++i) {
    RandomExpression expression = random_expression(random, Syntax::full);
    if (CronExpression::parse(expression.text).ok()) continue;
    ++refused;
    for (int year = 2000; year < 2400; ++year) {
      for (int month = 1; month <= 12; ++month) {
        if (!expression.months[static_cast<std::size_t>(month)]) continue;
        for (int day = 1; day <= days_in_month(year, month); ++day) {
          ASSERT_FALSE(expression.matches_day(year, month, day))
              << expression.text << " " << year << "-" << month << "-" << day;
        }
      }
    }
  }
  EXPECT_GT(refused, 5);
}

TEST(CronProperties, DaysAreThoseOfTheModelInEveryMonth) {
  std::mt19937_64 random(seed(3));
  for (int i = 0; i < 400; ++i) {
    Drawn drawn = draw(random);
    for (int sample = 0; sample < 40; ++sample) {
      auto year = static_cast<int>(number(random, 1600, 2500));
      auto month = static_cast<int>(number(random, 1, 12));
      Bits days = matching_days(drawn.parsed.fields(), std::chrono::year(year) / month);
      if (!drawn.expression.months[static_cast<std::size_t>(month)]) continue;
      for (int day = 1; day <= 31; ++day) {
        bool expected =
            day <= days_in_month(year, month) && drawn.expression.matches_day(year, month, day);
        ASSERT_EQ(has(days, static_cast<unsigned>(day)), expected)
            << drawn.expression.text << " " << year << "-" << month << "-" << day;
      }
    }
  }
}

// The main property: next(), previous() and count() against a clock that is watched.
TEST(CronProperties, TicksAreThoseThatAClockShows) {
  std::mt19937_64 random(seed(4));
  std::size_t compared = 0;
  for (int i = 0; i < 440; ++i) {
    const Change& change = kChanges[static_cast<std::size_t>(i) % std::size(kChanges)];
    Drawn drawn = draw(random);
    Zone in = zone(change.zone);
    Schedule each(drawn.parsed, in);
    // Times of an offset with seconds are not whole minutes.
    bool by_second = drawn.expression.has_seconds;
    auto middle = std::chrono::floor<minutes>(at(change.instant));
    auto from = middle - minutes(number(random, 0, by_second ? 80 : 4'000));
    auto until = from + minutes(by_second ? 100 : 6'000);
    if (in.period_at(from).offset % minutes(1) != seconds(0) && !by_second) continue;
    if (in.period_at(until).offset % minutes(1) != seconds(0) && !by_second) continue;
    std::vector<sys_seconds> watched = watched_ticks(drawn.expression, in, from, until);
    std::string claim =
        drawn.expression.text + " in " + change.zone + " after " + to_text(Instant(from));
    const Instant before = Instant(from) - Instant::duration(1);
    std::vector<Instant> expected(watched.begin(), watched.end());
    ASSERT_EQ(each.ticks(before, Instant(until), 1'000'000), expected) << claim;
    ASSERT_EQ(each.count(before, Instant(until)), static_cast<std::int64_t>(expected.size()))
        << claim;
    std::vector<Instant> backwards;
    for (auto tick = each.previous(Instant(until) + Instant::duration(1)); tick && *tick > before;
         tick = each.previous(*tick)) {
      backwards.push_back(*tick);
    }
    std::reverse(backwards.begin(), backwards.end());
    ASSERT_EQ(backwards, expected) << claim;
    compared += expected.size();
  }
  EXPECT_GT(compared, 10'000u);
}

TEST(CronProperties, NextAndPreviousAreInverseAtAnyInstant) {
  std::mt19937_64 random(seed(5));
  for (int i = 0; i < 2'000; ++i) {
    Drawn drawn = draw(random);
    const Change& change = kChanges[static_cast<std::size_t>(i) % std::size(kChanges)];
    Schedule each(drawn.parsed, zone(change.zone));
    const std::int64_t low = at("1850-01-01T00:00:00Z").time_since_epoch().count();
    const std::int64_t high = at("2450-01-01T00:00:00Z").time_since_epoch().count();
    Instant instant{Instant::duration(number(random, low, high))};
    std::string claim = drawn.expression.text + " in " + change.zone + " after " + to_text(instant);
    auto next = each.next(instant);
    ASSERT_TRUE(next) << claim;
    EXPECT_GT(*next, instant) << claim;
    EXPECT_TRUE(each.is_tick(*next)) << claim;
    EXPECT_EQ(each.count(instant, *next), 1) << claim;
    EXPECT_EQ(each.previous(*next + Instant::duration(1)), next) << claim;
    auto previous = each.previous(*next);
    ASSERT_TRUE(previous) << claim;
    EXPECT_LE(*previous, instant) << claim;
    EXPECT_EQ(each.next(*previous), next) << claim;
    EXPECT_EQ(each.count(*previous, *next), 1) << claim;
    EXPECT_EQ(each.count(*previous - Instant::duration(1), *next - Instant::duration(1)), 1)
        << claim;
  }
}

TEST(CronProperties, CountsAreTheNumbersOfTicks) {
  std::mt19937_64 random(seed(6));
  for (int i = 0; i < 300; ++i) {
    Drawn drawn = draw(random);
    const Change& change = kChanges[static_cast<std::size_t>(i) % std::size(kChanges)];
    Schedule each(drawn.parsed, zone(change.zone));
    Instant from = at(change.instant) - hours(number(random, 0, 24 * 365));
    // Until far beyond the ticks that are listed.
    auto listed = each.ticks(from, Instant::max(), 400);
    if (listed.empty()) continue;
    EXPECT_EQ(each.count(from, listed.back()), static_cast<std::int64_t>(listed.size()))
        << drawn.expression.text << " in " << change.zone << " after " << to_text(from);
    Instant middle = listed[listed.size() / 2];
    EXPECT_EQ(each.count(from, middle) + each.count(middle, listed.back()),
              each.count(from, listed.back()));
  }
}

TEST(CronProperties, AnyTextIsReadOrRefused) {
  std::mt19937_64 random(seed(7));
  const std::string letters = "0123456789*/,-?LWl#@+ \tMONfriJAN\n\x80";
  int accepted = 0;
  for (int i = 0; i < 10'000; ++i) {
    // A valid text with some changed letters, or letters alone.
    std::string text = i % 2 == 0 ? random_expression(random, Syntax::full).text : "";
    for (auto changes = number(random, 0, i % 2 == 0 ? 2 : 14); changes > 0; --changes) {
      char letter = letters[static_cast<std::size_t>(
          number(random, 0, static_cast<std::int64_t>(letters.size()) - 1))];
      auto place =
          static_cast<std::size_t>(number(random, 0, static_cast<std::int64_t>(text.size())));
      if (place < text.size() && changes % 2 == 0) {
        text[place] = letter;
      } else {
        text.insert(place, 1, letter);
      }
    }
    auto parsed = CronExpression::parse(text);
    if (!parsed.ok()) {
      EXPECT_EQ(parsed.error().code, ErrorCode::invalid);
      EXPECT_LT(parsed.error().message.size(), 500u);
      continue;
    }
    ++accepted;
    EXPECT_EQ(*CronExpression::parse(parsed->to_string()), *parsed) << text;
    EXPECT_TRUE(Schedule(*parsed, Zone()).next(at("2026-01-01T00:00:00Z"))) << text;
  }
  EXPECT_GT(accepted, 500);
}

}  // namespace
}  // namespace belay::cron
