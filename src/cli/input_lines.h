#pragma once
// cli/input_lines.h - InputLines: the lines of standard input, as events of an executor.
//
// Threading: a thread reads the input, and the handlers are called on the executor. The destructor
// ends the thread, also if it waits for input.

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "belay/task.h"
#include "tools/descriptor.h"

namespace belay::cli {

struct InputHandlers {
  std::function<void(std::string line)> on_line;
  std::function<void()> on_long_line;  // the line exceeds the limit, and is dropped
  std::function<void()> on_end;        // once: of the input
};

class InputLines {
  struct Shared;

 public:
  // At most `bytes_max` of a line, and a bounded number of lines that no handler has received.
  static Result<std::unique_ptr<InputLines>> open(Executor& executor, int descriptor,
                                                  std::size_t bytes_max, InputHandlers handlers);
  InputLines(std::shared_ptr<Shared> shared, int descriptor);  // use open()
  ~InputLines();
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;

 private:
  static void read_all(const std::shared_ptr<Shared>& shared, int descriptor);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace belay::cli
