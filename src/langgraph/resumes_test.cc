// Tests resumes that are sent again, stop part-way, are one vote of several, are made by another
// user, or decide at a checkpoint.

#include <algorithm>

#include "tests/support/agent_server_checkpoint_fixture.h"
#include "tests/support/crashing_store_fixture.h"
#include "tests/support/http_inbox.h"

namespace belay::langgraph {
namespace {

using server::text;

// Asks about the current lot, which another execution can find changed.
Graph<Poem> draw_graph(const int& lot) {
  GraphBuilder<Poem> graph{"draw"};
  graph.node("pick", [&lot](const Poem&, Context& context) {
    InterruptRequest question;
    question.name = "lot";
    question.text = "Take it?";
    question.payload = Value(static_cast<std::int64_t>(lot));
    bool is_taken = context.interrupt(std::move(question)).approved;
    return append(&Poem::log, is_taken ? "taken" : "left");
  });
  graph.edge(start, "pick").edge("pick", end);
  return std::move(graph).build().value();
}

// An approval that two persons must make.
Graph<Poem> ballot_graph() {
  GraphBuilder<Poem> graph{"ballot"};
  graph.approval("vote", &Poem::topic, {.question = "Elect?"})
      .approved("count")
      .rejected(end)
      .needs(2);
  graph.node("count", [](const Poem&, Context&) { return append(&Poem::log, "elected"); });
  graph.edge(start, "vote").edge("count", end);
  return std::move(graph).build().value();
}

struct Resumes : CheckpointFixture {
  int lot = 1;
  Graph<Poem> draw = draw_graph(lot), ballot = ballot_graph();
  std::unique_ptr<Store> kept = std::move(store);
  HaltingStore* halting = nullptr;

  Resumes() { restart(); }
  ~Resumes() override { end_process(); }

  void end_process() {
    api.reset();
    service.reset();
    runtime.reset();
    store.reset();
  }
  // Another process on the same store.
  void restart() {
    end_process();
    auto made = std::make_unique<HaltingStore>(*kept);
    halting = made.get();
    store = std::move(made);
    runtime = process();
    std::vector<std::shared_ptr<const GraphDefinition>> graphs{graph.definition()};
    for (const Graph<Poem>* each : {&poet, &pair, &guard, &stop, &draw, &ballot}) {
      runtime->add(*each);
      graphs.push_back(each->definition());
    }
    LocalServiceParts parts{*store, *store, *runtime, loop, clock, random, graphs, {}, {}};
    service = make_local_service(std::move(parts));
    serve();
  }

  void continue_orphans() {
    WorkerOptions work;
    work.until_idle = true;
    ASSERT_TRUE(block_on(loop, runtime->run_worker(std::move(work))).ok());
  }

  static std::string body_for(const std::string& agent, const std::string& more) {
    return R"({"assistant_id":")" + agent + "\"," + more + "}";
  }
  static std::string starts(const std::string& agent) {
    return body_for(agent, R"("input":{"topic":"rain"})");
  }
  static std::string answers(const std::string& agent, const std::string& reply,
                             const std::string& more = {}) {
    return body_for(agent, R"("command":{"resume":)" + reply + "}" + more);
  }
  std::string head() { return text(state()["checkpoint"]["checkpoint_id"]); }
  std::size_t run_count() { return size_of(get(runs("?limit=100")).body); }
  // The ids of the open interrupts of the thread, in the order of a resume.
  std::vector<std::string> open_ids() {
    std::vector<std::string> ids;
    Value tasks = state()["tasks"];
    for (const Value& task : *tasks.as_array()) {
      for (const Value& each : *task["interrupts"].as_array()) ids.push_back(text(each["id"]));
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  static std::string both(const std::vector<std::string>& ids, const std::string& reply) {
    return "{\"" + ids.at(0) + "\":" + reply + ",\"" + ids.at(1) + "\":" + reply + "}";
  }
  // Sends the request in a process that dies at its n-th commit. True if it has ended before.
  bool killed_at(int commit, bool lands, const std::string& body, const std::string& key) {
    halting->commits = 0;
    halting->halt_at = commit;
    halting->lands = lands;
    bool has_ended = false;
    Spawned spawned;
    loop.post([&] {
      spawned = spawn<http::Response>(loop, api->answer(keyed_request(runs(), body, key)),
                                      [&](const http::Response&) { has_ended = true; });
    });
    loop.run_until(clock.now() + std::chrono::seconds(100));
    spawned.reset();
    restart();
    return has_ended;
  }
};

TEST_F(Resumes, AtTheNewestCheckpointAreFoundByTheirKey) {
  run_of(about("urgent"));
  std::string body = resume("true", at(head()));
  auto first = keyed(body, "k");
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  joined(text(first.body["run_id"]));
  Value before = state();
  ASSERT_EQ(to_json(before["values"]["log"]), R"(["urgent","printed"])");
  auto again = keyed(body, "k");
  EXPECT_EQ(again.body["run_id"], first.body["run_id"]) << again.status;
  EXPECT_EQ(run_count(), 2u);
  EXPECT_EQ(state(), before);
}

TEST_F(Resumes, OfAnEarlierCheckpointAreFoundByTheirKey) {
  run_of(about("urgent"));
  std::string asked = head();
  run_of(resume("true"));
  std::string body = resume("true", at(asked));
  auto first = keyed(body, "k");
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  joined(text(first.body["run_id"]));
  auto again = keyed(body, "k");
  EXPECT_EQ(again.body["run_id"], first.body["run_id"]) << to_json(again.body);
  EXPECT_EQ(run_count(), 3u);
}

TEST_F(Resumes, AreNotTheOnlyRunsAtTheNewestCheckpointThatAreFound) {
  run_of(about("a"));
  std::string body = about("b", at(head()));
  auto first = keyed(body, "k");
  joined(text(first.body["run_id"]));
  auto again = keyed(body, "k");
  EXPECT_EQ(again.status, 200) << to_json(again.body);
  EXPECT_EQ(again.body["run_id"], first.body["run_id"]);
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["a","b"])");
  std::string breakpoint = R"(,"interrupt_before":"*")";
  run_of(about("c", breakpoint));
  body = go_on(at(head()));
  auto passed = keyed(body, "p");
  ASSERT_EQ(passed.status, 200) << to_json(passed.body);
  joined(text(passed.body["run_id"]));
  std::size_t count = run_count();
  again = keyed(body, "p");
  EXPECT_EQ(again.body["run_id"], passed.body["run_id"]) << to_json(again.body);
  EXPECT_EQ(run_count(), count);
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["a","b","c"])");
}

TEST_F(Resumes, OfAStartThatWaitsAtABreakpointAreNoneIfItIsSentAgain) {
  run_of(about("a"));
  std::string body = go_on(at(checkpoint_before("write")) + R"(,"interrupt_before":"*")");
  auto first = keyed(body, "k");
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  joined(text(first.body["run_id"]));
  Value before = state();
  auto again = keyed(body, "k");
  EXPECT_EQ(again.body["run_id"], first.body["run_id"]) << to_json(again.body);
  EXPECT_EQ(state(), before);
}

TEST_F(Resumes, ByACommandAreFoundByTheirKey) {
  run_of(about("urgent"));
  std::string params = R"({"id":1,"method":"run.start","params":{"assistant_id":"poet",)"
                       R"("input":true,"config":{"configurable":{"checkpoint_id":")";
  std::string body = params + head() + "\"}}}}";
  auto first = send(keyed_request(thread + "/commands", body, "k"));
  ASSERT_EQ(text(first.body["type"]), "success") << to_json(first.body);
  std::string run = text(first.body["result"]["run_id"]);
  joined(run);
  Value before = state();
  EXPECT_EQ(to_json(before["values"]["log"]), R"(["urgent","printed"])") << "it was an answer";
  auto again = send(keyed_request(thread + "/commands", body, "k"));
  EXPECT_EQ(text(again.body["result"]["run_id"]), run) << to_json(again.body);
  EXPECT_EQ(state(), before);
}

TEST_F(Resumes, ByACommandWithoutACheckpointAnswerTheInterrupt) {
  std::string params = R"({"id":1,"method":"run.start","params":{"assistant_id":"poet",)";
  std::string input = params + R"("input":{"topic":"urgent"}}})";
  auto begun = send(keyed_request(thread + "/commands", input, "start"));
  joined(text(begun.body["result"]["run_id"]));
  Value before = state();
  auto again = send(keyed_request(thread + "/commands", input, "start"));
  EXPECT_EQ(again.body["result"], begun.body["result"]) << "the input of a start is no answer";
  EXPECT_EQ(state(), before);
  auto answered = post(thread + "/commands",
                       params + R"("input":true,"config":{"configurable":{"checkpoint_id":""}}}})");
  joined(text(answered.body["result"]["run_id"]));
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["urgent","printed"])");
}

TEST_F(Resumes, AtACheckpointDecideOnlyAboutThePayloadThatItShows) {
  run_of(starts("draw"));
  std::string asked = head();
  run_of(answers("draw", "true"));
  lot = 2;
  auto inbox = std::make_shared<testing::HttpInbox>();
  agent_server.http = inbox;
  serve();
  auto refused = keyed(
      answers("draw", "true", at(asked) + R"(,"webhook":"https://hooks.example.com/a")"), "k");
  EXPECT_EQ(refused.status, 409) << to_json(refused.body);
  EXPECT_EQ(text(get(thread).body["status"]), "interrupted") << "the new question is open";
  EXPECT_EQ(open_ids().size(), 1u);
  loop.run_until(clock.now() + std::chrono::minutes(10));
  EXPECT_EQ(inbox->calls.size(), 1u) << "the run was started: its webhook receives its end";
  lot = 1;
  std::string run = run_of(answers("draw", "true", at(asked)));
  EXPECT_EQ(status_of_run(run), "success");
  EXPECT_EQ(to_json(state()["values"]["log"]), R"(["taken"])");
}

TEST_F(Resumes, AtACheckpointDecideAboutEachOfItsInterrupts) {
  run_of(starts("pair"));
  std::string asked = head();
  std::vector<std::string> ids = open_ids();
  ASSERT_EQ(ids.size(), 2u);
  run_of(answers("pair", both(ids, "true")));
  std::string run = run_of(answers("pair", both(ids, "false"), at(asked)));
  EXPECT_EQ(status_of_run(run), "success");
  EXPECT_TRUE(open_ids().empty());
  EXPECT_EQ(run_count(), 3u);
}

TEST_F(Resumes, OfOneVoteLeaveTheInterruptOpen) {
  add_key("ada", Permission::run);
  add_key("root", Permission::administer);
  add_key("chief", Permission::administer);
  std::string own = std::string("/threads/") + kThreadB;
  as("ada", "POST", "/threads", std::string(R"({"thread_id":")") + kThreadB + "\"}");
  ASSERT_EQ(as("ada", "POST", own + "/runs/wait", starts("ballot")).status, 200);
  loop.run_until(clock.now() + std::chrono::seconds(5));
  auto voted = as("root", "POST", own + "/runs", answers("ballot", "true"));
  ASSERT_EQ(voted.status, 200) << to_json(voted.body);
  std::string run = own + "/runs/" + text(voted.body["run_id"]);
  EXPECT_EQ(as("root", "GET", run).status, 200);
  EXPECT_EQ(as("ada", "GET", run).status, 200);
  Value values = streamed(as("root", "GET", run + "/join"));
  EXPECT_EQ(size_of(values["__interrupt__"]), 1u) << to_json(values);
  auto last = as("chief", "POST", own + "/runs/wait", answers("ballot", "true"));
  EXPECT_EQ(to_json(streamed(last)["log"]), R"(["elected"])") << last.status;
  values = streamed(as("root", "GET", run + "/join"));
  EXPECT_EQ(size_of(values["__interrupt__"]), 1u) << "as before";
}

TEST_F(Resumes, ByAnAdministratorAreRunsOfTheThreadsOwner) {
  add_key("ada", Permission::run);
  add_key("root", Permission::administer);
  std::string own = std::string("/threads/") + kThreadB;
  as("ada", "POST", "/threads", std::string(R"({"thread_id":")") + kThreadB + "\"}");
  streamed(as("ada", "POST", own + "/runs/wait", about("urgent")));
  std::string run;
  for (int sent = 0; sent < 2; ++sent) {
    auto made = keyed_request(own + "/runs", resume("true"), "k");
    made.headers.push_back({"X-Api-Key", "token-of-root"});
    auto decided = send(std::move(made));
    ASSERT_EQ(decided.status, 200) << to_json(decided.body);
    if (run.empty()) run = text(decided.body["run_id"]);
    EXPECT_EQ(text(decided.body["run_id"]), run);
    streamed(as("root", "GET", own + "/runs/" + run + "/join"));
  }
  EXPECT_EQ(text(as("ada", "GET", own + "/runs/" + run).body["status"]), "success");
  EXPECT_EQ(size_of(as("ada", "GET", own + "/runs").body), 2u);
}

TEST_F(Resumes, ByAnAdministratorAreFoundByTheirIdsByAdministratorsAndTheOwner) {
  std::map<std::string, Permission> others{
      {"chief", Permission::administer}, {"bob", Permission::decide}, {"eve", Permission::read}};
  add_key("ada", Permission::run);
  add_key("root", Permission::administer);
  for (const auto& [name, permission] : others) add_key(name, permission);
  std::string own = std::string("/threads/") + kThreadB;
  as("ada", "POST", "/threads", std::string(R"({"thread_id":")") + kThreadB + "\"}");
  streamed(as("ada", "POST", own + "/runs/wait", about("urgent")));
  std::string run = text(as("root", "POST", own + "/runs", resume("true")).body["run_id"]);
  streamed(as("root", "GET", own + "/runs/" + run + "/join"));
  std::string alone = "/runs/" + run + "/stream";
  std::string whole = lines_of(events_of(as("ada", "GET", own + alone)));
  EXPECT_NE(whole.find(run), std::string::npos) << whole;
  EXPECT_EQ(lines_of(events_of(as("root", "GET", alone))), whole);
  EXPECT_EQ(lines_of(events_of(as("chief", "GET", alone))), whole);
  EXPECT_EQ(lines_of(events_of(as("ada", "GET", alone))), whole);
  EXPECT_EQ(as("bob", "GET", alone).status, 404);
  EXPECT_EQ(as("eve", "GET", alone).status, 404);
  EXPECT_EQ(as("ada", "DELETE", own).status, 204);
  EXPECT_EQ(as("root", "GET", alone).status, 404) << "the thread is deleted";
}

TEST_F(Resumes, ThatStoppedPartWayAreNotDone) {
  run_of(starts("pair"));
  std::vector<std::string> ids = open_ids();
  ASSERT_EQ(ids.size(), 2u);
  std::string all = answers("pair", both(ids, "true"));
  std::string second = answers("pair", "{\"" + ids[1] + "\":false}");
  std::optional<http::Response> whole, part;
  halting->takes = std::chrono::milliseconds(10);  // both read the thread before the first commit
  Spawned one, other;
  loop.post([&] {
    other = spawn<http::Response>(loop, api->answer(request("POST", runs(), second)),
                                  [&](http::Response made) { part = std::move(made); });
    one = spawn<http::Response>(loop, api->answer(keyed_request(runs(), all, "k")),
                                [&](http::Response made) { whole = std::move(made); });
  });
  loop.run_until(clock.now() + std::chrono::seconds(30));
  ASSERT_TRUE(whole && part);
  ASSERT_EQ(part->status, 200) << part->body;
  EXPECT_EQ(whole->status, 409) << whole->body;
  EXPECT_EQ(keyed(all, "k").status, 409) << "one of its decisions was never made";
}

TEST_F(Resumes, ThatAreRefusedBeforeTheirFirstDecisionLeaveNoRecord) {
  run_of(starts("pair"));
  std::vector<std::string> ids = open_ids();
  std::string faulty = "{\"" + ids.at(0) + "\":true,\"" + ids.at(1) + R"(":{"choice":"burn"}})";
  EXPECT_EQ(post(runs(), answers("pair", faulty)).status, 422);
  EXPECT_EQ(open_ids(), ids);
  EXPECT_EQ(run_count(), 1u);
}

TEST_F(Resumes, AtACheckpointAnswerAnInterruptThatTheEndOfItsRunHasClosed) {
  for (bool is_newest : {true, false}) {
    std::string run = run_of(about("urgent"));
    std::string asked = head();
    ASSERT_EQ(post(runs("/" + run + "/cancel"), "{}").status, 202);
    if (!is_newest) run_of(about("calm"));
    std::string answer = run_of(resume("true", at(asked)));
    EXPECT_EQ(status_of_run(answer), "success");
    Value log = state()["values"]["log"];
    ASSERT_GE(size_of(log), 2u) << is_newest;
    EXPECT_EQ(text(log.as_array()->back()), "printed") << to_json(log);
  }
}

// The process ends at each of the commits of the request, before and after the commit is stored.
TEST_F(Resumes, KilledAtAnyCommitAreCompletedByTheSameRequest) {
  int kills = 0;
  for (bool is_earlier : {false, true}) {
    for (bool lands : {false, true}) {
      bool has_ended = false;
      for (int commit = 1; !has_ended; ++commit) {
        ASSERT_LT(commit, 30);
        call("DELETE", thread);
        post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
        run_of(starts("pair"));
        std::string asked = head();
        std::vector<std::string> ids = open_ids();
        ASSERT_EQ(ids.size(), 2u);
        if (is_earlier) run_of(answers("pair", both(ids, "false")));
        std::size_t before = run_count();
        std::string key = "k" + std::to_string(++kills);
        std::string body = answers("pair", both(ids, "true"), is_earlier ? at(asked) : "");
        has_ended = killed_at(commit, lands, body, key);
        for (int sent = 0; sent < 2; ++sent) {
          continue_orphans();
          auto again = keyed(body, key);
          continue_orphans();
          ASSERT_EQ(again.status, 200) << commit << lands << to_json(again.body);
          joined(text(again.body["run_id"]));
          EXPECT_EQ(text(get(thread).body["status"]), "idle") << commit << lands << is_earlier;
          EXPECT_EQ(run_count(), before + 1) << commit << lands << is_earlier;
        }
      }
    }
  }
  EXPECT_GE(kills, 16);
}

}  // namespace
}  // namespace belay::langgraph
