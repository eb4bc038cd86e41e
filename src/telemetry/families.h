#pragma once
// telemetry/families.h - the metrics that Belay itself reports. Documented in
// docs/observability.md, which a test compares with this list.

#include <array>

#include "belay/telemetry.h"

namespace belay::telemetry {

inline constexpr std::array kCommitBounds = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02,
                                             0.05,   0.1,   0.2,   0.5,   1.0,  5.0};
inline constexpr std::array kRunBounds = {0.01, 0.1,  0.5,  1.0,   5.0,
                                          10.0, 30.0, 60.0, 300.0, 3600.0};
inline constexpr std::array kModelBounds = {0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0};
inline constexpr std::array kRequestBounds = {0.0005, 0.001, 0.005, 0.01, 0.05,
                                              0.1,    0.5,   1.0,   5.0,  30.0};

inline constexpr MetricFamily kCommitSeconds{MetricKind::histogram, "belay_commit_seconds",
                                             "Time until a commit was durable, by outcome",
                                             kCommitBounds};
inline constexpr MetricFamily kRunsStarted{MetricKind::counter, "belay_runs_started_total",
                                           "Runs started by this process, by agent"};
inline constexpr MetricFamily kRunsEnded{MetricKind::counter, "belay_runs_ended_total",
                                         "Runs ended by this process, by agent and status"};
inline constexpr MetricFamily kRunSeconds{MetricKind::histogram, "belay_run_working_seconds",
                                          "Working time of ended runs, by agent", kRunBounds};
inline constexpr MetricFamily kAttemptsFailed{MetricKind::counter, "belay_attempts_failed_total",
                                              "Failed attempts of nodes, by agent and node"};
inline constexpr MetricFamily kApprovalsOpened{
    MetricKind::counter, "belay_approvals_requested_total", "Approvals requested, by agent"};
inline constexpr MetricFamily kApprovalsDecided{
    MetricKind::counter, "belay_approvals_decided_total",
    "Approvals decided by this process or expired, by agent and decision"};
inline constexpr MetricFamily kFailureRate{
    MetricKind::gauge, "belay_failure_rate",
    "Share of failed runs among those that ended in the window of the alert"};
inline constexpr MetricFamily kFailureAlert{MetricKind::gauge, "belay_failure_rate_alert",
                                            "1 while the alert is raised, otherwise 0"};
inline constexpr MetricFamily kModelSeconds{MetricKind::histogram, "belay_model_call_seconds",
                                            "Time of model calls, by result", kModelBounds};
inline constexpr MetricFamily kModelCachedTokens{
    MetricKind::counter, "belay_model_cached_tokens_total",
    "Input tokens that the provider read from its cache, by model"};
inline constexpr MetricFamily kModelTokens{MetricKind::counter, "belay_model_tokens_total",
                                           "Tokens of model calls, by model and direction"};
inline constexpr MetricFamily kRequestSeconds{MetricKind::histogram, "belay_http_request_seconds",
                                              "Time of HTTP requests, by operation and status",
                                              kRequestBounds};
inline constexpr MetricFamily kRunsCodeGone{
    MetricKind::gauge, "belay_runs_code_gone",
    "Runs that have not ended and that no graph of this process can continue"};
inline constexpr MetricFamily kRuns{MetricKind::gauge, "belay_runs",
                                    "Runs that have not ended, by queue and status"};
inline constexpr MetricFamily kLoopHeld{
    MetricKind::counter, "belay_loop_held_total",
    "Times that a node held the event loop for more than 100 ms, by agent and node"};
inline constexpr MetricFamily kLoopHeldMax{
    MetricKind::gauge, "belay_loop_held_max_seconds",
    "Longest time for which a node held the event loop, by agent and node"};
inline constexpr MetricFamily kWaitingRuns{MetricKind::gauge, "belay_waiting_runs",
                                           "Runs that have not ended, by the cause of their wait"};

inline constexpr std::array kFamilies = {
    &kApprovalsDecided, &kApprovalsOpened, &kAttemptsFailed, &kCommitSeconds, &kFailureRate,
    &kFailureAlert,     &kRequestSeconds,  &kLoopHeldMax,    &kLoopHeld,      &kModelCachedTokens,
    &kModelSeconds,     &kModelTokens,     &kRunSeconds,     &kRuns,          &kRunsCodeGone,
    &kRunsEnded,        &kRunsStarted,     &kWaitingRuns};

}  // namespace belay::telemetry
