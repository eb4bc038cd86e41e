// Threads with several runs, over HTTP.

#include "tests/support/api_fixture.h"
#include "tests/support/principals.h"

namespace belay::server {
namespace {

using namespace std::chrono_literals;

struct Chat {
  std::string question{};
  std::vector<std::string> asked{};
  bool review = false;
};

// Calls the model for each question, and collects the questions of a thread.
Graph<Chat> chat_graph() {
  GraphBuilder<Chat> graph{"chat"};
  graph.node("reply", [](const Chat& chat, Context& context) -> Task<Update<Chat>> {
    auto reply = (co_await context.model().complete("Write about " + chat.question)).value();
    co_return append(&Chat::asked, chat.question);
  });
  graph.approval("check", &Chat::question, {.question = "Fine?"})
      .when([](const Chat& chat) { return chat.review; })
      .approved(end)
      .rejected(end);
  graph.edge(start, "reply").edge("reply", "check");
  return std::move(graph).build().value();
}

struct ApiConversation : ApiFixture {
  Graph<Chat> chat = chat_graph();

  ApiConversation() {
    runtime->add(chat);
    service = make_local_service(LocalServiceParts{*store,
                                                   *store,
                                                   *runtime,
                                                   loop,
                                                   clock,
                                                   random,
                                                   {graph.definition(), chat.definition()},
                                                   {},
                                                   {}});
    api = make_api();
  }

  Answered ask(std::string question, std::string more = {}, std::string key = {},
               std::string prefer = {}) {
    auto sent = request("POST", "/api/agents/chat/runs",
                        R"({"threadId":"t","input":{"question":")" + question + "\"}" + more + "}");
    if (!key.empty()) sent.headers.push_back({"Idempotency-Key", key});
    if (!prefer.empty()) sent.headers.push_back({"Prefer", prefer});
    return send(std::move(sent));
  }
  Answered patch(const std::string& body) { return send(request("PATCH", "/api/threads/t", body)); }
  // A run that waits for a decision: the thread is busy.
  std::string ask_for_review() {
    auto waiting =
        post("/api/agents/chat/runs", R"({"threadId":"t","input":{"question":"a","review":true}})");
    EXPECT_EQ(waiting.status, 202) << to_json(waiting.body);
    return text(waiting.body["runId"]);
  }
};

TEST_F(ApiConversation, EachStartOnItsThreadIsAFurtherRun) {
  auto first = ask("a");
  auto second = ask("b");
  ASSERT_EQ(second.status, 200) << to_json(second.body);
  EXPECT_NE(second.body["runId"], first.body["runId"]);
  EXPECT_EQ(second.body["ordinal"], Value(1));
  EXPECT_EQ(to_json(second.body["state"]["asked"]), R"(["a","b"])");
  auto runs = get("/api/threads/t/runs");
  ASSERT_EQ(runs.body["runs"].as_array()->size(), 2u);
  EXPECT_EQ(runs.body["runs"].as_array()->at(0)["runId"], second.body["runId"]);
  EXPECT_EQ(runs.body["runs"].as_array()->at(0)["input"]["question"], Value("b"));
  auto page = get("/api/threads/t/runs?limit=1");
  auto rest = get("/api/threads/t/runs?limit=1&before=" + text(page.body["next"]));
  EXPECT_EQ(rest.body["runs"].as_array()->at(0)["runId"], first.body["runId"]);
  EXPECT_EQ(get("/api/threads/none/runs").status, 404);
  EXPECT_EQ(get("/api/runs?threadId=t&status=failed").body["runs"].as_array()->size(), 0u);
}

TEST_F(ApiConversation, ItsRunsAreNamedInEachAddress) {
  std::string first = text(ask("a").body["runId"]);
  std::string second = text(ask("b").body["runId"]);
  for (const char* path : {"", "/history", "/calls", "/export", "/events"}) {
    std::string target = "/api/threads/t" + std::string(path);
    EXPECT_EQ(get(target + "?run=" + first).status, 200) << path;
    for (std::string unknown : {std::string("x"), RunId(random_uuid(random)).text()}) {
      auto refused = get(target + "?run=" + unknown);
      EXPECT_EQ(refused.status, 404) << path;
      EXPECT_NE(text(refused.body["detail"]).find(unknown), std::string::npos)
          << to_json(refused.body);
    }
  }
  EXPECT_EQ(text(get("/api/threads/t").body["runId"]), second);
  EXPECT_EQ(text(get("/api/threads/t?run=" + first).body["runId"]), first);
  EXPECT_EQ(get("/api/threads/t?at=1&run=" + first).body["seq"], Value(1));
  EXPECT_EQ(to_json(get("/api/runs/" + first).body["state"]["asked"]), R"(["a"])");
  EXPECT_EQ(text(post("/api/threads/t/replay?run=" + first).body["runId"]), first);
  EXPECT_EQ(post("/api/threads/t/cancel?run=" + first).status, 409) << "it has completed";
  auto forked = post("/api/threads/t/fork", R"({"threadId":"f","seq":1,"runId":")" + first + "\"}");
  EXPECT_EQ(to_json(forked.body["state"]["asked"]), R"(["a"])") << to_json(forked.body);
  EXPECT_EQ(post("/api/threads/t/fork", R"({"runId":"x"})").status, 404);
}

TEST_F(ApiConversation, ItsHistoryIsThatOfAllRuns) {
  std::string first = text(ask("a").body["runId"]);
  std::string second = text(ask("b").body["runId"]);
  auto whole = get("/api/threads/t/history");
  EXPECT_EQ(text(whole.body["runId"]), second);
  EXPECT_TRUE(whole.body["next"].is_null());
  ASSERT_EQ(whole.body["runs"].as_array()->size(), 2u);
  const Value::Array& all = *whole.body["checkpoints"].as_array();
  EXPECT_EQ(text(all.front()["runId"]), second);
  EXPECT_EQ(text(all.back()["runId"]), first);
  std::size_t seen = 0;
  std::string target = "/api/threads/t/history?limit=2";
  for (bool is_last = false; !is_last;) {
    auto page = get(target);
    ASSERT_EQ(page.status, 200) << to_json(page.body);
    for (const Value& each : *page.body["checkpoints"].as_array()) EXPECT_EQ(each, all.at(seen++));
    const Value& next = page.body["next"];
    is_last = next.is_null();
    target = "/api/threads/t/history?limit=2&before=" + to_json(next["before"]) +
             "&beforeRun=" + text(next["beforeRun"]);
  }
  EXPECT_EQ(seen, all.size());
  EXPECT_EQ(get("/api/threads/t/history?before=2&beforeRun=x").status, 422);
}

TEST_F(ApiConversation, ABusyThreadRefusesAndNamesItsRun) {
  std::string waiting = ask_for_review();
  auto refused = ask("b");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(text(refused.body["code"]), "conflict");
  EXPECT_EQ(text(refused.body["runId"]), waiting);
  EXPECT_EQ(text(refused.body["runStatus"]), "paused");
  EXPECT_NE(text(refused.body["detail"]).find(waiting), std::string::npos);
  EXPECT_EQ(ask("b", R"(,"ifBusy":"perhaps")").status, 422);
  EXPECT_EQ(get("/api/threads/t/runs").body["runs"].as_array()->size(), 1u);
}

TEST_F(ApiConversation, ARunThatIsEnqueuedWaitsForTheRunAheadOfIt) {
  std::string waiting = ask_for_review();
  auto queued = ask("b", R"(,"ifBusy":"enqueue")", "", "wait=0");
  EXPECT_EQ(queued.status, 202) << to_json(queued.body);
  EXPECT_EQ(text(queued.body["status"]), "queued");
  EXPECT_EQ(text(queued.body["heldBy"]),
            "waits for run " + waiting.substr(0, 8) + " of this thread");
  EXPECT_EQ(text(get("/api/threads/t").body["runId"]), waiting) << "still the current one";
  std::string own = text(queued.body["runId"]);
  EXPECT_EQ(text(get("/api/threads/t?run=" + own).body["status"]), "queued");
  EXPECT_EQ(text(post("/api/threads/t/cancel?run=" + own).body["status"]), "cancelled");
  EXPECT_EQ(text(get("/api/threads/t").body["thread"]["status"]), "interrupted");
}

TEST_F(ApiConversation, AStartCanEndTheRunAheadOfIt) {
  std::string waiting = ask_for_review();
  auto next = ask("b", R"(,"ifBusy":"interrupt")");
  EXPECT_EQ(next.status, 202) << to_json(next.body);
  EXPECT_EQ(text(next.body["approval"]["payload"]), "b") << "`review` remains true";
  EXPECT_EQ(text(get("/api/runs/" + waiting).body["status"]), "cancelled");
}

TEST_F(ApiConversation, AKeyNamesTheRunOnAKnownThread) {
  ask("a");
  auto second = ask("b", "", "k");
  auto again = ask("b", "", "k");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body["runId"], second.body["runId"]);
  EXPECT_EQ(ask("c", "", "k").status, 422);
  EXPECT_EQ(model.requests().size(), 2u);
}

TEST_F(ApiConversation, ARequestThatDoesNotWaitIsAnsweredWithItsOwnRun) {
  ask("a");
  model.takes(10s);
  auto second = ask("b", "", "", "wait=0");
  EXPECT_EQ(second.status, 202);
  EXPECT_EQ(text(second.body["status"]), "running");
  EXPECT_EQ(second.body["ordinal"], Value(1));
  auto refused = ask("c", "", "", "wait=0");
  EXPECT_EQ(refused.status, 409) << to_json(refused.body);
}

TEST_F(ApiConversation, HasATitleMetadataAndAnExpiry) {
  ask("a");
  auto before = get("/api/threads/t").body["thread"];
  EXPECT_EQ(text(before["status"]), "idle");
  EXPECT_TRUE(before["title"].is_null());
  EXPECT_TRUE(before["updatedAt"].is_null());
  auto edited = patch(R"({"title":"Plans","metadata":{"a":1,"b":2},)"
                      R"("expiresAt":"2030-01-01T00:00:00Z"})");
  ASSERT_EQ(edited.status, 200) << to_json(edited.body);
  EXPECT_EQ(text(edited.body["title"]), "Plans");
  EXPECT_EQ(patch(R"({"metadata":{"a":null,"c":3},"expiresAt":null})").status, 200);
  auto after = get("/api/threads/t").body["thread"];
  EXPECT_EQ(text(after["title"]), "Plans");
  EXPECT_EQ(to_json(after["metadata"]), R"({"b":2,"c":3})");
  EXPECT_TRUE(after["expiresAt"].is_null());
  EXPECT_EQ(get("/api/threads").body["threads"].as_array()->at(0)["title"], Value("Plans"));
  for (const char* wrong : {R"({"metadata":[]})", R"({"metadata":null})", R"({"expiresAt":"soon"})",
                            R"({"title":7})", R"({"name":"x"})"}) {
    EXPECT_EQ(patch(wrong).status, 422) << wrong;
  }
  EXPECT_EQ(send(request("PATCH", "/api/threads/none", R"({"title":"x"})")).status, 404);
}

TEST_F(ApiConversation, IsDeletedWithItsRuns) {
  ask("a");
  ask("b");
  auto deleted = send(request("DELETE", "/api/threads/t", ""));
  EXPECT_EQ(deleted.status, 200) << to_json(deleted.body);
  EXPECT_EQ(deleted.body["runs"], Value(2));
  EXPECT_EQ(get("/api/threads/t").status, 404);
  EXPECT_EQ(send(request("DELETE", "/api/threads/t", "")).status, 404);
  EXPECT_EQ(text(ask("c").body["status"]), "completed") << "its name is free";
}

TEST_F(ApiConversation, AnotherUserSeesNoneOfItsRuns) {
  RunId run = RunId(*uuid_from(text(ask("a").body["runId"])));
  Principal stranger = holder_of_key("zoe", Permission::read);
  ThreadId thread("t");
  RunPage page;
  page.thread = thread;
  HistoryPage history;
  history.thread = thread;
  history.run = run;
  EXPECT_EQ(block_on(loop, service->runs(stranger, page)).error().code, ErrorCode::not_found);
  EXPECT_EQ(block_on(loop, service->history(stranger, history)).error().code, ErrorCode::not_found);
  EXPECT_EQ(block_on(loop, service->thread(stranger, thread)).error().code, ErrorCode::not_found);
  EXPECT_EQ(block_on(loop, service->edit_thread(stranger, thread, {})).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(block_on(loop, service->delete_thread(stranger, thread)).error().code,
            ErrorCode::not_found);
  for (std::optional<RunId> named : {std::optional<RunId>(), std::optional(run)}) {
    auto row = block_on(loop, service->run_of(stranger, thread, named));
    ASSERT_FALSE(row.ok());
    EXPECT_EQ(row.error().message, "Unknown thread \"t\".");
    EXPECT_FALSE(block_on(loop, service->status(stranger, thread, std::nullopt, named)).ok());
    EXPECT_FALSE(block_on(loop, service->cancel(stranger, thread, "zoe", "", named)).ok());
  }
}

}  // namespace
}  // namespace belay::server
