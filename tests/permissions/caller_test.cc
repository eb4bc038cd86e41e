// Data of other users that callers of the shipped program can see, and the users they may name.

#include "tests/permissions/permission_table.h"
#include "tests/support/principals.h"

namespace belay::permissions {
namespace {

std::string text(const Value& value) {
  const std::string* held = value.as_string();
  return held ? *held : to_json(value);
}

// A complete attempt to bypass an approval: a run key edits the decided state, and saves nothing.
TEST(Callers, SaveNothingByAForkThatNobodyApproved) {
  for (Permission as : {Permission::run, Permission::decide}) {
    PermissionWorld world;
    const std::string body =
        R"({"threadId":"forged","edits":{"analysis":{"summary":"All is well.","riskLevel":1}}})";
    Answered forked = world.send(as, "POST", "/api/threads/done-of-eve/fork", body);
    EXPECT_EQ(forked.status, as == Permission::run ? 403 : 202) << forked.body;
    Answered summary = world.send(as, "GET", "/api/summaries/2026-01-02");
    EXPECT_EQ(summary.body.find("All is well."), std::string::npos) << summary.body;
    if (as == Permission::run) continue;
    EXPECT_EQ(text(forked.json()["approval"]["payload"]["summary"]), "All is well.");
    CheckReport report = block_on(world.loop, world.all().check(local_program)).value();
    EXPECT_TRUE(report.violations.empty());
  }
}

TEST(Callers, WhoDecideForAnotherAreShownWhatTheApprovalShowed) {
  PermissionWorld world;
  std::string thread = world.filled("{thread}", Thing::others);
  Value shown = world.send(Permission::decide, "GET", "/api/approvals/" + thread).json();
  Answered decided = world.send(Permission::decide, "POST", "/api/agents/approve/" + thread,
                                R"({"approved":true})");
  EXPECT_EQ(decided.status, 200) << decided.body;
  EXPECT_EQ(decided.json()["analysis"], shown["payload"]);
  EXPECT_EQ(decided.json()["run"]["state"]["analysis"].is_null(), false);
  EXPECT_TRUE(decided.json()["run"]["state"]["notes"].is_null()) << decided.body;
  EXPECT_EQ(text(decided.json()["run"]["approval"]), "null");
}

TEST(Callers, WhoDecideByAChoiceReceiveTheSentenceOfTheirDecision) {
  for (auto [choice, sentence] :
       {std::pair("approve", "Approved and done"), {"reject", "Cancelled"}}) {
    PermissionWorld world;
    std::string thread = world.filled("{thread}", Thing::own);
    Answered decided =
        world.send(Permission::decide, "POST", "/api/agents/approve/" + thread,
                   R"({"choice":")" + std::string(choice) + "\"}", {{"Accept-Language", "en"}});
    EXPECT_EQ(decided.status, 200) << decided.body;
    EXPECT_EQ(text(decided.json()["message"]), sentence);
  }
}

// A run that is queued, or in progress in another process, does not wait for a decision.
TEST(Callers, WhoDecideTheRunOfAnAgentThatDoesNotWaitAreToldItsStatus) {
  PermissionWorld world;
  StartRun wanted;
  wanted.agent = "daily_auditor";
  wanted.user = UserId("eve");
  wanted.thread = ThreadId("queued");
  wanted.queued = true;
  wanted.input = Value::object({{"date", "2026-01-01"}, {"language", "en"}});
  StartRun other = wanted;
  ASSERT_TRUE(block_on(world.loop, world.all().start(local_program, std::move(wanted))).ok());
  testing::ScriptedModel slow;
  slow.takes(std::chrono::hours(1)).replies("too late");
  RuntimeParts parts{*world.store, world.loop, world.clock, world.random, slow};
  auto runtime = Runtime::open(std::move(parts)).value();
  Definitions graphs = world.program.graphs(world.settings).value();
  for (const auto& graph : graphs) runtime->add(graph);
  auto service = make_local_service(LocalServiceParts{
      *world.store, *world.store, *runtime, world.loop, world.clock, world.random, graphs, {}, {}});
  other.thread = ThreadId("running");
  other.queued = false;
  Spawned running = spawn<Result<RunView>>(
      world.loop, service->start(local_program, std::move(other)), [](const Result<RunView>&) {});
  world.loop.run_until(world.clock.now() + std::chrono::seconds(1));
  for (std::string thread : {"queued", "running"}) {
    for (std::string path : {"approve/" + thread, "daily-audit/" + thread + "/approve"}) {
      Answered refused =
          world.send(Permission::decide, "POST", "/api/agents/" + path, R"({"approved":true})");
      EXPECT_EQ(refused.status, 409) << refused.body;
      EXPECT_EQ(text(refused.json()["code"]), "conflict");
      std::string sentence = "Thread \"" + thread + "\" is " + thread + " and has no pending";
      EXPECT_EQ(text(refused.json()["detail"]).find(sentence), 0u) << refused.body;
    }
    Answered as_routine =
        world.send(Permission::decide, "POST", "/api/agents/routine/" + thread + "/approve",
                   R"({"approved":true})");
    EXPECT_EQ(as_routine.status, 404) << as_routine.body;
    Answered now = world.send(Permission::read, "GET", "/api/threads/" + thread);
    EXPECT_EQ(text(now.json()["status"]), thread) << "nothing was decided";
  }
}

// Every address that names a user, for every kind of caller.
TEST(Callers, NameOnlyUsersThatThereCouldBe) {
  for (bool has_keys : {true, false}) {
    PermissionWorld world;
    if (!has_keys) {
      world.options.keys.clear();
      world.open_api();
    }
    std::size_t tried = 0;
    for (const Entry& entry : permission_table()) {
      std::string mark = "userId={user}", member = R"("userId":"{user}")";
      for (const server::Route& route : world.routes()) {
        if (route.id != entry.route) continue;
        for (std::string bad :
             {std::string(), std::string(201, 'x'), std::string("%0A"), std::string("a%C2%85b")}) {
          std::string target = entry.target, body = entry.body;
          if (std::size_t at = target.find(mark); at != target.npos) {
            target.replace(at, mark.size(), "userId=" + bad);
          } else if (at = body.find(member); at != body.npos) {
            std::string written = bad == "%0A"        ? "\\n"
                                  : bad == "a%C2%85b" ? "a\xC2\x85"
                                                        "b"
                                                      : bad;
            body.replace(at, member.size(), R"("userId":")" + written + "\"");
          } else {
            continue;
          }
          Answered answered =
              world.send(Permission::administer, route.method, world.filled(target, Thing::own),
                         world.filled(body, Thing::own));
          EXPECT_EQ(answered.status, 422) << route.id << " " << bad << answered.body;
          ++tried;
        }
      }
    }
    EXPECT_GT(tried, 80u);
  }
}

TEST(Callers, WithoutKeysMayNameAnyUserAsBefore) {
  PermissionWorld world;
  world.options.keys.clear();
  world.open_api();
  for (const char* user : {"eve", "anastasia"}) {
    std::string whose = std::string("?userId=") + user;
    EXPECT_EQ(world.send(Permission::open, "GET", "/api/notes/note-2026-01-01" + whose).status,
              200);
    EXPECT_EQ(
        world.send(Permission::open, "GET", std::string("/api/threads/thread-of-") + user).status,
        200);
  }
  EXPECT_EQ(world.send(Permission::open, "GET", "/api/notes?userId=nobody").status, 200);
}

TEST(Callers, GetFullPagesOfTheirOwnThings) {
  PermissionWorld world;
  // At least a full page of hers in between, all newer.
  for (int i = 0; i < 30; ++i) {
    StartRun wanted;
    wanted.agent = "daily_auditor";
    wanted.user = UserId("anastasia");
    wanted.queued = true;
    wanted.input = Value::object({{"date", "2026-03-03"}, {"language", "en"}});
    ASSERT_TRUE(block_on(world.loop, world.all().start(local_program, std::move(wanted))).ok());
  }
  for (const char* list : {"threads", "runs"}) {
    Answered page = world.send(Permission::read, "GET", std::string("/api/") + list + "?limit=3");
    EXPECT_EQ(page.json()[list].as_array()->size(), 3u) << list;
    EXPECT_EQ(page.body.find("anastasia"), std::string::npos);
  }
  Answered approvals = world.send(Permission::read, "GET", "/api/approvals?all=true&limit=3");
  EXPECT_EQ(approvals.json()["approvals"].as_array()->size(), 3u);
}

// A repeated request finds its own run, and no other user's run with the same key.
TEST(Callers, RepeatTheirOwnRequestsAlone) {
  PermissionWorld world;
  auto start = [&](const std::string& name) {
    std::vector<http::Header> headers{
        {"Idempotency-Key", "7"},
        {"Authorization", "Bearer " + PermissionWorld::token_of(name, Permission::run)}};
    return world.send(Permission::open, "POST", "/api/agents/daily-audit",
                      R"({"date":"2026-01-01"})", std::move(headers));
  };
  std::string hers = text(start("anastasia").json()["threadId"]);
  std::string eves = text(start("eve").json()["threadId"]);
  EXPECT_NE(hers, eves);
  EXPECT_EQ(text(start("eve").json()["threadId"]), eves);
  Answered named = world.send(Permission::run, "POST", "/api/agents/daily-audit",
                              R"({"date":"2026-01-01","threadId":")" + hers + "\"}");
  EXPECT_EQ(named.status, 422) << named.body;
  EXPECT_EQ(named.body.find(other_word), std::string::npos);
}

TEST(Callers, ExportTheirOwnRunsAndImportNone) {
  PermissionWorld world;
  Answered file = world.send(Permission::read, "GET", "/api/threads/done-of-eve/export");
  ASSERT_EQ(file.status, 200);
  PermissionWorld other;
  std::string body = R"({"file":)" + file.body + "}";
  // The same ids already exist; a caller without permission to import must not learn even that.
  EXPECT_EQ(other.send(Permission::decide, "POST", "/api/threads/import", body).status, 403);
  Answered taken = other.send(Permission::administer, "POST", "/api/threads/import", body);
  EXPECT_TRUE(taken.status == 201 || taken.status == 409) << taken.body;
}

}  // namespace
}  // namespace belay::permissions
