#include "bench/child_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "bench/machine.h"
#include "bench/options.h"
#include "bench/pages.h"

namespace belay::bench {
namespace {

double seconds_in(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// The members of /proc/PID/stat after the name of the program, from its state on.
std::vector<std::string> statistics_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::size_t name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return {};
  std::istringstream rest(text.substr(name_ends + 1));
  return {std::istream_iterator<std::string>(rest), std::istream_iterator<std::string>()};
}

// The position in statistics_of() of the parent, and of the first of four times: of the process, in
// programs and in the kernel, and the same of its children that have ended.
constexpr std::size_t parent_at = 1;
constexpr std::size_t times_at = 11;

double seconds_of(const std::vector<std::string>& statistics) {
  double ticks = 0;
  for (std::size_t i = times_at; i < times_at + 4 && i < statistics.size(); ++i) {
    ticks += number_in<double>(statistics[i]).value_or(0);
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

pid_t start_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int failed = ::posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) exit_with("Cannot start " + words[0] + ".");
  return child;
}

EndedProgram wait_for_program(pid_t process) {
  EndedProgram ended;
  int status = 0;
  rusage used{};
  if (::wait4(process, &status, 0, &used) != process) exit_with("A program is not a child.");
  ended.cpu = seconds_in(used.ru_utime) + seconds_in(used.ru_stime);
  ended.resident_max = static_cast<double>(used.ru_maxrss) * 1024;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

EndedProgram execute_program(const std::vector<std::string>& words) {
  double began = wall_seconds();
  EndedProgram ended = wait_for_program(start_program(words));
  ended.seconds = wall_seconds() - began;
  return ended;
}

double cpu_of_process_tree(pid_t process) {
  const std::string parent = std::to_string(process);
  double seconds = seconds_of(statistics_of(parent));
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::string name = entry.path().filename().string();
    if (!number_in<pid_t>(name)) continue;
    std::vector<std::string> statistics = statistics_of(name);
    if (statistics.size() > parent_at && statistics[parent_at] == parent) {
      seconds += seconds_of(statistics);
    }
  }
  return seconds;
}

}  // namespace belay::bench
