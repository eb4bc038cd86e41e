#pragma once
// rules/routine_text.h - the things that a routine can hold, with their usual times and words.

#include <cstdint>
#include <string_view>
#include <vector>

#include "agents/rules/language.h"

namespace belay::rules {

// What a recommendation can be about.
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

// The topics of a text by the beginnings of its words, in the order of Topic. Both languages.
std::vector<Topic> topics_of(std::string_view text);

// All times are minutes after midnight. The task is placed at a multiple of five minutes in
// [earliest, latest], as near to `usual` as it can be.
struct RoutineTask {
  std::string_view name;  // stable, for tests and rules: "breakfast"
  int usual = 0;
  int earliest = 0;
  int latest = 0;
  int minutes = 0;   // how long it takes
  int priority = 0;  // lower is placed first
  std::string_view activity;
  std::string_view benefit;
};

// The tasks of any day; `gentle` (from exhaustion, illness or level 7) has no focused work, rest in
// its stead, and an early night.
std::vector<RoutineTask> daily_tasks(Language language, bool gentle);
// What one topic adds.
RoutineTask topic_task(Topic topic, Language language);
// What a level adds: 7 tells someone; from 8 on contact first and again in the evening.
RoutineTask first_contact(Language language);
RoutineTask evening_contact(Language language);
RoutineTask tell_someone(Language language);
// Harmless things to fill up with when more activities are asked for.
std::vector<RoutineTask> spare_tasks(Language language);

struct RoutineWords {
  std::string_view fixed_benefit;  // of a fixed event
  std::string_view no_time;        // reasons for what is not placed
  std::string_view bad_time;
  std::string_view time_taken;
  std::string_view too_many;
  std::string_view contact_first;
};
RoutineWords routine_words(Language language);

}  // namespace belay::rules
