#include "agents/rules/routine_rules.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "agents/rules/routine_text.h"
#include "agents/rules/words.h"

namespace belay::rules {
namespace {

constexpr int kDayMinutes = 24 * 60;
constexpr int kStep = 5;
constexpr std::size_t kActivitiesMin = 3;
constexpr std::size_t kActivitiesUsual = 10;  // topics add tasks only up to this number
constexpr std::size_t kActivitiesMax = 14;    // maximum that feedback can request
constexpr int kRestrained = 7;                // from this level on, a gentle day
constexpr int kContactFirst = 8;

struct Wishes {
  std::vector<Topic> topics;
  std::size_t at_least = kActivitiesMin;
  std::size_t at_most = kActivitiesMax;
  int earliest = 0;
  int latest = kDayMinutes - 1;
};

struct Slot {
  int start = 0;
  int minutes = 0;
  int priority = 0;  // higher is left out first; negative: never
  RoutineActivity activity;
};

std::string time_text(int minutes) {
  const auto two = [](int number) {
    return std::string(number < 10 ? "0" : "") + std::to_string(number);
  };
  return two(minutes / 60) + ":" + two(minutes % 60);
}

// Extracts phrases such as "at least 8 activities" from one recommendation; other wishes remain
// unchanged.
class FeedbackReader {
 public:
  explicit FeedbackReader(std::string_view text) : text_(readable(text)), words_(words_of(text_)) {}

  void read_into(Wishes& wishes) const {
    if (says({"at", "least"}) || says({"al", "menos"}) || says({"como", "minimo"})) {
      if (const auto number = number_of_activities()) {
        wishes.at_least = std::clamp(*number, wishes.at_least, kActivitiesMax);
      }
    }
    if (says({"at", "most"}) || says({"como", "maximo"}) || says({"no", "more", "than"})) {
      if (const auto number = number_of_activities()) {
        wishes.at_most = std::clamp(*number, kActivitiesMin, wishes.at_most);
      }
    }
    const auto time = clock_time();
    if (!time || !denies()) return;
    if (says({"before"}) || says({"antes", "de"})) {
      wishes.earliest = std::max(wishes.earliest, std::min(*time, 12 * 60));
    } else if (says({"after"}) || says({"despues", "de"})) {
      wishes.latest = std::min(wishes.latest, std::max(*time, 18 * 60));
    }
  }

 private:
  std::string_view word(std::size_t token) const {
    return words_.vocabulary[words_.tokens[token].word];
  }

  bool says(std::initializer_list<std::string_view> phrase) const {
    for (std::size_t at = 0; at + phrase.size() <= words_.tokens.size(); ++at) {
      std::size_t i = at;
      if (std::all_of(phrase.begin(), phrase.end(),
                      [&](std::string_view part) { return word(i++) == part; })) {
        return true;
      }
    }
    return false;
  }

  bool denies() const {
    return says({"no"}) || says({"not"}) || says({"nothing"}) || says({"nada"}) || says({"never"});
  }

  std::optional<std::size_t> number_of_activities() const {
    const bool named = std::any_of(
        words_.vocabulary.begin(), words_.vocabulary.end(), [](const std::string& each) {
          return each.starts_with("activit") || each.starts_with("actividad");
        });
    if (!named) return std::nullopt;
    for (std::size_t at = 0; at < words_.tokens.size(); ++at) {
      std::size_t number = 0;
      const std::string_view digits = word(at);
      const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size()) return number;
    }
    return std::nullopt;
  }

  std::optional<int> clock_time() const {
    for (std::size_t colon = text_.find(':'); colon != std::string::npos;
         colon = text_.find(':', colon + 1)) {
      if (colon < 2) continue;
      if (const auto time = minutes_of(std::string_view(text_).substr(colon - 2, 5))) return time;
    }
    return std::nullopt;
  }

  std::string text_;
  Words words_;
};

Wishes wishes_of(const std::vector<std::string>& recommendations) {
  Wishes wishes;
  std::set<Topic> seen;
  for (const std::string& recommendation : recommendations) {
    FeedbackReader(recommendation).read_into(wishes);
    for (const Topic topic : topics_of(recommendation)) {
      if (seen.insert(topic).second) wishes.topics.push_back(topic);
    }
  }
  wishes.at_most = std::max(wishes.at_most, wishes.at_least);
  return wishes;
}

class Planner {
 public:
  Planner(const RoutineRequest& request, Language language)
      : request_(request),
        language_(language),
        words_(routine_words(language)),
        wishes_(wishes_of(request.recommendations)) {}

  Routine plan() {
    place_fixed();
    if (request_.risk_level >= kContactFirst) place_first_contact();
    for (const RoutineTask& task : tasks()) place(task, true);
    for (const RoutineTask& task : spare_tasks(language_)) {
      if (slots_.size() < wishes_.at_least) place(task, false);
    }
    fill_up();
    leave_out();
    return finished();
  }

 private:
  bool wants(Topic topic) const {
    return std::find(wishes_.topics.begin(), wishes_.topics.end(), topic) != wishes_.topics.end();
  }

  // Returns all tasks to place, in order of priority. Topics add tasks in the order of the
  // recommendations, until the day has kActivitiesUsual.
  std::vector<RoutineTask> tasks() const {
    const bool gentle = request_.risk_level >= kRestrained || wants(Topic::exhaustion) ||
                        wants(Topic::illness) || wants(Topic::sleep);
    std::vector<RoutineTask> all = daily_tasks(language_, gentle);
    if (request_.risk_level >= kContactFirst) {
      std::erase_if(all, [](const RoutineTask& task) { return task.name == "one_small_thing"; });
      all.push_back(evening_contact(language_));
    } else if (request_.risk_level >= kRestrained) {
      all.push_back(tell_someone(language_));
    }
    for (const Topic topic : wishes_.topics) {
      const bool asked_already = topic == Topic::isolation && request_.risk_level >= kRestrained;
      if (asked_already || all.size() + slots_.size() >= kActivitiesUsual + 1) continue;
      all.push_back(topic_task(topic, language_));
    }
    std::sort(all.begin(), all.end(), [](const RoutineTask& a, const RoutineTask& b) {
      return a.priority != b.priority ? a.priority < b.priority : a.name < b.name;
    });
    return all;
  }

  void place_fixed() {
    for (const FixedEvent& event : request_.fixed_events) {
      const auto start = minutes_of(event.time);
      const std::string name = readable(event.activity.empty() ? event.time : event.activity);
      if (!start) {
        unplaced_.push_back({name, std::string(words_.bad_time)});
      } else if (taken(*start)) {
        unplaced_.push_back({name, std::string(words_.time_taken)});
      } else {
        slots_.push_back({*start,
                          std::clamp(event.minutes, kStep, 960),
                          -1,
                          {time_text(*start), described(name), std::string(words_.fixed_benefit)}});
      }
    }
  }

  // Contact is placed before the day's first event; an event at midnight leaves no time before it.
  void place_first_contact() {
    const RoutineTask task = first_contact(language_);
    int start = std::max(task.usual, wishes_.earliest);
    for (const Slot& slot : slots_) start = std::min(start, slot.start - task.minutes);
    start = std::max(start, 0);
    std::erase_if(slots_, [&](const Slot& slot) {
      if (slot.start > start) return false;
      unplaced_.push_back({slot.activity.activity, std::string(words_.contact_first)});
      return true;
    });
    std::string benefit(task.benefit);
    if (!request_.help_line.empty()) benefit += ". " + readable(request_.help_line);
    slots_.push_back({start, task.minutes, -2, {"", std::string(task.activity), benefit}});
    first_start_ = start + 1;
  }

  bool taken(int start) const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const Slot& slot) { return slot.start == start; });
  }

  bool is_free(int start, int minutes) const {
    return std::none_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
      return start < slot.start + slot.minutes && slot.start < start + minutes;
    });
  }

  void place(const RoutineTask& task, bool report) {
    const int earliest = std::max({task.earliest, wishes_.earliest, first_start_});
    const int latest = std::min({task.latest, wishes_.latest, kDayMinutes - 1});
    std::optional<int> best;
    for (int start = (earliest + kStep - 1) / kStep * kStep; start <= latest; start += kStep) {
      if (!is_free(start, task.minutes)) continue;
      if (!best || std::abs(start - task.usual) < std::abs(*best - task.usual)) best = start;
    }
    if (best) {
      slots_.push_back({*best,
                        task.minutes,
                        task.priority,
                        {"", std::string(task.activity), std::string(task.benefit)}});
    } else if (report) {
      unplaced_.push_back({std::string(task.activity), std::string(words_.no_time)});
    }
  }

  // If fixed events fill the day, the minimum number of activities is reached with short pauses
  // inside them: at a full hour of the day if one is free, otherwise at any minute.
  void fill_up() {
    for (int hour = 8; hour <= 22; ++hour) add_pause(hour * 60);
    for (int minute = 0; minute < kDayMinutes; ++minute) add_pause(minute);
  }

  void add_pause(int start) {
    const bool enough = slots_.size() >= std::max(wishes_.at_least, kActivitiesMin);
    if (enough || start < first_start_ || taken(start)) return;
    const auto spare = spare_tasks(language_);
    const RoutineTask& task = spare[slots_.size() % spare.size()];
    slots_.push_back(
        {start, kStep, task.priority, {"", std::string(task.activity), std::string(task.benefit)}});
  }

  void leave_out() {
    while (slots_.size() > wishes_.at_most) {
      const auto last =
          std::max_element(slots_.begin(), slots_.end(),
                           [](const Slot& a, const Slot& b) { return a.priority < b.priority; });
      if (last->priority < 0) return;
      unplaced_.push_back({last->activity.activity, std::string(words_.too_many)});
      slots_.erase(last);
    }
  }

  // Returns a description of at least three characters, in valid UTF-8.
  static std::string described(std::string_view activity) {
    std::string text = readable(activity);
    while (text.size() < 3) text += '.';
    return text;
  }

  Routine finished() {
    std::sort(slots_.begin(), slots_.end(),
              [](const Slot& a, const Slot& b) { return a.start < b.start; });
    Routine routine;
    for (Slot& slot : slots_) {
      slot.activity.time = time_text(slot.start);
      routine.activities.push_back(std::move(slot.activity));
    }
    routine.unplaced = std::move(unplaced_);
    return routine;
  }

  const RoutineRequest& request_;
  Language language_;
  RoutineWords words_;
  Wishes wishes_;
  int first_start_ = 0;  // nothing else starts before
  std::vector<Slot> slots_;
  std::vector<Unplaced> unplaced_;
};

}  // namespace

Routine make_routine(const RoutineRequest& request) {
  const bool known = request.language != Language::unknown;
  return Planner(request, known ? request.language : Language::en).plan();
}

std::optional<int> minutes_of(std::string_view time) {
  const auto digit = [&](std::size_t i) { return time[i] >= '0' && time[i] <= '9'; };
  if (time.size() != 5 || time[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4)) {
    return std::nullopt;
  }
  const int hours = (time[0] - '0') * 10 + (time[1] - '0');
  const int minutes = (time[3] - '0') * 10 + (time[4] - '0');
  if (hours > 23 || minutes > 59) return std::nullopt;
  return hours * 60 + minutes;
}

}  // namespace belay::rules
