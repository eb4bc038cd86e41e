#include "bench/served_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "bench/connection.h"
#include "bench/machine.h"
#include "bench/pages.h"

namespace belay::bench {
namespace {

constexpr std::chrono::microseconds between_looks{200};
constexpr double ready_seconds_max = 10;

pid_t start(std::vector<std::string> words, std::vector<std::string> variables) {
  std::vector<char*> arguments, environment;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (char** each = environ; *each; ++each) environment.push_back(*each);
  for (std::string& line : variables) environment.push_back(line.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, file, "/dev/null", O_RDWR, 0);
  }
  pid_t child = -1;
  int failed =
      posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) exit_with("Cannot start " + words[0]);
  return child;
}

}  // namespace

ServedProgram::ServedProgram(const std::string& belay, const std::string& store,
                             std::vector<std::string> variables, std::vector<std::string> words)
    : port_(free_port()) {
  std::string listen = "127.0.0.1:" + std::to_string(port_);
  double began = wall_seconds();
  std::vector<std::string> all{belay, "serve", "--listen", listen, "--store", store};
  all.insert(all.end(), words.begin(), words.end());
  process_ = start(std::move(all), std::move(variables));
  while (true) {
    Connection connection(port_);
    if (connection.is_open() && connection.ask("GET", "/readyz").status == 200) break;
    if (wall_seconds() - began > ready_seconds_max) exit_with(belay + " serve is not ready.");
    std::this_thread::sleep_for(between_looks);
  }
  ready_milliseconds_ = (wall_seconds() - began) * 1e3;
}

ServedProgram::~ServedProgram() {
  ::kill(process_, SIGTERM);
  (void)::waitpid(process_, nullptr, 0);
}

double ServedProgram::resident_megabytes() const {
  std::ifstream status("/proc/" + std::to_string(process_) + "/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes / 1'000;
  }
  return 0;
}

double ServedProgram::idle_megabytes() const {
  std::this_thread::sleep_for(std::chrono::seconds(7));
  return resident_megabytes();
}

}  // namespace belay::bench
