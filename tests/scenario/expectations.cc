#include "tests/scenario/expectations.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

namespace belay::scenario {
namespace {

using namespace std::chrono_literals;
using Looked = std::optional<Mismatch>;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 20s;
constexpr auto kGlance = 20ms;

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string text_in(const Value& document, std::string_view member) {
  const std::string* text = document[member].as_string();
  return text ? *text : "";
}

// The current state of the thread's run, read by a new process.
struct Sight {
  Stage& stage;
  const Step& step;
  const Told& told;

  std::string thread() const {
    std::string named = step.named_text("thread");
    return named.empty() ? told.thread : named;
  }
  Outcome command(const Words& words) const { return stage.run(words, "", Stage::Purpose::look); }
  Value document(const Words& words) const { return command(words).json(); }
  Value run() const {
    Words words = {"state", thread(), "--json"};
    if (step.named.contains("at")) words.insert(words.end(), {"--at", step.named_text("at")});
    return document(words);
  }
};

Looked same_text(const std::string& what, const std::string& expected, const std::string& found) {
  if (expected == found) return std::nullopt;
  return Mismatch{what + " " + quoted(expected), what + " " + quoted(found)};
}

Looked same_number(const std::string& what, const std::string& expected, std::size_t found) {
  if (expected == std::to_string(found)) return std::nullopt;
  return Mismatch{what + " " + expected, what + " " + std::to_string(found)};
}

// Compares a text that must contain another one; if the argument is not given, any text matches.
Looked holds(const std::string& what, const Step& step, const std::string& name,
             const std::string& found) {
  std::string part = step.named_text(name);
  if (found.find(part) != found.npos) return std::nullopt;
  return Mismatch{what + " that says " + quoted(part), what + " " + quoted(found)};
}

// Returns the open approvals of the thread.
std::vector<Value> open_questions(const Sight& sight) {
  std::vector<Value> open;
  Value listed = sight.document({"approvals", "list", "--json"});
  if (const Value::Array* all = listed["approvals"].as_array()) {
    for (const Value& each : *all) {
      if (text_in(each, "threadId") == sight.thread()) open.push_back(each);
    }
  }
  return open;
}

Looked look_at_question(const Sight& sight) {
  std::string node = sight.step.named_text("approval");
  std::string words = sight.step.named_text("question");
  if (node.empty() && words.empty()) return std::nullopt;
  std::string asked;
  for (const Value& each : open_questions(sight)) {
    std::string question = text_in(each, "question");
    bool fits =
        (node.empty() || text_in(each, "node") == node) && question.find(words) != question.npos;
    if (fits) return std::nullopt;
    asked += " " + text_in(each, "node") + " (" + quoted(question) + ")";
  }
  return Mismatch{"an open question of " + quoted(node + words),
                  asked.empty() ? "no open question" : "open questions:" + asked};
}

Looked look_at_status(const Sight& sight, const std::string& status) {
  Value run = sight.run();
  bool expired = status == "expired";
  std::string wanted = expired ? "completed" : status;
  std::string outcome = text_in(run, "outcome");
  bool fits = text_in(run, "status") == wanted && (!expired || outcome == "expired");
  if (!fits) {
    return Mismatch{"thread " + sight.thread() + " is " + status, how_it_stands(run)};
  }
  if (sight.step.named.contains("outcome")) {
    auto other = same_text("outcome", sight.step.named_text("outcome"), outcome);
    if (other) return other;
  }
  if (sight.step.named.contains("code")) {
    auto other = same_text("error", sight.step.named_text("code"), text_in(run["error"], "code"));
    if (other) return other;
  }
  if (auto other = holds("an error", sight.step, "says", text_in(run["error"], "message"))) {
    return other;
  }
  return look_at_question(sight);
}

// Returns the first difference; only the named members of objects are compared.
std::string difference(const std::string& path, const Value& expected, const Value& found) {
  const Value::Object* members = expected.as_object();
  if (!members || !found.as_object()) {
    if (expected == found) return "";
    return (path.empty() ? "the state" : path) + " is " + to_json(found);
  }
  for (const auto& [name, value] : *members) {
    std::string deeper = path.empty() ? name : path + "." + name;
    std::string other = difference(deeper, value, found[name]);
    if (!other.empty()) return other;
  }
  return "";
}

Looked look_at_state(const Sight& sight) {
  Value run = sight.run();
  std::string other = difference("", sight.step.plain[0].json, run["state"]);
  if (other.empty()) return std::nullopt;
  return Mismatch{"a state with " + sight.step.plain_text(0), other};
}

std::vector<Value> commits_of(const Sight& sight) {
  Value history = sight.document({"history", sight.thread(), "--limit", "1000", "--json"});
  const Value::Array* rows = history["checkpoints"].as_array();
  return rows ? *rows : std::vector<Value>();
}

Looked look_at_commits(const Sight& sight) {
  return same_number("commits", sight.step.plain_text(0), commits_of(sight).size());
}

Looked look_at_committed(const Sight& sight) {
  std::string node = sight.step.plain_text(0);
  std::vector<Value> rows = commits_of(sight);
  auto count = std::count_if(rows.begin(), rows.end(), [&](const Value& row) {
    return text_in(row, "node") == node && text_in(row, "kind") == "node";
  });
  return same_number("commits of " + node, sight.step.plain_text(1),
                     static_cast<std::size_t>(count));
}

Looked look_at_spending(const Sight& sight) {
  Value run = sight.run();
  return same_text("spent tokens", sight.step.plain_text(0), to_json(run["spending"]["tokens"]));
}

Looked look_at_decision(const Sight& sight) {
  Value listed = sight.document({"approvals", "list", "--all", "--json"});
  std::string node = sight.step.plain_text(0);
  const Value::Array* all = listed["approvals"].as_array();
  Looked other = Mismatch{"a decision of " + node, "none of thread " + sight.thread()};
  if (!all) return other;
  for (const Value& each : *all) {
    if (text_in(each, "node") != node || text_in(each, "threadId") != sight.thread()) continue;
    other = same_text("decision of " + node, sight.step.plain_text(1), text_in(each, "status"));
    if (!other && sight.step.named.contains("by")) {
      other = same_text("by", sight.step.named_text("by"), text_in(each, "decidedBy"));
    }
    if (!other) return std::nullopt;
  }
  return other;
}

Looked look_at_messages(const Sight& sight) {
  std::string status = sight.step.plain_text(1);
  Value listed = sight.document({"outbox", "list", "--all", "--json"});
  std::size_t count = 0;
  if (const Value::Array* all = listed["messages"].as_array()) {
    for (const Value& each : *all) {
      bool fits = text_in(each, "topic") == sight.step.plain_text(0);
      count += fits && text_in(each, "status") == status ? 1 : 0;
    }
  }
  return same_number("messages " + status, sight.step.plain_text(2), count);
}

Looked look_for_no_thread(const Sight& sight) {
  std::string thread = sight.step.plain_text(0);
  Outcome outcome = sight.command({"state", thread, "--json"});
  if (outcome.code == 2) return std::nullopt;
  return Mismatch{"no thread " + thread, how_it_stands(outcome.json())};
}

// Compares the number of lines in a file of the external world, and the number of different ones.
Looked look_outside(const Sight& sight, const std::string& what, const std::string& file,
                    const std::string& different) {
  std::vector<std::string> lines = sight.stage.lines_of(file);
  if (auto other = same_number(what, sight.step.plain_text(1), lines.size())) return other;
  if (!sight.step.named.contains(different)) return std::nullopt;
  std::set<std::string> once(lines.begin(), lines.end());
  return same_number(different + " of " + what, sight.step.named_text(different), once.size());
}

Looked look_at_runs_of(const Sight& sight) {
  std::string node = sight.step.plain_text(0);
  std::vector<std::string> lines = sight.stage.lines_of("ran");
  auto count = std::count(lines.begin(), lines.end(), node);
  return same_number("times that " + node + " ran", sight.step.plain_text(1),
                     static_cast<std::size_t>(count));
}

Looked look_at_hold(const Sight& sight) {
  std::string place = sight.step.plain_text(0);
  if (sight.stage.waits_for("held-" + place)) return std::nullopt;
  return Mismatch{"somebody stands still at " + place, "nobody does"};
}

Looked look_at_hidden(const Sight& sight) {
  std::string text = sight.step.plain_text(0);
  if (!sight.stage.store_holds(text)) return std::nullopt;
  return Mismatch{"the store's files hide " + quoted(text), "it can be read in them"};
}

Looked look_at_refusal(const Sight& sight) {
  const Outcome& outcome = sight.told.outcome;
  std::string code = "exit code " + std::to_string(outcome.code);
  std::string part = sight.step.plain_text(0);
  if (outcome.code == 0 || outcome.code == 3) return Mismatch{"a refusal", code};
  if (sight.step.named.contains("exit") &&
      sight.step.named_text("exit") != std::to_string(outcome.code)) {
    return Mismatch{"exit code " + sight.step.named_text("exit"), code + ": " + outcome.err};
  }
  if (outcome.err.find(part) != outcome.err.npos) return std::nullopt;
  return Mismatch{"a refusal that says " + quoted(part), outcome.err};
}

Looked look_at_words(const Sight& sight) {
  std::string all = sight.told.outcome.out + sight.told.outcome.err;
  if (all.find(sight.step.plain_text(0)) != all.npos) return std::nullopt;
  return Mismatch{"an output that says " + quoted(sight.step.plain_text(0)), all};
}

Looked look_at_answer(const Sight& sight) {
  return same_text("answer", sight.step.plain_text(0),
                   text_in(sight.told.outcome.json(), "answer"));
}

Looked look_at_difference(const Sight& sight) {
  Value report = sight.told.outcome.json();
  const Value& found = report["divergence"];
  if (report.find("compared") == nullptr) return Mismatch{"a replay", "the command before is none"};
  if (sight.step.word == "expect no-difference") {
    if (found.is_null()) return std::nullopt;
    return Mismatch{"no difference", to_json(found)};
  }
  if (found.is_null()) return Mismatch{"a difference", "none"};
  std::string node = sight.step.plain_text(0);
  return node.empty() ? std::nullopt : same_text("difference at", node, text_in(found, "node"));
}

using Look = std::function<Looked(const Sight&)>;

Look status(const char* name) {
  return [name](const Sight& sight) { return look_at_status(sight, name); };
}

// Expectations about a run or the external world, which a running worker can still fulfil.
const std::map<std::string, Look>& looks() {
  static const std::map<std::string, Look> all = {
      {"expect done", status("completed")},
      {"expect waiting", status("paused")},
      {"expect failed", status("failed")},
      {"expect cancelled", status("cancelled")},
      {"expect expired", status("expired")},
      {"expect queued", status("queued")},
      {"expect unfinished", status("running")},
      {"expect no-thread", look_for_no_thread},
      {"expect state", look_at_state},
      {"expect commits", look_at_commits},
      {"expect committed", look_at_committed},
      {"expect spent", look_at_spending},
      {"expect decided", look_at_decision},
      {"expect messages", look_at_messages},
      {"expect ran", look_at_runs_of},
      {"expect called",
       [](const Sight& sight) {
         std::string effect = sight.step.plain_text(0);
         return look_outside(sight, "calls of " + effect, "calls-" + effect, "keys");
       }},
      {"expect received",
       [](const Sight& sight) {
         std::string topic = sight.step.plain_text(0);
         return look_outside(sight, "messages of " + topic, "mail-" + topic, "ids");
       }},
      {"expect holding", look_at_hold},
      {"expect hidden", look_at_hidden},
      {"model-calls",
       [](const Sight& sight) {
         return same_number("calls of the model", sight.step.plain_text(0),
                            sight.stage.lines_of("asked").size());
       }},
  };
  return all;
}

// Expectations about the output of the last command.
const std::map<std::string, Look>& looks_at_the_command() {
  static const std::map<std::string, Look> all = {
      {"expect refused", look_at_refusal},       {"expect says", look_at_words},
      {"expect answer", look_at_answer},         {"expect no-difference", look_at_difference},
      {"expect difference", look_at_difference},
  };
  return all;
}

}  // namespace

bool is_expectation(const Step& step) {
  return looks().contains(step.word) || looks_at_the_command().contains(step.word);
}

bool is_about_the_command(const Step& step) { return looks_at_the_command().contains(step.word); }

std::optional<Mismatch> look(Stage& stage, const Step& step, const Told& told) {
  const auto& all = is_about_the_command(step) ? looks_at_the_command() : looks();
  return all.at(step.word)(Sight{stage, step, told});
}

std::optional<Mismatch> look_until(Stage& stage, const Step& step, const Told& told) {
  Looked other = look(stage, step, told);
  Clock::time_point end = Clock::now() + kPatience;
  while (other && stage.has_workers() && !is_about_the_command(step) && Clock::now() < end) {
    std::this_thread::sleep_for(kGlance);
    other = look(stage, step, told);
  }
  return other;
}

std::string how_it_stands(const Value& run) {
  if (const std::string* refused = run["error"]["message"].as_string();
      refused && run["status"].is_null()) {
    return *refused;
  }
  std::string text = "thread " + text_in(run, "threadId") + " is " + text_in(run, "status");
  if (std::string outcome = text_in(run, "outcome"); !outcome.empty()) {
    text += ", outcome " + quoted(outcome);
  }
  if (std::string node = text_in(run, "currentNode"); !node.empty()) text += ", at " + node;
  if (!run["error"].is_null()) text += ": " + text_in(run["error"], "message");
  return text;
}

}  // namespace belay::scenario
