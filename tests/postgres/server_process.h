#pragma once
// tests/postgres/server_process.h - servers that a test starts: each a child process without root's
// rights, in a folder of its own. Both go with the test, also when that crashes.
//
// Threading: a ServerProcess ends with the thread that started it; so start one on the main thread.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace belay::postgres_tests {

// A temporary folder that belongs to whoever the servers run as. A guard process removes it when
// this object, or the test's process, has gone.
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
  // Starts `command` with its output appended to the file `log`. As nobody, if we are root.
  // `at_death` is the signal that it gets when the test's thread has ended.
  ServerProcess(std::vector<std::string> command, const std::string& log, int at_death);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();  // kills it, if it is still there

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  bool has_ended();
  // Its exit code, or 128 + the signal that ended it; -1 when it has not ended by then.
  int wait(std::chrono::milliseconds at_most);

 private:
  pid_t pid_ = -1;
  int code_ = -1;
  std::string log_;
};

// Runs a command to its end, within a minute; aborts with its output when it fails.
void run_to_end(std::vector<std::string> command, const std::string& log);

// A port of 127.0.0.1 on which nobody listens now.
int free_port();

// Calls `is_so` until it is, for at most this long; whether it was.
template <typename Condition>
bool wait_until(std::chrono::milliseconds at_most, Condition is_so);

// The end of a log, for messages.
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
