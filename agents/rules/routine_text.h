#pragma once
// rules/routine_text.h - the tasks of a routine, with their usual times and texts.

#include <cstdint>
#include <string_view>
#include <vector>

#include "agents/rules/language.h"

namespace belay::rules {

// The topics of recommendations.
enum class Topic {
  exhaustion,
  sleep,
  illness,
  low_mood,
  anxiety,
  isolation,
  conflict,
  substance,
  movement,
};
inline constexpr std::size_t kTopics = 9;

// Returns the topics of a text, in the order of Topic, by the beginnings of its words. Both
// languages.
std::vector<Topic> topics_of(std::string_view text);

// All times are minutes after midnight. The task is placed at a multiple of five minutes in
// [earliest, latest], as near to `usual` as possible.
struct RoutineTask {
  std::string_view name;  // stable, for tests and rules: "breakfast"
  int usual = 0;
  int earliest = 0;
  int latest = 0;
  int minutes = 0;   // duration
  int priority = 0;  // lower values are placed first
  std::string_view activity;
  std::string_view benefit;
};

// Returns the tasks of any day. A `gentle` day (after exhaustion, illness or level 7) has rest
// instead of focused work, and an early night.
std::vector<RoutineTask> daily_tasks(Language language, bool gentle);
// Returns the task that a topic adds.
RoutineTask topic_task(Topic topic, Language language);
// The tasks that a risk level adds: tell_someone() at level 7; first_contact() and
// evening_contact() from level 8 on.
RoutineTask first_contact(Language language);
RoutineTask evening_contact(Language language);
RoutineTask tell_someone(Language language);
// Returns neutral tasks for feedback that requests more activities.
std::vector<RoutineTask> spare_tasks(Language language);

struct RoutineWords {
  std::string_view fixed_benefit;  // of a fixed event
  std::string_view no_time;        // this and the next ones: reasons for tasks that were not placed
  std::string_view bad_time;
  std::string_view time_taken;
  std::string_view too_many;
  std::string_view contact_first;
};
RoutineWords routine_words(Language language);

}  // namespace belay::rules
