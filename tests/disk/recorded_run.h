#pragma once
// tests/disk/recorded_run.h - the run of forty nodes with all that its disk was asked to do, and
// the judgement of what a new process makes of a disk that was cut off.

#include "tests/disk/forty_nodes.h"
#include "tests/disk/recording_disk.h"

namespace belay::disk {

// A run from its beginning to its end by two processes, one up to the question and one from there.
struct Recorded {
  std::vector<Operation> operations;
  Outside outside;
  Result<RunView> view;   // an error where the disk's fault has ended it
  std::size_t tried = 0;  // calls that the fault could have befallen
  // All reads of the file are short from some call on. SQLite replaces the missing bytes by zeros,
  // without an error: the process finds the run damaged, also when it reads it once more, and
  // quarantines it, although the file is sound.
  bool misreads = false;
};

// `prepare` may set a fault; it is called before the store is opened.
Recorded record(const std::function<void(RecordingDisk&)>& prepare = nullptr);

// What is wrong with what a new process makes of `files`, when of what `recorded` knows that has
// happened which lies before its disk's operation `count`; empty when it comes to the end that
// `expected` has come to, with nothing lost or repeated.
std::string trouble_with(const Files& files, std::size_t count, const Recorded& recorded,
                         const Recorded& expected);

}  // namespace belay::disk
