#include "agents/wellbeing/record_rules.h"

#include <gmock/gmock.h>

namespace belay::wellbeing {
namespace {

using ::testing::HasSubstr;

const Instant kNow = *instant_from("2024-01-15T12:00:00Z");

std::string message_of(const Result<Done>& checked) {
  if (checked.ok()) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::invalid);
  return checked.error().message;
}

Note sound_note() {
  Note note;
  note.id = "n";
  note.date = "2024-01-15";
  note.content = "Slept well.";
  note.createdAt = kNow;
  return note;
}

DailySummary sound_summary() {
  DailySummary summary;
  summary.date = "2024-01-15";
  summary.summary = "A calm day.";
  summary.riskLevel = 3;
  return summary;
}

Routine sound_routine() {
  Routine routine;
  routine.date = "2024-01-15";
  routine.activities = {
      {"08:00", "Breakfast", ""}, {"12:00", "A walk", ""}, {"22:00", "Sleep", ""}};
  return routine;
}

template <typename R, typename Change>
std::string refusal(R record, Change change) {
  EXPECT_EQ(message_of(check(record, kNow)), "");
  change(record);
  std::string direct = message_of(check(record, kNow));
  auto write = record_write(record, UserId("ana"));
  if (write.ok()) {
    EXPECT_EQ(message_of(check_record(*write, kNow)), direct) << "the same as JSON";
  }
  return direct;
}

TEST(RecordRules, RefuseANoteThatSaysNothingOrNoDay) {
  const auto note = [](auto change) { return refusal(sound_note(), change); };
  EXPECT_THAT(note([](Note& n) { n.date = "2024-02-30"; }), HasSubstr("Invalid date"));
  EXPECT_THAT(note([](Note& n) { n.content = ""; }), HasSubstr("Invalid content"));
  EXPECT_THAT(note([](Note& n) { n.content = " \n\u00A0\u200B"; }), HasSubstr("Invalid content"));
  EXPECT_THAT(note([](Note& n) { n.content.assign(kNoteContentBytesMax + 1, 'x'); }),
              HasSubstr("1000001 bytes"));
  EXPECT_THAT(note([](Note& n) { n.content.assign(kNoteContentBytesMax / 2 + 1, '"'); }),
              HasSubstr("1000002 bytes"));
  EXPECT_THAT(note([](Note& n) { n.id = ""; }), HasSubstr("id"));
}

TEST(RecordRules, RefuseATimeOfWritingInTheFuture) {
  const auto at = [](Instant created_at) {
    return refusal(sound_note(), [created_at](Note& note) { note.createdAt = created_at; });
  };
  EXPECT_EQ(at(kNow + std::chrono::hours(24)), "") << "clocks differ";
  EXPECT_THAT(at(kNow + std::chrono::hours(25)), HasSubstr("is in the future"));
  EXPECT_EQ(at(*instant_from("1910-02-06T22:09:00Z")), "");
}

TEST(RecordRules, RefuseASummaryOfAnUnheardOfRiskOrWithoutWords) {
  const auto summary = [](auto change) { return refusal(sound_summary(), change); };
  for (int level : {0, -1, 11, 99}) {
    EXPECT_THAT(summary([level](DailySummary& s) { s.riskLevel = level; }),
                HasSubstr("Invalid riskLevel " + std::to_string(level) + ": expected 1 to 10"));
  }
  EXPECT_EQ(summary([](DailySummary& s) { s.riskLevel.reset(); }), "") << "not assessed";
  EXPECT_THAT(summary([](DailySummary& s) { s.modelRiskLevel = 99; }), HasSubstr("modelRiskLevel"));
  EXPECT_THAT(summary([](DailySummary& s) { s.summary = " "; }), HasSubstr("Invalid summary"));
  EXPECT_THAT(summary([](DailySummary& s) { s.date = "today"; }), HasSubstr("Invalid date"));
}

TEST(RecordRules, HoldARoutineToTheRulesOfTheValidator) {
  const auto routine = [](auto change) { return refusal(sound_routine(), change); };
  EXPECT_THAT(routine([](Routine& r) { r.activities[1].time = "99:99"; }), HasSubstr("Use HH:MM"));
  EXPECT_THAT(routine([](Routine& r) { r.activities[1].activity = "x"; }), HasSubstr("too short"));
  EXPECT_THAT(routine([](Routine& r) { r.activities.pop_back(); }), HasSubstr("at least 3"));
  EXPECT_THAT(routine([](Routine& r) { r.activities.clear(); }), HasSubstr("empty"));
  EXPECT_THAT(routine([](Routine& r) { std::swap(r.activities[0], r.activities[2]); }),
              HasSubstr("chronological"));
}

TEST(RecordRules, HoldAFixedEventToItsTime) {
  FixedEvent sound{"e", "2024-01-15", "10:00", "Dentist", 30};
  const auto event = [&](auto change) { return refusal(sound, change); };
  EXPECT_THAT(event([](FixedEvent& e) { e.time = "25:00"; }), HasSubstr("HH:MM"));
  EXPECT_THAT(event([](FixedEvent& e) { e.minutes = 0; }), HasSubstr("minutes 0"));
  EXPECT_THAT(event([](FixedEvent& e) { e.activity = ""; }), HasSubstr("activity"));
}

TEST(RecordRules, KnowARecordByItsCollection) {
  RecordWrite write = record_write(sound_note(), UserId("ana")).value();
  write.key = "another";
  EXPECT_THAT(message_of(check_record(write, kNow)), HasSubstr("names itself \"n\""));
  write.json = R"({"id":"another","date":7})";
  EXPECT_NE(message_of(check_record(write, kNow)), "");
  write.erase = true;
  EXPECT_EQ(message_of(check_record(write, kNow)), "") << "what is erased need not be sound";
  write.erase = false;
  write.collection = "letters";
  EXPECT_EQ(message_of(check_record(write, kNow)), "") << "of another program";
}

}  // namespace
}  // namespace belay::wellbeing
