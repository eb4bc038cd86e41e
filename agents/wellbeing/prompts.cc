#include "agents/wellbeing/prompts.h"

#include <algorithm>
#include <cstdint>

#include "agents/wellbeing/care.h"
#include "agents/wellbeing/code_points.h"
#include "agents/wellbeing/model_answer.h"
#include "agents/wellbeing/prompt_text.h"
#include "agents/wellbeing/sanitize.h"

namespace belay::wellbeing {
namespace {

constexpr std::string_view kUserContent = "[USER CONTENT]";
constexpr std::size_t kProblemCharactersMax = 400;

// Collects users' text, sanitized, up to a maximum number of characters in total.
class Material {
 public:
  std::string take(std::string_view text) {
    Sanitized clean = sanitize(text, left_);
    altered_ += clean.altered;
    characters_cut_ += clean.characters_cut;
    left_ -= std::min(left_, count_code_points(clean.text));
    return std::move(clean.text);
  }
  Prompt prompt(std::string_view purpose, std::vector<Message> messages, Value schema,
                Value input) const {
    Prompt made;
    made.request = ModelRequest(std::string(purpose), std::move(messages), std::move(schema),
                                std::move(input));
    made.altered = altered_;
    made.characters_cut = characters_cut_;
    return made;
  }

 private:
  std::size_t left_ = kPromptCharactersMax;
  std::size_t altered_ = 0;
  std::size_t characters_cut_ = 0;
};

std::string language_in_english(Language language) {
  return language == Language::en ? "English" : "Spanish";
}

// Returns ", 22:09 Europe/Madrid". Empty if the note was not written on its day: a copied old diary
// has the time of the copy, which is unrelated to the day.
std::string hour_of(const DayNote& note, const std::string& date, const TimeZone& zone) {
  const std::string written = zone.text_of(note.createdAt);
  if (written.substr(0, 10) != date) return "";
  return ", " + written.substr(11, 5) + " " + zone.name();
}

// Returns the system message, which is the part before [USER CONTENT], and the user message. The
// template is split before its placeholders are replaced, so that replaced text cannot move the
// boundary.
std::vector<Message> messages_of(std::string_view text, const Places& places,
                                 const Error* problem) {
  const std::size_t border = text.find(kUserContent);
  BELAY_ASSERT(border != text.npos);
  std::string instruction = rendered(text.substr(0, border), places);
  std::string content = rendered(text.substr(border), places);
  if (problem != nullptr) {
    const Sanitized what = sanitize(problem->message, kProblemCharactersMax);
    content += rendered(kRetryPrompt, {{"problem", one_line(what.text)}});
  }
  return {Message{Role::system, std::move(instruction)}, Message{Role::user, std::move(content)}};
}

std::string notes_as_text(const Audit& audit, Material& material) {
  const TimeZone zone = TimeZone::named(audit.timeZone).value_or(TimeZone());
  std::string out;
  std::size_t number = 0;
  for (const DayNote& note : audit.notes) {
    if (!out.empty()) out += "\n\n";
    out += "Note " + std::to_string(++number) + hour_of(note, audit.date, zone) + ":\n" +
           material.take(note.content);
  }
  return out;
}

Value notes_as_data(const std::vector<DayNote>& notes) {
  Value::Array list;
  for (const DayNote& note : notes) {
    list.push_back(Value::object(
        {{"id", note.id}, {"content", note.content}, {"createdAt", to_text(note.createdAt)}}));
  }
  return list;
}

std::string bullets(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) {
    if (!out.empty()) out += '\n';
    out += "- " + line;
  }
  return out.empty() ? "- none" : out;
}

Value schedule_input(const RoutineState& state, Language language) {
  Value::Array recommendations;
  for (const std::string& each : state.analysisResult->recommendations) {
    recommendations.emplace_back(each);
  }
  Value::Array events;
  for (const FixedEvent& event : state.fixedEvents) {
    events.push_back(Value::object(
        {{"time", event.time}, {"activity", event.activity}, {"minutes", event.minutes}}));
  }
  return Value::object({{"date", state.date},
                        {"language", name_of(language)},
                        {"riskLevel", state.analysisResult->riskLevel},
                        {"recommendations", std::move(recommendations)},
                        {"fixedEvents", std::move(events)}});
}

}  // namespace

Prompt audit_prompt(const Audit& audit, Language language, const Error* problem) {
  Material material;
  const Places places = {{"date", audit.date},
                         {"notes", notes_as_text(audit, material)},
                         {"language", language_in_english(language)}};
  Value input = Value::object({{"date", audit.date},
                               {"language", name_of(language)},
                               {"notes", notes_as_data(audit.notes)}});
  return material.prompt(kAuditPurpose, messages_of(kDailyAuditPrompt, places, problem),
                         audit_answer_schema(), std::move(input));
}

Prompt schedule_prompt(const RoutineState& state, Language language, const Error* problem) {
  BELAY_ASSERT(state.analysisResult.has_value());
  Material material;
  // In reverse order: the newest recommendations are the validator's feedback, and must not be cut.
  std::vector<std::string> recommendations;
  const auto& given = state.analysisResult->recommendations;
  for (auto each = given.rbegin(); each != given.rend(); ++each) {
    recommendations.insert(recommendations.begin(), one_line(material.take(*each)));
  }
  std::vector<std::string> events;
  for (const FixedEvent& event : state.fixedEvents) {
    events.push_back(one_line(material.take(event.time + " " + event.activity)) + " (" +
                     std::to_string(event.minutes) + " minutes)");
  }
  std::string first;
  if (state.contactFirst) {
    first = rendered(kFirstActivityPrompt, {{"contact", contact_activity(language).activity}});
  }
  const Places places = {{"date", state.date},
                         {"risk", std::to_string(state.analysisResult->riskLevel)},
                         {"yesterday", one_line(material.take(state.yesterdayContext))},
                         {"recommendations", bullets(recommendations)},
                         {"events", bullets(events)},
                         {"first", first},
                         {"language", language_in_english(language)}};
  return material.prompt(kRoutinePurpose, messages_of(kRoutineSchedulePrompt, places, problem),
                         schedule_answer_schema(), schedule_input(state, language));
}

std::vector<std::string> remarks_on(const Prompt& prompt, Language language) {
  std::vector<std::string> remarks;
  if (prompt.altered > 0) {
    remarks.push_back(
        message(Text::passages_altered, language, {{"count", std::to_string(prompt.altered)}}));
  }
  if (prompt.characters_cut > 0) {
    remarks.push_back(
        message(Text::material_cut, language, {{"count", std::to_string(prompt.characters_cut)}}));
  }
  return remarks;
}

std::string rendered(std::string_view text, const Places& places) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find("{{"), text.size());
    out.append(text.substr(0, open));
    text.remove_prefix(open);
    const std::size_t close = text.find("}}");
    if (text.empty() || close == text.npos) break;
    const std::string_view name = text.substr(2, close - 2);
    const auto place = std::find_if(places.begin(), places.end(),
                                    [&](const auto& each) { return each.first == name; });
    BELAY_ASSERT(place != places.end());  // a template has a placeholder without a value
    out.append(place->second);
    text.remove_prefix(close + 2);
  }
  return out.append(text);
}

}  // namespace belay::wellbeing
