#pragma once
// rules/builtin_model.h - the "builtin" model provider: rules that work offline, on any machine.
//
// It is not a language model, and its replies state this: provider "builtin", method "rules", a
// notice in the reader's language, no usage. It supports exactly two purposes:
//
//   daily_audit       input  {"notes":[{"content":text}...], "language"?:"en"|"es", "date"?}
//                     reply  {"summary","riskLevel","keyInsights","assessed","language"}
//   routine_schedule  input  {"riskLevel", "recommendations":[text...], "language"?, "date"?,
//                             "fixedEvents"?:[{"time","activity","minutes"?}...]}
//                     reply  {"activities":[{"time","activity","expectedBenefit"}...],
//                             "unplaced"?:[{"activity","reason"}...]}
//
// "language" is the reader's: the language of the notice and of a routine's texts. riskLevel is 1
// to 10, or 0 with "assessed": false, which must never be shown as a low risk.
//
// Errors: `invalid` for another purpose, for other input, and for a response schema that requires
// members that the rules cannot fill, or that does not permit "assessed": false if the reply needs
// it. The message names the remedy. It never fails otherwise.
//
// Threading: generate() keeps no state; any number of calls can run concurrently.

#include <memory>
#include <string>

#include "belay/model.h"

namespace belay::rules {

struct BuiltinOptions {
  // The operator's help line, added to a routine's first activity from level 8 on.
  std::string help_line;
};

std::unique_ptr<Model> make_builtin_model(BuiltinOptions options);

}  // namespace belay::rules
