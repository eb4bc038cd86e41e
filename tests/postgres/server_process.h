#pragma once
// tests/postgres/server_process.h - server processes of a test, without root's rights
//
// Each has its own folder. Process and folder are removed with the test, even if it crashes.
//
// Threading: a ServerProcess ends with the thread that started it: start it on the main thread.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace belay::postgres_tests {

// A temporary folder that belongs to the user of the server processes. A guard process removes it
// when this object or the test's process is gone.
class ServerFolder {
 public:
  ServerFolder();
  ServerFolder(const ServerFolder&) = delete;
  ServerFolder& operator=(const ServerFolder&) = delete;
  ~ServerFolder();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file that the servers can read; returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
  pid_t guard_ = -1;
  int alive_ = -1;  // the guard reads the other end
};

class ServerProcess {
 public:
  // Starts `command` with its output appended to the file `log`; as user nobody if the test runs as
  // root. `at_death` is the signal that it receives when the thread that started it has ended.
  ServerProcess(std::vector<std::string> command, const std::string& log, int at_death);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();  // kills it if it still exists

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  bool has_ended();
  // Returns its exit code, or 128 + the signal that ended it; -1 if it has not ended by then.
  int wait(std::chrono::milliseconds at_most);

 private:
  pid_t pid_ = -1;
  int code_ = -1;
  std::string log_;
};

// Runs a command to its end, within a minute; aborts with its output if it fails.
void run_to_end(std::vector<std::string> command, const std::string& log);

// Returns a port of 127.0.0.1 on which no process listens at the moment.
int free_port();

// Calls `is_so` until it returns true, at most for this time; returns the last result.
template <typename Condition>
bool wait_until(std::chrono::milliseconds at_most, Condition is_so);

// Returns the end of a log, for messages.
std::string end_of_file(const std::string& path);
[[noreturn]] void give_up(const std::string& why, const std::string& log);

void nap(std::chrono::milliseconds time);

template <typename Condition>
bool wait_until(std::chrono::milliseconds at_most, Condition is_so) {
  constexpr std::chrono::milliseconds step{10};
  for (std::chrono::milliseconds waited{0}; waited <= at_most; waited += step) {
    if (is_so()) return true;
    nap(step);
  }
  return is_so();
}

}  // namespace belay::postgres_tests
