#pragma once
// tests/crash/baseline.h - the scenario without a kill, and the store as it was after each step.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/crash/scenario.h"
#include "tests/crash/store_dump.h"

namespace belay::crash {

class Baseline {
 public:
  Baseline() = default;
  // Runs the scenario in a new folder. An Error says which step went otherwise than planned.
  static Result<std::unique_ptr<Baseline>> make();
  ~Baseline();
  Baseline(const Baseline&) = delete;
  Baseline& operator=(const Baseline&) = delete;

  const std::string& folder() const { return folder_; }
  const std::vector<Step>& steps() const { return steps_; }
  // Where the store lies as it was before a step; behind the last one, as it was at the end.
  std::string folder_before(std::size_t step) const;
  const Sight& before(std::size_t step) const { return sights_[step]; }
  const Sight& at_end() const { return sights_.back(); }
  // How many commits a step makes.
  std::uint64_t commits_of(std::size_t step) const;
  std::uint64_t commits() const;
  // How long a step took, and the lines that it told while it went on.
  std::chrono::microseconds duration_of(std::size_t step) const { return durations_[step]; }
  const std::vector<std::string>& told_by(std::size_t step) const { return told_[step]; }

 private:
  Result<Done> run_all();
  Result<Done> run_step(std::size_t step, const std::string& working);

  std::string folder_;
  std::vector<Step> steps_;
  std::vector<Sight> sights_;
  std::vector<std::chrono::microseconds> durations_;
  std::vector<std::vector<std::string>> told_;
};

// How often stderr says that a node was committed.
std::size_t times_finished(const std::string& err, const std::string& node);

}  // namespace belay::crash
