#pragma once
// rules/builtin_model.h - the "builtin" model provider: rules that work offline, on any machine.
//
// It is no language model, and its replies say so: provider "builtin", method "rules", a notice in
// the reader's language, no usage. It serves two purposes and no others:
//
//   daily_audit       input  {"notes":[{"content":text}...], "language"?:"en"|"es", "date"?}
//                     reply  {"summary","riskLevel","keyInsights","assessed","language"}
//   routine_schedule  input  {"riskLevel", "recommendations":[text...], "language"?, "date"?,
//                             "fixedEvents"?:[{"time","activity","minutes"?}...]}
//                     reply  {"activities":[{"time","activity","expectedBenefit"}...],
//                             "unplaced"?:[{"activity","reason"}...]}
//
// "language" is the reader's: of the notice and, for a routine, of its texts. riskLevel is 1 to
// 10, or 0 with "assessed": false, which must never be shown as a low risk.
//
// Errors: `invalid` for another purpose, for input of another shape, and for a response schema
// that requires what the rules do not know or that leaves no room for "assessed": false when that
// has to be said. The message names what to configure. It never fails otherwise.
//
// Threading: generate() keeps no state; any number may be under way.

#include <memory>
#include <string>

#include "belay/model.h"

namespace belay::rules {

struct BuiltinOptions {
  // Added to a routine's first activity from level 8 on: the operator's own help line.
  std::string help_line;
};

std::unique_ptr<Model> make_builtin_model(BuiltinOptions options);

}  // namespace belay::rules
