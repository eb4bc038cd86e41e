#include "tests/disk/recorded_run.h"

#include <set>
#include <sstream>

#include "tests/conformance/temporary_folder.h"

namespace belay::disk {
namespace {

using conformance::TemporaryFolder;

const Instant kBegins = *instant_from("2026-11-21T12:00:00Z");
const Instant kLater = *instant_from("2026-11-21T18:00:00Z");

std::string state_of(const RunView& view) {
  return std::string(name_of(view.row.status)) + " " + view.row.outcome + " " + to_json(view.state);
}

Result<RunView> play(const std::string& folder, Outside& outside) {
  for (bool decides : {false, true}) {
    BELAY_TRY(auto process, Process::begin(folder, outside, kBegins, decides ? 2 : 1));
    BELAY_TRY(RunView view, process->play(decides));
    if (decides) return view;
  }
  return error(ErrorCode::invalid, "Not reached.");
}

// Returns the number of the commit that a violation names; empty if it names none.
std::string commit_in(const std::string& violation) {
  std::size_t begin = violation.find("commit ");
  if (begin == violation.npos) return "";
  begin += std::string_view("commit ").size();
  return violation.substr(begin, violation.find_first_not_of("0123456789", begin) - begin);
}

// Returns the violations without those of a commit that quarantines its run as corrupt: it has no
// event, keeps the chain hash of the commit before it, and leaves open approvals open.
std::string without_quarantine(const std::string& violations) {
  std::set<std::string> quarantines;
  std::vector<std::string> lines;
  std::istringstream text(violations);
  for (std::string line; std::getline(text, line);) {
    bool is_quarantine = line.find("quarantine") != line.npos && !commit_in(line).empty();
    if (is_quarantine) quarantines.insert(commit_in(line));
    lines.push_back(std::move(line));
  }
  std::string others;
  for (const std::string& line : lines) {
    if (!quarantines.contains(commit_in(line))) others += line + "\n";
  }
  return others;
}

}  // namespace

Recorded record(const std::function<void(RecordingDisk&)>& prepare) {
  Recorded recorded{{}, {}, error(ErrorCode::invalid, "It has not begun.")};
  TemporaryFolder folder;
  RecordingDisk disk;
  if (prepare) prepare(disk);
  recorded.outside.now = [&disk] { return disk.size(); };
  recorded.view = play(folder.path(), recorded.outside);
  recorded.outside.now = [] { return std::size_t{0}; };
  recorded.operations = disk.operations();
  recorded.tried = disk.tried();
  return recorded;
}

std::string trouble_with(const Files& files, std::size_t count, const Recorded& recorded,
                         const Recorded& expected) {
  TemporaryFolder folder;
  RecordingDisk disk;  // does not really sync
  lay_out(files, folder.path());
  Outside outside = recorded.outside.until(count);
  auto process = Process::begin(folder.path(), outside, kLater, 3);
  if (!process.ok()) return "The store can't be opened: " + process.error().message;
  // Before the process does anything, all acknowledged data must exist.
  if (!outside.acknowledged.empty()) {
    auto found = (*process)->violations();
    if (!found.ok()) return "The store can't be checked: " + found.error().message;
    // All commits exist, and no run continues from a commit that quarantines it as corrupt.
    bool is_quarantined = recorded.misreads && without_quarantine(*found) != *found;
    if (is_quarantined) return without_quarantine(*found);
    if (!found->empty()) return *found;
  }
  auto view = (*process)->play(true);
  if (!view.ok()) return "The run can't go on: " + view.error().message;
  if (state_of(*view) != state_of(*expected.view)) return "It ends as " + state_of(*view);
  auto found = (*process)->violations();
  if (!found.ok()) return "The store can't be checked at the end: " + found.error().message;
  if (outside.distinct("pay") != 1) *found += "It was paid under more than one key.\n";
  if (outside.count("mail") != 1) *found += "The mail was not sent just once.\n";
  return *found;
}

}  // namespace belay::disk
