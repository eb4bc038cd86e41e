#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

class CliApprovals : public ::testing::Test {
 protected:
  void SetUp() override {
    Outcome imported =
        world.run({"notes", "import", "-"},
                  note_line("2026-01-01", hard_day()) + note_line("2026-01-02", crisis_day()));
    ASSERT_EQ(imported.code, 0) << imported.err;
  }
  // Starts an audit that waits for an approval, and returns its interrupt's id.
  std::string waiting(const std::string& thread, const Words& more = {}) {
    Words words = {"run", "daily-audit", "--date", "2026-01-01", "--thread", thread, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    Outcome run = world.run(words);
    EXPECT_EQ(run.code, 3) << run.err;
    Value document = run.json();
    const std::string* id = document["approval"]["interruptId"].as_string();
    return id ? *id : "";
  }
  // Returns how often the thread's run committed `node`.
  int visits(const std::string& thread, std::string_view node) {
    Value history = world.run({"history", thread, "--json"}).json();
    int count = 0;
    for (const Value& row : *history["checkpoints"].as_array()) {
      count += row["node"] == Value(node) && row["kind"] == Value("node") ? 1 : 0;
    }
    return count;
  }
  World world;
};

TEST_F(CliApprovals, AThreadNamedAsAnIdBeginsTakesNobodysDecision) {
  std::string id = waiting("ana-case");
  waiting(id.substr(0, 6));
  for (const char* verb : {"show", "approve", "reject"}) {
    Outcome refused = world.run({"approvals", verb, id.substr(0, 6)});
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_TRUE(refused.says({id, "ana-case"})) << refused.err;
  }
  EXPECT_EQ(world.run({"approvals", "approve", id}).code, 0);
  EXPECT_EQ(world.run({"state", "ana-case", "--json"}).json()["outcome"], Value("saved"));
}

TEST_F(CliApprovals, AForkWithEditsBehindADecisionAsksAnew) {
  waiting("t");
  ASSERT_EQ(world.run({"approvals", "approve", "t"}).code, 0);
  Outcome preview = world.run({"fork", "t", "--edit", "language=es", "--preview"});
  EXPECT_EQ(preview.code, 0) << preview.err;
  EXPECT_NE(preview.out.find("awaitingApproval"), std::string::npos) << preview.out;
  Outcome forked = world.run({"fork", "t", "--edit", "language=es", "--thread", "u"});
  EXPECT_EQ(forked.code, 3) << forked.err;
  Outcome plain = world.run({"fork", "t", "--thread", "v"});
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliApprovals, AForkIsTheUsersWhoIsNamed) {
  waiting("t");
  EXPECT_EQ(world.run({"fork", "t", "--thread", "u", "--json"}).json()["userId"], Value("local"));
  EXPECT_EQ(world.run({"fork", "t", "--thread", "v", "--user", "ben", "--json"}).json()["userId"],
            Value("ben"));
}

TEST_F(CliApprovals, ListShowAndApprove) {
  std::string id = waiting("t");
  Outcome listed = world.run({"approvals", "list"});
  EXPECT_EQ(listed.code, 0);
  EXPECT_NE(listed.out.find(id), std::string::npos);
  Outcome shown = world.run({"approvals", "show", id});
  EXPECT_EQ(shown.code, 0);
  EXPECT_NE(shown.out.find("Risk 7"), std::string::npos) << shown.out;
  EXPECT_EQ(world.run({"approvals", "show", id, "--json"}).json()["interruptId"], Value(id));

  Outcome approved =
      world.run({"approvals", "approve", id, "--by", "ana", "--comment", "yes", "--json"});
  EXPECT_EQ(approved.code, 0) << approved.err;
  Value document = approved.json();
  EXPECT_EQ(document["result"], Value("accepted"));
  EXPECT_EQ(document["answer"], Value("won"));
  EXPECT_EQ(document["approval"]["decidedBy"], Value("ana"));
  EXPECT_EQ(document["approval"]["comment"], Value("yes"));
  EXPECT_EQ(document["run"]["status"], Value("completed"));
  EXPECT_EQ(document["run"]["outcome"], Value("saved"));
  EXPECT_EQ(world.run({"approvals", "list", "--json"}).out, "{\"approvals\":[],\"next\":null}\n");
  EXPECT_NE(world.run({"approvals", "list", "--all"}).out.find("approved"), std::string::npos);
}

TEST_F(CliApprovals, APrefixOrTheThreadNamesIt) {
  std::string id = waiting("t");
  EXPECT_EQ(world.run({"approvals", "show", id.substr(0, 6), "--json"}).json()["interruptId"],
            Value(id));
  EXPECT_EQ(world.run({"approvals", "show", "t", "--json"}).json()["interruptId"], Value(id));
  EXPECT_EQ(world.run({"approvals", "show", id.substr(0, 5)}).code, 2);
  EXPECT_EQ(world.run({"approvals", "show", ""}).code, 2);
  EXPECT_EQ(world.run({"approvals", "show", "00000000-0000-0000-0000-000000000000"}).code, 2);
  Outcome unknown = world.run({"approvals", "approve", "nobody"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(unknown.says({"nobody", "belay approvals list"})) << unknown.err;
}

TEST_F(CliApprovals, TheSameDecisionAgainShowsTheStateAndAnotherOneIsAConflict) {
  std::string id = waiting("t");
  ASSERT_EQ(world.run({"approvals", "approve", id, "--by", "ana"}).code, 0);
  std::string before = world.store_contents();
  Outcome same = world.run({"approvals", "approve", id, "--by", "ben", "--json"});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(same.json()["result"], Value("duplicate"));
  EXPECT_EQ(same.json()["answer"], Value("same"));
  EXPECT_EQ(same.json()["run"]["status"], Value("completed"));
  EXPECT_EQ(world.run({"approvals", "approve", "t"}).code, 0) << "by its thread, too";
  Outcome other = world.run({"approvals", "reject", id, "--by", "ben", "--json"});
  EXPECT_EQ(other.code, 4);
  EXPECT_TRUE(other.says({"approved", "ana"})) << other.err;
  EXPECT_EQ(other.json()["result"], Value("conflict"));
  EXPECT_EQ(other.json()["answer"], Value("lost"));
  EXPECT_EQ(other.json()["error"]["code"], Value("conflict"));
  EXPECT_EQ(world.store_contents(), before);
  EXPECT_EQ(visits("t", "saveSummary"), 1);
}

TEST_F(CliApprovals, ARejectionEndsTheRunWithoutSaving) {
  std::string id = waiting("t");
  Outcome rejected = world.run({"approvals", "reject", id, "--json"});
  EXPECT_EQ(rejected.code, 0) << rejected.err;
  EXPECT_EQ(rejected.json()["run"]["outcome"], Value("rejected"));
  EXPECT_EQ(visits("t", "saveSummary"), 0);
  EXPECT_EQ(world.run({"approvals", "reject", id}).code, 0);
  EXPECT_EQ(world.run({"approvals", "approve", id}).code, 4);
}

TEST_F(CliApprovals, AnEditedPayloadIsADecisionOfItsOwn) {
  std::string id = waiting("t");
  Value payload = world.run({"approvals", "show", id, "--json"}).json()["payload"];
  ASSERT_TRUE(payload.as_object());
  payload.as_object()->insert_or_assign("summary", Value("My own words."));
  std::string file = world.write("edit.json", to_json(payload));
  Outcome edited = world.run({"approvals", "approve", id, "--edit", file, "--json"});
  EXPECT_EQ(edited.code, 0) << edited.err;
  EXPECT_EQ(edited.json()["run"]["state"]["analysis"]["summary"], Value("My own words."));
  EXPECT_EQ(edited.json()["approval"]["editedPayload"]["summary"], Value("My own words."));

  Outcome same = world.run({"approvals", "approve", id, "--edit", file});
  EXPECT_EQ(same.code, 0) << same.err;
  Outcome as_shown = world.run({"approvals", "approve", id});
  EXPECT_EQ(as_shown.code, 4);
  EXPECT_TRUE(as_shown.says({"edited payload"})) << as_shown.err;
  payload.as_object()->insert_or_assign("summary", Value("Other words."));
  Outcome other = world.run({"approvals", "approve", id, "--edit", "-"}, to_json(payload));
  EXPECT_EQ(other.code, 4) << other.err;
}

TEST_F(CliApprovals, ABadEditDecidesNothing) {
  std::string id = waiting("t");
  for (const std::string& text :
       {std::string("{"), std::string(""), std::string("[]"), std::string("{\"riskLevel\":\"x\"}"),
        std::string("{\"unheardOf\":1}"), std::string(10'000, '['), std::string("\"a\xff\"")}) {
    Outcome refused = world.run({"approvals", "approve", id, "--edit", "-"}, text);
    EXPECT_EQ(refused.code, 2) << text.substr(0, 40) << ": " << refused.err;
    EXPECT_TRUE(refused.says({"belay: "})) << refused.err;
  }
  EXPECT_EQ(world.run({"approvals", "approve", id, "--edit", "/nowhere"}).code, 2);
  EXPECT_EQ(world.run({"approvals", "approve", id, "--by", ""}).code, 2);
  EXPECT_EQ(world.run({"approvals", "approve", id, "--comment", std::string(10'001, 'x')}).code, 2);
  EXPECT_EQ(world.run({"approvals", "reject", id, "--edit", "-"}, "{}").code, 2);
  EXPECT_EQ(world.run({"approvals", "show", id, "--json"}).json()["status"], Value("open"));
}

TEST_F(CliApprovals, ALateDecisionIsAConflictAndWhatIsDueIsAppliedByAnyCommand) {
  std::string id = waiting("t", {"--expires", "300ms"});
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  Outcome any = world.run({"threads"});
  EXPECT_EQ(any.code, 0);
  EXPECT_TRUE(any.says({"expired now: 1."})) << any.err;
  EXPECT_FALSE(any.says({"timer"})) << any.err;
  Outcome late = world.run({"approvals", "approve", id, "--json"});
  EXPECT_EQ(late.code, 4);
  EXPECT_TRUE(late.says({"expired"})) << late.err;
  EXPECT_EQ(late.json()["result"], Value("expired"));
  EXPECT_EQ(late.json()["answer"], Value("expired"));
  EXPECT_EQ(world.run({"state", "t", "--json"}).json()["outcome"], Value("expired"));
  EXPECT_EQ(visits("t", "saveSummary"), 0);
}

TEST_F(CliApprovals, AnExpiredCrisisStaysVisible) {
  Outcome run = world.run({"run", "daily-audit", "--date", "2026-01-02", "--expires", "200ms"});
  ASSERT_EQ(run.code, 3) << run.err;
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  Outcome open = world.run({"approvals", "list"});
  EXPECT_NE(open.out.find("belay approvals list --all"), std::string::npos) << open.out;
  Outcome all = world.run({"approvals", "list", "--all"});
  EXPECT_NE(all.out.find("CRISIS"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("expired"), std::string::npos) << all.out;
  Value document = world.run({"approvals", "list", "--all", "--json"}).json();
  EXPECT_EQ((*document["approvals"].as_array())[0]["crisis"], Value(true));
}

TEST_F(CliApprovals, OfACancelledRunAndOfOneThatNeverAsked) {
  std::string id = waiting("t");
  ASSERT_EQ(world.run({"cancel", "t"}).code, 0);
  Outcome closed = world.run({"approvals", "approve", id, "--json"});
  EXPECT_EQ(closed.code, 4);
  EXPECT_TRUE(closed.says({"cancelled"})) << closed.err;
  EXPECT_EQ(closed.json()["result"], Value("closed"));
  EXPECT_EQ(closed.json()["answer"], Value("closed"));
  ASSERT_EQ(world.run({"run", "daily-audit", "--date", "1999-01-01", "--thread", "n"}).code, 0);
  Outcome never = world.run({"approvals", "approve", "n"});
  EXPECT_EQ(never.code, 4);
  EXPECT_TRUE(never.says({"completed"})) << never.err;
}

TEST_F(CliApprovals, OfEightProcessesAtOnceExactlyOneWins) {
  std::string id = waiting("t");
  std::vector<std::unique_ptr<Belay>> all;
  for (int i = 0; i < 8; ++i) {
    std::string verb = i % 2 == 0 ? "approve" : "reject";
    Words words = {"approvals", verb, id, "--by", "p" + std::to_string(i), "--json"};
    all.push_back(std::make_unique<Belay>(words, world.setting));
  }
  int won = 0;
  std::string winner;
  std::vector<Outcome> outcomes;
  for (auto& each : all) {
    outcomes.push_back(each->finish());
    Value document = outcomes.back().json();
    if (document["result"] == Value("accepted")) {
      ++won;
      winner = *document["approval"]["status"].as_string();
    }
  }
  EXPECT_EQ(won, 1);
  for (int i = 0; i < 8; ++i) {
    const Outcome& outcome = outcomes[static_cast<std::size_t>(i)];
    bool same = (winner == "approved") == (i % 2 == 0);
    EXPECT_EQ(outcome.code, same ? 0 : 4) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.json()["approval"]["status"], Value(winner)) << outcome.out;
  }
  EXPECT_EQ(visits("t", "saveSummary"), winner == "approved" ? 1 : 0);
  EXPECT_EQ(world.run({"check"}).code, 0);
}

}  // namespace
}  // namespace belay::cli::tests
