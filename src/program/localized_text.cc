#include "program/localized_text.h"

namespace belay::program {
namespace {

const Words kEnglish = {
    .risk = "Risk",
    .not_assessed = "not assessed",
    .of_ten = "of 10",
    .crisis = "CRISIS",
    .passed_crises = "Rejected or expired at risk 8 or higher: {n}. See {command}",
    .cut = "The answer ends here because the model's limit was reached.",
};

const Words kSpanish = {
    .risk = "Riesgo",
    .not_assessed = "sin valorar",
    .of_ten = "de 10",
    .crisis = "CRISIS",
    .passed_crises = "Con riesgo 8 o más, rechazadas o vencidas: {n}. Ver {command}",
    .cut = "La respuesta acaba aquí porque se alcanzó el límite del modelo.",
};

}  // namespace

const Words& words_of(cli::Language language) {
  return language == cli::Language::es ? kSpanish : kEnglish;
}

}  // namespace belay::program
