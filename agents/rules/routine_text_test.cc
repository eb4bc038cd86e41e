// When each thing of a routine is usual and allowed, how long it takes, and what goes first: a
// change of one of these figures changes people's days, so it is made here, too.

#include "agents/rules/routine_text.h"

#include <gtest/gtest.h>

#include <string>

namespace belay::rules {
namespace {

std::string clock_of(int minutes) {
  std::string text = std::to_string(minutes / 60) + ":";
  return text + (minutes % 60 < 10 ? "0" : "") + std::to_string(minutes % 60);
}

// "breakfast 8:00 in 5:30-12:00, 30 min, place 4"
std::string line_of(const RoutineTask& task) {
  return std::string(task.name) + " " + clock_of(task.usual) + " in " + clock_of(task.earliest) +
         "-" + clock_of(task.latest) + ", " + std::to_string(task.minutes) + " min, place " +
         std::to_string(task.priority) + "\n";
}
std::string lines_of(Language language) {
  std::string text;
  for (bool gentle : {false, true}) {
    text += gentle ? "gentle:\n" : "usual:\n";
    for (const RoutineTask& task : daily_tasks(language, gentle)) text += line_of(task);
  }
  text += "topics:\n";
  for (std::size_t topic = 0; topic < kTopics; ++topic) {
    text += line_of(topic_task(static_cast<Topic>(topic), language));
  }
  text += "contact:\n" + line_of(first_contact(language)) + line_of(evening_contact(language)) +
          line_of(tell_someone(language)) + "spare:\n";
  for (const RoutineTask& task : spare_tasks(language)) text += line_of(task);
  return text;
}

TEST(RoutineTexts, HaveTheirTimesInEnglish) {
  EXPECT_EQ(lines_of(Language::en), R"(usual:
get_up 7:30 in 5:00-12:00, 20 min, place 3
breakfast 8:00 in 5:30-12:00, 30 min, place 4
main_thing 9:00 in 8:30-17:00, 90 min, place 9
break 11:00 in 10:00-16:00, 15 min, place 8
lunch 12:30 in 11:30-14:30, 45 min, place 5
walk 17:00 in 9:00-19:30, 40 min, place 7
dinner 18:30 in 17:30-21:00, 45 min, place 6
wind_down 22:00 in 20:30-22:45, 30 min, place 2
bed 22:45 in 21:00-23:55, 5 min, place 1
gentle:
get_up 7:30 in 5:00-12:00, 20 min, place 3
breakfast 8:00 in 5:30-12:00, 30 min, place 4
one_small_thing 10:30 in 9:00-17:00, 45 min, place 9
break 11:00 in 10:00-16:00, 15 min, place 8
lunch 12:30 in 11:30-14:30, 45 min, place 5
fresh_air 16:00 in 9:00-19:00, 15 min, place 7
dinner 18:30 in 17:30-21:00, 45 min, place 6
wind_down 21:00 in 20:30-22:45, 30 min, place 2
bed 21:45 in 21:00-23:55, 5 min, place 1
topics:
rest 15:00 in 13:30-18:00, 30 min, place 20
quiet_hour 20:45 in 20:00-21:15, 30 min, place 21
health_check 10:00 in 9:00-17:00, 20 min, place 18
something_liked 16:00 in 11:00-19:00, 30 min, place 24
breathing 11:45 in 9:00-21:00, 10 min, place 23
call_someone 18:00 in 10:00-20:30, 20 min, place 19
write_it_down 16:45 in 10:00-20:00, 15 min, place 25
dry_day 19:30 in 17:00-21:00, 15 min, place 22
stretch 9:30 in 8:00-20:00, 15 min, place 26
contact:
first_contact 7:15 in 0:00-7:15, 15 min, place 0
evening_contact 19:45 in 18:00-21:30, 20 min, place 10
tell_someone 13:30 in 9:00-20:00, 15 min, place 10
spare:
water 10:15 in 7:00-21:00, 5 min, place 40
tidy 14:15 in 8:00-21:00, 15 min, place 41
music 15:45 in 8:00-21:00, 15 min, place 42
prepare 20:15 in 17:00-21:30, 15 min, place 43
good_thing 21:20 in 19:00-22:00, 5 min, place 44
)");
}

TEST(RoutineTexts, HaveTheirTimesInSpanish) {
  EXPECT_EQ(lines_of(Language::es), R"(usual:
get_up 7:30 in 5:00-12:00, 20 min, place 3
breakfast 8:00 in 5:30-12:00, 30 min, place 4
main_thing 9:00 in 8:30-17:00, 90 min, place 9
break 11:00 in 10:00-16:00, 15 min, place 8
lunch 14:00 in 13:00-16:00, 45 min, place 5
walk 18:00 in 10:00-20:30, 40 min, place 7
dinner 20:00 in 19:00-22:30, 45 min, place 6
wind_down 22:00 in 20:30-22:45, 30 min, place 2
bed 22:45 in 21:00-23:55, 5 min, place 1
gentle:
get_up 7:30 in 5:00-12:00, 20 min, place 3
breakfast 8:00 in 5:30-12:00, 30 min, place 4
one_small_thing 10:30 in 9:00-17:00, 45 min, place 9
break 11:00 in 10:00-16:00, 15 min, place 8
lunch 14:00 in 13:00-16:00, 45 min, place 5
fresh_air 17:00 in 10:00-20:00, 15 min, place 7
dinner 20:00 in 19:00-22:30, 45 min, place 6
wind_down 21:00 in 20:30-22:45, 30 min, place 2
bed 21:45 in 21:00-23:55, 5 min, place 1
topics:
rest 16:00 in 14:30-19:00, 30 min, place 20
quiet_hour 20:45 in 20:00-21:15, 30 min, place 21
health_check 10:00 in 9:00-17:00, 20 min, place 18
something_liked 17:00 in 12:00-20:00, 30 min, place 24
breathing 11:45 in 9:00-21:00, 10 min, place 23
call_someone 18:00 in 10:00-20:30, 20 min, place 19
write_it_down 16:45 in 10:00-20:00, 15 min, place 25
dry_day 19:30 in 17:00-21:00, 15 min, place 22
stretch 9:30 in 8:00-20:00, 15 min, place 26
contact:
first_contact 7:15 in 0:00-7:15, 15 min, place 0
evening_contact 19:45 in 18:00-21:30, 20 min, place 10
tell_someone 14:30 in 10:00-21:00, 15 min, place 10
spare:
water 10:15 in 7:00-21:00, 5 min, place 40
tidy 15:15 in 9:00-22:00, 15 min, place 41
music 16:45 in 9:00-22:00, 15 min, place 42
prepare 20:15 in 17:00-21:30, 15 min, place 43
good_thing 21:20 in 19:00-22:00, 5 min, place 44
)");
}

}  // namespace
}  // namespace belay::rules
