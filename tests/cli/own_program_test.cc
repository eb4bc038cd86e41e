// belay::main: a program that has a graph gets the whole command line.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class OwnProgram : public testing::Test {
 protected:
  OwnProgram() { world_.setting.binary = BELAY_SHOP_BINARY; }
  Outcome run(const Words& words, const std::string& input = "") {
    return world_.run(words, input);
  }
  // Returns the state of a new order that was started with these inputs.
  Value ordered(const Words& inputs, const std::string& input = "") {
    Words words = {"run", "order", "--json"};
    for (const std::string& each : inputs) {
      words.push_back("--input");
      words.push_back(each);
    }
    Outcome begun = run(words, input);
    EXPECT_EQ(begun.code, 3) << begun.err;
    return begun.json()["state"];
  }
  World world_;
};

TEST_F(OwnProgram, RunsStopsForAPersonAndGoesOn) {
  Outcome begun = run({"run", "order", "--thread", "first", "--input", "item=a red hat"});
  EXPECT_EQ(begun.code, 3) << begun.err;
  EXPECT_NE(begun.out.find("Buy it?"), std::string::npos) << begun.out;
  EXPECT_NE(begun.out.find(std::string(BELAY_SHOP_BINARY) + " approvals approve"),
            std::string::npos)
      << "the next command can be pasted: " << begun.out;
  EXPECT_EQ(run({"approvals", "list"}).out.find("belay"), std::string::npos);

  Outcome approved = run({"approvals", "approve", "first", "--by", "ana"});
  EXPECT_EQ(approved.code, 0) << approved.err;
  EXPECT_NE(approved.out.find("\"receipt\": \"1 x a red hat\""), std::string::npos) << approved.out;
  EXPECT_NE(approved.out.find("order: completed: bought  (Thread first)"), std::string::npos)
      << approved.out;
  EXPECT_EQ(run({"state", "first", "--json"}).json()["outcome"], Value("bought"));

  EXPECT_EQ(run({"history", "first", "--json"}).json()["checkpoints"].as_array()->size(), 4u);
  EXPECT_EQ(run({"state", "first"}).code, 0);
  EXPECT_EQ(run({"status"}).code, 0);
  EXPECT_EQ(run({"threads"}).code, 0);
  EXPECT_EQ(run({"check"}).code, 0);
  EXPECT_EQ(run({"doctor"}).code, 0);
  EXPECT_NE(run({"agents", "list"}).out.find("question"), std::string::npos);
}

TEST_F(OwnProgram, ReadsItsInputFromPairsFilesAndStandardInput) {
  Value state = ordered({"item=42", "count=3", "notes=[\"soft\"]", "limit=9.5"});
  EXPECT_EQ(state["item"], Value("42")) << "text stays text";
  EXPECT_EQ(state["count"], Value(3));
  EXPECT_EQ(state["notes"], Value(Value::Array{"soft"}));

  std::string file = world_.write("order.json", R"({"item":"hat","address":{"street":"Main"}})");
  state = ordered({"@" + file, "count=2", "item=cap"});
  EXPECT_EQ(state["item"], Value("cap")) << "a later piece wins";
  EXPECT_EQ(state["address"]["street"], Value("Main"));

  EXPECT_EQ(ordered({"-"}, R"({"item":"scarf"})")["item"], Value("scarf"));
}

TEST_F(OwnProgram, DeliversItsMessagesAndTellsWhatBecameOfThem) {
  for (std::string item : {"a red hat", "a cat"}) {
    run({"run", "order", "--thread", item, "--input", "item=" + item});
    EXPECT_EQ(run({"approvals", "approve", item, "--by", "ana"}).code, 0);
  }
  EXPECT_EQ(run({"worker", "--until-idle"}).code, 0);
  Value listed = run({"outbox", "list", "--json"}).json()["messages"];
  ASSERT_EQ(listed.as_array()->size(), 1u) << to_json(listed);
  Value message = listed.as_array()->front();
  EXPECT_EQ(message["body"], Value("a cat"));
  EXPECT_EQ(message["status"], Value("waiting"));
  EXPECT_NE(message["error"].as_string()->find("not sent by post"), std::string::npos);
  std::string id = *message["id"].as_string();
  EXPECT_NE(run({"outbox", "list"}).out.find(id), std::string::npos);
  EXPECT_EQ(run({"outbox", "list", "--thread", "a red hat"}).out, "No messages.\n");
  Outcome all = run({"outbox", "list", "--thread", "a red hat", "--all"});
  EXPECT_NE(all.out.find("delivered"), std::string::npos) << all.out;

  EXPECT_EQ(run({"outbox", "discard", id}).code, 0);
  EXPECT_EQ(run({"outbox", "discard", id}).code, 0) << "the same again changes nothing";
  EXPECT_NE(run({"outbox", "list"}).out.find("given_up"), std::string::npos);
  EXPECT_EQ(run({"outbox", "retry", id}).code, 0);
  EXPECT_NE(run({"outbox", "list"}).out.find("waiting"), std::string::npos);
  EXPECT_EQ(run({"outbox", "retry", "nonsense"}).code, 2);
  EXPECT_EQ(run({"check"}).code, 0);
}

TEST_F(OwnProgram, CopiesAThreadAsItStands) {
  run({"run", "order", "--thread", "first", "--input", "item=a red hat"});
  run({"approvals", "approve", "first", "--by", "ana"});
  Outcome copied = run({"fork", "first", "--copy", "--thread", "second", "--json"});
  EXPECT_EQ(copied.code, 0) << copied.err;
  EXPECT_EQ(copied.json()["state"]["receipt"], Value("1 x a red hat"));
  EXPECT_EQ(run({"history", "second", "--json"}).json()["checkpoints"].as_array()->size(), 1u);
  EXPECT_EQ(run({"fork", "first", "--copy", "--at", "2"}).code, 2);
  EXPECT_EQ(run({"check"}).code, 0);
}

TEST_F(OwnProgram, AnInputThatDoesNotFitNamesItsPathAndMakesNoStore) {
  std::string deep = world_.write("deep.json", R"({"address":{"number":"seven"}})");
  std::string strange = world_.write("strange.json", R"({"address":{"town":"Rome"}})");
  std::string list = world_.write("list.json", "[]");
  std::string torn = world_.write("torn.json", "{\"item\":");
  for (const auto& [input, parts] : std::map<std::string, Words>{
           {"itm=hat", {"itm", "Did you mean \"item\"?"}},
           {"count=many", {"count", "integer"}},
           {"count=1.5", {"count", "integer"}},
           {"@" + deep, {"address.number", "integer"}},
           {"@" + strange, {"address.town", "unknown member"}},
           {"@" + list, {"array", "object"}},
           {"@" + torn, {"torn.json"}},
           {"@" + world_.folder.file("none.json"), {"none.json"}},
           {"hat", {"hat", "name=value"}},
           {"=hat", {"name=value"}},
       }) {
    Outcome refused = run({"run", "order", "--input", input});
    EXPECT_EQ(refused.code, 2) << input << refused.err;
    EXPECT_TRUE(refused.says(parts)) << input << ": " << refused.err;
  }
  EXPECT_FALSE(std::filesystem::exists(world_.store_path()));
}

TEST_F(OwnProgram, RunsAGraphOverAJsonObject) {
  Outcome begun = run({"run", "errand", "--thread", "e", "--input", "to=Rome", "--input", "count=3",
                       "--input", "note={\"deep\":[1]}"});
  EXPECT_EQ(begun.code, 3) << begun.err;
  EXPECT_NE(begun.out.find("Go there?"), std::string::npos) << begun.out;
  std::string edited = world_.write("edited.json", "7");
  Outcome refused = run({"approvals", "approve", "e", "--by", "ana", "--edit", edited});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"\"to\" should be string, but is 7"})) << refused.err;
  EXPECT_EQ(run({"approvals", "approve", "e", "--by", "ana"}).code, 0);
  Value state = run({"state", "e", "--json"}).json()["state"];
  EXPECT_EQ(to_json(state),
            R"({"agreed":true,"count":3,"note":{"deep":[1]},"stops":["Rome",3],"to":"Rome"})");
  EXPECT_EQ(run({"check"}).code, 0);
  Outcome shown = run({"agents", "show", "errand"});
  EXPECT_NE(shown.out.find("to (string, required)"), std::string::npos) << shown.out;
  Value declared = run({"agents", "show", "errand", "--json"}).json()["declared"];
  EXPECT_EQ(declared["stops"], Value("array, append"));
  EXPECT_EQ(declared["count"], Value("integer, default 1"));
  EXPECT_EQ(run({"agents", "graph", "errand"}).code, 0);
}

TEST_F(OwnProgram, AnInputOrANodeThatDoesNotFitItsChannelsSaysSo) {
  for (const auto& [inputs, parts] : std::map<Words, Words>{
           {{"count=2"}, {"lacks \"to\", which is required"}},
           {{"to=x", "count=many"}, {"count", "integer"}},
           {{"to=x", "tow=y"}, {"Did you mean \"to\"?"}},
       }) {
    Words words = {"run", "errand"};
    for (const std::string& each : inputs) {
      words.push_back("--input");
      words.push_back(each);
    }
    Outcome refused = run(words);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_TRUE(refused.says(parts)) << refused.err;
  }
  run({"run", "errand", "--thread", "bad", "--input", "to=nowhere"});
  Outcome failed = run({"approvals", "approve", "bad", "--by", "ana"});
  EXPECT_EQ(failed.code, 1);
  EXPECT_TRUE(
      failed.says({"\"go\" sets the channel \"count\" with a value of kind string; "
                   "expected is integer"}))
      << failed.err;
}

TEST_F(OwnProgram, OfSeveralGraphsOneIsNamed) {
  Outcome unnamed = run({"run"});
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_TRUE(unnamed.says({"order", "question"})) << unnamed.err;
  Outcome misspelt = run({"run", "ordre"});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_TRUE(misspelt.says({"Did you mean \"order\"?"})) << misspelt.err;
}

TEST_F(OwnProgram, WithoutAModelSaysHowToHandOneIn) {
  Outcome failed = run({"run", "question", "--input", "text=why"});
  EXPECT_EQ(failed.code, 1) << failed.err;
  EXPECT_NE(failed.err.find("MainOptions::model"), std::string::npos) << failed.err;
}

TEST_F(OwnProgram, KeepsItsStoreUnderItsOwnName) {
  world_.setting.environment.erase("BELAY_STORE");
  EXPECT_EQ(run({"run", "order", "--input", "item=hat"}).code, 3);
  EXPECT_TRUE(std::filesystem::exists(world_.folder.file(".local/share/shop/shop.db")));
  EXPECT_NE(run({"--help"}).out.find("shop/shop.db"), std::string::npos);
  EXPECT_TRUE(run({"--version"}).out.starts_with("shop, belay "));
}

TEST_F(OwnProgram, AGraphThatCannotBeBuiltIsToldBeforeAnythingElse) {
  Outcome refused = run({"broken"});
  EXPECT_EQ(refused.code, 70);
  EXPECT_TRUE(refused.says({"broken", "It has no start"})) << refused.err;
}

TEST_F(OwnProgram, WhatTakesARoleIsDecidedByWhoHasIt) {
  for (const char* thread : {"a", "b", "c"}) {
    ASSERT_EQ(run({"run", "contract", "--thread", thread, "--input", "item=a deed"}).code, 3);
  }
  Outcome refused = run({"approvals", "approve", "a"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"lawyer,chief"})) << refused.err;
  EXPECT_EQ(run({"approvals", "approve", "a", "--role", "clerk"}).code, 2);
  EXPECT_EQ(run({"approvals", "approve", "a", "--role", "lawyer,chief"}).code, 2);
  EXPECT_EQ(run({"approvals", "approve", "a", "--role", ""}).code, 2);
  EXPECT_EQ(run({"approvals", "approve", "a", "--role", "clerk", "--role", "lawyer"}).code, 0);
  Outcome fork = run({"fork", "a", "--edit", "item=a barn"});
  EXPECT_EQ(fork.code, 2) << "it would skip what a lawyer has decided";
  EXPECT_EQ(run({"fork", "a", "--edit", "item=a barn", "--role", "chief"}).code, 3);
  world_.setting.environment["BELAY_ROLES"] = "clerk,chief";
  EXPECT_EQ(run({"approvals", "approve", "b"}).code, 0);
  EXPECT_EQ(run({"approvals", "reject", "c", "--role", "clerk"}).code, 2) << "in their place";
  EXPECT_EQ(run({"check"}).code, 0);
}

}  // namespace
}  // namespace belay::cli::tests
