#include "langgraph/assistants.h"
#include "langgraph/cron_records.h"
#include "scheduler/scheduler.h"
#include "tests/support/agent_server_fixture.h"
#include "tests/support/http_inbox.h"

namespace belay::langgraph {
namespace {

using server::text;

struct Crons : AgentServerFixture {
  const cron::ZoneDatabase zones;

  static std::string body(const std::string& more = {}) {
    return R"({"assistant_id":"mail","schedule":"*/5 * * * *","input":{"topic":"news"})" + more +
           "}";
  }
  Value add(const std::string& more = {}, const std::string& path = "/runs/crons") {
    auto made = post(path, body(more));
    EXPECT_EQ(made.status, 200) << to_json(made.body);
    return made.body;
  }
  Answered keyed(const std::string& more) {
    auto made = request("POST", "/runs/crons", body(more));
    made.headers.push_back({"Idempotency-Key", "k"});
    return send(std::move(made));
  }
  static std::string path_of(const Value& cron) { return "/runs/crons/" + text(cron["cron_id"]); }
  // Moves the clock, and decides the ticks that are due then, as a worker does.
  std::size_t pass(std::chrono::seconds time) {
    clock.move(time);
    scheduler::SchedulerParts parts{*store, *service, clock, zones, default_tenant()};
    return block_on(loop, scheduler::process_due_schedules(std::move(parts))).value();
  }
  Value get_cron(const Value& cron) {
    Value found = post("/runs/crons/search", "{}").body;
    for (const Value& each : *found.as_array()) {
      if (each["cron_id"] == cron["cron_id"]) return each;
    }
    return Value();
  }
  // Executes the runs that wait in the queue.
  void work() {
    RunPage page;
    page.limit = 100;
    for (const RunRow& row : block_on(loop, service->runs(Principal(), std::move(page))).value()) {
      (void)block_on(loop, runtime->resume(default_tenant(), row.thread));
    }
  }
  std::size_t threads() { return size_of(post("/threads/search", R"({"limit":100})").body); }
  // Executes the runs, and what follows their ends.
  void finish() {
    work();
    loop.run_until(clock.now() + std::chrono::minutes(1));
  }
  std::size_t schedules() {
    return block_on(loop, service->schedules().list(Principal(), {})).value().schedules.size();
  }
};

TEST_F(Crons, HaveTheMembersOfTheirScheduleAndTheNextDate) {
  Value cron = add(R"(,"timezone":"Europe/Madrid","metadata":{"a":1},"unknown":true,)"
                   R"("config":{"configurable":{"m":"x"}},"on_run_completed":"keep")");
  EXPECT_TRUE(uuid_from(text(cron["cron_id"])));
  EXPECT_EQ(text(cron["assistant_id"]), system_assistant_id("mail"));
  EXPECT_TRUE(cron["thread_id"].is_null());
  EXPECT_EQ(text(cron["schedule"]), "*/5 * * * *");
  EXPECT_EQ(text(cron["timezone"]), "Europe/Madrid");
  EXPECT_TRUE(cron["end_time"].is_null());
  EXPECT_EQ(cron["enabled"], Value(true));
  EXPECT_EQ(text(cron["next_run_date"]), "2026-11-21T12:05:00.000000Z");
  EXPECT_EQ(text(cron["payload"]["input"]["topic"]), "news");
  EXPECT_EQ(text(cron["payload"]["config"]["configurable"]["m"]), "x");
  EXPECT_EQ(to_json(cron["metadata"]), R"({"a":1})");
  EXPECT_EQ(text(cron["on_run_completed"]), "keep");
}

TEST_F(Crons, StartARunInANewThreadAtEachTick) {
  add();
  EXPECT_EQ(pass(std::chrono::seconds(60)), 0u);
  EXPECT_EQ(pass(std::chrono::seconds(240)), 1u);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u) << "enqueue: also if the first run waits";
  auto found = post("/threads/search", R"({"metadata":{"graph_id":"mail"},"status":"busy"})");
  ASSERT_EQ(size_of(found.body), 2u) << to_json(found.body);
  EXPECT_NE(found.body.as_array()->front()["thread_id"],
            found.body.as_array()->back()["thread_id"]);
  EXPECT_EQ(text(found.body.as_array()->front()["values"]["topic"]), "news");
}

TEST_F(Crons, GiveEachRunTheirBreakpoints) {
  Value cron = add(R"(,"interrupt_before":"*")");
  EXPECT_EQ(text(cron["payload"]["interrupt_before"]), "*");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  work();
  auto held = post("/threads/search", R"({"status":"interrupted"})");
  EXPECT_EQ(size_of(held.body), 2u) << to_json(held.body);
  ASSERT_EQ(call("PATCH", path_of(cron), R"({"interrupt_before":null})").status, 200);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  work();
  auto ended = post("/threads/search", R"({"status":"idle"})");
  EXPECT_EQ(size_of(ended.body), 3u) << "the new one stops nowhere, and the others were resumed";
}

TEST_F(Crons, OfAThreadContinueIt) {
  post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
  std::string path = std::string("/threads/") + kThreadA;
  Value cron = add(R"(,"multitask_strategy":"reject")", path + "/runs/crons");
  EXPECT_EQ(text(cron["thread_id"]), kThreadA);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  EXPECT_EQ(text(get(path).body["status"]), "busy");
  EXPECT_EQ(pass(std::chrono::seconds(300)), 0u) << "reject: the first run has not ended";
  EXPECT_EQ(post("/threads/none/runs/crons", body()).status, 404);
}

TEST_F(Crons, DisabledOnesStartNothing) {
  Value cron = add(R"(,"enabled":false)");
  EXPECT_EQ(cron["enabled"], Value(false));
  EXPECT_TRUE(cron["next_run_date"].is_null());
  EXPECT_EQ(pass(std::chrono::seconds(300)), 0u);
  auto enabled = call("PATCH", path_of(cron), R"({"enabled":true})");
  ASSERT_EQ(enabled.status, 200) << to_json(enabled.body);
  EXPECT_EQ(text(enabled.body["next_run_date"]), "2026-11-21T12:10:00.000000Z");
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
}

TEST_F(Crons, AChangeKeepsTheMembersThatItOmits) {
  Value cron = add(R"(,"metadata":{"a":1},"context":{"c":2})");
  auto changed = call("PATCH", path_of(cron),
                      R"({"schedule":"0 9 * * *","metadata":{"b":2},"input":{"topic":"urgent"}})");
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  EXPECT_EQ(text(changed.body["schedule"]), "0 9 * * *");
  EXPECT_EQ(text(changed.body["next_run_date"]), "2026-11-22T09:00:00.000000Z");
  EXPECT_EQ(to_json(changed.body["metadata"]), R"({"a":1,"b":2})");
  EXPECT_EQ(to_json(changed.body["payload"]["context"]), R"({"c":2})");
  EXPECT_EQ(text(changed.body["payload"]["input"]["topic"]), "urgent");
  EXPECT_EQ(changed.body["created_at"], cron["created_at"]);
  auto again = call("PATCH", path_of(cron), R"({"timezone":"Asia/Tokyo"})");
  EXPECT_EQ(text(again.body["next_run_date"]), "2026-11-22T00:00:00.000000Z");
  EXPECT_EQ(text(again.body["payload"]["input"]["topic"]), "urgent");
  EXPECT_EQ(pass(std::chrono::hours(12)), 1u);
  auto found = post("/threads/search", R"({"values":{"topic":"urgent"}})");
  EXPECT_EQ(size_of(found.body), 1u);
}

TEST_F(Crons, DeletedOnesStartNothing) {
  Value cron = add();
  EXPECT_EQ(call("DELETE", path_of(cron)).status, 204);
  EXPECT_EQ(call("DELETE", path_of(cron)).status, 404);
  EXPECT_EQ(call("PATCH", path_of(cron), "{}").status, 404);
  EXPECT_EQ(schedules(), 0u);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 0u);
  EXPECT_EQ(call("DELETE", "/runs/crons/x").status, 404);
}

TEST_F(Crons, ARequestThatIsSentAgainWithItsKeyMakesOne) {
  auto first = keyed("");
  ASSERT_EQ(first.status, 200) << to_json(first.body);
  EXPECT_EQ(keyed("").body, first.body);
  EXPECT_EQ(keyed(R"(,"metadata":{"a":1})").status, 409);
  call("PATCH", path_of(first.body), R"({"enabled":false})");
  EXPECT_EQ(keyed("").body["enabled"], Value(false)) << "it is not enabled again";
  EXPECT_EQ(schedules(), 1u);
}

TEST_F(Crons, ACrashDuringTheCreationLeavesNothingThatStarts) {
  Value cron = keyed("").body;
  std::string name = "cron-" + text(cron["cron_id"]);
  UserId user(text(cron["user_id"]));
  // The contents of the store after the second and the first of the three commits.
  ScheduleChange unfinished;
  unfinished.paused = true;
  unfinished.reason = "The cron is being saved.";
  for (bool has_record : {true, false}) {
    block_on(loop, service->schedules().edit(Principal(), user, name, unfinished)).value();
    if (!has_record) {
      std::vector<RecordWrite> writes;
      writes.push_back(record_erasure(CronRecord::collection, user, text(cron["cron_id"])));
      ASSERT_TRUE(block_on(loop, service->save_records(Principal(), std::move(writes))).ok());
    }
    EXPECT_EQ(pass(std::chrono::seconds(300)), 0u);
    auto again = keyed("");
    ASSERT_EQ(again.status, 200) << to_json(again.body);
    EXPECT_EQ(again.body["cron_id"], cron["cron_id"]);
    EXPECT_EQ(again.body["enabled"], Value(true));
    EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  }
}

TEST_F(Crons, OneWhoseScheduleIsGoneIsNoneAndCanBeDeleted) {
  Value cron = add();
  std::string name = "cron-" + text(cron["cron_id"]);
  ASSERT_TRUE(
      block_on(loop, service->schedules().remove(Principal(), UserId(text(cron["user_id"])), name))
          .ok());
  EXPECT_EQ(post("/runs/crons/count", "{}").body, Value(0));
  EXPECT_EQ(call("PATCH", path_of(cron), "{}").status, 404);
  EXPECT_EQ(call("DELETE", path_of(cron)).status, 204);
}

TEST_F(Crons, FireNoTickAfterTheirEnd) {
  Value cron = add(R"(,"end_time":"2026-11-21T12:10:00Z")");
  EXPECT_EQ(text(cron["end_time"]), "2026-11-21T12:10:00.000000Z");
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u) << "the end is included";
  EXPECT_EQ(pass(std::chrono::seconds(300)), 0u);
  EXPECT_TRUE(get_cron(cron)["next_run_date"].is_null());
  auto later = call("PATCH", path_of(cron), R"({"end_time":null})");
  ASSERT_EQ(later.status, 200) << to_json(later.body);
  EXPECT_TRUE(later.body["end_time"].is_null());
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
}

TEST_F(Crons, TheirEndIsATimeWithOrWithoutAnOffset) {
  auto end_of = [this](const std::string& time, const std::string& more = {}) {
    return text(add(R"(,"end_time":")" + time + "\"" + more)["end_time"]);
  };
  EXPECT_EQ(end_of("2030-01-01T00:00:00+00:00"), "2030-01-01T00:00:00.000000Z");
  EXPECT_EQ(end_of("2030-01-01T00:00:00-00:00"), "2030-01-01T00:00:00.000000Z");
  EXPECT_EQ(end_of("2030-01-01T00:00:00+02:00"), "2029-12-31T22:00:00.000000Z");
  EXPECT_EQ(end_of("2030-01-01T00:00:00.25-09:30"), "2030-01-01T09:30:00.250000Z");
  EXPECT_EQ(end_of("2030-01-01T00:00:00.123456789Z"), "2030-01-01T00:00:00.123456Z");
  EXPECT_EQ(end_of("2030-01-01T00:00:00"), "2030-01-01T00:00:00.000000Z");
  const std::string madrid = R"(,"timezone":"Europe/Madrid")";
  EXPECT_EQ(end_of("2030-07-01T00:00:00.5", madrid), "2030-06-30T22:00:00.500000Z");
  EXPECT_EQ(end_of("2030-01-01T00:00:00Z", madrid), "2030-01-01T00:00:00.000000Z");
  EXPECT_EQ(end_of("2030-10-27T02:30:00", madrid), "2030-10-27T00:30:00.000000Z") << "the first";
  Value cron = add(madrid);
  auto end_after = [&](const std::string& change) {
    return text(call("PATCH", path_of(cron), change).body["end_time"]);
  };
  EXPECT_EQ(end_after(R"({"end_time":"2030-01-01T00:00:00"})"), "2029-12-31T23:00:00.000000Z");
  EXPECT_EQ(end_after(R"({"end_time":"2030-01-01T00:00:00","timezone":"Asia/Tokyo"})"),
            "2029-12-31T15:00:00.000000Z");
  for (const char* time :
       {"2030-01-01", "2030-01-01T00:00:00.", "2030-01-01T00:00:00.Z", "2030-01-01T00:00:00+2:00",
        "2030-01-01T00:00:00+02", "2030-01-01T00:00:00+02:60", "2030-01-01T00:00:00+24:00",
        "2030-01-01T00:00:00.1234567890Z", "2030-01-01T00:00:00ZZ", "2030-02-30T00:00:00+00:00",
        "9999-12-31T23:59:59-00:01", "2030-01-01T00:00:00 02:00", "2030-01-01T00:00:00+0a:00"}) {
    EXPECT_EQ(post("/runs/crons", body(R"(,"end_time":")" + std::string(time) + "\"")).status, 422)
        << time;
  }
}

TEST_F(Crons, RunsHaveTheSettingsOfTheirCron) {
  add(R"(,"durability":"exit","config":{"recursion_limit":7,"configurable":{"a":1}})");
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  RunPage page;
  page.limit = 1;
  auto rows = block_on(loop, service->runs(Principal(), std::move(page))).value();
  ASSERT_EQ(rows.size(), 1u);
  Value of_run = parse_json(rows[0].options).value();
  EXPECT_EQ(text(of_run["durability"]), "exit") << rows[0].options;
  EXPECT_EQ(of_run["supersteps"], Value(7));
  Value configuration = parse_json(text(of_run["configuration"])).value();
  EXPECT_EQ(configuration["configurable"]["a"], Value(1));
}

TEST_F(Crons, TheEndingsOfTheirRunsAreAWebhookAndADeletion) {
  auto inbox = std::make_shared<testing::HttpInbox>();
  agent_server.http = inbox;
  serve();
  Value cron = add(R"(,"on_run_completed":"delete","webhook":"https://hooks.example.com/")");
  EXPECT_EQ(text(cron["on_run_completed"]), "delete");
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  serve();
  loop.run_until(clock.now() + std::chrono::minutes(1));
  EXPECT_EQ(inbox->calls.size(), 0u) << "no worker has executed them";
  work();
  loop.run_until(clock.now() + std::chrono::minutes(1));
  EXPECT_EQ(inbox->calls.size(), 2u);
  EXPECT_EQ(size_of(post("/threads/search", "{}").body), 0u);
  std::string of_thread = std::string("/threads/") + kThreadA;
  post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
  EXPECT_EQ(post(of_thread + "/runs/crons", body(R"(,"on_run_completed":"delete")")).status, 422);
}

TEST_F(Crons, AChangeToDeletionKeepsTheThreadsOfEarlierRuns) {
  Value cron = add();
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  finish();
  EXPECT_EQ(call("PATCH", path_of(cron), R"({"on_run_completed":"delete"})").status, 200);
  finish();
  EXPECT_EQ(threads(), 2u);
  EXPECT_EQ(pass(std::chrono::seconds(180)), 1u);
  finish();
  EXPECT_EQ(threads(), 2u) << "that of the third run is deleted";
}

TEST_F(Crons, RequestsThatAreRefusedDeleteNoThreads) {
  Value cron = keyed("").body;
  EXPECT_EQ(call("PATCH", path_of(cron), R"({"on_run_completed":"delete","schedule":"x"})").status,
            422);
  EXPECT_EQ(keyed(R"(,"on_run_completed":"delete")").status, 409);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  finish();
  EXPECT_EQ(threads(), 1u);
}

TEST_F(Crons, AThreadThatAnotherDoorGivesThemIsKept) {
  Value cron = add(R"(,"on_run_completed":"delete")");
  auto changed =
      call("PATCH", "/api/schedules/cron-" + text(cron["cron_id"]), R"({"threadId":"permanent"})");
  ASSERT_EQ(changed.status, 200) << to_json(changed.body);
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  finish();
  EXPECT_EQ(get("/threads/permanent").status, 200);
}

TEST_F(Crons, RunsOfADeletedCronHaveTheirEndings) {
  Value cron = add(R"(,"on_run_completed":"delete")");
  EXPECT_EQ(pass(std::chrono::seconds(300)), 1u);
  EXPECT_EQ(threads(), 1u);
  EXPECT_EQ(call("DELETE", path_of(cron)).status, 204);
  finish();
  EXPECT_EQ(threads(), 0u);
}

TEST_F(Crons, BadOnesAreRefusedAndNothingIsSaved) {
  for (const char* bad : {R"({"assistant_id":"mail"})", R"({"schedule":"* * * * *"})",
                          R"({"assistant_id":"mail","schedule":"61 * * * *"})",
                          R"({"assistant_id":"mail","schedule":"0 0 30 2 *"})",
                          R"({"assistant_id":"mail","schedule":"* * * * *","input":{"topik":"x"}})",
                          R"({"assistant_id":"mail","schedule":"* * * * *","input":[]})",
                          R"({"assistant_id":"mail","schedule":7})",
                          R"({"assistant_id":7,"schedule":"* * * * *"})", R"([])"}) {
    EXPECT_EQ(post("/runs/crons", bad).status, 422) << bad;
  }
  for (const char* more :
       {R"(,"timezone":"Mars/Base")", R"(,"enabled":"yes")", R"(,"metadata":[])",
        R"(,"end_time":"tomorrow")", R"(,"end_time":"2020-01-01T00:00:00Z")",
        R"(,"on_run_completed":"forget")", R"(,"durability":"never")",
        R"(,"multitask_strategy":"rollback")", R"(,"multitask_strategy":"x")",
        R"(,"config":{"recursion_limit":0})", R"(,"after_seconds":5)",
        R"(,"command":{"resume":true})", R"(,"command":{"update":{"topic":"x"}})",
        R"(,"checkpoint_id":"x")", R"(,"webhook":"http://a/")", R"(,"interrupt_before":"x")",
        R"(,"interrupt_before":["nowhere"])"}) {
    EXPECT_EQ(post("/runs/crons", body(more)).status, 422) << more;
  }
  EXPECT_EQ(post("/runs/crons", R"({"assistant_id":"none","schedule":"* * * * *"})").status, 404);
  EXPECT_EQ(schedules(), 0u);
  EXPECT_EQ(post("/runs/crons/count", "{}").body, Value(0));
  Value cron = add();
  for (const char* bad : {R"({"schedule":"x"})", R"({"assistant_id":"other"})",
                          R"({"input":{"topik":"x"}})", R"({"end_time":7})"}) {
    EXPECT_EQ(call("PATCH", path_of(cron), bad).status, 422) << bad;
  }
  EXPECT_EQ(post("/runs/crons/search", "{}").body, Value(Value::Array{cron}));
}

TEST_F(Crons, SearchesSelectSortAndPage) {
  post("/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}");
  Value first = add(R"(,"metadata":{"a":1})");
  clock.move(std::chrono::seconds(1));
  Value second = add("", std::string("/threads/") + kThreadA + "/runs/crons");
  clock.move(std::chrono::seconds(1));
  Value third = add(R"(,"enabled":false)");
  auto page = post("/runs/crons/search", R"({"limit":2})");
  EXPECT_EQ(page.body, Value(Value::Array{third, second}));
  EXPECT_EQ(page.header("X-Pagination-Total"), "3");
  EXPECT_EQ(page.header("X-Pagination-Next"), "2");
  EXPECT_EQ(post("/runs/crons/search", R"({"metadata":{"a":1}})").body, Value(Value::Array{first}));
  EXPECT_EQ(post("/runs/crons/search", R"({"sort_by":"cron_id","enabled":false})").body,
            Value(Value::Array{third}));
  std::string of_thread = std::string(R"({"thread_id":")") + kThreadA + "\"}";
  EXPECT_EQ(post("/runs/crons/search", of_thread).body, Value(Value::Array{second}));
  EXPECT_EQ(post("/runs/crons/count", of_thread).body, Value(1));
  EXPECT_EQ(post("/runs/crons/count", R"({"assistant_id":"mail"})").body, Value(3));
  EXPECT_EQ(post("/runs/crons/count", R"({"assistant_id":"other"})").body, Value(0));
  EXPECT_EQ(post("/runs/crons/search", R"({"sort_by":"x"})").status, 422);
}

TEST_F(Crons, ThoseOfOneUserDoNotExistForAnother) {
  add_key("ada", Permission::run);
  add_key("bob", Permission::run);
  add_key("eve", Permission::read);
  auto made = as("ada", "POST", "/runs/crons", body());
  ASSERT_EQ(made.status, 200) << to_json(made.body);
  EXPECT_EQ(text(made.body["user_id"]), "ada");
  EXPECT_EQ(as("bob", "PATCH", path_of(made.body), R"({"enabled":false})").status, 404);
  EXPECT_EQ(as("bob", "DELETE", path_of(made.body)).status, 404);
  EXPECT_EQ(as("bob", "POST", "/runs/crons/count", "{}").body, Value(0));
  ASSERT_EQ(
      as("ada", "POST", "/threads", std::string(R"({"thread_id":")") + kThreadA + "\"}").status,
      200);
  std::string path = std::string("/threads/") + kThreadA + "/runs/crons";
  EXPECT_EQ(as("bob", "POST", path, body()).status, 404);
  EXPECT_EQ(as("eve", "POST", "/runs/crons", body()).status, 403);
  add_key("root", Permission::administer);
  as("ada", "POST", "/api/agents/mail/runs", R"({"input":{"topic":"urgent"},"threadId":"t"})");
  auto on_thread = as("root", "POST", "/threads/t/runs/crons", body());
  EXPECT_EQ(text(on_thread.body["user_id"]), "ada") << "the thread is that of ada";
  EXPECT_EQ(as("eve", "POST", "/runs/crons/search", "{}").status, 200);
  EXPECT_EQ(as("ada", "POST", "/runs/crons/count", "{}").body, Value(2));
}

}  // namespace
}  // namespace belay::langgraph
