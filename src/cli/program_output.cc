#include "cli/program_output.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/in_quotes.h"
#include "cli/signals.h"

extern char** environ;

namespace belay::cli {
namespace {

constexpr std::size_t kOutputMax = 64 * 1024 * 1024;
constexpr std::size_t kReadBytes = 64 * 1024;

// A pipe whose ends close with it, and in every program that is started.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

int ended_as(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<Done> read_all(Pipe& pipe, const std::string& program, std::string& text) {
  std::array<char, kReadBytes> bytes{};
  while (true) {
    ssize_t count = ::read(pipe.ends[0], bytes.data(), bytes.size());
    if (count == 0) return Done{};
    if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
    if (text.size() > kOutputMax) {
      return error(ErrorCode::invalid, "The program " + in_quotes(program) + " wrote more than " +
                                           std::to_string(kOutputMax) + " bytes.");
    }
    if (count > 0 || (errno == EINTR && !take_signal())) continue;
    return error(ErrorCode::cancelled, "The program " + in_quotes(program) + " was stopped.");
  }
}

// The environment of this process with other values of these variables.
std::vector<char*> environment_with(std::vector<std::string>& variables) {
  std::vector<char*> environment;
  for (char** each = environ; *each; ++each) {
    std::string_view line = *each;
    std::string_view name = line.substr(0, line.find('=') + 1);
    bool is_replaced =
        std::any_of(variables.begin(), variables.end(),
                    [&](const std::string& other) { return other.starts_with(name); });
    if (!is_replaced) environment.push_back(*each);
  }
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  return environment;
}

}  // namespace

Result<ProgramOutput> output_of(const std::string& program, std::vector<std::string> words,
                                std::vector<std::string> variables) {
  Pipe pipe;
  if (pipe.ends[0] < 0) {
    return error(ErrorCode::unavailable, std::string("No pipe: ") + std::strerror(errno) + ".");
  }
  std::string name = program;
  std::vector<char*> arguments{name.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment = environment_with(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
  // Its error is in its document: a second line would repeat it.
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  int failed = ::posix_spawnp(&process, name.c_str(), &actions, nullptr, arguments.data(),
                              environment.data());
  posix_spawn_file_actions_destroy(&actions);
  pipe.close_end(1);
  if (failed != 0) {
    return error(ErrorCode::not_found, "The program " + in_quotes(program) +
                                           " cannot be started: " + std::strerror(failed) + ".");
  }
  ProgramOutput output;
  auto read = read_all(pipe, program, output.text);
  if (!read.ok()) ::kill(process, SIGKILL);
  output.code = ended_as(process);
  if (!read.ok()) return std::move(read).error();
  return output;
}

}  // namespace belay::cli
