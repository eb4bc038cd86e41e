#include "tests/crash/killed_case.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

constexpr int kKilled = 128 + SIGKILL;

class Case {
 public:
  Case(const Baseline& baseline, const Fate& fate, const std::string& folder)
      : baseline_(baseline), fate_(fate), folder_(folder), step_(baseline.steps()[fate.step]) {}

  Verdict run() {
    copy_store(baseline_.folder_before(fate_.step), folder_);
    seen_ = baseline_.before(fate_.step);
    if (kill_step()) {
      recover();
      go_on();
      compare();
    }
    return std::move(verdict_);
  }

 private:
  void fault(std::string text) { verdict_.faults.push_back(std::move(text)); }

  Setting setting() const {
    Setting setting = setting_for(folder_);
    // The model fails once in a scenario, whichever process calls it.
    if (step_.model_fails && seen_.failed_attempts == 0) make_model_fail(setting);
    return setting;
  }

  // Starts `words` and kills the process as specified by `kill`. Returns false if the process ended
  // before that.
  bool kill_process(const Words& words, const Kill& kill, Outcome& outcome) {
    Setting with = setting();
    if (kill.moment != Moment::between) pause_at(with, kill.commit, kill.moment == Moment::after);
    Belay process(words, with);
    bool paused = true;
    if (kill.moment != Moment::between) {
      paused = process.waits_to_say(kPaused);
    } else {
      if (!kill.told.empty()) process.waits_to_say(kill.told);
      std::this_thread::sleep_for(kill.delay);
    }
    process.send(SIGKILL);
    outcome = process.finish();
    if (outcome.code == kKilled) ++verdict_.kills[kill.moment];
    if (!paused) fault(command_line(words, with) + " never came to its pause: " + outcome.err);
    return paused;
  }

  // Reads a copy of the store that the killed process left, so that the original is recovered
  // unread.
  void look_after(const std::string& name) {
    std::string aside = folder_ + "/" + name;
    copy_store(folder_, aside);
    // The process was killed before it created the file.
    if (!std::filesystem::exists(store_in(aside))) return;
    auto sight = look_at(aside);
    if (!sight.ok())
      return fault("the store can't be read after the kill: " + sight.error().message);
    for (const std::string& loss : losses(seen_, *sight)) fault("after the kill, " + loss);
    if (sight->notes != 0 && sight->notes != baseline_.at_end().notes) {
      fault("half an import: " + std::to_string(sight->notes) + " notes");
    }
    seen_ = *std::move(sight);
  }

  // The store must contain every node that stderr reported as committed.
  void hold_to_its_word(const Outcome& killed) {
    const Sight& before = baseline_.before(fate_.step);
    for (const auto& [name, at_end] : baseline_.at_end().finished) {
      if (!name.starts_with(step_.thread + " ")) continue;
      std::size_t told = times_finished(killed.err, name.substr(step_.thread.size() + 1));
      auto was = before.finished.find(name);
      if (was != before.finished.end()) told += was->second;
      auto now = seen_.finished.find(name);
      std::size_t there = now == seen_.finished.end() ? 0 : now->second;
      if (there < told) fault("\"" + name + "\" was said to be committed, and is not there");
    }
  }

  bool kill_step() {
    Outcome killed;
    bool hit = kill_process(step_.words, fate_.kill, killed);
    if (!hit) return false;
    look_after("first");
    hold_to_its_word(killed);
    if (fate_.kill.moment == Moment::between || step_.thread.empty()) return true;
    std::size_t before = baseline_.before(fate_.step).commits.size();
    std::size_t expected =
        before + fate_.kill.commit - (fate_.kill.moment == Moment::before ? 1 : 0);
    if (seen_.commits.size() != expected) {
      fault("the kill left " + std::to_string(seen_.commits.size()) + " commits, not " +
            std::to_string(expected));
    }
    return true;
  }

  void recover() {
    const Words resume_all = {"resume", "--all", "--json"};
    if (fate_.takeover) {
      Outcome killed;
      if (!kill_process(resume_all, *fate_.takeover, killed)) return;
      look_after("second");
    }
    Setting with = setting();
    Outcome resumed = cli::tests::run_belay(resume_all, with);
    if (resumed.code != 0 && resumed.code != 3) {
      fault(command_line(resume_all, with) + " ended with " + std::to_string(resumed.code) + ": " +
            resumed.err);
    }
    acknowledged(resumed);
  }

  // Repeats the interrupted command, as a user would type it, and runs the steps after it.
  void go_on() {
    for (std::size_t i = fate_.step; i < baseline_.steps().size(); ++i) {
      const Step& step = baseline_.steps()[i];
      Setting with = i == fate_.step ? setting() : setting_for(folder_);
      if (i > fate_.step && step.model_fails) make_model_fail(with);
      Words words = step.words;
      words.emplace_back("--json");
      Outcome outcome = cli::tests::run_belay(words, with);
      if (outcome.code != step.code) {
        return fault(command_line(words, with) + " ended with " + std::to_string(outcome.code) +
                     ": " + outcome.err);
      }
      acknowledged(outcome);
    }
  }

  // A printed result contains the run and the commit that it is based on: from then on that commit
  // must not be lost.
  void acknowledged(const Outcome& outcome) {
    auto document = parse_json(outcome.out);
    if (!document.ok()) return fault("no JSON document: " + outcome.out + outcome.err);
    if (const Value::Array* runs = (*document)["resumed"].as_array()) {
      for (const Value& run : *runs) acknowledge(run);
    }
    acknowledge((*document)["run"]);
    acknowledge(*document);
  }

  void acknowledge(const Value& run) {
    const std::string* id = run["runId"].as_string();
    auto seq = run["seq"].as_int();
    if (!id || !seq) return;
    auto uuid = uuid_from(*id);
    if (!uuid) return fault("no run id: " + *id);
    printed_.emplace_back(RunId(*uuid), static_cast<std::uint64_t>(*seq));
  }

  void compare() {
    Outcome checked = cli::tests::run_belay({"check", "--json"}, setting_for(folder_));
    auto report = parse_json(checked.out);
    const Value::Array* violations = report.ok() ? (*report)["violations"].as_array() : nullptr;
    if (checked.code != 0 || !violations || !violations->empty()) {
      fault("belay check: " + checked.out + checked.err);
    }
    for (const std::string& each : judge(folder_, seen_, printed_, baseline_.at_end())) fault(each);
  }

  const Baseline& baseline_;
  const Fate& fate_;
  const std::string& folder_;
  const Step& step_;
  Sight seen_;       // durable at the last read: none of it may be lost
  Commits printed_;  // by a command that succeeded
  Verdict verdict_;
};

}  // namespace

Verdict run_case(const Baseline& baseline, const Fate& fate, const std::string& folder) {
  return Case(baseline, fate, folder).run();
}

}  // namespace belay::crash
