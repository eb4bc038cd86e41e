#pragma once
// tests/crash/scenario.h - the actions of a user in the campaign
//
// A diary is imported, and a day of it that needs approval is audited; the model fails once and is
// called again. The summary is approved, then the next day's routine is generated and approved.

#include <string>
#include <vector>

#include "tests/cli/belay_process.h"

namespace belay::crash {

using cli::tests::Belay;
using cli::tests::Outcome;
using cli::tests::Setting;
using cli::tests::Words;

struct Step {
  std::string name;
  Words words;
  int code = 0;              // expected exit code
  std::string thread = {};   // of the run that the step executes
  bool model_fails = false;  // at its first call
};

// Returns the steps; `notes` is the file to import.
std::vector<Step> scenario(const std::string& notes);

// A bundled diary as a file for `belay notes import`; the number of its notes.
std::string diary_path();
std::size_t diary_notes();
// Writes the notes of the days around the audited one into `path`.
void write_few_days(const std::string& path);

// Returns the environment for a store in `folder`; the functions below add BELAY_TEST_ variables.
Setting setting_for(const std::string& folder);
void make_model_fail(Setting& setting);
void pause_at(Setting& setting, std::uint64_t commit, bool after);
inline constexpr const char* kPaused = "belay-test: paused";

// Returns the command as a user would type it, to reproduce a failure.
std::string command_line(const Words& words, const Setting& setting);

}  // namespace belay::crash
