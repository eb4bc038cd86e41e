#pragma once
// tests/crash/scenario.h - what a person does in the campaign: a diary is imported, a hard day of
// it audited - the model fails once, and is asked again -, the summary approved, the next day's
// routine made and approved.

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
  int code = 0;              // that it ends with
  std::string thread = {};   // whose run it moves
  bool model_fails = false;  // the first call
};

// `notes` is the file to import.
std::vector<Step> scenario(const std::string& notes);

// A bundled diary, as a file for belay notes import; how many notes it has.
std::string diary_path();
std::size_t diary_notes();
// Writes the days around the audited one into `path`.
void write_few_days(const std::string& path);

// The environment for a store in `folder`; the variables are BELAY_TEST_... where needed.
Setting setting_for(const std::string& folder);
void make_model_fail(Setting& setting);
void pause_at(Setting& setting, std::uint64_t commit, bool after);
inline constexpr const char* kPaused = "belay-test: paused";

// How a person would type it, to look into a failure.
std::string command_line(const Words& words, const Setting& setting);

}  // namespace belay::crash
