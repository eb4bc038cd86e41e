#include "agents/wellbeing/care.h"

#include <algorithm>
#include <utility>

#include "agents/rules/crisis_floor.h"
#include "agents/rules/routine_text.h"
#include "agents/wellbeing/code_points.h"
#include "agents/wellbeing/validate_schedule.h"

namespace belay::wellbeing {
namespace {

constexpr int kMinutesForContact = 15;

rules::Language rules_language(Language language) {
  return language == Language::en ? rules::Language::en : rules::Language::es;
}

void add_word(std::string word, Crisis& crisis) {
  const bool known =
      std::find(crisis.words.begin(), crisis.words.end(), word) != crisis.words.end();
  if (!known && crisis.words.size() < kCrisisWordsMax) crisis.words.push_back(std::move(word));
}

void raise_minimum(std::optional<int> minimum, Crisis& crisis) {
  if (!minimum) return;
  crisis.minimum = std::max(crisis.minimum.value_or(*minimum), *minimum);
}

}  // namespace

Crisis crisis_in(const std::vector<std::string>& texts) {
  const rules::CrisisFloor floor = rules::crisis_floor(texts);
  Crisis crisis;
  raise_minimum(floor.minimum, crisis);
  for (const rules::CrisisPhrase& phrase : floor.phrases) add_word(one_line(phrase.text), crisis);
  // Without a crisis phrase, the words that made the texts resemble a day of crisis.
  if (crisis.words.empty() && crisis.minimum) {
    for (const rules::RiskReason& reason : floor.reasons) add_word(one_line(reason.text), crisis);
  }
  return crisis;
}

void merge(const Crisis& more, Crisis& crisis) {
  raise_minimum(more.minimum, crisis);
  for (const std::string& word : more.words) add_word(word, crisis);
}

std::string quoted_words(const Crisis& crisis) {
  std::string out;
  for (const std::string& word : crisis.words) {
    if (!out.empty()) out += ", ";
    out += "“" + word + "”";
  }
  return out;
}

int raised(int level, const Crisis& crisis) { return std::max(level, crisis.minimum.value_or(0)); }

std::string local_help(const CareOptions& options, Language language) {
  if (!options.local_help.empty()) return options.local_help;
  return message(Text::local_help_default, language, {{"setting", kLocalHelpSetting}});
}

std::string notice_of(const ModelReply& reply, Language language) {
  if (!reply.notice.empty()) return reply.notice;
  if (reply.method == "rules") return message(Text::made_by_rules, language);
  if (reply.method == "language_model") {
    return message(Text::made_by_model, language,
                   {{"provider", reply.provider}, {"model", reply.model}});
  }
  return message(Text::made_by_other, language,
                 {{"provider", reply.provider}, {"method", reply.method}});
}

Activity contact_activity(Language language) {
  const rules::RoutineTask task = rules::first_contact(rules_language(language));
  return {{}, std::string(task.activity), std::string(task.benefit)};
}

bool begins_with_contact(const std::vector<Activity>& activities, Language language) {
  return !activities.empty() &&
         one_line(activities.front().activity) == contact_activity(language).activity;
}

std::vector<Activity> with_contact_first(std::vector<Activity> activities, Language language) {
  if (begins_with_contact(activities, language)) return activities;
  Activity contact = contact_activity(language);
  const std::string first = activities.empty() ? "" : activities.front().time;
  const int start = minutes_of_day(first).value_or(8 * 60) - kMinutesForContact;
  contact.time = time_of_day(std::max(start, 0));
  activities.insert(activities.begin(), std::move(contact));
  return activities;
}

}  // namespace belay::wellbeing
