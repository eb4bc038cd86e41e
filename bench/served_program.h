#pragma once
// bench/served_program.h - `belay serve` as a child process on a free loopback port.

#include <sys/types.h>

#include <string>
#include <vector>

namespace belay::bench {

class ServedProgram {
 public:
  // Returns when the program is ready. `variables` are added to its environment, `words` to its
  // command line.
  ServedProgram(const std::string& belay, const std::string& store,
                std::vector<std::string> variables, std::vector<std::string> words = {});
  ServedProgram(const ServedProgram&) = delete;
  ServedProgram& operator=(const ServedProgram&) = delete;
  ~ServedProgram();  // ends the program and waits for it

  int port() const { return port_; }
  double ready_milliseconds() const { return ready_milliseconds_; }  // startup time
  double resident_megabytes() const;
  // The same of a server without requests: waits until it has returned the memory of its start.
  double idle_megabytes() const;

 private:
  int port_ = 0;
  pid_t process_ = -1;
  double ready_milliseconds_ = 0;
};

}  // namespace belay::bench
