#include "mcp/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/in_quotes.h"

namespace belay::mcp {
namespace {

using tools::Descriptor;

constexpr int first_other_descriptor = 3;
constexpr int check_interval_ms = 5;

struct Pipe {
  Descriptor read{-1};
  Descriptor write{-1};
};

std::optional<Pipe> open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

bool make_non_blocking(const Descriptor& end) {
  int flags = ::fcntl(end.number(), F_GETFL);
  return flags >= 0 && ::fcntl(end.number(), F_SETFL, flags | O_NONBLOCK) == 0;
}

std::vector<std::string> environment_of(const std::map<std::string, std::string>& given) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : given) texts.push_back(name + "=" + value);
  for (const char* name : {"PATH", "HOME"}) {
    const char* value = given.count(name) == 0 ? ::getenv(name) : nullptr;
    if (value) texts.push_back(std::string(name) + "=" + value);
  }
  return texts;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The settings of posix_spawn().
class Launch {
 public:
  Launch() {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawnattr_init(&attributes_);
    // The calling thread blocks all signals, and the program of the library might ignore some: both
    // would be inherited.
    sigset_t none;
    sigset_t defaults;
    ::sigemptyset(&none);
    ::sigemptyset(&defaults);
    for (int signal : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) {
      ::sigaddset(&defaults, signal);
    }
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void use(const Descriptor& end, int as) {
    ::posix_spawn_file_actions_adddup2(&files_, end.number(), as);
  }

  // Returns 0 or an errno.
  int start(std::vector<std::string> command, std::vector<std::string> environment,
            pid_t& process) {
    // Descriptors that the rest of the program opened without O_CLOEXEC.
    ::posix_spawn_file_actions_addclosefrom_np(&files_, first_other_descriptor);
    auto arguments = pointers_to(command);
    auto variables = pointers_to(environment);
    return ::posix_spawnp(&process, arguments[0], &files_, &attributes_, arguments.data(),
                          variables.data());
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

Error no_pipes() {
  return error(ErrorCode::unavailable,
               "No pipes for an MCP server could be opened. Close other files, or try again.");
}

// Reads and drops what is there, and waits for more at most one interval.
void drop_output(int output, int errors) {
  std::array<pollfd, 2> ends{{{output, POLLIN, 0}, {errors, POLLIN, 0}}};
  if (::poll(ends.data(), ends.size(), check_interval_ms) <= 0) return;
  std::array<char, 4096> dropped;
  bool has_read = false;
  for (const pollfd& end : ends) {
    if (end.revents != 0 && ::read(end.fd, dropped.data(), dropped.size()) > 0) has_read = true;
  }
  // At its end, a pipe stays readable: this prevents a loop without a pause.
  if (!has_read) ::poll(nullptr, 0, check_interval_ms);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::map<std::string, std::string>& environment) {
  auto input = open_pipe();
  auto output = open_pipe();
  auto errors = open_pipe();
  if (!input || !output || !errors) return no_pipes();
  ChildProcess child;
  child.input_ = std::move(input->write);
  child.output_ = std::move(output->read);
  child.errors_ = std::move(errors->read);
  if (!make_non_blocking(child.input_) || !make_non_blocking(child.output_) ||
      !make_non_blocking(child.errors_)) {
    return no_pipes();
  }
  Launch launch;
  launch.use(input->read, 0);
  launch.use(output->write, 1);
  launch.use(errors->write, 2);
  if (int fault = launch.start(command, environment_of(environment), child.process_)) {
    child.process_ = -1;
    ErrorCode code =
        fault == EAGAIN || fault == ENOMEM ? ErrorCode::unavailable : ErrorCode::invalid;
    return error(code, "The program " + in_quotes(command[0]) +
                           " of an MCP server could not be started: " + std::strerror(fault) +
                           ". Correct the command.");
  }
#ifdef SYS_pidfd_open
  // Close-on-exec by definition.
  child.exit_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.process_, 0)));
#endif
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      exit_(std::move(other.exit_)) {}

ChildProcess::~ChildProcess() {
  if (process_ > 0) reap();
}

bool ChildProcess::has_ended() const {
  siginfo_t info{};
  // WNOWAIT: the process is not reaped, so that its number still names its group.
  int failed = ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
  return failed != 0 || info.si_pid == process_;
}

bool ChildProcess::ends_within(std::chrono::milliseconds grace) {
  for (std::int64_t waited = 0; waited < grace.count(); waited += check_interval_ms) {
    if (has_ended()) return true;
    drop_output(output(), errors());
  }
  return has_ended();
}

std::string ChildProcess::reap() {
  ::kill(-process_, SIGKILL);
  ::kill(process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

std::string ChildProcess::finish(std::chrono::milliseconds grace) {
  close_input();
  if (!ends_within(grace)) {
    ::kill(-process_, SIGTERM);
    ends_within(grace);
  }
  return reap();
}

}  // namespace belay::mcp
