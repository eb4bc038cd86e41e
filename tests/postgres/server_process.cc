#include "tests/postgres/server_process.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

#include "tests/postgres/loopback.h"

namespace belay::postgres_tests {
namespace {

constexpr uid_t kNobody = 65'534;
constexpr std::size_t kShownBytes = 4'000;

bool are_root() { return ::geteuid() == 0; }

void give_to_nobody(const std::string& path) {
  if (are_root() && ::chown(path.c_str(), kNobody, kNobody) != 0) give_up("chown failed", path);
}

std::vector<char*> words_for_exec(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the child. A change of the user resets the death signal: it must be set last.
void drop_rights_and_follow(pid_t parent, bool root, int at_death) {
  if (root && (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
    ::_exit(126);
  }
  ::prctl(PR_SET_PDEATHSIG, at_death);
  if (::getppid() != parent) ::_exit(126);
}

}  // namespace

void nap(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

std::string end_of_file(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return text.size() > kShownBytes ? text.substr(text.size() - kShownBytes) : text;
}

void give_up(const std::string& why, const std::string& log) {
  std::cerr << why << "\n" << end_of_file(log) << std::endl;
  std::abort();
}

ServerFolder::ServerFolder() {
  std::string form = (std::filesystem::temp_directory_path() / "belay-postgres-XXXXXX").string();
  if (!::mkdtemp(form.data())) give_up("No temporary folder can be made.", form);
  path_ = form;
  give_to_nobody(path_);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) give_up("No pipe can be made.", path_);
  // The servers end on their own and can still write meanwhile: hence several tries.
  std::vector<std::string> words = {
      "/bin/sh", "-c",
      "cat >/dev/null; for try in $(seq 100); do rm -rf -- \"$1\" 2>/dev/null && exit; sleep 0.1; "
      "done",
      "guard", path_};
  std::vector<char*> pointers = words_for_exec(words);
  guard_ = ::fork();
  if (guard_ == 0) {
    ::setsid();  // Ctrl-C in a terminal ends the test, and not its guard
    ::dup2(ends[0], STDIN_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  alive_ = ends[1];
}

ServerFolder::~ServerFolder() {
  ::close(alive_);
  ::waitpid(guard_, nullptr, 0);
}

std::string ServerFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name), std::ios::binary) << text;
  ::chmod(file(name).c_str(), 0600);
  give_to_nobody(file(name));
  return file(name);
}

ServerProcess::ServerProcess(std::vector<std::string> command, const std::string& log, int at_death)
    : log_(log) {
  std::vector<char*> pointers = words_for_exec(command);
  int output = ::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (output < 0) give_up("The log can't be opened: " + log, log);
  give_to_nobody(log);
  pid_t parent = ::getpid();
  bool root = are_root();
  std::string folder = std::filesystem::path(log).parent_path().string();
  pid_ = ::fork();
  if (pid_ == 0) {
    drop_rights_and_follow(parent, root, at_death);
    if (::chdir(folder.c_str()) != 0) ::_exit(126);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(output);
}

ServerProcess::~ServerProcess() {
  if (has_ended()) return;
  send(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ServerProcess::send(int signal) const { ::kill(pid_, signal); }

bool ServerProcess::has_ended() {
  if (code_ >= 0) return true;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

int ServerProcess::wait(std::chrono::milliseconds at_most) {
  wait_until(at_most, [this] { return has_ended(); });
  return code_;
}

void run_to_end(std::vector<std::string> command, const std::string& log) {
  std::string name = command.front();
  ServerProcess process(std::move(command), log, SIGKILL);
  int code = process.wait(std::chrono::minutes(1));
  if (code != 0) give_up(name + " ended with " + std::to_string(code), log);
}

int free_port() {
  auto [listener, port] = listen_on_loopback();
  ::close(listener);
  return port;
}

}  // namespace belay::postgres_tests
