// Prints ticks of random schedules from 2010 to 2020, for the comparison with another
// implementation (compare_ticks.mjs): one JSON object per line.
//
//   cron_ticks sample SEED EXPRESSIONS   a few ticks around two instants of each schedule
//   cron_ticks full SEED EXPRESSIONS     all ticks of ten years; of schedules that have more than
//                                        3,000: those around each change of the clock, and samples
//
// These years are over: no new law changes the offsets of their zones.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cron/schedule.h"
#include "cron/zone_database.h"
#include "tests/cron/random_expression.h"

namespace belay::cron {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// Three with changes of an hour at three times of day, one of them at midnight; one with changes of
// half an hour; one that skipped a day; one without changes.
constexpr std::array<const char*, 6> kZones = {"Europe/Madrid",     "America/New_York",
                                               "America/Sao_Paulo", "Australia/Lord_Howe",
                                               "Pacific/Apia",      "Asia/Kathmandu"};
constexpr std::int64_t kListedMax = 3'000;

const Instant kBegin = *instant_from("2010-01-01T00:00:00Z");
const Instant kEnd = *instant_from("2020-01-01T00:00:00Z");

std::int64_t seconds_of(Instant instant) {
  return std::chrono::floor<seconds>(instant).time_since_epoch().count();
}

std::string json_of(const std::vector<Instant>& ticks) {
  std::string text = "[";
  for (Instant tick : ticks) {
    if (text.size() > 1) text += ",";
    text += std::to_string(seconds_of(tick));
  }
  return text + "]";
}

class Printer {
 public:
  Printer(const RandomExpression& expression, const Schedule& schedule, std::mt19937_64& random)
      : expression_(expression), schedule_(schedule), random_(random) {}

  // The last two ticks before an instant, and the first ones after it.
  void print_around(Instant instant, std::size_t count) const {
    std::vector<Instant> previous;
    for (Instant before = instant; previous.size() < 2;) {
      auto tick = schedule_.previous(before);
      if (!tick) break;
      previous.push_back(*tick);
      before = *tick;
    }
    print(instant, previous, schedule_.ticks(instant, Instant::max(), count), "");
  }

  void print_all() const {
    auto ticks = schedule_.ticks(kBegin, kEnd, kListedMax + 1);
    print(kBegin, {}, ticks, ",\"until\":" + std::to_string(seconds_of(kEnd)));
  }

  void print_samples(int samples, std::size_t count) const {
    for (int i = 0; i < samples; ++i) print_around(random_instant(), count);
  }

  // An hour is repeated or skipped at the end of a period.
  std::vector<Instant> changes() const {
    std::vector<Instant> changes;
    auto end = std::chrono::floor<seconds>(kEnd);
    for (Period period = schedule_.zone().period_at(std::chrono::floor<seconds>(kBegin));
         period.end < end; period = schedule_.zone().period_at(period.end)) {
      changes.push_back(Instant(period.end));
    }
    return changes;
  }

  Instant random_instant() const {
    return kBegin + seconds(number(0, (kEnd - kBegin) / seconds(1)));
  }
  Instant near_change() const {
    std::vector<Instant> all = changes();
    if (all.empty()) return random_instant();
    auto last = static_cast<std::int64_t>(all.size()) - 1;
    return all[static_cast<std::size_t>(number(0, last))] - seconds(number(0, 100'000));
  }

 private:
  std::int64_t number(std::int64_t low, std::int64_t high) const {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  void print(Instant after, const std::vector<Instant>& previous, const std::vector<Instant>& ticks,
             const std::string& until) const {
    std::printf(
        "{\"expression\":\"%s\",\"zone\":\"%s\",\"after\":%lld,\"previous\":%s,\"ticks\":%s%s}\n",
        expression_.text.c_str(), schedule_.zone().name().c_str(),
        static_cast<long long>(seconds_of(after)), json_of(previous).c_str(),
        json_of(ticks).c_str(), until.c_str());
  }

  const RandomExpression& expression_;
  const Schedule& schedule_;
  std::mt19937_64& random_;
};

void print_full(const Printer& printer, const Schedule& schedule) {
  if (schedule.count(kBegin, kEnd) <= kListedMax) return printer.print_all();
  for (Instant change : printer.changes()) printer.print_around(change - hours(4), 40);
  printer.print_samples(20, 25);
}

int run(bool is_full, std::uint64_t seed, int expressions) {
  std::mt19937_64 random(seed);
  ZoneDatabase zones;
  std::set<std::string> printed;
  for (int made = 0; made < expressions;) {
    RandomExpression expression = random_expression(random, Syntax::portable);
    auto parsed = CronExpression::parse(expression.text);
    if (!parsed.ok()) continue;                             // no date matches it
    if (!printed.insert(expression.text).second) continue;  // it was drawn before
    ++made;
    for (const char* name : kZones) {
      auto zone = zones.find(name);
      if (!zone.ok()) {
        std::fprintf(stderr, "cron_ticks: %s\n", zone.error().message.c_str());
        return 1;
      }
      Schedule schedule(*parsed, *zone);
      Printer printer(expression, schedule, random);
      if (is_full) {
        print_full(printer, schedule);
      } else {
        printer.print_around(printer.near_change(), 3);
        printer.print_around(printer.random_instant(), 2);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace belay::cron

int main(int argc, char** argv) {
  std::vector<std::string_view> arguments(argv + 1, argv + argc);
  std::uint64_t seed = 0;
  int expressions = 0;
  auto read = [](std::string_view text, auto& number) {
    return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
  };
  if (arguments.size() != 3 || (arguments[0] != "sample" && arguments[0] != "full") ||
      !read(arguments[1], seed) || !read(arguments[2], expressions)) {
    std::fprintf(stderr, "usage: cron_ticks sample|full SEED EXPRESSIONS\n");
    return 2;
  }
  return belay::cron::run(arguments[0] == "full", seed, expressions);
}
