#pragma once
// wellbeing/routine_generator.h - the Routine Generator: plans a day from what the day before
// showed, has the plan checked by rules, and asks a person before it is saved.
//
//     analyzer -> scheduler -> validator -> formatter -> checkApproval -> awaitingApproval
//                     ^            |                          |         rejected -> end
//                     +------------+ feedback                 +-> saveRoutine -> end
//
// Outcomes: saved, rejected, expired.
//
// Care: after a risk of 8 or more, or words of a crisis in the notes of the day before, the day
// begins with contact to a person. The formatter sees to that, whatever the model says.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wellbeing/options.h"
#include "agents/wellbeing/records.h"
#include "belay/graph.h"

namespace belay::wellbeing {

inline constexpr std::string_view kRoutineGenerator = "routine_generator";
inline constexpr int kValidationAttemptsMax = 3;
inline constexpr int kRiskWithoutData = 5;

struct AnalysisResult {
  int riskLevel = kRiskWithoutData;
  // What the scheduler is to bear in mind; the validator's feedback is added at the end.
  std::vector<std::string> recommendations = {};
  friend bool operator==(const AnalysisResult&, const AnalysisResult&) = default;
};

// What a person is shown, may edit, and what is saved.
struct FormattedRoutine {
  std::vector<Activity> activities = {};
  std::string notice;                     // what kind of program made this
  std::string disclaimer;                 // that it is no diagnosis
  std::string localHelp;                  // from risk 8 up
  std::vector<std::string> remarks = {};  // what was put first, added or left out
  friend bool operator==(const FormattedRoutine&, const FormattedRoutine&) = default;
};

struct RoutineState {
  std::string date;      // the day to plan, YYYY-MM-DD; in the input also "today", "tomorrow"
  std::string language;  // "en" or "es"; empty in the input: the program's, or yesterday's
  std::string timeZone;  // "Europe/Madrid"; empty in the input: the program's
  std::string yesterdayContext;
  std::optional<AnalysisResult> analysisResult = std::nullopt;
  std::vector<FixedEvent> fixedEvents = {};
  bool contactFirst = false;
  std::string contactReason;  // why, as a sentence
  Value rawSchedule = {};     // what the model said
  std::string provider;
  std::string model;
  std::string method;
  std::string notice;
  std::vector<std::string> remarks = {};  // what of the material was kept from the model
  Value validatedSchedule = {};
  std::optional<FormattedRoutine> formattedRoutine = std::nullopt;
  int validationAttempts = 0;
  std::string validationFeedback;  // of the last attempt; empty when it was valid
  std::string approvalReason;      // "required"; empty when nobody is asked
  bool requiresApproval = false;   // exactly while the decision is awaited
  bool approved = false;
};

// The graph, checked. `invalid` for options that make no sense.
Result<Graph<RoutineState>> routine_generator(const WellbeingOptions& options);

// The nodes, for tests of their own.
Task<Result<Update<RoutineState>>> analyze_yesterday(const RoutineState& state, Context& context,
                                                     SharedOptions options);
Task<Result<Update<RoutineState>>> make_schedule(const RoutineState& state, Context& context);
Result<Update<RoutineState>> check_schedule(const RoutineState& state, Context& context);
Update<RoutineState> format_routine(const RoutineState& state, const WellbeingOptions& options);
Update<RoutineState> check_routine_approval(const RoutineState& state, Context& context);
Result<Update<RoutineState>> save_routine(const RoutineState& state, Context& context);

}  // namespace belay::wellbeing
