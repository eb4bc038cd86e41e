#include "tests/scenario/player.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <thread>

#include "cli/suggestions.h"
#include "tests/scenario/expectations.h"

namespace belay::scenario {
namespace {

constexpr int kWaitMsMax = 1'000;

std::optional<int> whole_number(const std::string& text) {
  int number = 0;
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::string member_text(const Value& document, std::string_view member) {
  const std::string* text = document[member].as_string();
  return text ? *text : "";
}

// Returns whether the program rejected the command: invalid arguments, a conflict, an unusable
// store, an internal error, or output that is not JSON. A run that failed or waits is not a
// rejection.
bool is_refused(const Outcome& outcome) {
  bool ended_well =
      outcome.code == 0 || outcome.code == 1 || outcome.code == 3 || outcome.code == 7;
  return !ended_well || !parse_json(outcome.out).ok();
}

Error not_carried_out(const std::string& why) { return error(ErrorCode::conflict, why); }

class Player {
 public:
  Player(const Script& script, const StoreKind& kind, const Passed& passed)
      : script_(script), passed_(passed), stage_(kind) {}

  std::optional<Fault> play() {
    for (at_ = 0; at_ < script_.steps.size(); ++at_) {
      std::size_t first = at_;
      if (auto fault = play_step(script_.steps[at_])) return fault;
      for (; passed_ && first <= at_; ++first) passed_(script_.steps[first]);
    }
    return check_store();
  }

 private:
  Fault fault(const Step& step, Mismatch other) const {
    return {step.line, step.text, std::move(other.expected), std::move(other.found),
            stage_.by_hand()};
  }

  std::optional<Fault> play_step(const Step& step) {
    if (is_expectation(step)) {
      auto other = look_until(stage_, step, told_);
      if (other) return fault(step, *std::move(other));
      return std::nullopt;
    }
    auto done = perform(step);
    if (done.ok()) return std::nullopt;
    return fault(step, {"that it is carried out", done.error().message});
  }

  // Checks the store at the end of every script.
  std::optional<Fault> check_store() {
    Outcome checked = stage_.run({"check"});
    if (checked.code == 0) return std::nullopt;
    return fault(script_.steps.back(),
                 {"a store in which check finds nothing", checked.out + checked.err});
  }

  Result<Done> perform(const Step& step) {
    using Deed = Result<Done> (Player::*)(const Step&);
    static const std::map<std::string, Deed> deeds = {
        {"start", &Player::start},
        {"enqueue", &Player::start},
        {"answer", &Player::answer},
        {"wait", &Player::wait},
        {"worker", &Player::work},
        {"crash", &Player::crash},
        {"crash in", &Player::out_of_place},
        {"crash before", &Player::out_of_place},
        {"crash after", &Player::out_of_place},
        {"fork", &Player::fork},
        {"outbox", &Player::move_message},
        {"type", &Player::type},
        {"key", &Player::choose_key},
    };
    auto deed = deeds.find(step.word);
    if (deed != deeds.end()) return (this->*deed->second)(step);
    if (auto words = simple_command(step)) {
      if (step.word != "prune" && step.plain_text(0) != "all") told_.thread = step.plain_text(0);
      return command(step, *std::move(words));
    }
    return set_up(step);
  }

  // Returns the command line of steps that equal a command.
  static std::optional<Words> simple_command(const Step& step) {
    std::string first = step.plain_text(0);
    if (step.word == "resume") return Words{"resume", first == "all" ? "--all" : first};
    if (step.word == "replay") return Words{"replay", first};
    if (step.word == "copy")
      return Words{"fork", first, "--copy", "--thread", step.named_text("as")};
    if (step.word == "prune") {
      return Words{"store", "prune", "--older-than", step.named_text("older-than")};
    }
    if (step.word == "preserve" || step.word == "unpreserve") {
      return Words{"threads", step.word, first};
    }
    if (step.word != "cancel") return std::nullopt;
    Words words = {"cancel", first};
    if (step.named.contains("by")) words.insert(words.end(), {"--by", step.named_text("by")});
    return words;
  }

  Result<Done> set_up(const Step& step) {
    std::string first = step.plain_text(0);
    if (step.word == "graph") {
      graph_ = first;
      stage_.choose_program(graph_);
    } else if (step.word == "note") {
      Value note = Value::object({{"date", first}, {"content", step.plain_text(1)}});
      return command(step, {"notes", "import", "-"}, to_json(note));
    } else if (step.word == "model says") {
      Value line = Value::object({{"says", step.plain[0].json}});
      if (step.named.contains("tokens")) {
        line.as_object()->emplace("tokens", step.named.at("tokens").json);
      }
      stage_.add_line("model", to_json(line));
    } else if (step.word == "model fails") {
      std::string text = step.plain.empty() ? "The model is busy." : first;
      stage_.add_line("model", to_json(Value::object({{"fails", text}})));
    } else if (step.word == "receiver fails") {
      int times = whole_number(step.plain_text(1)).value_or(0);
      for (int i = 0; i < times; ++i) stage_.add_line("fails-" + first, "once");
    } else if (step.word == "user") {
      stage_.choose_user(first);
    } else if (step.word == "hold") {
      stage_.hold(first);
    } else if (step.word == "release") {
      stage_.release(first);
    } else if (step.word == "worker begins") {
      return stage_.begin_worker(first);
    } else if (step.word == "worker ends") {
      return stage_.end_worker(first);
    } else {
      return not_carried_out("nothing plays this word");
    }
    return Done{};
  }

  // Returns the next line if it kills this command; both are one step then.
  const Step* killing_line() const {
    if (at_ + 1 >= script_.steps.size()) return nullptr;
    const Step& next = script_.steps[at_ + 1];
    return next.word.starts_with("crash ") ? &next : nullptr;
  }

  Result<Done> command(const Step& step, Words words, const std::string& input = "") {
    words.emplace_back("--json");
    if (const Step* killed = killing_line()) {
      ++at_;
      BELAY_TRY(Killing killing, killing_of(*killed));
      return stage_.run_and_kill(std::move(words), input, killing);
    }
    told_.outcome = stage_.run(std::move(words), input);
    return accepted(step);
  }

  // A rejection is a fault unless the next line expects it.
  Result<Done> accepted(const Step& step) const {
    if (!is_refused(told_.outcome)) return Done{};
    bool spoken_of = at_ + 1 < script_.steps.size() && is_about_the_command(script_.steps[at_ + 1]);
    if (spoken_of) return Done{};
    return not_carried_out("\"" + step.word + "\" was refused with exit code " +
                           std::to_string(told_.outcome.code) + ": " + told_.outcome.out +
                           told_.outcome.err);
  }

  static Result<Killing> killing_of(const Step& step) {
    if (step.word == "crash in") return Killing{0, false, step.plain_text(0)};
    auto commit = whole_number(step.plain_text(1));
    if (step.plain_text(0) != "commit" || !commit || *commit == 0) {
      return not_carried_out("say \"" + step.word + " commit 3\"");
    }
    return Killing{*commit, step.word == "crash after", ""};
  }

  Result<Done> start(const Step& step) {
    if (graph_.empty()) return not_carried_out("no line says which graph: \"graph letter\"");
    told_.thread = step.named_text("thread");
    Words words = {step.word == "start" ? "run" : "enqueue", graph_, "--thread", told_.thread};
    std::string input;
    for (const auto& [name, argument] : step.named) {
      if (name == "thread") continue;
      if (name == "input") {
        words.insert(words.end(), {"--input", "-"});
        input = to_json(argument.json);
      } else if (name == "approval") {
        if (argument.text == "no") words.emplace_back("--no-approval");
      } else {
        words.insert(words.end(), {"--" + name, argument.text});
      }
    }
    return command(step, std::move(words), input);
  }

  // Returns the approval to decide, an open one before a decided one: by its thread if that is
  // unique, so that the command can be repeated by hand, else by its id.
  Result<std::string> find_approval(const Step& step) {
    Outcome listed = stage_.run({"approvals", "list", "--all", "--json"}, "", Stage::Purpose::look);
    Value document = listed.json();
    const Value::Array* all = document["approvals"].as_array();
    std::vector<Value> known;
    auto is_open = [](const Value& each) { return member_text(each, "status") == "open"; };
    for (bool open : {true, false}) {
      for (const Value& each : all ? *all : Value::Array()) {
        bool is_meant = member_text(each, "threadId") == told_.thread && is_open(each) == open;
        if (is_meant) known.push_back(each);
      }
    }
    std::string seen;
    for (const Value& each : known) {
      seen += " " + member_text(each, "node");
      bool fits = member_text(each, "node") == step.plain_text(0) &&
                  member_text(each, "question").find(step.named_text("asked")) != std::string::npos;
      if (!fits) continue;
      auto open = std::count_if(known.begin(), known.end(), is_open);
      if (known.size() == 1 || (open == 1 && is_open(each))) return told_.thread;
      stage_.remark("the id is another each time: that of \"" + step.plain_text(0) +
                    "\" in approvals list --all");
      return member_text(each, "interruptId");
    }
    return not_carried_out("thread " + told_.thread + " has asked nothing of \"" +
                           step.plain_text(0) + "\"; it has asked:" + (seen.empty() ? " -" : seen));
  }

  Result<Done> answer(const Step& step) {
    if (step.named.contains("thread")) told_.thread = step.named_text("thread");
    std::string verdict = step.plain_text(1);
    bool is_about_effect = verdict == "happened" || verdict == "redo";
    if (verdict != "yes" && verdict != "no" && !is_about_effect) {
      return not_carried_out("an answer is yes, no, happened or redo, not \"" + verdict + "\"");
    }
    BELAY_TRY(std::string id, find_approval(step));
    if (!is_about_effect) verdict = verdict == "yes" ? "approve" : "reject";
    Words words = {"approvals", verdict, id};
    for (const char* name : {"by", "comment"}) {
      if (!step.named.contains(name)) continue;
      words.insert(words.end(), {"--" + std::string(name), step.named_text(name)});
    }
    if (!step.named.contains("edit")) return command(step, std::move(words));
    words.insert(words.end(), {"--edit", "-"});
    return command(step, std::move(words), to_json(step.named.at("edit").json));
  }

  Result<Done> fork(const Step& step) {
    told_.thread = step.named_text("as");
    Words words = {"fork", step.plain_text(0), "--thread", told_.thread};
    if (step.named.contains("at")) words.insert(words.end(), {"--at", step.named_text("at")});
    if (!step.named.contains("edit")) return command(step, std::move(words));
    words.insert(words.end(), {"--edit", "-"});
    return command(step, std::move(words), to_json(step.named.at("edit").json));
  }

  Result<Done> work(const Step& step) { return command(step, {"worker", "--until-idle"}); }
  Result<Done> crash(const Step&) { return stage_.crash(told_.thread); }
  Result<Done> out_of_place(const Step&) {
    return not_carried_out("it has to come right after the command that is to be killed");
  }

  Result<Done> choose_key(const Step& step) {
    std::string which = step.plain_text(0);
    if (which != "right" && which != "wrong" && which != "none") {
      return not_carried_out("a key is right, wrong or none");
    }
    stage_.choose_key(which);
    return Done{};
  }

  Result<Done> move_message(const Step& step) {
    Value listed = stage_.run({"outbox", "list", "--json"}, "", Stage::Purpose::look).json();
    const Value::Array* all = listed["messages"].as_array();
    for (const Value& each : all ? *all : Value::Array()) {
      if (member_text(each, "topic") != step.plain_text(1)) continue;
      stage_.remark("the id is another each time: see outbox list");
      return command(step, {"outbox", step.plain_text(0), member_text(each, "id")});
    }
    return not_carried_out("no message of \"" + step.plain_text(1) + "\" waits");
  }

  // Runs any command; the next line can check its result.
  Result<Done> type(const Step& step) {
    Words words;
    for (const Argument& word : step.plain) words.push_back(word.text);
    told_.outcome = stage_.run(std::move(words));
    return Done{};
  }

  Result<Done> wait(const Step& step) {
    std::string text = step.plain_text(0);
    auto time = text.ends_with("ms") ? whole_number(text.substr(0, text.size() - 2)) : std::nullopt;
    if (!time || *time > kWaitMsMax) {
      return not_carried_out("a wait is at most 1000ms: \"wait 300ms\"");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(*time));
    return Done{};
  }

  const Script& script_;
  const Passed& passed_;
  Stage stage_;
  std::string graph_;
  Told told_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Fault> play(const Script& script, const StoreKind& kind, const Passed& passed) {
  return Player(script, kind, passed).play();
}

Result<std::vector<StoreKind>> stores_for(const Script& script) {
  std::vector<std::string> known;
  for (const StoreKind& kind : all_stores()) known.push_back(kind.name);
  for (const std::string& name : script.stores) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return error(ErrorCode::invalid, script.path + ": There is no kind of store \"" + name + "\"." +
                                         cli::did_you_mean(name, known));
  }
  std::vector<StoreKind> kinds;
  for (const StoreKind& kind : all_stores()) {
    bool named =
        std::find(script.stores.begin(), script.stores.end(), kind.name) != script.stores.end();
    if (script.stores.empty() || named) kinds.push_back(kind);
  }
  return kinds;
}

std::string report(const Script& script, const StoreKind& kind, const Fault& fault) {
  std::string text = script.path + ":" + std::to_string(fault.line) + ": " + fault.text + "\n";
  text += "  expected: " + fault.expected + "\n  found:    " + fault.found + "\n";
  text += "By this script: scripts/scenario --store " + kind.name + " " + script.path + "\n";
  text += "By hand, in a shell:\n";
  for (const std::string& line : fault.by_hand) text += "  " + line + "\n";
  return text;
}

}  // namespace belay::scenario
