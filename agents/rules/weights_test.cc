// Weights that the rules give to numbers and words at their limits, checked by tables.

#include <gmock/gmock.h>

#include "agents/rules/builtin_model.h"
#include "agents/rules/hits.h"
#include "agents/rules/routine_rules.h"
#include "agents/rules/routine_text.h"
#include "agents/rules/sentences.h"
#include "belay/task.h"

namespace belay::rules {
namespace {

using ::testing::ElementsAre;

NoteText note_of(std::string_view text, Language language) {
  NoteText note;
  note.bytes = readable(text);
  note.words = words_of(note.bytes);
  note.language = language;
  note.sentences = sentences_of(note.bytes, language);
  return note;
}

// Returns the weight of a night of this many hours; negative for a good one.
double weight_of(std::string_view text) {
  double weight = 0;
  for (const Hit& hit : hits_of(note_of(text, Language::en))) {
    if (hit.category == Category::sleep) weight += hit.weight;
    if (hit.category == Category::positive) weight -= hit.weight;
  }
  return weight;
}

TEST(SleepWeights, FallWithTheHoursAndRiseAgainBeyondTen) {
  const std::pair<const char*, double> nights[] = {
      {"I slept 1 hour.", 3},       {"I slept 3 hours.", 3},     {"I slept 3.5 hours.", 3},
      {"I slept 4 hours.", 2.2},    {"I slept 4.5 hours.", 2.2}, {"I slept 5 hours.", 1.5},
      {"I slept 5.5 hours.", 1.5},  {"I slept 6 hours.", 0.5},   {"I slept 6.5 hours.", 0.5},
      {"I slept 7 hours.", -0.8},   {"I slept 8 hours.", -0.8},  {"I slept 10 hours.", -0.8},
      {"I slept 10.5 hours.", 0.8}, {"I slept 11 hours.", 0.8}};
  for (const auto& [text, weight] : nights) EXPECT_DOUBLE_EQ(weight_of(text), weight) << text;
}

TEST(SleepWeights, OfHoursAwakeRiseAtTwelve) {
  EXPECT_DOUBLE_EQ(weight_of("11 hours without sleep."), 2);
  EXPECT_DOUBLE_EQ(weight_of("12 hours without sleep."), 3);
}

std::vector<std::string> spelled(std::string_view text) {
  const Words words = words_of(text);
  std::vector<std::string> all;
  for (const Token& token : words.tokens) all.push_back(words.vocabulary[token.word]);
  return all;
}

TEST(Words, AnEndingOfAContractionByItselfIsOneWord) {
  EXPECT_THAT(spelled("don't"), ElementsAre("do", "not"));
  EXPECT_THAT(spelled("an't"), ElementsAre("a", "not"));
  for (const std::string& word : spelled("n't")) EXPECT_NE(word, "");
  EXPECT_EQ(spelled("n't").size(), 1u);
}

std::vector<RoutineTask> all_tasks(Language language) {
  std::vector<RoutineTask> tasks = daily_tasks(language, false);
  for (const RoutineTask& each : daily_tasks(language, true)) tasks.push_back(each);
  for (std::size_t i = 0; i < kTopics; ++i) {
    tasks.push_back(topic_task(static_cast<Topic>(i), language));
  }
  for (const RoutineTask& each : spare_tasks(language)) tasks.push_back(each);
  tasks.push_back(first_contact(language));
  tasks.push_back(evening_contact(language));
  tasks.push_back(tell_someone(language));
  return tasks;
}

TEST(RoutineTasks, AreAtTheSameTimesInBothLanguagesOrHalfHoursLater) {
  const auto english = all_tasks(Language::en);
  const auto spanish = all_tasks(Language::es);
  ASSERT_EQ(english.size(), spanish.size());
  for (std::size_t i = 0; i < english.size(); ++i) {
    SCOPED_TRACE(english[i].name);
    EXPECT_EQ(english[i].name, spanish[i].name);
    EXPECT_EQ(english[i].priority, spanish[i].priority);
    EXPECT_EQ(english[i].minutes, spanish[i].minutes);
    const int later = spanish[i].usual - english[i].usual;
    EXPECT_EQ(later % 30, 0) << later;
    for (const RoutineTask& each : {english[i], spanish[i]}) {
      EXPECT_LE(each.earliest, each.usual);
      EXPECT_LE(each.usual, each.latest);
      EXPECT_EQ(each.usual % 5, 0) << each.usual;
      EXPECT_EQ(each.earliest % 5, 0) << each.earliest;
      EXPECT_EQ(each.latest % 5, 0) << each.latest;
      EXPECT_LT(each.latest, 24 * 60);
      EXPECT_NE(each.activity, "");
      EXPECT_NE(each.benefit, "");
    }
    EXPECT_NE(english[i].activity, spanish[i].activity);
    EXPECT_NE(english[i].benefit, spanish[i].benefit);
  }
}

std::vector<std::string> lines_of(const Routine& routine) {
  std::vector<std::string> lines;
  for (const RoutineActivity& each : routine.activities) {
    lines.push_back(each.time + " " + each.activity);
  }
  return lines;
}

Routine routine_in(Language language, int level) {
  RoutineRequest request;
  request.date = "1914-02-20";
  request.risk_level = level;
  request.language = language;
  request.recommendations = {"at least 12 activities"};
  return make_routine(request);
}

TEST(RoutineRules, AFullDayIsThisOne) {
  EXPECT_THAT(
      lines_of(routine_in(Language::es, 2)),
      ElementsAre(
          "07:30 Levantarse, asearse y abrir las cortinas", "08:00 Desayuno, sentado a la mesa",
          "09:00 Lo más importante de hoy, con el teléfono lejos",
          "10:30 Un vaso de agua y estirarse",
          "11:00 Una pausa lejos de la mesa: agua y mirar por la ventana",
          "14:00 Comida, sin trabajar mientras tanto", "15:15 Ordenar un rincón de la habitación",
          "16:45 Escuchar una música que te guste", "18:00 Un paseo con luz del día, sin prisa",
          "20:00 Cena ligera", "22:00 Apagar pantallas; un libro, música o una ducha tibia",
          "22:45 A la cama, a la misma hora de siempre"));
  EXPECT_THAT(
      lines_of(routine_in(Language::en, 2)),
      ElementsAre("07:30 Get up, wash, open the curtains", "08:00 Breakfast, sitting down",
                  "09:00 The one thing that matters most today, with the phone away",
                  "10:30 A glass of water and a stretch",
                  "11:00 A break away from the desk: water and a look outside",
                  "12:30 Lunch, without working beside it", "14:15 Tidy one corner of the room",
                  "15:45 Listen to a piece of music you like",
                  "17:00 A walk in daylight, at an easy pace", "18:30 A light dinner",
                  "22:00 Screens off; a book, music or a warm shower",
                  "22:45 To bed, at the same hour as always"));
}

TEST(BuiltinModel, SaysWhatFoundNoPlaceWhereThatIsRequiredAlsoWhereAllDid) {
  const auto model = make_builtin_model({});
  const auto loop = make_event_loop();
  auto answer_with = [&](std::string_view required) {
    Value schema = *parse_json(
        R"({"properties":{"activities":{"items":{"properties":{"time":{},"activity":{},
            "expectedBenefit":{}}}},"unplaced":{}},"required":)" +
        std::string(required) + "}");
    ModelRequest request(
        "routine_schedule", {}, std::move(schema),
        *parse_json(R"({"date":"2026-01-05","riskLevel":2,"recommendations":[]})"));
    auto reply = block_on(*loop, model->generate(std::move(request)));
    EXPECT_TRUE(reply.ok()) << reply.error().message;
    return reply.ok() ? *parse_json(reply->text) : Value();
  };
  EXPECT_EQ(answer_with(R"(["activities","unplaced"])")["unplaced"], Value(Value::Array{}));
  EXPECT_TRUE(answer_with(R"(["activities"])")["unplaced"].is_null()) << "and nowhere else";
}

}  // namespace
}  // namespace belay::rules
