#pragma once
// cli/localized_text.h - the labels and texts of results, in English and Spanish.
//
// Help and errors are in English only.

#include <chrono>
#include <string>
#include <string_view>

#include "belay/output.h"
#include "belay/rows.h"

namespace belay::cli {

struct LocalizedText {
  // Labels of a result.
  std::string_view saved, nothing_to_do, rejected, expired, failed, cancelled, completed;
  std::string_view thread, pending_decision, due, worked_by, expires, in, ago, approve_with,
      reject_with, resume_with, show_with;
  std::string_view process_gone;       // of a run that is `running`
  std::string_view held_by;            // reason that a queued run does not start
  std::string_view waits_for_process;  // {thread}, {process}
  std::string_view uncertain_effect, decided_by, comment, edited, no_approvals, requested;
  // Statuses, as in RunStatus and ApprovalStatus.
  std::string_view queued, running, paused, quarantined, open, approved, closed;
  // Progress.
  std::string_view released, given_up, attempt_failed, again_in;
  std::string_view approvals_expired, timers_fired;
  std::string_view claiming, begins_early, nothing_to_resume, stopped, continues_on_server,
      stopped_idle, listening, shutting_down,
      stopping,  // {time}
      worker_started, processed;
  std::string_view created_store;  // {path}
  // The overview.
  std::string_view running_title, orphaned_title, queued_title, code_gone_title, idle, try_next;
  // Decisions.
  std::string_view won_approved, won_rejected, same_decision, on_behalf_of;
  std::string_view won_chosen;   // {who}, {choice}
  std::string_view votes;        // {n}, {needs}, {who}
  std::string_view votes_short;  // {n}, {needs}
  std::string_view never_expires, after_expiry /* {choice} */, answer, choice;
  std::string_view expired_with;           // {time}, {choice}
  std::string_view needs_role;             // {roles}
  std::string_view it_happened, do_again;  // of an effect with an unknown outcome
};

const LocalizedText& phrases_of(Language language);

std::string_view status_label(const LocalizedText& phrases, RunStatus status);
std::string_view status_label(const LocalizedText& phrases, ApprovalStatus status);
// Returns the words for an outcome that Belay's agents have; empty for any other.
std::string_view known_outcome(const LocalizedText& phrases, std::string_view outcome);
// Returns these words, else the outcome as one line.
std::string outcome_label(const LocalizedText& phrases, std::string_view outcome);

// Examples: "12 ms", "2.1 s", "3 min", "23 h 59 min", "2 d 3 h".
std::string span_text(std::chrono::milliseconds span);
// Example: "2026-11-22 15:03:05.123", for the columns of a list.
std::string precise_text(const TimeZone& zone, Instant at);
// Examples: "in 23 h 59 min", "2 min ago".
std::string relative_text(const LocalizedText& phrases, Instant at, Instant now);

}  // namespace belay::cli
