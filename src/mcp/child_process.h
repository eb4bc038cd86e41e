#pragma once
// mcp/child_process.h - ChildProcess: a program with pipes as its standard input, output and error.
//
// The program has its own process group, so that a Ctrl-C of a terminal does not reach it, and
// no descriptor of this process except its pipes. It is always reaped.
//
// Threading: one thread at a time.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "belay/result.h"
#include "tools/descriptor.h"

namespace belay::mcp {

class ChildProcess {
 public:
  // Starts command[0], which is searched in PATH, without a shell. Its environment is `environment`
  // and PATH and HOME of this process. Fails with `invalid` if there is no such program.
  static Result<ChildProcess> start(const std::vector<std::string>& command,
                                    const std::map<std::string, std::string>& environment);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Kills the process group and reaps the process, if finish() was not called.
  ~ChildProcess();

  // This process's ends of the pipes; they do not block. -1: closed.
  int input() const { return input_.number(); }
  int output() const { return output_.number(); }
  int errors() const { return errors_.number(); }
  // Readable when the process has ended; -1 if the kernel has no such descriptors.
  int exit_descriptor() const { return exit_.number(); }

  void close_input() { input_ = tools::Descriptor(); }
  void close_errors() { errors_ = tools::Descriptor(); }

  // Closes the input and waits for `grace`, sends SIGTERM and waits again, sends SIGKILL. Meanwhile
  // reads and drops output. Kills remaining processes of the group. Returns how the process ended:
  // "exit code 1", "signal 9". Call it once.
  std::string finish(std::chrono::milliseconds grace);

 private:
  ChildProcess() = default;
  bool has_ended() const;
  bool ends_within(std::chrono::milliseconds grace);
  std::string reap();

  pid_t process_ = -1;
  tools::Descriptor input_{-1}, output_{-1}, errors_{-1}, exit_{-1};
};

}  // namespace belay::mcp
