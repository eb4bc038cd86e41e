#pragma once
// wellbeing/daily_auditor.h - the Daily Auditor: reads a day's notes, has them judged, asks a
// person from risk 7 up, and saves the summary.
//
//     fetchNotes -> analyzeNotes -> checkApproval -> awaitingApproval -> saveSummary -> end
//         |                              |                  | rejected, expired
//         +-> end (no notes)             +-> saveSummary    +-> end
//
// Outcomes: saved, nothing_to_do, rejected, expired.
//
// Failure and retry: what the model gets wrong - no answer, an answer that is no JSON or makes no
// sense - is tried three times; the model is told what was wrong. Everything else fails the run.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wellbeing/day.h"
#include "agents/wellbeing/options.h"
#include "belay/graph.h"

namespace belay::wellbeing {

inline constexpr std::string_view kDailyAuditor = "daily_auditor";

// What the audit says, as it is shown to a person, decided upon and saved.
struct Analysis {
  std::string summary;
  std::optional<int> riskLevel = std::nullopt;  // 1 to 10; absent when not assessed
  std::vector<std::string> keyInsights = {};
  // False: nobody could judge the notes. That must never be shown as a low risk.
  bool assessed = false;
  std::string provider;
  std::string model;
  std::string method;      // "rules", "language_model", "script"; "none" when nobody was asked
  std::string notice;      // what kind of program made this
  std::string disclaimer;  // that it is no diagnosis
  std::string localHelp;   // from risk 8 up
  // What the model had said before the crisis floor raised it, and the words that did.
  std::optional<int> modelRiskLevel = std::nullopt;
  std::vector<std::string> crisisWords = {};
  std::vector<std::string> remarks = {};  // what was raised, cut or kept from the model
  friend bool operator==(const Analysis&, const Analysis&) = default;
};

struct Audit {
  std::string date;      // YYYY-MM-DD; in the input also "today", "yesterday", "tomorrow"
  std::string language;  // "en" or "es"; empty in the input: the program's, or that of the notes
  std::string timeZone;  // "Europe/Madrid"; empty in the input: the program's
  std::vector<DayNote> notes = {};
  Reading reading = {};
  Crisis crisis = {};
  std::optional<Analysis> analysis = std::nullopt;
  // Why a person is asked: "risk", "not_assessed"; empty when nobody is.
  std::string approvalReason;
  bool requiresApproval = false;  // exactly while the decision is awaited
  bool approved = false;
};

// The graph, checked. `invalid` for options that make no sense.
Result<Graph<Audit>> daily_auditor(const WellbeingOptions& options);

// The nodes, for tests of their own. `options` outlives the task.
Task<Result<Update<Audit>>> fetch_notes(const Audit& audit, Context& context,
                                        SharedOptions options);
Task<Result<Update<Audit>>> analyze_notes(const Audit& audit, Context& context,
                                          SharedOptions options);
Update<Audit> check_audit_approval(const Audit& audit, Context& context);
Result<Update<Audit>> save_summary(const Audit& audit, Context& context);

}  // namespace belay::wellbeing
