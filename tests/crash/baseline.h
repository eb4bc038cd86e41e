#pragma once
// tests/crash/baseline.h - the scenario without a kill, and a copy of the store after each step.

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
  // Runs the scenario in a new folder. Fails with the step whose exit code is not the expected one.
  static Result<std::unique_ptr<Baseline>> make();
  ~Baseline();
  Baseline(const Baseline&) = delete;
  Baseline& operator=(const Baseline&) = delete;

  const std::string& folder() const { return folder_; }
  const std::vector<Step>& steps() const { return steps_; }
  // Returns the folder with the store before a step; for the step after the last one, the store at
  // the end.
  std::string folder_before(std::size_t step) const;
  const Sight& before(std::size_t step) const { return sights_[step]; }
  const Sight& at_end() const { return sights_.back(); }
  // Returns the number of commits that a step makes.
  std::uint64_t commits_of(std::size_t step) const;
  std::uint64_t commits() const;
  // The duration of a step, and the progress lines that it printed.
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

// Returns how often stderr reports that `node` was committed.
std::size_t times_finished(const std::string& err, const std::string& node);

}  // namespace belay::crash
