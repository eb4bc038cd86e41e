#pragma once
// cli/output_lines.h - OutputLines: lines to a descriptor whose reader can be slow, or can have
// stopped reading, without a wait of the thread.
//
// Threading: the executor's thread.

#include <deque>
#include <string>

#include "belay/task.h"
#include "service/background_operations.h"

namespace belay::cli {

class OutputLines {
 public:
  OutputLines(Executor& executor, int descriptor) : descriptor_(descriptor), writes_(executor) {}

  // Writes the line after those before it, and returns true when the kernel has all of it; false if
  // there is no reader any more. A line is written as a whole, also if the wait is destroyed.
  Task<bool> write(std::string line);
  // The number of lines that are not written yet.
  std::size_t pending() const { return pending_; }

 private:
  Task<bool> write_in_turn(std::string line);
  Task<bool> write_bytes(std::string line) const;

  const int descriptor_;
  std::size_t pending_ = 0;
  std::deque<Completion<Done>> turns_;  // of the lines after the one that is being written
  BackgroundOperations writes_;         // last member: its coroutines use all members above
};

}  // namespace belay::cli
