// Approvals with choices, forms, votes and an editor, on the command line.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class CliChoices : public ::testing::Test {
 protected:
  CliChoices() { world.setting.binary = BELAY_LETTER_BINARY; }
  void begin(const std::string& agent) {
    Outcome run = world.run({"run", agent, "--thread", "t"});
    ASSERT_EQ(run.code, 3) << run.err;
    shown = run.out;
  }
  std::string told() {
    Value state = world.run({"state", "t", "--json"}).json();
    const std::string* text = state["state"]["told"].as_string();
    return text ? *text : "";
  }
  static void expect_in(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  World world;
  std::string shown;
};

TEST_F(CliChoices, AreShownAsCommandsWithTheTextAsText) {
  begin("letter");
  expect_in(shown, "  Dear Ana,\n  it rains.\n  Best\n");
  expect_in(shown, "Write it again:");
  expect_in(shown, " rewrite\n");
  expect_in(shown, "approvals choose ");
  expect_in(shown, "Never expires");
  EXPECT_EQ(shown.find("approvals reject"), std::string::npos) << shown;
  Outcome chosen =
      world.run({"approvals", "choose", "t", "rewrite", "--by", "ana", "--comment", "shorter"});
  EXPECT_EQ(chosen.code, 0) << chosen.err;
  expect_in(chosen.out, "Decided by ana: rewrite.");
  EXPECT_EQ(told(), "rewrite by ana: shorter");
  EXPECT_EQ(world.run({"approvals", "choose", "t", "rewrite", "--by", "ben"}).code, 0);
  EXPECT_EQ(world.run({"approvals", "choose", "t", "drop"}).code, 4);
  EXPECT_EQ(world.run({"check"}).code, 0);
  EXPECT_EQ(world.run({"replay", "t"}).code, 0);
}

TEST_F(CliChoices, ThatDoNotExistAreOneClearLine) {
  begin("letter");
  for (const Words& wrong : {Words{"choose", "t", "burn"}, Words{"reject", "t"},
                             Words{"happened", "t"}, Words{"redo", "t"}}) {
    Words words{"approvals"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_TRUE(refused.says({"approve", "rewrite", "drop", "Nothing was decided."}))
        << refused.err;
  }
  expect_in(world.run({"state", "t"}).out, "approvals choose ");
}

TEST_F(CliChoices, OfAnEditorReplaceThePayloadAndShowItsChangedLines) {
  begin("letter");
  world.setting.environment["EDITOR"] = "sed -i s/rains/snows/";
  Outcome edited = world.run({"approvals", "approve", "t", "--by", "ana", "--edit"});
  EXPECT_EQ(edited.code, 0) << edited.err;
  std::string text = world.run({"approvals", "show", "t"}).out;
  expect_in(text, "  - it rains.\n");
  expect_in(text, "  + it snows.\n");
}

TEST_F(CliChoices, OfAnEditorThatFailsOrChangesNothingDecideNothing) {
  begin("letter");
  for (auto [editor, why] : {std::pair("false", "failed"), std::pair("true", "was not changed"),
                             std::pair("", "No editor is set")}) {
    world.setting.environment["EDITOR"] = editor;
    Outcome refused = world.run({"approvals", "approve", "t", "--edit"});
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_TRUE(refused.says({why, "Nothing was decided."})) << refused.err;
  }
}

TEST_F(CliChoices, OfAnEditorThatEmptiesTheTextDecideNothing) {
  begin("letter");
  world.setting.environment["EDITOR"] = "truncate -s 0";
  Outcome refused = world.run({"approvals", "approve", "t", "--edit"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_TRUE(refused.says({"The edited payload is empty. Nothing was decided."})) << refused.err;
  std::string file = world.write("empty.json", "\"\"");
  EXPECT_EQ(world.run({"approvals", "approve", "t", "--edit", file}).code, 0);
}

TEST_F(CliChoices, OfAnEditorShowLineBreaksAtTheEndAsAnEmptyLine) {
  begin("letter");
  world.setting.environment["EDITOR"] = "printf '\\n' >>";
  Outcome edited = world.run({"approvals", "approve", "t", "--edit"});
  EXPECT_EQ(edited.code, 0) << edited.err;
  std::string text = world.run({"approvals", "show", "t"}).out;
  expect_in(text, "    Best\n  +");
}

TEST_F(CliChoices, OfAnExpiryThatApprovesAreNamed) {
  begin("hasty");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  Outcome late = world.run({"approvals", "reject", "t"});
  EXPECT_EQ(late.code, 4) << late.out;
  expect_in(late.err, "; the run continued with \"approve\".");
  EXPECT_EQ(late.err.find("nothing was saved"), std::string::npos) << late.err;
  expect_in(world.run({"approvals", "show", "t"}).out, "; the run continued with \"approve\".");
}

TEST_F(CliChoices, OfRolesAreCommandsThatHaveTheRole) {
  begin("guarded");
  for (const std::string& text : {shown, world.run({"approvals", "show", "t"}).out}) {
    expect_in(text, "Needs one of the roles: boss, owner\n");
    expect_in(text, " --role boss\n");
  }
  std::string why = world.run({"why", "t"}).out;
  std::size_t begin = why.find("approvals approve ");
  ASSERT_NE(begin, why.npos) << why;
  std::string command = why.substr(begin, why.find('\n', begin) - begin);
  EXPECT_TRUE(command.ends_with(" --role boss")) << why;
  EXPECT_EQ(world.run({"approvals", "approve", "t"}).code, 2);
  EXPECT_EQ(world.run({"approvals", "approve", "t", "--role", "boss"}).code, 0);
}

TEST_F(CliChoices, OfAFormHaveATypedAnswer) {
  begin("refund");
  expect_in(shown, "--set amount=...");
  EXPECT_TRUE(world.run({"approvals", "approve", "t"}).says({"needs an answer"}));
  EXPECT_TRUE(world.run({"approvals", "answer", "t", "--set", "sum=1"}).says({"sum", "amount"}));
  EXPECT_TRUE(world.run({"approvals", "answer", "t", "--set", "amount=x"}).says({"amount"}));
  EXPECT_TRUE(world.run({"approvals", "answer", "t", "--set", "amount=1"}).says({"reason"}));
  Outcome paid = world.run({"approvals", "answer", "t", "--set", "amount=120", "--answer",
                            R"({"amount":1,"reason":"as agreed"})"});
  EXPECT_EQ(paid.code, 0) << paid.err;
  EXPECT_EQ(told(), "120 for as agreed");
}

TEST_F(CliChoices, OfAFormHaveTextsAlsoForMembersThatCanBeUnset) {
  begin("refund");
  Outcome paid = world.run({"approvals", "answer", "t", "--set", "amount=120", "--set",
                            "reason=as agreed", "--set", "note=, in cash"});
  EXPECT_EQ(paid.code, 0) << paid.err;
  EXPECT_EQ(told(), "120 for as agreed, in cash");
}

TEST_F(CliChoices, OfSeveralPeopleAreCounted) {
  begin("board");
  Outcome first = world.run({"approvals", "approve", "t", "--by", "ana"});
  EXPECT_EQ(first.code, 3) << first.err;
  expect_in(first.out, "1 of 2 decisions: ana.");
  expect_in(world.run({"approvals", "list"}).out, "1 of 2");
  EXPECT_EQ(world.run({"approvals", "approve", "t", "--by", "ana"}).code, 0);
  EXPECT_EQ(world.run({"approvals", "reject", "t", "--by", "ana"}).code, 4);
  EXPECT_EQ(world.run({"check"}).code, 0);
  EXPECT_EQ(world.run({"approvals", "approve", "t", "--by", "ben"}).code, 0);
  EXPECT_EQ(told(), "approve by ben: ");
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliChoices, OfSeveralPeopleCountOnlyForTheSameChoice) {
  begin("board");
  EXPECT_EQ(world.run({"approvals", "approve", "t", "--by", "ana"}).code, 3);
  Outcome other = world.run({"approvals", "choose", "t", "later", "--by", "ben"});
  EXPECT_EQ(other.code, 3) << other.err;
  expect_in(other.out, "1 of 2 decisions: ana (approve), ben (later).");
  expect_in(world.run({"approvals", "list"}).out, "1 of 2");
}

TEST_F(CliChoices, OfALostDecisionAndAnUnknownThreadNameTheStoreOfTheFlag) {
  world.setting.environment.erase("BELAY_STORE");
  std::string flag = "--store sqlite:" + world.store_path();
  auto run = [&](Words words) {
    words.insert(words.end(), {"--store", "sqlite:" + world.store_path()});
    return world.run(words);
  };
  ASSERT_EQ(run({"run", "letter", "--thread", "t"}).code, 3);
  for (const Words& words :
       {Words{"state", "none"}, Words{"cancel", "none"}, Words{"resume", "none"},
        Words{"events", "none"}, Words{"history", "none"}, Words{"threads", "show", "none"}}) {
    Outcome unknown = run(words);
    EXPECT_EQ(unknown.code, 2) << unknown.out;
    EXPECT_TRUE(unknown.says({"List threads with `", "letter_program threads " + flag + "`."}))
        << words[0] << ": " << unknown.err;
  }
  EXPECT_TRUE(run({"state", "t", "--at", "99"}).says({"letter_program history t " + flag + "`."}));
  EXPECT_TRUE(run({"approvals", "show", "none"}).says({flag + " approvals list --all`."}));
  ASSERT_EQ(run({"approvals", "choose", "t", "rewrite"}).code, 0);
  Outcome lost = run({"approvals", "choose", "t", "drop"});
  EXPECT_TRUE(lost.says({"Show it with ", "letter_program state t " + flag + "."})) << lost.err;
}

TEST_F(CliChoices, AboutAnEffectAreHappenedAndRedo) {
  begin("post");
  expect_in(shown, "it happened:");
  expect_in(shown, "approvals happened ");
  expect_in(shown, "do it again:");
  expect_in(shown, "approvals redo ");
  std::string spanish = world.run({"approvals", "show", "t", "--language", "es"}).out;
  expect_in(spanish, "ha sucedido:");
  expect_in(spanish, "hacerlo de nuevo:");
  for (const char* word : {"approve", "reject"}) {
    Outcome refused = world.run({"approvals", word, "t"});
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_TRUE(refused.says({"happened", "redo"})) << refused.err;
  }
  std::string why = world.run({"why", "t"}).out;
  expect_in(why, "approvals show ");
  EXPECT_EQ(why.find("approvals approve"), std::string::npos) << why;
  EXPECT_EQ(world.run({"approvals", "happened", "t", "--by", "ana"}).code, 0);
  EXPECT_EQ(told(), "sent ");
}

class CliCalls : public CliChoices {};

TEST_F(CliCalls, AreListedInTheirOrderWithTheCallsOfTools) {
  Outcome run = world.run({"run", "weather", "--thread", "t"});
  EXPECT_EQ(run.code, 0) << run.err;
  std::string listed = world.run({"calls", "t"}).out;
  std::size_t first = listed.find("model/1/1"), tool = listed.find("  weather  ");
  std::size_t second = listed.find("model/1/2");
  EXPECT_TRUE(first < tool && tool < second && second != listed.npos) << listed;
  expect_in(listed.substr(first, tool - first), "-> weather {\"city\":\"Oslo\"}");
  expect_in(listed.substr(second), "    assistant: weather {\"city\":\"Oslo\"}\n    tool: rain\n");
  EXPECT_EQ(listed.find("assistant: \n"), std::string::npos) << listed;
  EXPECT_EQ(listed.find("-> \n"), std::string::npos) << listed;
  Value calls = world.run({"calls", "t", "--json"}).json()["calls"];
  EXPECT_TRUE(calls.as_array()->at(0)["durationMs"].as_int()) << to_json(calls);
  EXPECT_TRUE(calls.as_array()->at(1)["durationMs"].as_int()) << to_json(calls);
}

}  // namespace
}  // namespace belay::cli::tests
