#pragma once
// driver/run_admission.h - limits the runs that this runtime executes, by tenant, user and graph.

#include <map>
#include <string>
#include <vector>

#include "belay/limits.h"
#include "belay/result.h"
#include "belay/rows.h"

namespace belay {

class RunAdmission {
 public:
  // The right to execute a run. A run with several permits counts once.
  class Permit {
   public:
    Permit() = default;
    Permit(RunAdmission& of, RunId run) : of_(&of), run_(run) {}
    Permit(Permit&& other) noexcept : of_(std::exchange(other.of_, nullptr)), run_(other.run_) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(run_, other.run_);
      return *this;
    }
    ~Permit() {
      if (of_) of_->leave(run_);
    }

   private:
    RunAdmission* of_ = nullptr;
    RunId run_;
  };

  explicit RunAdmission(const ProcessLimits& limits) : limits_(limits) {}
  RunAdmission(const RunAdmission&) = delete;
  RunAdmission& operator=(const RunAdmission&) = delete;

  bool is_limited() const { return limits_.per_tenant || limits_.per_user || limits_.per_graph; }
  // `unavailable`, with a retry_after, if a limit is reached.
  Result<Permit> enter(const RunRow& run);
  // The same without limits: a run must continue after a decision.
  Permit enter_anyway(const RunRow& run);

 private:
  struct Group {
    std::string key;
    std::size_t limit = 0;
    std::string name;  // "the user \"ana\""
  };
  struct Held {
    std::vector<std::string> keys;
    int times = 0;
  };
  std::vector<Group> groups_of(const RunRow& run) const;
  void leave(const RunId& run);

  ProcessLimits limits_;
  std::map<RunId, Held> held_;
  std::map<std::string, std::size_t> counts_;
};

}  // namespace belay
