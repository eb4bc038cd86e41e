#include "agents/wellbeing/record_rules.h"

#include <algorithm>

#include "agents/wellbeing/care.h"
#include "agents/wellbeing/validate_schedule.h"

namespace belay::wellbeing {
namespace {

Error refused(std::string_view member, std::string_view problem) {
  return error(ErrorCode::invalid,
               "Invalid " + std::string(member) + ": " + std::string(problem) + ".");
}

Result<Done> check_date(const std::string& date) {
  if (is_date(date)) return Done{};
  return refused("date", "expected a day of the calendar, written YYYY-MM-DD");
}

Result<Done> check_created_at(Instant created_at, Instant now) {
  if (created_at <= now + kClockAheadMax) return Done{};
  return refused("createdAt", to_text(created_at) + " is in the future");
}

// Decodes the record as the type of its collection and checks it.
template <typename R>
Result<Done> check_as(const RecordWrite& write, Instant now) {
  BELAY_TRY(Value value, parse_json(write.json));
  BELAY_TRY(R record, decode_json<R>(value));
  if (record.key() != write.key) {
    return error(ErrorCode::invalid, "The record \"" + write.key + "\" of " + write.collection +
                                         " names itself \"" + record.key() + "\".");
  }
  return check(record, now);
}

}  // namespace

bool is_blank(std::string_view text) {
  // ASCII white space, and the characters that word processors and phones insert.
  constexpr std::string_view kBlanks[] = {
      " ",      "\t",     "\n",     "\r",     "\v",     "\f",     "\u00A0", "\u1680", "\u2000",
      "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008", "\u2009",
      "\u200A", "\u200B", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000", "\uFEFF"};
  while (!text.empty()) {
    std::size_t before = text.size();
    for (std::string_view blank : kBlanks) {
      if (text.starts_with(blank)) text.remove_prefix(blank.size());
    }
    if (text.size() == before) return false;
  }
  return true;
}

Result<Done> check_risk_level(std::string_view member, std::optional<int> level) {
  if (!level || (*level >= kRiskMin && *level <= kRiskMax)) return Done{};
  return refused(std::string(member) + " " + std::to_string(*level),
                 "expected 1 to 10, or null where the notes were not assessed");
}

Result<Done> check_text(std::string_view member, std::string_view text) {
  if (!is_blank(text)) return Done{};
  return refused(member, "it is empty");
}

Result<Done> check_activities(const std::vector<Activity>& activities) {
  Value::Array list;
  for (const Activity& each : activities) {
    list.push_back(Value::object({{"time", each.time},
                                  {"activity", each.activity},
                                  {"expectedBenefit", each.expectedBenefit}}));
  }
  Validation validation = validate_schedule(Value::object({{"activities", std::move(list)}}));
  if (validation.is_valid) return Done{};
  return refused("activities", validation.feedback);
}

std::size_t note_content_bytes(const std::string& content) {
  constexpr std::size_t kQuotationMarks = 2;
  return to_json(Value(content)).size() - kQuotationMarks;
}

Result<Done> check(const Note& note, Instant now) {
  BELAY_CHECK(check_name("id", note.id));
  BELAY_CHECK(check_date(note.date));
  BELAY_CHECK(check_text("content", note.content));
  std::size_t bytes = note_content_bytes(note.content);
  if (bytes > kNoteContentBytesMax) {
    return refused("content", "it has " + std::to_string(bytes) + " bytes, and at most " +
                                  std::to_string(kNoteContentBytesMax) + " can be kept");
  }
  return check_created_at(note.createdAt, now);
}

Result<Done> check(const DailySummary& summary, Instant now) {
  BELAY_CHECK(check_date(summary.date));
  BELAY_CHECK(check_text("summary", summary.summary));
  BELAY_CHECK(check_risk_level("riskLevel", summary.riskLevel));
  BELAY_CHECK(check_risk_level("modelRiskLevel", summary.modelRiskLevel));
  return check_created_at(summary.createdAt, now);
}

Result<Done> check(const Routine& routine, Instant now) {
  BELAY_CHECK(check_date(routine.date));
  BELAY_CHECK(check_activities(routine.activities));
  return check_created_at(routine.createdAt, now);
}

Result<Done> check(const FixedEvent& event, Instant) {
  BELAY_CHECK(check_date(event.date));
  if (!minutes_of_day(event.time)) return refused("time", "Use HH:MM");
  BELAY_CHECK(check_text("activity", event.activity));
  if (event.minutes >= 1 && event.minutes <= kFixedEventMinutesMax) return Done{};
  return refused("minutes " + std::to_string(event.minutes),
                 "expected 1 to " + std::to_string(kFixedEventMinutesMax));
}

Result<Done> check_record(const RecordWrite& write, Instant now) {
  if (write.erase) return Done{};
  if (write.collection == Note::collection) return check_as<Note>(write, now);
  if (write.collection == DailySummary::collection) return check_as<DailySummary>(write, now);
  if (write.collection == Routine::collection) return check_as<Routine>(write, now);
  if (write.collection == FixedEvent::collection) return check_as<FixedEvent>(write, now);
  return Done{};
}

}  // namespace belay::wellbeing
