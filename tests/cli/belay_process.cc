#include "tests/cli/belay_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace belay::cli::tests {
namespace {

constexpr int kTimeoutMs = 240'000;
constexpr uid_t kNobody = 65'534;

std::vector<std::string> environment_of(const Setting& setting) {
  std::vector<std::string> lines;
  for (const char* name : {"PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) lines.push_back(std::string(name) + "=" + value);
  }
  for (const auto& [name, value] : setting.environment) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
      read = ends[0];
      write = ends[1];
    }
  }
};

// Runs in the child, just before it executes belay.
void become(const Setting& setting) {
  if (!setting.folder.empty() && ::chdir(setting.folder.c_str()) != 0) ::_exit(126);
  if (setting.file_bytes_max > 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto most = static_cast<rlim_t>(setting.file_bytes_max);
    rlimit limit{most, most};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (setting.as_nobody && ::geteuid() == 0) {
    if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) ::_exit(126);
  }
}

// Returns a temporary file as stdin: unlike a pipe it has any size and never blocks the writer.
int input_file(const std::string& text) {
  std::string name = "/tmp/belay-input-XXXXXX";
  int file = ::mkostemp(name.data(), O_CLOEXEC);
  ::unlink(name.c_str());
  std::size_t written = 0;
  while (written < text.size()) {
    ssize_t count = ::write(file, text.data() + written, text.size() - written);
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

}  // namespace

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "belay-cli-XXXXXX").string();
  if (::mkdtemp(name.data())) path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path_, ignored);
}

bool Outcome::says(const Words& parts) const {
  bool one_line = std::count(err.begin(), err.end(), '\n') == 1 && err.ends_with('\n');
  return one_line && std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
           return err.find(part) != err.npos;
         });
}

Belay::Belay(const Words& words, const Setting& setting) {
  Words all = words;
  const std::string binary = setting.binary.empty() ? BELAY_BINARY : setting.binary;
  all.insert(all.begin(), binary);
  std::vector<std::string> environment = environment_of(setting);
  std::vector<char*> arguments = pointers_to(all);
  std::vector<char*> variables = pointers_to(environment);
  int input = input_file(setting.input);
  Pipe out, err;
  int terminal = -1, terminal_side = -1;
  if (setting.terminal) ::openpty(&terminal, &terminal_side, nullptr, nullptr, nullptr);
  process_ = ::fork();
  if (process_ == 0) {
    // The child would inherit the signals that a shell's background job, or nohup, ignores.
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
    become(setting);
    ::dup2(input, STDIN_FILENO);
    ::dup2(setting.terminal ? terminal_side : out.write, STDOUT_FILENO);
    ::dup2(setting.terminal ? terminal_side : err.write, STDERR_FILENO);
    ::execve(binary.c_str(), arguments.data(), variables.data());
    ::_exit(127);
  }
  ::close(input);
  ::close(out.write);
  ::close(err.write);
  if (setting.terminal) {
    ::close(terminal_side);
    ::close(out.read);
    out.read = terminal;
  }
  out_ = out.read;
  err_ = err.read;
}

Belay::~Belay() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  if (out_ >= 0) ::close(out_);
  if (err_ >= 0) ::close(err_);
}

void Belay::send(int signal) const { ::kill(process_, signal); }

bool Belay::read_some(int timeout_ms) {
  // both have ended: poll() would wait for the whole timeout
  if (out_ < 0 && err_ < 0) return false;
  std::array<pollfd, 2> files{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  int ready = ::poll(files.data(), files.size(), timeout_ms);
  if (ready <= 0) return ready < 0 && errno == EINTR;
  std::array<char, 4096> part;
  for (auto [at, file, text] :
       {std::tuple(0, &out_, &outcome_.out), std::tuple(1, &err_, &outcome_.err)}) {
    if (!files[static_cast<std::size_t>(at)].revents) continue;
    ssize_t count = ::read(*file, part.data(), part.size());
    if (count > 0) {
      text->append(part.data(), static_cast<std::size_t>(count));
    } else {
      ::close(*file);
      *file = -1;
    }
  }
  return out_ >= 0 || err_ >= 0;
}

bool Belay::waits_to_say(const std::string& text) {
  while (outcome_.err.find(text) == outcome_.err.npos) {
    if (!read_some(kTimeoutMs)) return false;
  }
  return true;
}

bool Belay::waits_to_show(const std::string& text) {
  while (outcome_.out.find(text) == outcome_.out.npos) {
    if (!read_some(kTimeoutMs)) return false;
  }
  return true;
}

Outcome Belay::finish() {
  while (read_some(kTimeoutMs)) {
  }
  bool took_too_long = out_ >= 0 || err_ >= 0;
  int status = 0;
  int left_ms = took_too_long ? 0 : kTimeoutMs;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (left_ms <= 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, &status, 0);
      break;
    }
    ::poll(nullptr, 0, 10);
    left_ms -= 10;
  }
  process_ = -1;
  outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome_;
}

Outcome run_belay(const Words& words, const Setting& setting) {
  return Belay(words, setting).finish();
}

World::World() {
  setting.environment["HOME"] = folder.path();
  setting.environment["BELAY_STORE"] = "sqlite:" + store_path();
}

Outcome World::run(const Words& words) const {
  serve();
  return run_belay(words, setting);
}

void World::serve() const {
  if (!std::getenv("BELAY_TEST_THROUGH_SERVER") || server_) return;
  if (!setting.environment.contains("BELAY_STORE")) return;
  server_ = std::make_unique<Belay>(Words{"serve", "--listen", "127.0.0.1:0"}, setting);
  if (!server_->waits_to_say("Ctrl-C")) return;
  const std::string& said = server_->said();
  std::size_t from = said.find("http://");
  setting.environment.erase("BELAY_STORE");
  setting.environment["BELAY_SERVER"] = said.substr(from, said.find(". ", from) - from);
}

Outcome World::run(const Words& words, const std::string& input) const {
  serve();
  Setting with_input = setting;
  with_input.input = input;
  return run_belay(words, with_input);
}

Words World::completed(Words words) const {
  constexpr int kTriesMax = 50;
  words.insert(words.begin(), "__complete");
  Outcome outcome;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    outcome = run(words);
    if (outcome.code != 128 + SIGALRM) break;
  }
  std::istringstream stream(outcome.out);
  Words found;
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

std::string World::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder.file(name), std::ios::binary) << text;
  return folder.file(name);
}

std::string World::store_contents() const {
  std::string all;
  all += run({"notes", "list", "--limit", "1000", "--json"}).out;
  Outcome threads = run({"threads", "--limit", "1000", "--json"});
  all += threads.out;
  all += run({"approvals", "list", "--all", "--json"}).out;
  Value listed = threads.json();
  const Value::Array* items = listed["threads"].as_array();
  if (!items) return all;
  for (const Value& item : *items) {
    const std::string* id = item["threadId"].as_string();
    if (id) all += run({"history", *id, "--json"}).out + run({"state", *id, "--json"}).out;
  }
  return all;
}

std::string note_line(const std::string& date, const std::string& content) {
  return to_json(Value::object({{"date", date}, {"content", content}})) + "\n";
}

std::string hard_day() {
  return "I am exhausted and worn out, no strength left. Could not sleep all night, awake until "
         "five. Ill again, fever and pain all day. I cried and feel depressed and hopeless. I am "
         "afraid and anxious, another panic attack.";
}

std::string crisis_day() { return "I want to die. I feel hopeless and I cried all day."; }

}  // namespace belay::cli::tests
