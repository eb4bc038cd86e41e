#include "agents/rules/routine_text.h"

#include <algorithm>
#include <array>

#include "agents/rules/words.h"

namespace belay::rules {
namespace {

constexpr int at(int hour, int minute = 0) { return hour * 60 + minute; }

// A task with its texts in both languages. Spanish meals have different times.
struct Bilingual {
  RoutineTask task;  // with the English words
  std::string_view activity_es;
  std::string_view benefit_es;
  int later_es = 0;  // minutes
};

RoutineTask in(Language language, const Bilingual& both) {
  RoutineTask task = both.task;
  if (language != Language::es) return task;
  task.activity = both.activity_es;
  task.benefit = both.benefit_es;
  task.usual += both.later_es;
  task.earliest += both.later_es;
  task.latest += both.later_es;
  return task;
}

// The beginnings of the words of a topic, separated by spaces.
struct Keywords {
  Topic topic;
  std::string_view beginnings;
};

constexpr auto kKeywords = std::to_array<Keywords>({
    {Topic::exhaustion,
     "exhaust tired fatigue burnout rest overwork weary energy agot cansan cansad "
     "fatiga descans energia fuerzas"},
    {Topic::sleep, "sleep insomnia bedtime nap dormi sueño insomnio acostarse siesta"},
    {Topic::illness,
     "ill illness sick pain fever doctor medic pharmac symptom enferm dolor fiebre "
     "farmac sintoma salud"},
    {Topic::low_mood,
     "mood sad sadness depress hopeless enjoy pleasure animo triste deprim disfrut "
     "desanim"},
    {Topic::anxiety,
     "anxi anxious stress worr panic breath relax overwhelm ansi estres preocup panico "
     "respir relaj agobi nervi"},
    {Topic::isolation,
     "isolat lonel alone friend social call contact aisl soledad solo sola amig llama"},
    {Topic::conflict, "conflict argu quarrel fight anger angry conflicto discu pelea enfad enoj"},
    {Topic::substance, "alcohol drink drug sedativ smok beb droga sedante fumar"},
    {Topic::movement,
     "walk exercise move sport outdoor stretch pase camin ejercicio mover deporte "
     "estira"},
});

// Returns whether `word` begins with one of `beginnings`. A beginning of up to four letters must be
// the whole word, or all but its last letter: "ill" does not match "illustrate", nor "rest"
// "restaurant".
bool names(std::string_view beginnings, std::string_view word) {
  while (!beginnings.empty()) {
    const std::string_view beginning = beginnings.substr(0, beginnings.find(' '));
    const bool whole = beginning.size() > 4 || word.size() <= beginning.size() + 1;
    if (whole && word.starts_with(beginning)) return true;
    beginnings.remove_prefix(std::min(beginnings.size(), beginning.size() + 1));
  }
  return false;
}

constexpr std::array<Bilingual, kTopics> kTopicTasks = {{
    {{"rest", at(15), at(13, 30), at(18), 30, 20,
      "Lie down or sit quietly for half an hour, without a screen",
      "Real rest in the day, before the tiredness adds up"},
     "Media hora de descanso, tumbado o sentado, sin pantallas",
     "Descansar de verdad durante el día, antes de que el cansancio se acumule",
     60},
    {{"quiet_hour", at(20, 45), at(20), at(21, 15), 30, 21,
      "Dim the lights; nothing with caffeine, no work and no news",
      "The body gets ready for sleep when the evening is dull"},
     "Bajar las luces; nada de cafeína, trabajo ni noticias",
     "El cuerpo se prepara para dormir cuando la tarde es tranquila",
     0},
    {{"health_check", at(10), at(9), at(17), 20, 18,
      "Note how the symptoms are today; if they have lasted several days or are getting worse, "
      "call a doctor or ask a pharmacist",
      "A lasting illness gets looked at by someone who knows"},
     "Anotar cómo van los síntomas; si duran varios días o empeoran, llamar al médico o "
     "preguntar en la farmacia",
     "Que vea una enfermedad que dura alguien que sabe",
     0},
    {{"something_liked", at(16), at(11), at(19), 30, 24,
      "Do one small thing that you usually like, even without feeling like it",
      "Doing comes first, and the wish to do it often follows"},
     "Hacer una cosa pequeña que suele gustarte, aunque hoy no apetezca",
     "Primero viene el hacer, y las ganas suelen llegar después",
     60},
    {{"breathing", at(11, 45), at(9), at(21), 10, 23,
      "Ten minutes of slow breathing, the out-breath longer than the in-breath",
      "Slow breathing calms the body within minutes"},
     "Diez minutos de respiración lenta, soltando el aire más despacio de lo que entra",
     "Respirar despacio calma el cuerpo en pocos minutos",
     0},
    {{"call_someone", at(18), at(10), at(20, 30), 20, 19,
      "Call or meet someone you like, even for ten minutes",
      "A voice you know makes the day less lonely"},
     "Llamar o ver a alguien con quien estés a gusto, aunque sean diez minutos",
     "Una voz conocida hace el día menos solitario",
     0},
    {{"write_it_down", at(16, 45), at(10), at(20), 15, 25,
      "Write down what you would like to say in the dispute, and send nothing today",
      "Distance first, so that the words fit what you want"},
     "Escribir lo que te gustaría decir sobre el conflicto, sin enviar nada hoy",
     "Primero distancia, para que las palabras digan lo que quieres",
     0},
    {{"dry_day", at(19, 30), at(17), at(21), 15, 22,
      "A day without alcohol: have something else that you like to drink at hand",
      "Better sleep tonight and a clearer morning"},
     "Un día sin alcohol: tener a mano otra bebida que te guste",
     "Mejor sueño esta noche y una mañana más despejada",
     0},
    {{"stretch", at(9, 30), at(8), at(20), 15, 26,
      "Stretch or move gently for a quarter of an hour",
      "Movement loosens what a day of sitting ties up"},
     "Estirar o moverse con suavidad un cuarto de hora",
     "El movimiento suelta lo que un día sentado agarrota",
     0},
}};

constexpr Bilingual kGetUp = {
    {"get_up", at(7, 30), at(5), at(12), 20, 3, "Get up, wash, open the curtains",
     "Daylight in the morning sets the body's clock"},
    "Levantarse, asearse y abrir las cortinas",
    "La luz de la mañana pone en hora el cuerpo",
    0};
constexpr Bilingual kBreakfast = {{"breakfast", at(8), at(5, 30), at(12), 30, 4,
                                   "Breakfast, sitting down", "A steady start to the day"},
                                  "Desayuno, sentado a la mesa",
                                  "Un comienzo tranquilo y con energía",
                                  0};
constexpr Bilingual kMainThing = {{"main_thing", at(9), at(8, 30), at(17), 90, 9,
                                   "The one thing that matters most today, with the phone away",
                                   "One thing done is worth more than five begun"},
                                  "Lo más importante de hoy, con el teléfono lejos",
                                  "Una cosa hecha vale más que cinco empezadas",
                                  0};
constexpr Bilingual kSmallThing = {
    {"one_small_thing", at(10, 30), at(9), at(17), 45, 9,
     "One small thing that has to be done today; the rest can wait",
     "Something done, without spending strength you need"},
    "Una cosa pequeña que haya que hacer hoy; lo demás puede esperar",
    "Algo hecho, sin gastar las fuerzas que hacen falta",
    0};
constexpr Bilingual kBreak = {
    {"break", at(11), at(10), at(16), 15, 8, "A break away from the desk: water and a look outside",
     "Attention comes back after a short pause"},
    "Una pausa lejos de la mesa: agua y mirar por la ventana",
    "La atención vuelve tras una pausa corta",
    0};
constexpr Bilingual kLunch = {{"lunch", at(12, 30), at(11, 30), at(14, 30), 45, 5,
                               "Lunch, without working beside it", "Strength for the afternoon"},
                              "Comida, sin trabajar mientras tanto",
                              "Fuerzas para la tarde",
                              90};
constexpr Bilingual kWalk = {
    {"walk", at(17), at(9), at(19, 30), 40, 7, "A walk in daylight, at an easy pace",
     "Light and movement lift the mood and help sleep"},
    "Un paseo con luz del día, sin prisa",
    "La luz y el movimiento animan y ayudan a dormir",
    60};
constexpr Bilingual kFreshAir = {
    {"fresh_air", at(16), at(9), at(19), 15, 7,
     "A quarter of an hour of fresh air, as far as strength allows",
     "Daylight helps, even sitting on a bench"},
    "Un cuarto de hora de aire fresco, hasta donde alcancen las fuerzas",
    "La luz del día ayuda, aunque sea sentado en un banco",
    60};
constexpr Bilingual kDinner = {{"dinner", at(18, 30), at(17, 30), at(21), 45, 6, "A light dinner",
                                "Eating early and light lets you sleep"},
                               "Cena ligera",
                               "Cenar ligero ayuda a dormir",
                               90};
constexpr Bilingual kWindDown = {{"wind_down", at(22), at(20, 30), at(22, 45), 30, 2,
                                  "Screens off; a book, music or a warm shower",
                                  "A quiet end tells the body that the day is over"},
                                 "Apagar pantallas; un libro, música o una ducha tibia",
                                 "Un final tranquilo avisa al cuerpo de que el día terminó",
                                 0};
constexpr Bilingual kEarlyWindDown = {{"wind_down", at(21), at(20, 30), at(22, 45), 30, 2,
                                       "Screens off; a book, music or a warm shower",
                                       "A quiet end tells the body that the day is over"},
                                      "Apagar pantallas; un libro, música o una ducha tibia",
                                      "Un final tranquilo avisa al cuerpo de que el día terminó",
                                      0};
constexpr Bilingual kBed = {
    {"bed", at(22, 45), at(21), at(23, 55), 5, 1, "To bed, at the same hour as always",
     "Regular hours are the best help for sleep"},
    "A la cama, a la misma hora de siempre",
    "Un horario regular es la mejor ayuda para dormir",
    0};
constexpr Bilingual kEarlyBed = {
    {"bed", at(21, 45), at(21), at(23, 55), 5, 1, "To bed early tonight",
     "An early night gives back what the day took"},
    "A la cama temprano esta noche",
    "Una noche temprana devuelve lo que el día gastó",
    0};

}  // namespace

std::vector<Topic> topics_of(std::string_view text) {
  const std::string clean = readable(text);
  const Words words = words_of(clean);
  std::vector<Topic> topics;
  for (const Keywords& entry : kKeywords) {
    const bool found =
        std::any_of(words.vocabulary.begin(), words.vocabulary.end(),
                    [&](const std::string& word) { return names(entry.beginnings, word); });
    if (found) topics.push_back(entry.topic);
  }
  return topics;
}

std::vector<RoutineTask> daily_tasks(Language language, bool gentle) {
  constexpr std::array<const Bilingual*, 9> usual = {
      &kGetUp, &kBreakfast, &kMainThing, &kBreak, &kLunch, &kWalk, &kDinner, &kWindDown, &kBed};
  constexpr std::array<const Bilingual*, 9> easy = {&kGetUp,  &kBreakfast,     &kSmallThing,
                                                    &kBreak,  &kLunch,         &kFreshAir,
                                                    &kDinner, &kEarlyWindDown, &kEarlyBed};
  std::vector<RoutineTask> tasks;
  for (const Bilingual* task : gentle ? easy : usual) tasks.push_back(in(language, *task));
  return tasks;
}

RoutineTask topic_task(Topic topic, Language language) {
  return in(language, kTopicTasks[static_cast<std::size_t>(topic)]);
}

RoutineTask first_contact(Language language) {
  return in(language,
            {{"first_contact", at(7, 15), 0, at(7, 15), 15, 0,
              "Before anything else, talk to a person: someone you trust, your doctor or another "
              "professional. In immediate danger, call your local emergency number",
              "You do not have to carry this alone, and someone knows how you are"},
             "Antes que nada, hablar con una persona: alguien de confianza, tu médico u otro "
             "profesional. En peligro inmediato, llamar al número de emergencias de tu zona",
             "No tienes que llevar esto en soledad, y alguien sabe cómo estás",
             0});
}

RoutineTask evening_contact(Language language) {
  return in(language,
            {{"evening_contact", at(19, 45), at(18), at(21, 30), 20, 10,
              "Talk again with the person from this morning, and agree how to be reachable tonight",
              "The evening is not spent alone with heavy thoughts"},
             "Hablar otra vez con la persona de esta mañana y acordar cómo localizarse esta noche",
             "No pasar la noche a solas con pensamientos que pesan",
             0});
}

RoutineTask tell_someone(Language language) {
  return in(language, {{"tell_someone", at(13, 30), at(9), at(20), 15, 10,
                        "Tell someone you trust, in a sentence or two, how you really are",
                        "Being known about is a relief, and help can come sooner"},
                       "Contarle a alguien de confianza, en una frase o dos, cómo estás de verdad",
                       "Que alguien lo sepa alivia, y la ayuda puede llegar antes",
                       60});
}

std::vector<RoutineTask> spare_tasks(Language language) {
  const std::array<Bilingual, 5> spare = {{
      {{"water", at(10, 15), at(7), at(21), 5, 40, "A glass of water and a stretch",
        "A small pause for the body"},
       "Un vaso de agua y estirarse",
       "Una pequeña pausa para el cuerpo",
       0},
      {{"tidy", at(14, 15), at(8), at(21), 15, 41, "Tidy one corner of the room",
        "A little order is restful"},
       "Ordenar un rincón de la habitación",
       "Un poco de orden descansa",
       60},
      {{"music", at(15, 45), at(8), at(21), 15, 42, "Listen to a piece of music you like",
        "A pleasant quarter of an hour"},
       "Escuchar una música que te guste",
       "Un cuarto de hora agradable",
       60},
      {{"prepare", at(20, 15), at(17), at(21, 30), 15, 43, "Put out what you need for tomorrow",
        "An easier morning"},
       "Preparar lo que hace falta para mañana",
       "Una mañana más fácil",
       0},
      {{"good_thing", at(21, 20), at(19), at(22), 5, 44, "Write down one good thing of the day",
        "The day ends with something kept"},
       "Apuntar una cosa buena del día",
       "El día termina con algo guardado",
       0},
  }};
  std::vector<RoutineTask> tasks;
  for (const Bilingual& task : spare) tasks.push_back(in(language, task));
  return tasks;
}

RoutineWords routine_words(Language language) {
  if (language == Language::es) {
    return {"Un compromiso de tu agenda, en su hora", "no queda un hueco a una hora sensata",
            "la hora no está escrita como HH:MM",     "ya hay otra cosa a esa hora",
            "se pidieron menos actividades",          "el contacto con una persona va primero"};
  }
  return {"An appointment of yours, at its time", "no free time at a sensible hour",
          "the time is not written as HH:MM",     "something else is at that time",
          "fewer activities were asked for",      "contact with a person comes first"};
}

}  // namespace belay::rules
