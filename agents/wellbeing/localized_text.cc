#include "agents/wellbeing/localized_text.h"

namespace belay::wellbeing {
namespace {

const Words kEnglish = {
    .risk = "Risk",
    .not_assessed = "not assessed",
    .of_ten = "of 10",
    .crisis = "CRISIS",
    .passed_crises = "Rejected or expired at risk 8 or higher: {n}. See {command}",
    .one_imported = "Imported 1 note",
    .imported = "Imported {n} notes",
    .replaced = ", replaced {n}",
    .unchanged = "; {n} already existed",
    .days = " {first} to {last}.",
    .no_notes = "No notes. Import some: {command}",
    .written = "Written {time}",
    .demo_diary = "A day of a diary, in a separate store",
    .demo_kill = "An audit of it, whose process is killed before it has completed (SIGKILL)",
    .demo_resume = "Another process resumes it after the last commit and requests your approval",
    .demo_decide = "Your decision; the run waits for it in the store, not in a process",
    .demo_commits = "The commits of the run, newest first, and a replay from its journal",
    .demo_killed = "Killed.",
    .demo_you = "you",
    .demo_comment = "fine",
    .demo_completed = "Demo completed: every step was committed before the next one started.",
    .demo_own_notes = "With your own notes:     ",
    .demo_http = "Over HTTP:               ",
    .demo_models = "With a language model:   ",
    .demo_agent = "To write an agent:       ",
};

const Words kSpanish = {
    .risk = "Riesgo",
    .not_assessed = "sin valorar",
    .of_ten = "de 10",
    .crisis = "CRISIS",
    .passed_crises = "Con riesgo 8 o más, rechazadas o vencidas: {n}. Ver {command}",
    .one_imported = "Importada 1 nota",
    .imported = "Importadas {n} notas",
    .replaced = ", sustituidas {n}",
    .unchanged = "; {n} ya existían",
    .days = " {first} a {last}.",
    .no_notes = "No hay notas. Para importarlas: {command}",
    .written = "Escrita {time}",
    .demo_diary = "Un día de un diario, en un almacén aparte",
    .demo_kill = "Su auditoría, cuyo proceso se mata antes de que termine (SIGKILL)",
    .demo_resume = "Otro proceso la reanuda tras el último paso guardado y pide tu aprobación",
    .demo_decide = "Tu decisión; la ejecución la espera en el almacén, no en un proceso",
    .demo_commits =
        "Los pasos de la ejecución, el último primero, y su repetición desde su registro",
    .demo_killed = "Proceso terminado.",
    .demo_you = "ti",
    .demo_comment = "bien",
    .demo_completed =
        "Demostración completada: cada paso se guardó antes de que empezara el siguiente.",
    .demo_own_notes = "Con tus propias notas:            ",
    .demo_http = "Por HTTP:                         ",
    .demo_models = "Con un modelo de lenguaje:        ",
    .demo_agent = "Para escribir un agente:          ",
};

}  // namespace

const Words& words_of(Language language) { return language == Language::es ? kSpanish : kEnglish; }

}  // namespace belay::wellbeing
