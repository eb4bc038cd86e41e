#include "tests/scenario/script_environment.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace belay::scenario {
namespace {

using namespace std::chrono_literals;
using cli::tests::Belay;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr auto kStagePatience = 30s;
constexpr auto kStageGlance = 2ms;
// Not an object: the tests are registered before objects of other files are initialized.
constexpr const char* kKeys = "BELAY_KEYS";

bool has_ended(pid_t process) {
  siginfo_t info{};
  bool known = ::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  return !known || info.si_pid != 0;
}

// Waits until `holds` returns true, for at most kStagePatience.
bool comes_to(const std::function<bool()>& holds) {
  Clock::time_point end = Clock::now() + kStagePatience;
  while (!holds()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kStageGlance);
  }
  return true;
}

std::string in_quotes(const std::string& text) {
  bool plain = !text.empty() && text.find_first_of(" \t\"'{}[]$*?&|;<>()\\`!#~\n") == text.npos;
  if (plain) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string pause_variables(const Killing& killing) {
  std::string text = "BELAY_TEST_PAUSE_AT_COMMIT=" + std::to_string(killing.commit) + " ";
  return killing.after ? text + "BELAY_TEST_PAUSE_AFTER=1 " : text;
}

Error too_soon(const std::string& where, const Outcome& outcome) {
  return error(ErrorCode::conflict, "the command ended with exit code " +
                                        std::to_string(outcome.code) + " before it came to " +
                                        where + ": " + outcome.out + outcome.err);
}

}  // namespace

const std::vector<StoreKind>& all_stores() {
  static const std::vector<StoreKind> all = {
      {"sqlite", {}},
      {"sealed", {{kKeys, "right:" + std::string(64, 'a')}}},
  };
  return all;
}

Stage::Stage(const StoreKind& kind) : kind_(kind), keys_(kind.environment) {
  world_.setting.environment["SCENARIO_FOLDER"] = world_.folder.path();
  world_.setting.environment["BELAY_LANGUAGE"] = "en";
  by_hand_.emplace_back("cd $(mktemp -d)");
  by_hand_.emplace_back("export BELAY_STORE=sqlite:$PWD/belay.db SCENARIO_FOLDER=$PWD");
  for (const auto& [name, value] : kind_.environment) {
    by_hand_.push_back("export " + name + "=" + value);
  }
  choose_program("");
}

void Stage::choose_program(const std::string& graph) {
  bool own = graph == "daily_auditor" || graph == "routine_generator";
  world_.setting.binary = own ? BELAY_BINARY : BELAY_SCENARIO_BINARY;
}

void Stage::choose_key(const std::string& which) {
  keys_ = kind_.environment;
  if (which == "none") keys_.erase(kKeys);
  if (which == "wrong") keys_[kKeys] = "wrong:" + std::string(64, 'b');
  auto key = keys_.find(kKeys);
  by_hand_.push_back(key == keys_.end() ? std::string("unset ") + kKeys
                                        : std::string("export ") + kKeys + "=" + key->second);
}

cli::tests::Setting Stage::setting(const std::string& input) const {
  cli::tests::Setting setting = world_.setting;
  for (const auto& [name, value] : keys_) setting.environment[name] = value;
  if (!user_.empty()) setting.environment["BELAY_USER"] = user_;
  setting.input = input;
  return setting;
}

std::string Stage::typed(const Words& words, const std::string& input) const {
  std::string text;
  if (!input.empty()) text += "echo " + in_quotes(input) + " | ";
  if (!user_.empty()) text += "BELAY_USER=" + in_quotes(user_) + " ";
  text += world_.setting.binary;
  for (const std::string& word : words) text += " " + in_quotes(word);
  return text;
}

Outcome Stage::run(Words words, const std::string& input, Purpose purpose) {
  if (purpose == Purpose::act) by_hand_.push_back(typed(words, input));
  Belay process(words, setting(input));
  if (!comes_to([&] { return has_ended(process.process()); })) process.send(SIGKILL);
  return process.finish();
}

Result<Done> Stage::run_and_kill(Words words, const std::string& input, const Killing& killing) {
  cli::tests::Setting with = setting(input);
  std::string command = typed(words, input);
  if (killing.commit > 0) {
    with.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = std::to_string(killing.commit);
    if (killing.after) with.environment["BELAY_TEST_PAUSE_AFTER"] = "1";
    by_hand_.push_back("export " + pause_variables(killing));
    by_hand_.push_back(command + " & sleep 2; kill -9 $!");
    by_hand_.emplace_back("unset BELAY_TEST_PAUSE_AT_COMMIT BELAY_TEST_PAUSE_AFTER");
    Belay process(words, with);
    bool paused = process.waits_to_say("belay-test: paused");
    process.send(SIGKILL);
    Outcome outcome = process.finish();
    if (paused) return Done{};
    return too_soon("commit " + std::to_string(killing.commit), outcome);
  }
  hold(killing.place);
  by_hand_.push_back(command + " & sleep 2; kill -9 $!");
  Belay process(words, with);
  bool ended = false;
  bool stands = comes_to([&] {
    ended = has_ended(process.process());
    return ended || waits_for("held-" + killing.place);
  });
  process.send(SIGKILL);
  Outcome outcome = process.finish();
  release(killing.place);
  if (stands && !ended) return Done{};
  return too_soon(killing.place, outcome);
}

Result<Done> Stage::begin_worker(const std::string& name) {
  if (workers_.contains(name)) {
    return error(ErrorCode::invalid, "the worker " + name + " is at work already");
  }
  by_hand_.push_back(typed({"worker"}, "") + " &");
  auto worker = std::make_unique<Belay>(Words{"worker"}, setting(""));
  if (!worker->waits_to_say("Worker started.")) {
    Outcome outcome = worker->finish();
    return error(ErrorCode::unavailable, "the worker ended: " + outcome.err);
  }
  workers_.emplace(name, std::move(worker));
  return Done{};
}

Result<Done> Stage::end_worker(const std::string& name) {
  auto found = workers_.find(name);
  if (found == workers_.end()) {
    return error(ErrorCode::not_found, "no worker " + name + " is at work");
  }
  by_hand_.emplace_back("kill %1; wait  # worker " + name);
  Belay& worker = *found->second;
  worker.send(SIGTERM);
  bool ended = comes_to([&] { return has_ended(worker.process()); });
  if (!ended) worker.send(SIGKILL);
  Outcome outcome = worker.finish();
  workers_.erase(found);
  if (ended && outcome.code == 0) return Done{};
  return error(ErrorCode::unavailable, "the worker " + name + " ended with exit code " +
                                           std::to_string(outcome.code) + ": " + outcome.err);
}

Result<Done> Stage::crash(const std::string& thread) {
  // Kills a command before its only commit, which is therefore never written: a worker might have
  // claimed a run first.
  if (workers_.empty()) return run_and_kill({"threads", "preserve", thread}, "", {1, false, ""});
  by_hand_.emplace_back("kill -9 $(jobs -p)");
  for (auto& [name, worker] : workers_) worker->send(SIGKILL);
  workers_.clear();
  return Done{};
}

void Stage::add_line(const std::string& file, const std::string& line) {
  by_hand_.push_back("echo " + in_quotes(line) + " >>" + in_quotes(file));
  std::ofstream(world_.folder.file(file), std::ios::binary | std::ios::app) << line << "\n";
}

std::vector<std::string> Stage::lines_of(const std::string& file) const {
  std::ifstream stream(world_.folder.file(file), std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void Stage::hold(const std::string& place) {
  by_hand_.push_back("touch " + in_quotes("hold-" + place));
  std::ofstream(world_.folder.file("hold-" + place)) << "here\n";
}

void Stage::release(const std::string& place) {
  by_hand_.push_back("rm -f " + in_quotes("hold-" + place) + " " + in_quotes("held-" + place));
  fs::remove(world_.folder.file("hold-" + place));
  fs::remove(world_.folder.file("held-" + place));
}

bool Stage::waits_for(const std::string& file) const {
  return fs::exists(world_.folder.file(file));
}

bool Stage::store_holds(const std::string& text) const {
  for (const char* part : {"", "-wal"}) {
    std::ifstream file(world_.store_path() + part, std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (bytes.find(text) != bytes.npos) return true;
  }
  return false;
}

}  // namespace belay::scenario
