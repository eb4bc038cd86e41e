// belay serve as a real process, with real connections and real kills.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <thread>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

class CliServe : public ::testing::Test {
 protected:
  void import_day() {
    ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-11-21", hard_day())).code, 0);
  }
  World world;
};

constexpr const char* kAudit = R"({"date":"2026-11-21","threadId":"audit"})";

TEST_F(CliServe, AnAuditIsAskedForApprovedAndSaved) {
  import_day();
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  Got waiting = served.send("POST", "/api/agents/daily-audit", kAudit, {{"Accept-Language", "es"}});
  EXPECT_EQ(waiting.status, 202) << waiting.body;
  EXPECT_EQ(text(waiting.json()["message"]), "Análisis completado, esperando aprobación");
  EXPECT_EQ(waiting.json()["analysis"]["riskLevel"], Value(7));
  for (auto [accepted, message] :
       {std::pair("en;q=0.1, es;q=0.9", "Análisis completado, esperando aprobación"),
        {"fr, en;q=0.8, es;q=0.7", "The analysis is done and waits for approval"},
        {"es-MX, en", "Análisis completado, esperando aprobación"},
        {"best", "The analysis is done and waits for approval"}}) {
    Got again =
        served.send("POST", "/api/agents/daily-audit", kAudit, {{"Accept-Language", accepted}});
    EXPECT_EQ(text(again.json()["message"]), message) << accepted;
  }

  Got approved = served.send("POST", "/api/agents/approve/audit", R"({"approved":true})",
                             {{"Accept-Language", "es"}});
  EXPECT_EQ(approved.status, 200) << approved.body;
  EXPECT_EQ(text(approved.json()["message"]), "Ejecución aprobada y completada");
  EXPECT_EQ(text(approved.json()["status"]), "completed");
  Got same = served.post("/api/agents/daily-audit/audit/approve", R"({"approved":true})");
  EXPECT_EQ(same.status, 200) << same.body;
  Got other = served.post("/api/agents/daily-audit/audit/approve", R"({"approved":false})");
  EXPECT_EQ(other.status, 409) << other.body;
  EXPECT_EQ(served.post("/api/agents/routine/audit/approve", R"({"approved":true})").status, 404);

  EXPECT_EQ(served.get("/api/summaries/2026-11-21").json()["riskLevel"], Value(7));
  EXPECT_EQ(text(served.get("/api/agents/status/audit").json()["outcome"]), "saved");
  EXPECT_GT(served.get("/api/agents/history/audit").json()["checkpoints"].as_array()->size(), 3u);
  // The command line on the same store reads the same data.
  EXPECT_EQ(text(world.run({"state", "audit", "--json"}).json()["outcome"]), "saved");
}

TEST_F(CliServe, WhatIsNotThereIsNamedAsTheSpecificationDoes) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  Got missing = served.get("/api/agents/status/nobody");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(text(missing.json()["detail"]), "Execution thread not found or expired");
  EXPECT_EQ(served.post("/api/agents/approve/nobody", R"({"approved":true})").status, 404);
  Got no_date = served.post("/api/agents/daily-audit", "{}");
  EXPECT_EQ(no_date.status, 422);
  EXPECT_NE(text(no_date.json()["detail"]).find("\"date\""), std::string::npos);
  EXPECT_EQ(served.post("/api/agents/daily-audit", R"({"date":"2026-02-30"})").status, 422);
  EXPECT_EQ(served.post("/api/agents/approve/nobody", R"({"comment":"x"})").status, 422);
}

TEST_F(CliServe, NotesAreMadeReadReplacedAndErased) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  std::string note = R"({"date":"2026-11-21","content":"Slept well."})";
  Got made = served.post("/api/notes", note);
  EXPECT_EQ(made.status, 201) << made.body;
  std::string address = "/api/notes/" + text(made.json()["id"]);
  EXPECT_EQ(served.post("/api/notes", note).status, 200);
  EXPECT_EQ(text(served.get(address).json()["content"]), "Slept well.");
  Got replaced = served.send("PUT", address, R"({"date":"2026-11-21","content":"Slept badly."})");
  EXPECT_EQ(replaced.status, 200) << replaced.body;
  EXPECT_EQ(served.get("/api/notes?date=2026-11-21").json()["notes"].as_array()->size(), 1u);
  EXPECT_EQ(served.post("/api/notes", R"({"date":"yesterday","content":"x"})").status, 422);
  EXPECT_EQ(served.send("DELETE", address, "").status, 204);
  EXPECT_EQ(served.get(address).status, 404);
  EXPECT_EQ(served.send("DELETE", address, "").status, 404);
}

TEST_F(CliServe, WorksOnWhatOthersHaveQueued) {
  import_day();
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  Outcome queued = world.run(
      {"enqueue", "daily_auditor", "--input", "date=2026-11-21", "--thread", "queued", "--json"});
  ASSERT_EQ(queued.code, 0) << queued.err;
  Stream events(served, "/api/threads/queued/events?kinds=approvals");
  EXPECT_TRUE(events.reads("\"asked\""));
}

TEST_F(CliServe, AStreamIsTakenUpAgainWhereAKilledServerLeftIt) {
  import_day();
  auto first = std::make_unique<Served>(world.setting);
  ASSERT_TRUE(first->is_up());
  ASSERT_EQ(first->post("/api/agents/daily-audit", kAudit).status, 202);
  std::string path = "/api/threads/audit/events?kinds=updates,status,approvals";
  Stream before(*first, path);
  ASSERT_TRUE(before.reads("\"paused\""));
  std::string last = before.last_id();
  first->process().send(SIGKILL);
  EXPECT_FALSE(before.reads("\"completed\""));
  EXPECT_EQ(first->process().finish().code, 128 + SIGKILL);
  int port = first->port();
  first.reset();

  Served second(world.setting, {}, port);
  ASSERT_TRUE(second.is_up());
  Stream after(second, path, last);
  EXPECT_EQ(second.post("/api/agents/approve/audit", R"({"approved":true})").status, 200);
  ASSERT_TRUE(after.reads("event: end"));
  Stream whole(second, path);
  ASSERT_TRUE(whole.reads("event: end"));
  // The events of both streams, in order, equal those of one uninterrupted stream.
  std::string behind = after.so_far().substr(after.so_far().find("\n\n") + 2);
  std::size_t cut = before.so_far().find("\n\n", before.so_far().find("id: " + last)) + 2;
  EXPECT_EQ(before.so_far().substr(0, cut) + behind, whole.so_far());
}

TEST_F(CliServe, ARunUnderWayInAKilledServerIsGoneOnWithByTheNext) {
  import_day();
  Setting dies = world.setting;
  dies.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "2";
  auto first = std::make_unique<Served>(dies);
  ASSERT_TRUE(first->is_up());
  Got none = first->send("POST", "/api/agents/daily-audit", kAudit, {{"Prefer", "wait=1"}});
  EXPECT_EQ(none.status, 202) << none.body << none.error;
  ASSERT_TRUE(first->process().waits_to_say("belay-test: paused"));
  first->process().send(SIGKILL);
  first->process().finish();

  Served second(world.setting);
  ASSERT_TRUE(second.is_up());
  Stream events(second, "/api/threads/audit/events?kinds=approvals");
  EXPECT_TRUE(events.reads("\"asked\""));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliServe, ATermSignalEndsItInGoodOrder) {
  import_day();
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  ASSERT_EQ(served.post("/api/agents/daily-audit", kAudit).status, 202);
  Stream events(served, "/api/threads/audit/events?kinds=status");
  ASSERT_TRUE(events.reads("\"paused\""));
  served.process().send(SIGTERM);
  Outcome ended = served.process().finish();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(served.get("/healthz").status, 0);
}

TEST_F(CliServe, ATermSignalLetsTheNodeEndOfARunThatARequestBegan) {
  world.setting.binary = BELAY_SHOP_BINARY;
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  Got begun = served.send("POST", "/api/agents/journey/runs",
                          R"({"threadId":"j","input":{"seconds":3}})", {{"Prefer", "wait=1"}});
  ASSERT_EQ(begun.status, 202) << begun.body;
  served.process().send(SIGTERM);
  ASSERT_TRUE(served.process().waits_to_say("to complete"));
  Outcome ended = served.process().finish();
  EXPECT_EQ(ended.code, 0) << ended.err;
  Value left = world.run({"state", "j", "--json"}).json();
  EXPECT_EQ(left["status"], Value("queued")) << to_json(left);
  EXPECT_EQ(left["currentNode"], Value("arrive"));
  EXPECT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  left = world.run({"state", "j", "--json"}).json();
  EXPECT_EQ(left["state"]["seen"], (Value(Value::Array{"drove 3", "there"})));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliServe, ATermSignalAnswersARequestThatWaitsBehindAPausedRun) {
  world.setting.binary = BELAY_LETTER_BINARY;
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  const std::string path = "/api/agents/board/runs";
  Got first = served.post(path, R"({"threadId":"b","input":{}})");
  ASSERT_EQ(text(first.json()["status"]), "paused") << first.body;
  Got answered;
  std::thread second([&] {
    answered = served.send("POST", path, R"({"threadId":"b","input":{},"ifBusy":"enqueue"})",
                           {{"Prefer", "wait=300"}});
  });
  auto is_queued = [&] {
    Value history = world.run({"history", "b", "--json"}).json();
    const Value::Array* runs = history["runs"].as_array();
    return runs && runs->size() == 2;
  };
  for (int looks = 0; looks < 300 && !is_queued(); ++looks) continue;
  served.process().send(SIGTERM);
  second.join();
  EXPECT_EQ(answered.status, 202) << answered.error;
  EXPECT_EQ(text(answered.json()["status"]), "queued");
  EXPECT_EQ(served.process().finish().code, 0);
}

TEST_F(CliServe, RefusesToServeOthersWithoutKeys) {
  Outcome open = world.run({"serve", "--listen", "0.0.0.0:0"});
  EXPECT_EQ(open.code, 2);
  EXPECT_TRUE(open.says({"--api-keys"})) << open.err;
  for (const char* wrong : {"8123", "127.0.0.1:x", "127.0.0.1:70000", "nowhere:0"}) {
    Outcome refused = world.run({"serve", "--listen", wrong});
    EXPECT_EQ(refused.code, 2) << wrong << refused.err;
  }
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  Outcome taken = world.run({"serve", "--listen", "127.0.0.1:" + std::to_string(served.port())});
  EXPECT_EQ(taken.code, 6) << taken.err;
  EXPECT_TRUE(taken.says({std::to_string(served.port())})) << taken.err;
}

TEST_F(CliServe, TakesItsKeysFromAFileThatNobodyElseReads) {
  std::string file = world.write("keys", "# who\nana decide deciding-token-0001\n");
  Outcome open = world.run({"serve", "--listen", "127.0.0.1:0", "--api-keys", file});
  EXPECT_EQ(open.code, 2);
  EXPECT_TRUE(open.says({"chmod"})) << open.err;
  ::chmod(file.c_str(), 0640);
  EXPECT_EQ(world.run({"serve", "--listen", "127.0.0.1:0", "--api-keys", file}).code, 2);
  ::chmod(file.c_str(), 0600);
  Served served(world.setting, {"--api-keys", file});
  ASSERT_TRUE(served.is_up());
  EXPECT_EQ(served.get("/api/runs").status, 401);
  EXPECT_EQ(
      served.send("GET", "/api/runs", "", {{"Authorization", "Bearer deciding-token-0001"}}).status,
      200);
  EXPECT_EQ(served.send("GET", "/api/store", "", {{"Authorization", "Bearer deciding-token-0001"}})
                .status,
            403);
  world.write("bad", "ana rule-the-world secret-token-000001\n");
  ::chmod((world.folder.path() + "/bad").c_str(), 0600);
  Outcome bad = world.run({"serve", "--api-keys", world.folder.file("bad")});
  EXPECT_EQ(bad.code, 2);
  EXPECT_EQ(bad.err.find("secret-token"), std::string::npos) << bad.err;
}

}  // namespace
}  // namespace belay::cli::tests
