#include "agents/wellbeing/demo.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "agents/wellbeing/localized_text.h"
#include "belay/module.h"

extern char** environ;

namespace belay::wellbeing {
namespace {

constexpr const char* kDay = "2026-11-21";
constexpr const char* kDiary =
    R"({"date":"2026-11-21","content":"Slept four hours again, awake until five. Exhausted and )"
    R"(worn out, no strength left. I cried on the way home and feel hopeless about the exam. )"
    R"(Another panic attack in the evening; nobody knows."})"
    "\n";
constexpr const char* kSpanishDiary =
    R"({"date":"2026-11-21","content":"Otra vez he dormido cuatro horas, despierta hasta las )"
    R"(cinco. Agotada, sin fuerzas. Lloré de camino a casa y me siento desesperada por el examen. )"
    R"(Otro ataque de pánico por la tarde; nadie lo sabe."})"
    "\n";
// The first process is killed before this commit: notes have been read, the model has not been
// called.
constexpr const char* kKilledAtCommit = "3";
constexpr const char* kPaused = "belay-test: paused";
constexpr int kPausedTimeoutMs = 30'000;

// A temporary folder, deleted with the object.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "belay-demo-XXXXXX").string();
    if (::mkdtemp(pattern.data())) path_ = pattern;
  }
  ~Folder() {
    std::error_code failed;
    if (!path_.empty()) std::filesystem::remove_all(path_, failed);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

// Returns whether this variable of the environment is a setting that can change what the
// demonstration shows.
bool is_setting(std::string_view line) {
  return line.starts_with("BELAY_") || line.starts_with("AGENT_") ||
         line.starts_with("REDIS_URL=") || line.starts_with("CHECKPOINT_ENCRYPTION_KEY=");
}

// A process of this program.
class Child {
 public:
  // `mute`: hides its output. `told`: its stderr can be read.
  Child(const std::vector<std::string>& words, const std::vector<std::string>& more_environment,
        bool mute, bool told) {
    std::array<int, 2> ends{-1, -1};
    if (told && ::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    told_ = std::make_unique<Descriptor>(ends[0]);
    Descriptor writes(ends[1]);
    std::vector<std::string> held = words;
    held.insert(held.begin(), "belay");
    std::vector<char*> arguments;
    for (std::string& word : held) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<std::string> environment = more_environment;
    for (char** each = environ; *each; ++each) {
      std::string line(*each);
      if (!is_setting(line)) environment.push_back(std::move(line));
    }
    std::vector<char*> variables;
    for (std::string& line : environment) variables.push_back(line.data());
    variables.push_back(nullptr);
    process_ = ::fork();
    if (process_ != 0) return;
    if (mute) {
      int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDOUT_FILENO);
      if (!told) ::dup2(nowhere, STDERR_FILENO);
    }
    if (told) ::dup2(writes.number(), STDERR_FILENO);
    ::execve("/proc/self/exe", arguments.data(), variables.data());
    ::_exit(127);
  }
  ~Child() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    wait();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Reads until the process reports that it has paused. False if it ended or took too long.
  bool waits_to_pause() {
    std::string said;
    std::array<char, 4096> piece{};
    while (said.find(kPaused) == said.npos) {
      pollfd waits{told_->number(), POLLIN, 0};
      if (::poll(&waits, 1, kPausedTimeoutMs) <= 0) return false;
      ssize_t count = ::read(told_->number(), piece.data(), piece.size());
      if (count <= 0) return false;
      said.append(piece.data(), static_cast<std::size_t>(count));
    }
    return true;
  }
  void kill() const { ::kill(process_, SIGKILL); }
  // Waits for the end. Returns the exit code; 128 + the signal for a killed process.
  int wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t process_ = -1;
  std::unique_ptr<Descriptor> told_;
};

class Demo final : public ModuleCommand {
 public:
  Task<Result<ExitCode>> run(ModuleContext& world) override {
    Folder folder;
    if (folder.path().empty()) {
      co_return error(ErrorCode::unavailable, "Could not create a temporary folder. Check TMPDIR.");
    }
    Language language = world.settings.language;
    environment_ = {"BELAY_STORE=sqlite:" + folder.path() + "/demo.db", "BELAY_MODEL=builtin",
                    "BELAY_LANGUAGE=" + std::string(name_of(language))};
    // An empty settings file: that of the user can change what the demonstration shows.
    std::string settings = folder.path() + "/belay.yaml";
    std::ofstream(settings) << '\n';
    environment_.push_back("BELAY_CONFIG=" + settings);
    std::string diary = folder.path() + "/diary.jsonl";
    std::ofstream(diary) << (language == Language::es ? kSpanishDiary : kDiary);
    const Words& words = words_of(language);
    BELAY_CO_TRY(bool worked, play(world.output, words, diary));
    world.output.document(Value::object({{"worked", worked}, {"steps", std::move(steps_)}}));
    if (!worked) co_return ExitCode::failed;
    world.output.line();
    world.output.line(words.demo_completed);
    world.output.line(std::string(words.demo_own_notes) + "belay notes import diary.jsonl");
    world.output.line(std::string(words.demo_http) + "belay serve");
    world.output.line(std::string(words.demo_models) + "belay models list");
    world.output.line(std::string(words.demo_agent) + "belay new helpdesk");
    co_return ExitCode::done;
  }

 private:
  Result<bool> play(Output& output, const Words& words, const std::string& diary) {
    heading(output, words.demo_diary);
    if (!step(output, {"notes", "import", diary})) return false;
    heading(output, words.demo_kill);
    BELAY_TRY(bool killed, kill_in_its_midst(output, words));
    if (!killed) return false;
    heading(output, words.demo_resume);
    if (!step(output, {"resume", "demo"}, 3)) return false;
    heading(output, words.demo_decide);
    std::string you(words.demo_you);
    std::string fine(words.demo_comment);
    if (!step(output, {"approvals", "approve", "demo", "--by", you, "--comment", fine})) {
      return false;
    }
    heading(output, words.demo_commits);
    return step(output, {"history", "demo"}) && step(output, {"replay", "demo"});
  }

  // Written immediately, so that it precedes the output of a child process.
  void heading(Output& output, std::string_view line) {
    if (output.json()) return;
    output.write_now("");
    output.write_now(output.styled(Style::bold, line));
  }

  static std::string shown(const std::vector<std::string>& words) {
    std::string line = "$ belay";
    for (const std::string& word : words) line += " " + word;
    return line;
  }

  void keep(const std::vector<std::string>& words, int code) {
    steps_.push_back(Value::object({{"command", shown(words).substr(2)}, {"code", code}}));
  }

  // Returns whether the command ended with the expected code.
  bool step(Output& output, const std::vector<std::string>& words, int expected = 0) {
    if (!output.json()) output.write_now(shown(words));
    Child child(words, environment_, output.json(), false);
    int code = child.wait();
    keep(words, code);
    if (code == expected) return true;
    output.progress("The command ended with exit code " + std::to_string(code) + ", not " +
                    std::to_string(expected) + ".");
    return false;
  }

  Result<bool> kill_in_its_midst(Output& output, const Words& texts) {
    std::vector<std::string> words{"run", "daily-audit", "--date", kDay, "--thread", "demo"};
    if (!output.json()) output.write_now(shown(words));
    std::vector<std::string> environment = environment_;
    environment.push_back(std::string("BELAY_TEST_PAUSE_AT_COMMIT=") + kKilledAtCommit);
    Child child(words, environment, true, true);
    if (!child.waits_to_pause()) {
      return error(ErrorCode::unavailable, "The audit stopped too early.");
    }
    child.kill();
    int code = child.wait();
    keep(words, code);
    if (!output.json()) output.write_now(texts.demo_killed);
    return code == 128 + SIGKILL;
  }

  std::vector<std::string> environment_;
  Value::Array steps_;
};

}  // namespace

ModuleCommandSpec demo_command() {
  return {.path = {"demo"},
          .line = "Kill a run, resume it and decide: in one minute, without an API key",
          .end = "Example:\n  belay demo\n",
          .uses_store = false,
          .make = make_module_command<Demo>};
}

}  // namespace belay::wellbeing
