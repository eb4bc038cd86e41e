#pragma once
// check/rules.h - the rules, one function each.
//
// To add a rule, write it, add its line to the table in check.cc, and add a store that violates it
// to check_test.cc, which fails without one.
//
// A rule reads rows only and reports violations. It ignores rows that cannot be read: another rule
// reports these (I2 for bytes, P9 for checkpoints).

#include <string>
#include <vector>

#include "belay/check.h"
#include "check/contents.h"

namespace belay::check {

// Collects the violations of one rule in one run, or in the whole store.
class Findings {
 public:
  Findings(std::string_view rule, std::vector<Violation>& violations)
      : rule_(rule), violations_(violations) {}
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;
  ~Findings();

  void add(std::string subject, std::string message);
  void add(const RunContents& run, std::string message) {
    add(run.row.thread.text, std::move(message));
  }
  void add(const ApprovalRow& approval, std::string message) {
    add(approval.interrupt.text(), std::move(message));
  }

 private:
  std::string_view rule_;
  std::vector<Violation>& violations_;
  std::size_t count_ = 0;
  std::string last_subject_;
};

// Rules about one run.
void p1_checkpoint_consistency(const RunContents& run, const CheckScope& scope, Findings& findings);
void p2_state_monotonicity(const RunContents& run, const CheckScope& scope, Findings& findings);
void p3_terminal_state(const RunContents& run, const CheckScope& scope, Findings& findings);
void p4_approval_flow(const RunContents& run, const CheckScope& scope, Findings& findings);
void p5_retry_bound(const RunContents& run, const CheckScope& scope, Findings& findings);
void p6_validation_feedback(const RunContents& run, const CheckScope& scope, Findings& findings);
void p7_idempotent_resume(const RunContents& run, const CheckScope& scope, Findings& findings);
void p9_recoverability(const RunContents& run, const CheckScope& scope, Findings& findings);
void p10_valid_transitions(const RunContents& run, const CheckScope& scope, Findings& findings);
void i1_nothing_acknowledged_lost(const RunContents& run, const CheckScope& scope,
                                  Findings& findings);
void i2_one_unbroken_chain(const RunContents& run, const CheckScope& scope, Findings& findings);
void i3_one_owner_at_a_time(const RunContents& run, const CheckScope& scope, Findings& findings);
void i5_approvals(const RunContents& run, const CheckScope& scope, Findings& findings);
void i4_effects(const RunContents& run, const CheckScope& scope, Findings& findings);
void i7_events(const RunContents& run, const CheckScope& scope, Findings& findings);
void i15_pending(const RunContents& run, const CheckScope& scope, Findings& findings);
void i16_outbox(const RunContents& run, const CheckScope& scope, Findings& findings);

// Part of I5: a fork with an edited state must not start after an approval of the original state.
void check_fork(const RunContents& run, Findings& findings);

// Rules about the whole store.
void p1_threads(const StoreContents& store, const CheckScope& scope, Findings& findings);
void p8_metrics_accuracy(const StoreContents& store, const CheckScope& scope, Findings& findings);
void i1_no_run_lost(const StoreContents& store, const CheckScope& scope, Findings& findings);
void i4_records(const StoreContents& store, const CheckScope& scope, Findings& findings);
void i12_places(const StoreContents& store, const CheckScope& scope, Findings& findings);
void i13_gone(const StoreContents& store, const CheckScope& scope, Findings& findings);

// "commit 3", or "commit 3 of the subgraph write:..."
std::string commit_text(std::uint64_t seq);
std::string commit_text(const CheckpointRow& checkpoint);

}  // namespace belay::check
