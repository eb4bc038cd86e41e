// Every request that changes data, sent twice concurrently to two servers with one store, and
// again later, also after both were restarted: each time the same final response, and one effect.
// The list of requests comes from the servers' own description; the test fails if a new one has no
// case here.
//
// Long on purpose: the requests are the cases of one test.

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/sent_again.h"

namespace belay::cli::tests {
namespace {

Value without(Value document, const std::set<std::string>& members) {
  // They depend on the time or on which request was first.
  static const std::set<std::string> always{"updatedAt", "workedMs", "createdAt", "answer",
                                            "result",    "message",  "title",     "status"};
  if (Value::Array* items = document.as_array()) {
    for (Value& item : *items) item = without(std::move(item), members);
    return document;
  }
  Value::Object* object = document.as_object();
  if (!object) return document;
  bool is_problem = object->contains("code") && object->contains("detail");
  for (const std::string& name : always) {
    if (name != "status" || is_problem) object->erase(name);
  }
  for (const std::string& name : members) object->erase(name);
  for (auto& [name, member] : *object) member = without(std::move(member), members);
  return document;
}

class CliSentAgain : public ::testing::Test {
 protected:
  static constexpr const char* kDay = "2026-11-21";

  void SetUp() override {
    std::filesystem::create_directories(world.folder.file("data/edgar"));
    std::filesystem::copy_file(BELAY_SOURCE_DIR "/agents/research/data/edgar/CIK0000320193.json",
                               facts_file());
    world.setting.environment["BELAY_RESEARCH_DATA"] = world.folder.file("data");
    for (World* each : {&world, &elsewhere}) {
      ASSERT_EQ(each->run({"notes", "import", "-"}, note_line(kDay, hard_day())).code, 0);
    }
    start_servers();
  }
  void start_servers() {
    one = std::make_unique<Served>(world.setting);
    other = std::make_unique<Served>(world.setting);
    ASSERT_TRUE(one->is_up() && other->is_up());
  }

  static net::HttpRequest request_to(Served& served, const Sent& sent) {
    net::HttpRequest request;
    request.method = sent.method;
    request.url = served.url(sent.path);
    request.headers = sent.headers;
    request.body = sent.body;
    if (!sent.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    return request;
  }
  static Task<Result<std::vector<Got>>> both(net::HttpClient& client, Executor& executor,
                                             net::HttpRequest first, net::HttpRequest second) {
    Completion<Got> here;
    std::function<void(Got)> told = [here](Got got) { here.complete(std::move(got)); };
    auto task = exchange(client, std::move(first));
    Spawned running = spawn<Got>(executor, std::move(task), std::move(told));
    std::vector<Got> got(2);
    got[1] = co_await exchange(client, std::move(second));
    got[0] = co_await here;
    co_return std::move(got);
  }
  std::vector<Got> send_to_both(const Sent& sent) {
    auto task = both(one->client(), one->loop(), request_to(*one, sent), request_to(*other, sent));
    return block_on(one->loop(), std::move(task)).value();
  }
  // Each removal of checkpoints leaves a mark for a day: agents/checkpointer/thread_gates.h.
  std::int64_t marks_of_removals() {
    Value found = one->get("/api/records/langgraph_closed_gates?limit=1000").json();
    const Value::Array* marks = found["records"].as_array();
    EXPECT_TRUE(marks);
    return marks ? static_cast<std::int64_t>(marks->size()) : 0;
  }
  // Returns the number of rows of each table, except the rows of live processes.
  // The usage of ended runs is counted first: a server does so at some time, and when it ends.
  std::string rows() {
    std::string text;
    EXPECT_EQ(world.run({"analytics"}).code, 0);
    Value store = one->get("/api/store").json();
    for (const Value& table : *store["tables"].as_array()) {
      std::string name = tests::text(table["name"]);
      std::int64_t rows = table["rows"].as_int().value_or(0);
      if (name == "records") rows -= marks_of_removals();
      if (name != "sessions") text += name + " " + std::to_string(rows) + "\n";
    }
    return text;
  }

  // Creates a thread that waits for a person.
  static std::string paused(Served& served, const std::string& name) {
    Got begun = served.post("/api/agents/daily-audit", R"({"date":")" + std::string(kDay) +
                                                           R"(","threadId":")" + name + "\"}");
    EXPECT_EQ(begun.status, 202) << begun.body;
    return name;
  }
  World world;
  World elsewhere;  // another store
  std::unique_ptr<Served> one;
  std::unique_ptr<Served> other;

  // Sends the request to a thread of that name, which waits for a person.
  static Prepare on_paused(std::string name, std::string before, std::string after,
                           std::string body = "{}", std::string method = "POST") {
    return [name, before, after, body, method](Served& served) {
      return Sent{method, before + paused(served, name) + after, body};
    };
  }

  std::vector<Case> cases();
  static void add_start_cases(std::vector<Case>& all);
  void add_thread_cases(std::vector<Case>& all);
  static void add_decision_cases(std::vector<Case>& all);
  static void add_store_cases(std::vector<Case>& all);
  static void add_record_cases(std::vector<Case>& all);
  static void add_goal_cases(std::vector<Case>& all);
  static void add_schedule_cases(std::vector<Case>& all);
  void add_analysis_cases(std::vector<Case>& all);
  // Starts an analysis that waits before its final scoring; returns its path.
  static std::string waiting_analysis(Served& served, const std::string& key);
  std::string facts_file() const { return world.folder.file("data/edgar/CIK0000320193.json"); }
};

std::vector<Case> CliSentAgain::cases() {
  std::vector<Case> all;
  add_start_cases(all);
  add_thread_cases(all);
  add_decision_cases(all);
  for (auto* cases_of : {checkpointer_cases, agent_server_cases, a2a_cases, ag_ui_cases}) {
    for (Case& each : cases_of()) all.push_back(std::move(each));
  }
  add_analysis_cases(all);  // before the case that prunes what they leave
  add_store_cases(all);
  add_record_cases(all);
  add_goal_cases(all);
  add_schedule_cases(all);
  return all;
}

void CliSentAgain::add_start_cases(std::vector<Case>& all) {
  std::string named = R"({"input":{"date":"2026-11-21"},"threadId":"started"})";
  all.push_back({"startRun", at("/api/agents/daily_auditor/runs", named), {202}, {202}});
  Sent audit{"POST",
             "/api/agents/daily-audit",
             R"({"date":"2026-11-21"})",
             {{"Idempotency-Key", "audit-1"}}};
  all.push_back({"startDailyAudit", as_it_is(std::move(audit)), {202}, {202}});
  std::string routine = R"({"date":"2026-11-21","threadId":"routine"})";
  all.push_back({"generateRoutine", at("/api/agents/generate-routine", routine), {202}, {202}});
  const char* call = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{)"
                     R"("name":"daily_auditor","arguments":{"date":"2026-11-21"},)"
                     R"("_meta":{"belay/idempotencyKey":"mcp-1"}}})";
  all.push_back({"callMcp", at("/mcp", call)});
  Prepare fork = [](Served& served) {
    paused(served, "forked");
    return Sent{
        "POST", "/api/threads/forked/fork", R"({"seq":2})", {{"Idempotency-Key", "fork-1"}}};
  };
  all.push_back({"forkThread", std::move(fork), {202}, {202}});
}

void CliSentAgain::add_thread_cases(std::vector<Case>& all) {
  Prepare import = [this](Served&) {
    EXPECT_EQ(elsewhere.run({"run", "daily-audit", "--date", kDay, "--thread", "moved"}).code, 3);
    EXPECT_EQ(elsewhere.run({"approvals", "approve", "moved", "--by", "ana"}).code, 0);
    std::string file = elsewhere.run({"export", "moved"}).out;
    return Sent{"POST", "/api/threads/import", "{\"file\":" + file + "}"};
  };
  const std::string threads = "/api/threads/";
  all.push_back({"importThread", std::move(import), {201}, {201}});
  all.push_back({"resumeThread", on_paused("resumed", threads, "/resume"), {202}, {202}});
  all.push_back({"cancelThread", on_paused("cancelled", threads, "/cancel")});
  Prepare steering = [](Served& served) {
    paused(served, "steered");
    return Sent{"POST",
                "/api/threads/steered/steering",
                R"({"text":"Be brief."})",
                {{"Idempotency-Key", "steer-1"}}};
  };
  all.push_back({"steerRun", std::move(steering), {202}, {202}});
  all.push_back({"cancelAgent", on_paused("stopped", "/api/agents/cancel/", "")});
  all.push_back({"replayThread", on_paused("replayed", threads, "/replay")});
  const std::string title = R"({"title":"A hard day"})";
  all.push_back({"editThread", on_paused("titled", threads, "", title, "PATCH")});
  Prepare deletion = [](Served& served) {
    paused(served, "deleted");
    EXPECT_EQ(served.post("/api/threads/deleted/cancel").status, 200);
    return Sent{"DELETE", "/api/threads/deleted", ""};
  };
  all.push_back({"deleteThread", std::move(deletion), {200, 404}, {404}});
  all.push_back({"preserveThread", on_paused("kept", threads, "/preserved", "", "PUT")});
  all.push_back({"unpreserveThread", on_paused("let", threads, "/preserved", "", "DELETE")});
}

void CliSentAgain::add_decision_cases(std::vector<Case>& all) {
  const std::string yes = R"({"approved":true,"comment":"fine"})";
  all.push_back({"decide", on_paused("decided", "/api/approvals/", "/decision", yes)});
  const std::string choice = R"({"choice":"approve","comment":"fine"})";
  all.push_back({"decide", on_paused("chosen", "/api/approvals/", "/decision", choice)});
  const std::string redo = R"({"choice":"redo"})";
  all.push_back(
      {"decide", on_paused("undecided", "/api/approvals/", "/decision", redo), {422}, {422}});
  all.push_back({"approveThread", on_paused("approved", "/api/agents/approve/", "", yes)});
  all.push_back({"approveDailyAudit", on_paused("rejected", "/api/agents/daily-audit/", "/approve",
                                                R"({"approved":false})")});
  Prepare routine = [yes](Served& served) {
    Got begun = served.post("/api/agents/generate-routine",
                            R"({"date":"2026-11-21","threadId":"planned"})");
    EXPECT_EQ(begun.status, 202) << begun.body;
    return Sent{"POST", "/api/agents/routine/planned/approve", yes};
  };
  all.push_back({"approveRoutine", std::move(routine)});
}

void CliSentAgain::add_store_cases(std::vector<Case>& all) {
  std::string queue = R"({"paused":true,"runsMax":3})";
  all.push_back({"changeQueue", at("/api/queues/mails", queue)});
  // The queue has no runs: the number of those that a request cancels would differ.
  all.push_back({"clearQueue", at("/api/queues/cleared/clear")});
  // Belay's own agents publish no messages: no request can find one to retry.
  const std::string message = "/api/outbox/00000000-0000-4000-8000-000000000001/2/0/";
  all.push_back({"retryMessage", at(message + "retry"), {404}, {404}});
  all.push_back({"giveUpMessage", at(message + "give-up"), {404}, {404}});
  std::string records = R"({"records":[{"collection":"things","key":"k","json":"1","indexed":[],)"
                        R"("erase":false}]})";
  all.push_back({"saveRecords", at("/api/records", std::move(records))});
  // One of the requests removes the expired records.
  std::set<std::string> expired{"expiredRecords"};
  all.push_back({"pruneStore",
                 at("/api/store/prune", R"({"keepHours":1000})"),
                 {200},
                 {200},
                 std::move(expired)});
  std::set<std::string> sizes{"bytesBefore", "bytesAfter"};
  all.push_back({"compactStore", at("/api/store/compact"), {200}, {200}, std::move(sizes)});
  // Other cases start runs between the two counts: the request itself still changes nothing.
  std::set<std::string> counts{"runs", "checkpoints", "approvals"};
  all.push_back({"checkStore", at("/api/store/check"), {200}, {200}, std::move(counts)});
}

void CliSentAgain::add_record_cases(std::vector<Case>& all) {
  const std::string whole_day =
      R"("activities":[{"time":"08:00","activity":"Breakfast","expectedBenefit":"Strength"},)"
      R"({"time":"12:00","activity":"A walk","expectedBenefit":"Rest"},)"
      R"({"time":"22:00","activity":"Sleep","expectedBenefit":"Rest"}])";
  struct Kind {
    std::string plural, singular, content, key_begin;
  };
  const Kind kinds[] = {
      {"notes", "Note", R"("content":"Slept.")", "note-"},
      {"summaries", "Summary", R"("summary":"Calm.")", ""},
      {"routines", "Routine", whole_day, ""},
  };
  for (const Kind& kind : kinds) {
    std::string path = "/api/" + kind.plural;
    auto body = [&kind](const std::string& date) {
      return R"({"date":")" + date + "\"," + kind.content + "}";
    };
    auto address = [&](const std::string& date) { return path + "/" + kind.key_begin + date; };
    all.push_back({"create" + kind.singular, at(path, body("2026-10-01")), {200, 201}, {200}});
    Sent replaced{"PUT", address("2026-10-02"), body("2026-10-02")};
    all.push_back({"replace" + kind.singular, as_it_is(std::move(replaced)), {200, 201}, {200}});
    Prepare erased = [at_day = address("2026-10-03"), made = body("2026-10-03")](Served& served) {
      EXPECT_EQ(served.send("PUT", at_day, made).status, 201);
      return Sent{"DELETE", at_day, ""};
    };
    // If the record no longer exists, it is not found: the effect is the same (RFC 9110, 9.2.2).
    all.push_back({"delete" + kind.singular, std::move(erased), {204, 404}, {404}});
  }
}

void CliSentAgain::add_goal_cases(std::vector<Case>& all) {
  // Returns the path of a goal of that name.
  auto goal = [](Served& served, const std::string& key) {
    Got made =
        served.send("POST", "/api/goals", R"({"objective":"Find it"})", {{"Idempotency-Key", key}});
    EXPECT_EQ(made.status, 201) << made.body;
    return "/api/goals/" + text(made.json()["id"]);
  };
  Sent created{"POST", "/api/goals", R"({"objective":"Find it"})", {{"Idempotency-Key", "goal-1"}}};
  all.push_back({"createGoal", as_it_is(std::move(created)), {200, 201}, {200}});
  Prepare edited = [goal](Served& served) {
    return Sent{"PATCH", goal(served, "edited"), R"({"params":{"stepBudget":3}})"};
  };
  all.push_back({"editGoal", std::move(edited)});
  for (const char* verb : {"pause", "resume"}) {
    Prepare status = [goal, verb](Served& served) {
      return Sent{"POST", goal(served, verb) + "/" + verb};
    };
    all.push_back({std::string(verb) + "Goal", std::move(status)});
  }
  Prepare deleted = [goal](Served& served) { return Sent{"DELETE", goal(served, "deleted"), ""}; };
  all.push_back({"deleteGoal", std::move(deleted), {204, 404}, {404}});
  // In a paused queue, the run remains queued.
  Prepare triggered = [goal](Served& served) {
    EXPECT_EQ(served.post("/api/queues/goals", R"({"paused":true})").status, 200);
    Sent sent{"POST", goal(served, "triggered") + "/trigger"};
    sent.headers = {{"Idempotency-Key", "trigger-1"}};
    return sent;
  };
  all.push_back({"triggerGoal", std::move(triggered), {202}, {202}});
}

void CliSentAgain::add_schedule_cases(std::vector<Case>& all) {
  // The first tick is years ahead: the scheduler changes nothing meanwhile.
  auto members = [](const std::string& name) {
    return R"({"name":")" + name + R"(","expression":"0 0 29 2 *","agent":"daily_auditor",)" +
           R"("input":{"date":"2026-11-21"},"queue":"scheduled"})";
  };
  auto schedule = [members](Served& served, const std::string& name) {
    Got made = served.post("/api/schedules", members(name));
    EXPECT_EQ(made.status, 201) << made.body;
    return "/api/schedules/" + name;
  };
  all.push_back({"createSchedule", at("/api/schedules", members("made")), {200, 201}, {200}});
  Prepare edited = [schedule](Served& served) {
    return Sent{"PATCH", schedule(served, "edited"), R"({"overlap":"allow"})"};
  };
  all.push_back({"editSchedule", std::move(edited)});
  Prepare deleted = [schedule](Served& served) {
    return Sent{"DELETE", schedule(served, "deleted"), ""};
  };
  all.push_back({"deleteSchedule", std::move(deleted), {200, 404}, {404}});
  // In a paused queue, the runs remain queued.
  Prepare started = [schedule](Served& served) {
    EXPECT_EQ(served.post("/api/queues/scheduled", R"({"paused":true})").status, 200);
    Sent sent{"POST", schedule(served, "started") + "/run"};
    sent.headers = {{"Idempotency-Key", "schedule-1"}};
    return sent;
  };
  all.push_back({"runSchedule", std::move(started), {202}, {202}});
  Prepare filled = [schedule](Served& served) {
    return Sent{"POST", schedule(served, "filled") + "/backfill",
                R"({"after":"2020-02-01T00:00:00Z","until":"2024-03-01T00:00:00Z"})"};
  };
  // The second request starts no run.
  all.push_back({"backfillSchedule", std::move(filled), {200}, {200}, {"started"}});
}

std::string CliSentAgain::waiting_analysis(Served& served, const std::string& key) {
  Got begun = served.send("POST", "/api/analyses", R"({"ticker":"AAPL","only":["strategy"]})",
                          {{"Idempotency-Key", key}});
  EXPECT_EQ(begun.status, 202) << begun.body;
  return "/api/analyses/" + text(begun.json()["analysis"]);
}

void CliSentAgain::add_analysis_cases(std::vector<Case>& all) {
  Sent created{"POST",
               "/api/analyses",
               R"({"ticker":"AAPL","only":["growth"]})",
               {{"Idempotency-Key", "analysis-1"}}};
  all.push_back({"createAnalysis", as_it_is(std::move(created))});
  // In a paused queue, the runs remain queued.
  Prepare batch = [](Served& served) {
    EXPECT_EQ(served.post("/api/queues/analyses", R"({"paused":true})").status, 200);
    return Sent{"POST", "/api/analyses/batch",
                R"({"tickers":["AAPL","ZZZZ=99"],"batch":"b","queue":"analyses"})"};
  };
  all.push_back({"createAnalysisBatch", std::move(batch), {202}, {202}});
  Prepare pause = [](Served& served) {
    return Sent{"POST", waiting_analysis(served, "analysis-2") + "/pause"};
  };
  all.push_back({"pauseAnalysis", std::move(pause)});
  Prepare resume = [](Served& served) {
    return Sent{"POST", waiting_analysis(served, "analysis-3") + "/resume"};
  };
  all.push_back({"resumeAnalysis", std::move(resume)});
  // The final scoring fails once, because its file has changed.
  Prepare retry = [this](Served& served) {
    std::string path = waiting_analysis(served, "analysis-4");
    std::filesystem::copy_file(facts_file(), world.folder.file("facts"));
    std::ofstream(facts_file(), std::ios::app) << "\n";
    EXPECT_EQ(served.post(path + "/resume").status, 202);
    std::filesystem::copy_file(world.folder.file("facts"), facts_file(),
                               std::filesystem::copy_options::overwrite_existing);
    return Sent{"POST", path + "/retry", R"({"specialist":"strategy"})"};
  };
  all.push_back({"retryAnalysis", std::move(retry)});
}

TEST_F(CliSentAgain, EachRequestThatChangesSomethingHasOneFinalAnswerAndOneEffect) {
  std::set<std::string> described;
  Value description = one->get("/openapi.json").json();
  for (const auto& [path, methods] : *description["paths"].as_object()) {
    for (const auto& [method, operation] : *methods.as_object()) {
      if (method == "get") continue;
      if (!operation.find("x-served-by")) described.insert(text(operation["operationId"]));
      const Value::Array* others = operation["x-other-paths"].as_array();
      if (!others) continue;
      for (const Value& path_of : *others) described.insert(text(path_of["operationId"]));
    }
  }
  std::vector<Case> all = cases();
  std::set<std::string> played;
  for (const Case& each : all) played.insert(each.operation);
  ASSERT_EQ(played, described) << "each request that changes something is a case, and no other";

  std::vector<Sent> sent;
  std::vector<Value> finals;
  for (const Case& each : all) {
    SCOPED_TRACE(each.operation);
    sent.push_back(each.prepare(*one));
    std::vector<Got> got = send_to_both(sent.back());
    for (const Got& answer : got) {
      EXPECT_TRUE(each.statuses.contains(answer.status)) << answer.status << answer.body;
    }
    Value first = without(got[0].json(), each.except);
    Value second = without(got[1].json(), each.except);
    bool is_gone = got[0].status != got[1].status && each.again.contains(404);
    EXPECT_TRUE(is_gone || first == second) << to_json(first) << "\n" << to_json(second);
    finals.push_back(std::move(first));
  }
  std::string before = rows();
  auto send_all_again = [&](const std::string& when) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      SCOPED_TRACE(all[i].operation + " " + when);
      for (const Got& answer : send_to_both(sent[i])) {
        EXPECT_TRUE(all[i].again.contains(answer.status)) << answer.status << answer.body;
        if (all[i].again.contains(404)) continue;
        Value document = without(answer.json(), all[i].except);
        EXPECT_EQ(document, finals[i]) << to_json(document) << "\n" << to_json(finals[i]);
      }
    }
    EXPECT_EQ(rows(), before) << when;
  };
  send_all_again("later");
  one->process().send(SIGKILL);
  other->process().send(SIGTERM);
  other->process().finish();
  start_servers();
  send_all_again("after the servers were started anew");
  Outcome checked = world.run({"check"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
}

}  // namespace
}  // namespace belay::cli::tests
