// The scripts in canaries/ must fail, each at its line and with its message: otherwise the player
// might pass every script.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/scenario/player.h"
#include "tests/scenario/script_commands.h"

namespace belay::scenario {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = BELAY_SOURCE_DIR "/tests/scenario/canaries/";

struct Canary {
  std::string name;
  int line;
  std::vector<std::string> says;
};

// Scripts that cannot be parsed or executed.
const std::vector<Canary>& misspelt() {
  static const std::vector<Canary> all = {
      {"unknown_word", 3, {"There is no word \"strat\".", "Did you mean \"start\"?"}},
      {"unknown_expectation", 4, {"There is no word \"expect doen\".", "\"expect done\"?"}},
      {"missing_argument", 3, {"\"thread=\" is missing", "start thread=NAME"}},
      {"missing_word", 4, {"Something is missing: expect ran NODE TIMES"}},
      {"unknown_name", 3, {"\"start\" takes no \"colour=\""}},
      {"torn_json", 3, {"does not end in this line"}},
      {"wrong_name", 1, {"its name is \"another_name\"", "wrong_name.belay"}},
      {"unknown_store", 0, {"There is no kind of store \"sqlight\".", "sqlite, sealed"}},
  };
  return all;
}

// Scripts that are executed, and whose expectations are not met.
const std::vector<Canary>& untrue() {
  static const std::vector<Canary> all = {
      {"wrong_expectation",
       5,
       {"expect done", "expected: thread t1 is completed", "found:    thread t1 is paused"}},
      {"wrong_count", 4, {"expected: times that go ran 4", "found:    times that go ran 3"}},
      {"wrong_state", 5, {"found:    gone is 3"}},
      {"unheard_refusal", 3, {"refused with exit code 2", "Did you mean \\\"topic\\\"?"}},
      {"crash_that_never_comes", 3, {"before it came to commit 9"}},
      {"answer_to_nobody", 5, {"has asked nothing of \"reviews\"; it has asked: review"}},
      {"crash_out_of_place", 5, {"right after the command that is to be killed"}},
      {"long_wait", 3, {"a wait is at most 1000ms"}},
  };
  return all;
}

void expect_all_in(const std::vector<std::string>& parts, const std::string& text) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
  }
}

TEST(Canaries, AScriptThatCannotBeReadNamesItsLineAndWhatToWriteInstead) {
  for (const Canary& canary : misspelt()) {
    std::string path = kFolder + canary.name + ".belay";
    auto script = read_script(path);
    auto kinds = script.ok() ? stores_for(*script) : Result<std::vector<StoreKind>>(script.error());
    ASSERT_FALSE(kinds.ok()) << canary.name;
    expect_all_in(canary.says, kinds.error().message);
    if (canary.line == 0) continue;
    expect_all_in({path + ":" + std::to_string(canary.line) + ": "}, kinds.error().message);
  }
}

TEST(Canaries, AScriptThatIsNotTrueFailsAtItsLineAndSaysHowToRepeatIt) {
  for (const Canary& canary : untrue()) {
    auto script = read_script(kFolder + canary.name + ".belay");
    ASSERT_TRUE(script.ok()) << script.error().message;
    const StoreKind& kind = all_stores().front();
    auto fault = play(*script, kind);
    ASSERT_TRUE(fault) << canary.name << " has passed";
    EXPECT_EQ(fault->line, canary.line) << canary.name;
    std::string told = report(*script, kind, *fault);
    expect_all_in(canary.says, told);
    expect_all_in({"scripts/scenario --store " + kind.name, "export BELAY_STORE="}, told);
  }
}

TEST(Canaries, EachFileIsOneOfThem) {
  std::set<std::string> known;
  for (const auto& list : {misspelt(), untrue()}) {
    for (const Canary& canary : list) known.insert(canary.name + ".belay");
  }
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(kFolder)) found.insert(entry.path().filename());
  EXPECT_EQ(found, known);
}

TEST(ScenarioWords, EachStandsInTheDocumentAndInAScript) {
  std::ifstream file(BELAY_SOURCE_DIR "/docs/scenario-scripts.md", std::ios::binary);
  std::string document(std::istreambuf_iterator<char>(file), {});
  std::set<std::string> used;
  for (const auto& entry : fs::directory_iterator(BELAY_SOURCE_DIR "/tests/scenario")) {
    if (entry.path().extension() != ".belay") continue;
    auto script = read_script(entry.path().string());
    ASSERT_TRUE(script.ok()) << script.error().message;
    if (!script->stores.empty()) used.insert("stores");
    for (const Step& step : script->steps) used.insert(step.word);
  }
  for (const WordRule& rule : all_words()) {
    std::string usage;
    for (char c : rule.usage) usage += c == '|' ? std::string("\\|") : std::string(1, c);
    EXPECT_NE(document.find("`" + usage + "`"), std::string::npos) << usage;
    EXPECT_TRUE(used.contains(std::string(rule.word))) << rule.word << " is in no script";
  }
}

}  // namespace
}  // namespace belay::scenario
