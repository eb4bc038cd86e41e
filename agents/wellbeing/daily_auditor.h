#pragma once
// wellbeing/daily_auditor.h - the Daily Auditor: reads a day's notes, has a model assess them, asks
// for an approval from risk 7 on, and saves the summary.
//
//     fetchNotes -> analyzeNotes -> checkApproval -> awaitingApproval -> saveSummary -> end
//         |                              |                  | rejected, expired
//         +-> end (no notes)             +-> saveSummary    +-> end
//
// Outcomes: saved, nothing_to_do, rejected, expired.
//
// Failure and retry: if the model fails (no reply, invalid JSON, invalid values), analyzeNotes is
// tried up to three times, with the fault in the next prompt. Any other error fails the run.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wellbeing/day.h"
#include "agents/wellbeing/options.h"
#include "belay/graph.h"

namespace belay::wellbeing {

inline constexpr std::string_view kDailyAuditor = "daily_auditor";

// The result of an audit: the payload of its approval, and the saved data.
struct Analysis {
  std::string summary;
  std::optional<int> riskLevel = std::nullopt;  // 1 to 10; unset if not assessed
  std::vector<std::string> keyInsights = {};
  // False if the notes could not be assessed. Must never be shown as a low risk.
  bool assessed = false;
  std::string provider;
  std::string model;
  std::string method;      // "rules", "language_model", "script"; "none" if no model was called
  std::string notice;      // the kind of program that created this
  std::string disclaimer;  // states that it is not a diagnosis
  std::string localHelp;   // from risk 8 on
  // The model's level before the crisis floor raised it, and the words that caused this.
  std::optional<int> modelRiskLevel = std::nullopt;
  std::vector<std::string> crisisWords = {};
  std::vector<std::string> remarks = {};  // raised level, cut notes, text withheld from the model
  friend bool operator==(const Analysis&, const Analysis&) = default;
};

struct Audit {
  std::string date;      // YYYY-MM-DD; in the input also "today", "yesterday", "tomorrow"
  std::string language;  // "en" or "es"; empty in the input: the program's, or that of the notes
  std::string timeZone;  // such as "Europe/Madrid"; empty in the input: the program's
  std::vector<DayNote> notes = {};
  Reading reading = {};
  Crisis crisis = {};
  std::optional<Analysis> analysis = std::nullopt;
  // The cause of the approval: "risk" or "not_assessed"; empty if none is needed.
  std::string approvalReason;
  bool requiresApproval = false;  // true only while the run waits for the decision
  bool approved = false;
};

// Builds the graph. Fails with `invalid` for invalid options.
Result<Graph<Audit>> daily_auditor(const WellbeingOptions& options);

// The node functions, declared for tests. `options` must outlive the coroutine.
Task<Result<Update<Audit>>> fetch_notes(const Audit& audit, Context& context,
                                        SharedOptions options);
Task<Result<Update<Audit>>> analyze_notes(const Audit& audit, Context& context,
                                          SharedOptions options);
Update<Audit> check_audit_approval(const Audit& audit, Context& context);
Result<Update<Audit>> save_summary(const Audit& audit, Context& context);

}  // namespace belay::wellbeing
