#pragma once
// ag_ui/ag_ui_run.h - AgUiRun: the part of a run that a client has named as its run.
//
// The first of equal requests writes the record: that of a start after the run exists, that of a
// resume before its decisions. A request that is sent again reads it, and decides nothing else. The
// record of a resume that is refused before it has decided anything is withdrawn.

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "belay/clock.h"
#include "belay/limits.h"

namespace belay::ag_ui {

struct AgUiRun {
  static constexpr std::string_view collection = "ag_ui_runs";

  std::string id{};  // a digest of the agent, the thread and the client's id
  std::string thread{};
  std::string run_id{};  // of the client
  std::string run{};     // of the service
  // That run was created then: another one has the same id after the deletion of the thread. Unset
  // before this member existed.
  std::optional<Instant> run_created_at{};
  std::int64_t after = 0;               // the commit that it starts after; 0: the run's start
  std::vector<std::string> answered{};  // the interrupts that it answers
  // All of them were decided before it, the last one then; unset: at least one was open.
  Instant decided_at{};
  // Those of them that are open after it: it was one vote of several.
  std::vector<std::string> left_open{};
  // It committed nothing to the run, which waits at the commit `after`: it ends there.
  bool has_only_votes = false;
  Instant voted_at{};     // when the last of the votes on `left_open` was made
  std::string request{};  // a digest of the request
  Instant created_at{};

  std::string key() const { return id; }
  static auto indexed() { return std::tuple(); }
  Instant expires_at() const { return created_at + limits::steering_kept; }
};

}  // namespace belay::ag_ui
