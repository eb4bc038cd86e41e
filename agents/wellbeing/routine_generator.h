#pragma once
// wellbeing/routine_generator.h - the Routine Generator: plans a day from the audit of the previous
// day, checks the plan by rules, and asks for an approval before it saves the plan.
//
//     analyzer -> scheduler -> validator -> formatter -> checkApproval -> awaitingApproval
//                     ^            |                          |         rejected -> end
//                     +------------+ feedback                 +-> saveRoutine -> end
//
// Outcomes: saved, rejected, expired.
//
// Care: if the risk was 8 or more, or if the notes of the previous day contain crisis words, the
// day begins with contact to a person. The formatter ensures this, independently of the model's
// reply.

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
  // Input of the scheduler; the validator's feedback is appended.
  std::vector<std::string> recommendations = {};
  friend bool operator==(const AnalysisResult&, const AnalysisResult&) = default;
};

// The payload of the approval, which a decision can edit, and the saved data.
struct FormattedRoutine {
  std::vector<Activity> activities = {};
  std::string notice;                     // the kind of program that created this
  std::string disclaimer;                 // states that it is not a diagnosis
  std::string localHelp;                  // from risk 8 on
  std::vector<std::string> remarks = {};  // activities that were moved first, added or omitted
  friend bool operator==(const FormattedRoutine&, const FormattedRoutine&) = default;
};

struct RoutineState {
  std::string date;      // the day to plan, YYYY-MM-DD; in the input also "today", "tomorrow"
  std::string language;  // "en" or "es"; empty in the input: the program's, or yesterday's
  std::string timeZone;  // such as "Europe/Madrid"; empty in the input: the program's
  std::string yesterdayContext;
  std::optional<AnalysisResult> analysisResult = std::nullopt;
  std::vector<FixedEvent> fixedEvents = {};
  bool contactFirst = false;
  std::string contactReason;  // the cause of contactFirst, as a sentence
  Value rawSchedule = {};     // the model's reply
  std::string provider;
  std::string model;
  std::string method;
  std::string notice;
  std::vector<std::string> remarks = {};  // text that was withheld from the model
  Value validatedSchedule = {};
  std::optional<FormattedRoutine> formattedRoutine = std::nullopt;
  int validationAttempts = 0;
  std::string validationFeedback;  // of the last attempt; empty if it was valid
  std::string approvalReason;      // "required"; empty if no approval is needed
  bool requiresApproval = false;   // true only while the run waits for the decision
  bool approved = false;
};

// Builds the graph. Fails with `invalid` for invalid options.
Result<Graph<RoutineState>> routine_generator(const WellbeingOptions& options);

// The node functions, declared for tests.
Task<Result<Update<RoutineState>>> analyze_yesterday(const RoutineState& state, Context& context,
                                                     SharedOptions options);
Task<Result<Update<RoutineState>>> make_schedule(const RoutineState& state, Context& context);
Result<Update<RoutineState>> check_schedule(const RoutineState& state, Context& context);
Update<RoutineState> format_routine(const RoutineState& state, const WellbeingOptions& options);
Update<RoutineState> check_routine_approval(const RoutineState& state, Context& context);
Result<Update<RoutineState>> save_routine(const RoutineState& state, Context& context);

}  // namespace belay::wellbeing
