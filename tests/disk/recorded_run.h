#pragma once
// tests/disk/recorded_run.h - the run of forty nodes with all operations of its disk
//
// It also checks a new process that continues the run from a disk after a power cut.

#include "tests/disk/forty_nodes.h"
#include "tests/disk/recording_disk.h"

namespace belay::disk {

// A complete run by two processes: one until the approval is open, and one from there.
struct Recorded {
  std::vector<Operation> operations;
  Outside outside;
  Result<RunView> view;   // an error if the disk's fault ended it
  std::size_t tried = 0;  // calls that the fault could have affected
  // All reads of the file are short from some call on. SQLite replaces the missing bytes by zeros
  // without an error: the process finds the run corrupt, also at a second read, and quarantines it
  // although the file is intact.
  bool misreads = false;
};

// `prepare` can set a fault; it is called before the store is opened.
Recorded record(const std::function<void(RecordingDisk&)>& prepare = nullptr);

// Returns the error of a new process that continues from `files`; empty if the run ends with the
// same result as that of `expected`, with nothing lost or repeated. Of the calls and commits of
// `recorded`, only those before its disk's operation `count` have happened.
std::string trouble_with(const Files& files, std::size_t count, const Recorded& recorded,
                         const Recorded& expected);

}  // namespace belay::disk
