// The usual and the permitted times of a routine's tasks, their durations and their order. A change
// of one of these figures changes people's days, and must therefore be made here too.

#include "agents/rules/routine_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace belay::rules {
namespace {

std::string clock_of(int minutes) {
  std::string text = std::to_string(minutes / 60) + ":";
  return text + (minutes % 60 < 10 ? "0" : "") + std::to_string(minutes % 60);
}

// Returns "breakfast 8:00 in 5:30-12:00, 30 min, place 4, es +0". "place" is the priority; "es +N":
// in Spanish all times are N minutes later, and everything else is equal.
std::string line_of(const RoutineTask& en, const RoutineTask& es) {
  int later = es.usual - en.usual;
  EXPECT_EQ(es.name, en.name);
  EXPECT_EQ(es.earliest - en.earliest, later) << en.name;
  EXPECT_EQ(es.latest - en.latest, later) << en.name;
  EXPECT_EQ(es.minutes, en.minutes) << en.name;
  EXPECT_EQ(es.priority, en.priority) << en.name;
  return std::string(en.name) + " " + clock_of(en.usual) + " in " + clock_of(en.earliest) + "-" +
         clock_of(en.latest) + ", " + std::to_string(en.minutes) + " min, place " +
         std::to_string(en.priority) + ", es +" + std::to_string(later) + "\n";
}
std::string lines_of(const std::vector<RoutineTask>& en, const std::vector<RoutineTask>& es) {
  EXPECT_EQ(en.size(), es.size());
  std::string text;
  for (std::size_t i = 0; i < std::min(en.size(), es.size()); ++i) text += line_of(en[i], es[i]);
  return text;
}
std::string table() {
  constexpr Language en = Language::en, es = Language::es;
  std::string text;
  for (bool gentle : {false, true}) {
    text += gentle ? "gentle:\n" : "usual:\n";
    text += lines_of(daily_tasks(en, gentle), daily_tasks(es, gentle));
  }
  text += "topics:\n";
  for (std::size_t i = 0; i < kTopics; ++i) {
    auto topic = static_cast<Topic>(i);
    text += line_of(topic_task(topic, en), topic_task(topic, es));
  }
  text += "contact:\n" + line_of(first_contact(en), first_contact(es)) +
          line_of(evening_contact(en), evening_contact(es)) +
          line_of(tell_someone(en), tell_someone(es));
  return text + "spare:\n" + lines_of(spare_tasks(en), spare_tasks(es));
}

TEST(RoutineTexts, HaveTheirTimesInBothLanguages) {
  EXPECT_EQ(table(), R"(usual:
get_up 7:30 in 5:00-12:00, 20 min, place 3, es +0
breakfast 8:00 in 5:30-12:00, 30 min, place 4, es +0
main_thing 9:00 in 8:30-17:00, 90 min, place 9, es +0
break 11:00 in 10:00-16:00, 15 min, place 8, es +0
lunch 12:30 in 11:30-14:30, 45 min, place 5, es +90
walk 17:00 in 9:00-19:30, 40 min, place 7, es +60
dinner 18:30 in 17:30-21:00, 45 min, place 6, es +90
wind_down 22:00 in 20:30-22:45, 30 min, place 2, es +0
bed 22:45 in 21:00-23:55, 5 min, place 1, es +0
gentle:
get_up 7:30 in 5:00-12:00, 20 min, place 3, es +0
breakfast 8:00 in 5:30-12:00, 30 min, place 4, es +0
one_small_thing 10:30 in 9:00-17:00, 45 min, place 9, es +0
break 11:00 in 10:00-16:00, 15 min, place 8, es +0
lunch 12:30 in 11:30-14:30, 45 min, place 5, es +90
fresh_air 16:00 in 9:00-19:00, 15 min, place 7, es +60
dinner 18:30 in 17:30-21:00, 45 min, place 6, es +90
wind_down 21:00 in 20:30-22:45, 30 min, place 2, es +0
bed 21:45 in 21:00-23:55, 5 min, place 1, es +0
topics:
rest 15:00 in 13:30-18:00, 30 min, place 20, es +60
quiet_hour 20:45 in 20:00-21:15, 30 min, place 21, es +0
health_check 10:00 in 9:00-17:00, 20 min, place 18, es +0
something_liked 16:00 in 11:00-19:00, 30 min, place 24, es +60
breathing 11:45 in 9:00-21:00, 10 min, place 23, es +0
call_someone 18:00 in 10:00-20:30, 20 min, place 19, es +0
write_it_down 16:45 in 10:00-20:00, 15 min, place 25, es +0
dry_day 19:30 in 17:00-21:00, 15 min, place 22, es +0
stretch 9:30 in 8:00-20:00, 15 min, place 26, es +0
contact:
first_contact 7:15 in 0:00-7:15, 15 min, place 0, es +0
evening_contact 19:45 in 18:00-21:30, 20 min, place 10, es +0
tell_someone 13:30 in 9:00-20:00, 15 min, place 10, es +60
spare:
water 10:15 in 7:00-21:00, 5 min, place 40, es +0
tidy 14:15 in 8:00-21:00, 15 min, place 41, es +60
music 15:45 in 8:00-21:00, 15 min, place 42, es +60
prepare 20:15 in 17:00-21:30, 15 min, place 43, es +0
good_thing 21:20 in 19:00-22:00, 5 min, place 44, es +0
)");
}

}  // namespace
}  // namespace belay::rules
