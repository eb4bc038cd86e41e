#include "tests/crash/baseline.h"

#include <sstream>

#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Returns "ok fetchNotes" for "  ok fetchNotes 2 ms": a progress line, which a command prints after
// the commit.
std::vector<std::string> told_in(const std::string& err) {
  std::vector<std::string> told;
  std::istringstream lines(err);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string glyph, node;
    if (line.starts_with("  ") && words >> glyph >> node) told.push_back(glyph + " " + node);
  }
  return told;
}

}  // namespace

std::size_t times_finished(const std::string& err, const std::string& node) {
  std::size_t count = 0;
  for (const std::string& told : told_in(err)) count += told == "ok " + node ? 1 : 0;
  return count;
}

Result<std::unique_ptr<Baseline>> Baseline::make() {
  auto baseline = std::make_unique<Baseline>();
  baseline->folder_ = new_folder();
  std::string notes = baseline->folder_ + "/notes.jsonl";
  write_few_days(notes);
  baseline->steps_ = scenario(notes);
  BELAY_CHECK(baseline->run_all());
  return baseline;
}

Baseline::~Baseline() {
  if (!folder_.empty()) remove_folder(folder_);
}

std::string Baseline::folder_before(std::size_t step) const {
  return folder_ + "/before-" + std::to_string(step);
}

std::uint64_t Baseline::commits_of(std::size_t step) const {
  // A step without commits of a run is an import: one commit without a run.
  std::size_t of_runs = sights_[step + 1].commits.size() - sights_[step].commits.size();
  return of_runs == 0 ? 1 : of_runs;
}

std::uint64_t Baseline::commits() const {
  std::uint64_t sum = 0;
  for (std::size_t step = 0; step < steps_.size(); ++step) sum += commits_of(step);
  return sum;
}

Result<Done> Baseline::run_step(std::size_t step, const std::string& working) {
  Setting setting = setting_for(working);
  if (steps_[step].model_fails) make_model_fail(setting);
  SteadyClock::time_point begin = SteadyClock::now();
  Outcome outcome = cli::tests::run_belay(steps_[step].words, setting);
  auto took = SteadyClock::now() - begin;
  durations_.push_back(std::chrono::duration_cast<std::chrono::microseconds>(took));
  told_.push_back(told_in(outcome.err));
  if (outcome.code == steps_[step].code) return Done{};
  return error(ErrorCode::invalid, command_line(steps_[step].words, setting) + " ended with " +
                                       std::to_string(outcome.code) + ": " + outcome.err);
}

Result<Done> Baseline::run_all() {
  std::string working = folder_ + "/working";
  copy_store(folder_, working);  // there is no store yet: an empty folder
  sights_.emplace_back();
  copy_store(working, folder_before(0));
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    BELAY_CHECK(run_step(step, working));
    copy_store(working, folder_before(step + 1));
    std::string aside = folder_ + "/look-" + std::to_string(step);
    copy_store(working, aside);
    BELAY_TRY(Sight sight, look_at(aside));
    sights_.push_back(std::move(sight));
  }
  return Done{};
}

}  // namespace belay::crash
