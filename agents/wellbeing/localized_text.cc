#include "agents/wellbeing/localized_text.h"

namespace belay::wellbeing {
namespace {

const Words kEnglish = {
    .risk = "Risk",
    .not_assessed = "not assessed",
    .of_ten = "of 10",
    .crisis = "CRISIS",
    .passed_crises = "Rejected or expired at risk 8 or higher: {n}. See {command}",
};

const Words kSpanish = {
    .risk = "Riesgo",
    .not_assessed = "sin valorar",
    .of_ten = "de 10",
    .crisis = "CRISIS",
    .passed_crises = "Con riesgo 8 o más, rechazadas o vencidas: {n}. Ver {command}",
};

}  // namespace

const Words& words_of(Language language) { return language == Language::es ? kSpanish : kEnglish; }

}  // namespace belay::wellbeing
