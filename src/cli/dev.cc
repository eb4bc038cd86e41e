// `belay dev`: a server for development, restarted whenever its program is rebuilt. After a
// restart, runs continue from the store. The server process opens the store, not this one.

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "belay/command.h"
#include "cli/command_list.h"
#include "cli/process_context.h"
#include "cli/signals.h"

extern char** environ;

namespace belay::cli {
namespace {

constexpr const char* kDevHelp =
    R"(For the development of an agent. The server is a separate process; when the program is
rebuilt, the server shuts down and restarts at the same address, and its runs continue after their
last commit. A server that crashed restarts with the next build. The store is .belay/belay.db in
this folder, unless you name another; it is not deleted.

Examples:
  {p} dev                       # this program, with its agents
  {p} dev build/release/mail    # yours: belay::main() gives it a server
)";

constexpr std::chrono::milliseconds kLook{100};
// A linker writes for some time: a program counts as new when it is unchanged for this many checks.
constexpr int kLooksUntilSettled = 4;
// A server is killed if it has not ended after this many checks.
constexpr int kLooksUntilKilled = 150;

// Identifies the version of a file by its inode, size and modification time.
struct Mark {
  dev_t device = 0;
  ino_t place = 0;
  off_t size = 0;
  timespec changed{};
  bool is_program = false;  // it exists and is executable

  bool is_as(const Mark& other) const {
    return device == other.device && place == other.place && size == other.size &&
           changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
  }
};

Mark look_at(const std::string& path) {
  struct stat found{};
  Mark mark;
  if (::stat(path.c_str(), &found) != 0) return mark;
  mark.device = found.st_dev;
  mark.place = found.st_ino;
  mark.size = found.st_size;
  mark.changed = found.st_mtim;
  mark.is_program = S_ISREG(found.st_mode) && ::access(path.c_str(), X_OK) == 0;
  return mark;
}

// The server process, in its own process group: Ctrl-C reaches only this process, which then sends
// one SIGTERM. The server ends with this process, also if this process is killed
// (PR_SET_PDEATHSIG).
class Server {
 public:
  Server(const std::string& program, std::vector<std::string> words,
         std::vector<std::string> variables) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<char*> environment;
    for (std::string& line : variables) environment.push_back(line.data());
    environment.push_back(nullptr);
    pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ != 0) return;
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // If the parent has ended before prctl(), no signal would ever end the server: do not start it.
    if (::getppid() == parent) ::execve(program.c_str(), arguments.data(), environment.data());
    ::_exit(127);
  }
  ~Server() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    collect(0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // True if the process runs. Records its exit code when it has ended.
  bool is_up() {
    if (process_ > 0) collect(WNOHANG);
    return process_ > 0;
  }
  // The exit code; 128 + the signal for a killed process.
  int code() const { return code_; }

  void stop() {
    if (process_ > 0) ::kill(process_, SIGTERM);
    for (int look = 0; is_up(); ++look) {
      if (look == kLooksUntilKilled) ::kill(process_, SIGKILL);
      std::this_thread::sleep_for(kLook);
    }
  }

 private:
  void collect(int options) {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = ::waitpid(process_, &status, options);
    } while (ended < 0 && errno == EINTR);
    if (ended == 0) return;
    process_ = -1;
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  pid_t process_ = -1;
  int code_ = 0;
};

Result<std::string> own_path() {
  std::error_code failed;
  auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) return path.string();
  return error(ErrorCode::unavailable,
               "Could not find the executable of this program. Name it: dev FILE.");
}

// `named` is a file; unset: this program.
Result<std::string> program_path(const std::optional<std::string>& named) {
  if (!named) return own_path();
  std::error_code failed;
  std::string path = std::filesystem::absolute(*named, failed).string();
  if (!failed && look_at(path).is_program) return path;
  return error(ErrorCode::invalid,
               "\"" + one_line(*named) + "\" is not an executable file. Build it first.");
}

// Returns the store for development: a persistent one in the working directory, unless a setting
// names another.
Result<std::string> store_of(const Settings& settings) {
  if (!settings.default_store) return settings.store;
  std::error_code failed;
  auto folder = std::filesystem::current_path(failed) / ".belay";
  if (!failed && std::filesystem::create_directory(folder, failed)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  }
  if (failed) {
    return error(ErrorCode::unavailable, "Could not create the folder .belay here: " +
                                             failed.message() + ". Name a store with --store.");
  }
  return "sqlite:" + (folder / "belay.db").string();
}

// Replaces port 0 by a free port: after a restart, the server must listen on the same port.
Result<std::string> with_port(const std::string& listen) {
  if (!listen.ends_with(":0")) return listen;
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bool found = socket >= 0 &&
               ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
               ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (socket >= 0) ::close(socket);
  if (!found) return error(ErrorCode::unavailable, "No port is free. Name one with --listen.");
  return listen.substr(0, listen.size() - 1) + std::to_string(ntohs(address.sin_port));
}

std::vector<std::string> variables_for(const Program& program, const Settings& settings,
                                       const std::string& store) {
  std::vector<std::string> own{"BELAY_STORE=" + store};
  if (!program.brings_model && !settings.model.empty()) {
    own.push_back("BELAY_MODEL=" + settings.model);
    if (!settings.models.url.empty()) own.push_back("BELAY_MODEL_URL=" + settings.models.url);
  }
  std::vector<std::string> all = own;
  for (char** each = environ; *each; ++each) {
    std::string_view line(*each);
    std::string_view name = line.substr(0, line.find('=') + 1);
    bool is_ours = std::any_of(own.begin(), own.end(),
                               [&](const std::string& mine) { return mine.starts_with(name); });
    if (!is_ours) all.emplace_back(line);
  }
  return all;
}

class Development {
 public:
  Development(Output& output, std::string path, std::vector<std::string> words,
              std::vector<std::string> variables)
      : output_(output),
        path_(std::move(path)),
        words_(std::move(words)),
        variables_(std::move(variables)) {}

  // Runs until a signal arrives.
  ExitCode run() {
    start();
    while (!take_signal()) {
      std::this_thread::sleep_for(kLook);
      if (server_ && !server_->is_up()) note_end();
      if (is_new()) {
        output_.progress("The program was rebuilt. Restarting it; its runs continue.");
        if (server_) server_->stop();
        start();
      }
    }
    if (server_) server_->stop();
    return ExitCode::done;
  }

 private:
  void start() {
    started_ = look_at(path_);
    looks_ = 0;
    server_ = std::make_unique<Server>(path_, words_, variables_);
  }

  void note_end() {
    output_.progress("The server exited with code " + std::to_string(server_->code()) +
                     ". It restarts when the program is rebuilt.");
    server_.reset();
  }

  bool is_new() {
    Mark now = look_at(path_);
    bool is_settled = now.is_as(seen_) && now.is_program;
    seen_ = now;
    if (now.is_as(started_)) return false;
    looks_ = is_settled ? looks_ + 1 : 0;
    return looks_ >= kLooksUntilSettled;
  }

  Output& output_;
  std::string path_;
  std::vector<std::string> words_;
  std::vector<std::string> variables_;
  Mark started_;
  Mark seen_;
  int looks_ = 0;
  std::unique_ptr<Server> server_;
};

class DevCommand final : public ProcessCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("PROGRAM", program_, "Your program (default: this one)");
    words.option("--listen", listen_, "ADDRESS:PORT; port 0 selects a free one").shows_default();
  }

  // Serves until a signal arrives.
  CommandResult run_in_process(const ProcessContext& context) override {
    const Settings& settings = context.settings;
    Output& output = context.output;
    if (settings.server) {
      return error(ErrorCode::invalid, "dev starts its own server. Omit --server.");
    }
    BELAY_TRY(std::string path, program_path(program_));
    BELAY_TRY(std::string store, store_of(settings));
    BELAY_TRY(std::string listen, with_port(listen_));
    output.progress("Program: " + path);
    output.progress("Store:   " + store + " (kept)");
    if (!program_ && !settings.model.empty()) output.progress("Model:   " + settings.model);
    if (!program_) {
      BELAY_TRY(Definitions graphs, context.program.graphs(settings));
      std::string agents;
      for (const auto& graph : graphs) agents += (agents.empty() ? "" : ", ") + graph->name;
      output.progress("Agents:  " + agents);
      std::string words;
      for (const std::string& word : context.program.first_run) words += " " + word;
      output.progress("Try:     " + settings.call + words + " --server http://" + listen);
    }
    std::vector<std::string> words{std::filesystem::path(path).filename().string(), "serve",
                                   "--listen", listen};
    Development work(output, path, std::move(words),
                     variables_for(context.program, settings, store));
    return work.run();
  }

 private:
  std::optional<std::string> program_;  // a file; unset: this program
  std::string listen_ = "127.0.0.1:8123";
};

}  // namespace

CommandSpec builtin::dev_command(const Program&) {
  return {.path = {"dev"},
          .line = "Serve, and restart after each build",
          .end = kDevHelp,
          .make = make_command<DevCommand>};
}

}  // namespace belay::cli
