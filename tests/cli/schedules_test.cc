// `belay schedules`, and the routes of schedules.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kDayOfNotes = "2026-11-21";

const Value& item(const Value& list, std::size_t index) {
  static const Value none;
  const Value::Array* items = list.as_array();
  return items && index < items->size() ? (*items)[index] : none;
}

std::size_t size_of(const Value& list) { return list.as_array() ? list.as_array()->size() : 0; }

class CliSchedules : public ::testing::Test {
 protected:
  void SetUp() override {
    world.setting.environment["BELAY_TIME_ZONE"] = "UTC";
    world.setting.environment["AGENT_REQUIRE_APPROVAL"] = "false";
    ASSERT_EQ(world.run({"notes", "import", "-"}, note_line(kDayOfNotes, hard_day())).code, 0);
  }
  Outcome add(const std::string& name, const std::string& expression, const Words& more = {}) {
    Words words{"schedules", "add",           name,      expression,
                "--agent",   "daily_auditor", "--input", std::string("date=") + kDayOfNotes,
                "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return world.run(words);
  }
  Value schedule(const std::string& name) {
    return world.run({"schedules", "show", name, "--json"}).json();
  }
  std::size_t runs_of_queue(const std::string& queue) {
    Value found = world.run({"queue", "list", "--json"}).json();
    const Value::Array* queues = found["queues"].as_array();
    for (std::size_t i = 0; queues && i < queues->size(); ++i) {
      if ((*queues)[i]["name"] != Value(queue)) continue;
      return static_cast<std::size_t>((*queues)[i]["queued"].as_int().value_or(0));
    }
    return 0;
  }

  World world;
};

TEST_F(CliSchedules, AnAddedScheduleIsListedAndShownWithItsNextTicks) {
  Outcome added = add("letters", "0 9 * * MON-FRI", {"--zone", "Europe/Madrid"});
  ASSERT_EQ(added.code, 0) << added.err;
  Value document = added.json();
  EXPECT_EQ(document["name"], Value("letters"));
  EXPECT_EQ(document["agent"], Value("daily_auditor"));
  EXPECT_EQ(document["input"]["date"], Value(kDayOfNotes));
  EXPECT_EQ(document["zone"], Value("Europe/Madrid"));
  EXPECT_EQ(document["overlap"], Value("skip"));
  EXPECT_EQ(document["catchUpSeconds"], Value(60));
  EXPECT_EQ(document["paused"], Value(false));
  EXPECT_TRUE(document["threadId"].is_null());
  EXPECT_THAT(text(document["description"]), HasSubstr("At 09:00 on Monday to Friday"));
  EXPECT_THAT(world.run({"schedules"}).out, HasSubstr("letters  daily_auditor"));
  Value listed = world.run({"schedules", "list", "--json"}).json();
  ASSERT_EQ(size_of(listed["schedules"]), 1u);
  EXPECT_EQ(item(listed["schedules"], 0)["name"], Value("letters"));
  EXPECT_TRUE(listed["next"].is_null());
  std::string shown = world.run({"schedules", "show", "letters"}).out;
  EXPECT_THAT(shown, HasSubstr("0 9 * * MON-FRI  Europe/Madrid"));
  EXPECT_THAT(shown, HasSubstr("catch-up:   1m"));
  EXPECT_THAT(shown, HasSubstr("09:00 Europe/Madrid)")) << "after the time in UTC";
}

TEST_F(CliSchedules, NextShowsAsManyTicksAsRequested) {
  ASSERT_EQ(add("letters", "0 9 * * *").code, 0);
  Value next = world.run({"schedules", "next", "letters", "--count", "7", "--json"}).json();
  ASSERT_EQ(size_of(next["next"]), 7u);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_THAT(text(item(next["next"], i)), HasSubstr("T09:00:00"));
  }
  EXPECT_THAT(world.run({"schedules", "next", "letters"}).out, HasSubstr("09:00 UTC\n"));
  EXPECT_EQ(world.run({"schedules", "next", "letters", "--count", "101"}).code, 2);
}

TEST_F(CliSchedules, TheSameScheduleAgainChangesNothingAndAnotherOneIsAConflict) {
  Value first = add("letters", "@daily").json();
  Outcome again = add("letters", "@daily");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json()["createdAt"], first["createdAt"]);
  EXPECT_EQ(again.json()["updatedAt"], first["updatedAt"]);
  EXPECT_EQ(add("letters", "@hourly").code, 4);
  EXPECT_EQ(schedule("letters")["expression"], first["expression"]);
}

TEST_F(CliSchedules, InvalidMembersAreRefusedWithTheirName) {
  Outcome refused = world.run({"schedules", "add", "x", "75 * * * *", "--agent", "daily_auditor"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"75"})) << refused.err;
  refused = world.run(
      {"schedules", "add", "x", "@daily", "--agent", "daily_auditor", "--zone", "Europe/Madird"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"Europe/Madrid"})) << refused.err;
  refused = world.run({"schedules", "add", "x", "@daily", "--agent", "daily_audito"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"daily_auditor"})) << refused.err;
  refused = add("x", "@daily", {"--input", "dates=tomorrow"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(add("x", "@daily", {"--overlap", "queue"}).code, 2);
  EXPECT_EQ(add("x", "@daily", {"--catch-up", "500ms"}).code, 2);
  EXPECT_EQ(world.run({"schedules", "show", "x"}).code, 2);
}

TEST_F(CliSchedules, AnEditChangesTheNamedMembersOnly) {
  ASSERT_EQ(add("letters", "@daily", {"--catch-up", "1h", "--thread", "post"}).code, 0);
  Outcome edited = world.run({"schedules", "edit", "letters", "--expression", "0 8 * * *",
                              "--overlap", "allow", "--thread", "", "--json"});
  ASSERT_EQ(edited.code, 0) << edited.err;
  Value document = schedule("letters");
  EXPECT_EQ(document["overlap"], Value("allow"));
  EXPECT_EQ(document["catchUpSeconds"], Value(3600));
  EXPECT_TRUE(document["threadId"].is_null());
  EXPECT_EQ(document["input"]["date"], Value(kDayOfNotes));
  EXPECT_THAT(text(item(document["next"], 0)), HasSubstr("T08:00:00"));
  ASSERT_EQ(world.run({"schedules", "edit", "letters", "--input", "date=2026-01-01"}).code, 0);
  EXPECT_EQ(schedule("letters")["input"]["date"], Value("2026-01-01"));
  EXPECT_EQ(world.run({"schedules", "edit", "letters"}).code, 2);
}

TEST_F(CliSchedules, APauseAndItsReasonAreShownUntilItIsResumed) {
  ASSERT_EQ(add("letters", "@daily").code, 0);
  ASSERT_EQ(world.run({"schedules", "pause", "letters", "--reason", "holidays"}).code, 0);
  Value paused = schedule("letters");
  EXPECT_EQ(paused["paused"], Value(true));
  EXPECT_EQ(paused["reason"], Value("holidays"));
  EXPECT_THAT(world.run({"schedules"}).out, HasSubstr("paused: holidays"));
  EXPECT_THAT(world.run({"schedules", "resume", "letters"}).out, HasSubstr("Next tick: "));
  EXPECT_EQ(schedule("letters")["paused"], Value(false));
  EXPECT_TRUE(schedule("letters")["reason"].is_null());
}

TEST_F(CliSchedules, ARunNowIsStartedOncePerKey) {
  ASSERT_EQ(add("letters", "@daily", {"--queue", "mails"}).code, 0);
  ASSERT_EQ(world.run({"schedules", "pause", "letters"}).code, 0);
  Words run_now{"schedules", "run-now", "letters", "--key", "monday", "--json"};
  Value first = world.run(run_now).json();
  EXPECT_EQ(first["status"], Value("queued"));
  EXPECT_EQ(world.run(run_now).json()["runId"], first["runId"]);
  EXPECT_EQ(runs_of_queue("mails"), 1u);
  ASSERT_EQ(world.run({"schedules", "run-now", "letters"}).code, 0);
  EXPECT_EQ(runs_of_queue("mails"), 2u);
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Value ended = world.run({"state", text(first["threadId"]), "--json"}).json();
  EXPECT_EQ(ended["status"], Value("completed")) << to_json(ended);
}

TEST_F(CliSchedules, ABackfillShowsTheNumberFirstAndStartsEachTickOnce) {
  ASSERT_EQ(add("letters", "0 9 * * *", {"--queue", "mails"}).code, 0);
  Words backfill{"schedules",  "backfill", "letters",   "--after",
                 "2026-11-01", "--until",  "2026-11-04"};
  Outcome counted = world.run(backfill);
  ASSERT_EQ(counted.code, 0) << counted.err;
  EXPECT_THAT(counted.out, HasSubstr("3 ticks, from 2026-11-01 09:00 UTC"));
  EXPECT_THAT(counted.out, HasSubstr("--yes"));
  EXPECT_EQ(runs_of_queue("mails"), 0u);
  backfill.push_back("--yes");
  EXPECT_THAT(world.run(backfill).out, HasSubstr("3 runs started."));
  EXPECT_EQ(runs_of_queue("mails"), 3u);
  backfill.push_back("--json");
  Value again = world.run(backfill).json();
  EXPECT_EQ(again["ticks"], Value(3));
  EXPECT_EQ(again["started"], Value(0));
  EXPECT_EQ(again["first"], Value("2026-11-01T09:00:00.000000Z"));
  EXPECT_EQ(runs_of_queue("mails"), 3u);
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliSchedules, ABackfillOfTheFutureOrWithTooManyTicksIsRefused) {
  ASSERT_EQ(add("letters", "* * * * *").code, 0);
  Words future{"schedules",  "backfill", "letters",   "--after",
               "2999-01-01", "--until",  "2999-01-02"};
  EXPECT_EQ(world.run(future).code, 2);
  Words many{"schedules", "backfill", "letters", "--after", "2025-01-01", "--until", "2025-01-02"};
  EXPECT_EQ(world.run(many).code, 2);
  Words wrong{"schedules", "backfill", "letters", "--after", "yesterday"};
  Outcome refused = world.run(wrong);
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"--after", "yesterday"})) << refused.err;
}

TEST_F(CliSchedules, ALocalTimeThatDoesNotExistIsRefused) {
  world.setting.environment["BELAY_TIME_ZONE"] = "Europe/Madrid";
  ASSERT_EQ(add("letters", "0 9 * * *").code, 0);
  Outcome refused = world.run({"schedules", "backfill", "letters", "--after", "2026-03-29 02:30"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"does not exist in Europe/Madrid"})) << refused.err;
  Words summer{"schedules",        "backfill", "letters",          "--after",
               "2026-03-29 03:30", "--until",  "2026-03-29 12:00", "--json"};
  Value counted = world.run(summer).json();
  EXPECT_EQ(counted["ticks"], Value(1)) << "09:00 in UTC is 11:00 in Madrid";
}

TEST_F(CliSchedules, AWorkerStartsTheRunsOfTheTicksAndRecordsEachDecision) {
  ASSERT_EQ(add("often", "* * * * * *", {"--overlap", "allow"}).code, 0);
  Belay worker({"worker"}, world.setting);
  Value ticks;
  for (int i = 0; i < 300 && size_of(ticks) < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ticks = world.run({"schedules", "ticks", "often", "--json"}).json()["ticks"];
  }
  ASSERT_EQ(world.run({"schedules", "pause", "often"}).code, 0);
  worker.send(SIGTERM);
  EXPECT_EQ(worker.finish().code, 0);
  ASSERT_GE(size_of(ticks), 2u);
  EXPECT_GT(text(item(ticks, 0)["at"]), text(item(ticks, 1)["at"])) << "newest first";
  bool is_started = false;
  for (const Value& tick : *ticks.as_array()) {
    if (tick["decision"] != Value("started")) continue;
    is_started = true;
    Value run = world.run({"state", text(tick["threadId"]), "--json"}).json();
    EXPECT_EQ(run["runId"], tick["runId"]);
  }
  EXPECT_TRUE(is_started) << to_json(ticks);
  EXPECT_THAT(world.run({"schedules", "show", "often"}).out, HasSubstr("started"));
  EXPECT_EQ(world.run({"check"}).code, 0);
}

TEST_F(CliSchedules, ARemovedScheduleIsUnknownAndItsRunsContinue) {
  ASSERT_EQ(add("letters", "@daily").code, 0);
  Value run = world.run({"schedules", "run-now", "letters", "--json"}).json();
  Outcome removed = world.run({"schedules", "remove", "letters", "--json"});
  ASSERT_EQ(removed.code, 0) << removed.err;
  EXPECT_EQ(removed.json()["name"], Value("letters"));
  EXPECT_EQ(world.run({"schedules", "show", "letters"}).code, 2);
  EXPECT_EQ(world.run({"schedules", "remove", "letters"}).code, 2);
  ASSERT_EQ(world.run({"worker", "--until-idle"}).code, 0);
  Value ended = world.run({"state", text(run["threadId"]), "--json"}).json();
  EXPECT_EQ(ended["status"], Value("completed"));
}

class ServedSchedules : public CliSchedules {
 protected:
  void SetUp() override {
    CliSchedules::SetUp();
    served = std::make_unique<Served>(world.setting);
    ASSERT_TRUE(served->is_up());
  }
  static std::string body(const std::string& expression) {
    return R"({"name":"letters","agent":"daily_auditor","input":{"date":"2026-11-21"},)"
           R"("expression":")" +
           expression + "\"}";
  }

  std::unique_ptr<Served> served;
};

TEST_F(ServedSchedules, TheRoutesAddShowChangeAndRemoveASchedule) {
  Got made = served->post("/api/schedules", body("0 9 29 2 *"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(served->post("/api/schedules", body("0 9 29 2 *")).status, 200);
  EXPECT_EQ(served->post("/api/schedules", body("0 8 29 2 *")).status, 409);
  EXPECT_EQ(served->post("/api/schedules", body("no cron")).status, 422);
  EXPECT_EQ(served->post("/api/schedules", R"({"name":"x"})").status, 422);
  Got shown = served->get("/api/schedules/letters?count=3");
  ASSERT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(size_of(shown.json()["next"]), 3u);
  EXPECT_EQ(size_of(served->get("/api/schedules").json()["schedules"]), 1u);
  Got renamed = served->send("PATCH", "/api/schedules/letters", R"({"name":"x"})");
  EXPECT_EQ(renamed.status, 422) << renamed.body;
  Got paused =
      served->send("PATCH", "/api/schedules/letters", R"({"paused":true,"reason":"holidays"})");
  ASSERT_EQ(paused.status, 200) << paused.body;
  EXPECT_EQ(paused.json()["reason"], Value("holidays"));
  EXPECT_EQ(served->send("DELETE", "/api/schedules/letters", "").status, 200);
  EXPECT_EQ(served->get("/api/schedules/letters").status, 404);
  EXPECT_EQ(served->get("/api/schedules/letters/ticks").status, 404);
}

TEST_F(ServedSchedules, RunsAndBackfillsOfTheRoutesAreStartedOnce) {
  ASSERT_EQ(served->post("/api/schedules", body("0 9 29 2 *")).status, 201);
  std::vector<net::HttpHeader> key{{"Idempotency-Key", "monday"}};
  Got run = served->send("POST", "/api/schedules/letters/run", "{}", key);
  ASSERT_EQ(run.status, 202) << run.body;
  Got again = served->send("POST", "/api/schedules/letters/run", "{}", key);
  EXPECT_EQ(again.json()["runId"], run.json()["runId"]);
  const std::string range = R"("after":"2020-01-01T00:00:00Z","until":"2025-01-01T00:00:00Z")";
  const std::string path = "/api/schedules/letters/backfill";
  Value counted = served->post(path, "{" + range + R"(,"dryRun":true})").json();
  EXPECT_EQ(counted["ticks"], Value(2));
  EXPECT_EQ(counted["started"], Value(0));
  EXPECT_EQ(served->post(path, "{" + range + "}").json()["started"], Value(2));
  EXPECT_EQ(served->post(path, "{" + range + "}").json()["started"], Value(0));
}

TEST_F(ServedSchedules, TheCommandsHaveTheSameResultsThroughTheServer) {
  Words server{"--server", served->url("")};
  auto through = [&](Words words) {
    words.insert(words.end(), server.begin(), server.end());
    Setting remote = world.setting;
    remote.environment.erase("BELAY_STORE");
    return run_belay(words, remote);
  };
  Outcome added = through({"schedules", "add", "letters", "0 9 29 2 *", "--agent", "daily_auditor",
                           "--input", "date=2026-11-21"});
  ASSERT_EQ(added.code, 0) << added.err;
  for (Words words : {Words{"schedules", "list", "--json"},
                      {"schedules", "show", "letters"},
                      {"schedules", "show", "letters", "--json"},
                      {"schedules", "next", "letters", "--count", "3"},
                      {"schedules", "ticks", "letters", "--json"},
                      {"schedules", "backfill", "letters", "--after", "2020-01-01", "--until",
                       "2025-01-01", "--json"}}) {
    EXPECT_EQ(through(words).out, world.run(words).out) << words[1];
  }
  EXPECT_EQ(through({"schedules", "show", "unknown"}).code, 2);
  EXPECT_EQ(through({"schedules", "remove", "letters"}).code, 0);
}

}  // namespace
}  // namespace belay::cli::tests
