#include "tests/crash/scenario.h"

#include <algorithm>
#include <fstream>

#include "tests/crash/store_files.h"

namespace belay::crash {

std::vector<Step> scenario(const std::string& notes) {
  return {
      {.name = "import", .words = {"notes", "import", notes}},
      {.name = "audit",
       .words = {"run", "daily-audit", "--date", "1910-02-06", "--thread", "audit"},
       .code = 3,
       .thread = "audit",
       .model_fails = true},
      {.name = "approve the audit",
       .words = {"approvals", "approve", "audit", "--by", "ana", "--comment", "as I remember it"},
       .thread = "audit"},
      {.name = "routine",
       .words = {"run", "routine", "--date", "1910-02-07", "--thread", "routine"},
       .code = 3,
       .thread = "routine"},
      {.name = "approve the routine",
       .words = {"approvals", "approve", "routine", "--by", "ben"},
       .thread = "routine"},
  };
}

std::string diary_path() {
  return std::string(BELAY_SOURCE_DIR) + "/examples/diaries/barbellion_1903-1915.jsonl";
}

std::size_t diary_notes() {
  std::ifstream diary(diary_path());
  std::size_t count = 0;
  for (std::string line; std::getline(diary, line);) ++count;
  return count;
}

void write_few_days(const std::string& path) {
  std::ifstream diary(diary_path());
  std::ofstream days(path);
  for (std::string line; std::getline(diary, line);) {
    if (line.find("\"1910-0") != line.npos) days << line << "\n";
  }
}

Setting setting_for(const std::string& folder) {
  Setting setting;
  setting.environment["HOME"] = folder;
  setting.environment["BELAY_STORE"] = "sqlite:" + store_in(folder);
  setting.environment["BELAY_LANGUAGE"] = "en";
  setting.environment["LC_ALL"] = "C";
  return setting;
}

void make_model_fail(Setting& setting) { setting.environment["BELAY_TEST_MODEL_FAILS"] = "1"; }

void pause_at(Setting& setting, std::uint64_t commit, bool after) {
  setting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = std::to_string(commit);
  if (after) setting.environment["BELAY_TEST_PAUSE_AFTER"] = "1";
}

std::string command_line(const Words& words, const Setting& setting) {
  std::string line;
  for (const auto& [name, value] : setting.environment) line += name + "='" + value + "' ";
  line += BELAY_BINARY;
  for (const std::string& word : words) line += " '" + word + "'";
  return line;
}

}  // namespace belay::crash
