#include "agents/wellbeing/messages.h"

#include <algorithm>
#include <array>

#include "belay/result.h"

namespace belay::wellbeing {
namespace {

struct Row {
  Text text = Text::audit_question;
  std::string_view en;
  std::string_view es;
};

// In the order of Text.
constexpr std::array<Row, kTexts> kRows = {{
    {Text::audit_question, "Risk {risk} of 10 on {date}. Save this audit?",
     "Riesgo {risk} de 10 el {date}. ¿Guardar esta auditoría?"},
    {Text::audit_question_not_assessed,
     "The notes of {date} could not be assessed. Please read them. Save the audit as not assessed?",
     "Las notas del {date} no se han podido valorar. Léelas, por favor. ¿Guardar la auditoría como "
     "no valorada?"},
    {Text::routine_question, "Save this routine for {date}?",
     "¿Guardar esta rutina para el {date}?"},
    {Text::no_diagnosis,
     "This is no diagnosis. If something worries you, talk to a doctor or a psychologist.",
     "Esto no es un diagnóstico. Si algo te preocupa, habla con un médico o un psicólogo."},
    {Text::made_by_rules, "Made by fixed rules, not by a language model.",
     "Hecho por reglas fijas, no por un modelo de lenguaje."},
    {Text::made_by_model, "Made by the language model {model} ({provider}); it can be wrong.",
     "Hecho por el modelo de lenguaje {model} ({provider}); puede equivocarse."},
    {Text::made_by_other, "Made by {provider} ({method}), not by a language model.",
     "Hecho por {provider} ({method}), no por un modelo de lenguaje."},
    {Text::not_assessed,
     "Not assessed. That is not a low risk: nobody has judged these notes. Please read them.",
     "Sin valorar. Eso no es un riesgo bajo: nadie ha juzgado estas notas. Léelas, por favor."},
    {Text::nothing_written, "The notes of this day have no text.",
     "Las notas de este día no tienen texto."},
    {Text::local_help_default,
     "If you are in danger, or think of harming yourself: call your local emergency service or "
     "someone you trust, now. (Whoever runs this program can put the local help line here: "
     "{setting}.)",
     "Si estás en peligro o piensas en hacerte daño: llama ahora al servicio de emergencias de tu "
     "zona o a alguien de confianza. (Quien administra este programa puede poner aquí la línea de "
     "ayuda local: {setting}.)"},
    {Text::risk_raised, "The risk was raised from {from} to {to} because of these words: {words}.",
     "El riesgo se ha elevado de {from} a {to} por estas palabras: {words}."},
    {Text::crisis_words_found,
     "The notes hold words of crisis ({words}): please read them yourself, now.",
     "Las notas contienen palabras de crisis ({words}): léelas tú mismo, ahora."},
    {Text::notes_cut,
     "This day was too long to be read as a whole: {used} of {total} notes, {characters_used} of "
     "{characters_total} characters were read.",
     "Este día era demasiado largo para leerlo entero: se han leído {used} de {total} notas, "
     "{characters_used} de {characters_total} caracteres."},
    {Text::passages_altered,
     "{count} passages of the notes were kept from the model: they looked like instructions or "
     "hidden text.",
     "{count} pasajes de las notas no se han mostrado al modelo: parecían instrucciones o texto "
     "oculto."},
    {Text::material_cut,
     "{count} characters of what is known of the day before were too many for the model.",
     "{count} caracteres de lo que se sabe del día anterior eran demasiados para el modelo."},
    {Text::no_previous_data, "No previous data.", "No hay datos previos."},
    {Text::first_recommendation, "Establish a basic wellbeing routine",
     "Establecer rutina básica de bienestar"},
    {Text::yesterday, "Summary of {date} (risk {risk} of 10): {summary}",
     "Resumen del {date} (riesgo {risk} de 10): {summary}"},
    {Text::yesterday_not_assessed, "Summary of {date} (risk not assessed): {summary}",
     "Resumen del {date} (riesgo sin valorar): {summary}"},
    {Text::contact_first,
     "After yesterday's risk, this day begins with contact to a person, whatever else it holds.",
     "Tras el riesgo de ayer, este día empieza hablando con una persona, pase lo que pase "
     "después."},
    {Text::contact_first_by_words,
     "Because of words in yesterday's notes ({words}), this day begins with contact to a person.",
     "Por palabras de las notas de ayer ({words}), este día empieza hablando con una persona."},
    {Text::contact_added, "The model had left the contact out; it was put first.",
     "El modelo lo había omitido; se ha puesto en primer lugar."},
    {Text::fixed_event_added, "A fixed event was missing and was added: {time} {activity}.",
     "Faltaba un evento fijo y se ha añadido: {time} {activity}."},
    {Text::fixed_event_benefit, "It is a fixed event of this day", "Es un evento fijo de este día"},
    {Text::fixed_event_bad_time, "A fixed event has no time that can be read: {activity}.",
     "Un evento fijo no tiene una hora legible: {activity}."},
    {Text::not_placed, "Not placed: {activity} ({reason}).", "Sin lugar: {activity} ({reason})."},
    {Text::audit_completed, "Daily audit completed", "Auditoría diaria completada"},
    {Text::audit_paused, "Analysis completed, waiting for approval",
     "Análisis completado, esperando aprobación"},
    {Text::nothing_to_do, "There are no notes on {date}: nothing to do",
     "No hay notas del {date}: nada que hacer"},
    {Text::routine_completed, "Routine generated", "Rutina generada"},
    {Text::routine_paused, "Routine generated, waiting for approval",
     "Rutina generada, esperando aprobación"},
    {Text::approved_and_completed, "Execution approved and completed",
     "Ejecución aprobada y completada"},
    {Text::rejected_and_completed, "Execution cancelled", "Ejecución cancelada"},
    {Text::expired_and_completed, "The approval expired; nothing was saved",
     "La aprobación ha caducado; no se ha guardado nada"},
}};

}  // namespace

Language language_named(std::string_view name, Language otherwise) {
  if (name == "en") return Language::en;
  if (name == "es") return Language::es;
  return otherwise;
}

std::string_view name_of(Language language) { return language == Language::en ? "en" : "es"; }

std::string_view wording(Text text, Language language) {
  const Row& row = kRows[static_cast<std::size_t>(text)];
  BELAY_ASSERT(row.text == text);
  return language == Language::en ? row.en : row.es;
}

std::string message(Text text, Language language, std::initializer_list<Filling> fillings) {
  return filled(wording(text, language), fillings);
}

std::string filled(std::string_view wording, std::initializer_list<Filling> fillings) {
  std::string out;
  while (!wording.empty()) {
    const std::size_t open = std::min(wording.find('{'), wording.size());
    out.append(wording.substr(0, open));
    wording.remove_prefix(open);
    if (wording.empty()) break;
    const std::size_t close = wording.find('}');
    const auto name = close == wording.npos ? std::string_view() : wording.substr(1, close - 1);
    const auto* filling = std::find_if(fillings.begin(), fillings.end(),
                                       [&](const Filling& each) { return each.first == name; });
    if (name.empty() || filling == fillings.end()) {
      out += '{';
      wording.remove_prefix(1);
    } else {
      out.append(filling->second);
      wording.remove_prefix(close + 1);
    }
  }
  return out;
}

}  // namespace belay::wellbeing
