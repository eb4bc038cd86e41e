// The log and the metrics of `serve` and `worker`: what a person on call finds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <sstream>

#include "tests/cli/served.h"
#include "tests/providers/scripted_provider.h"

namespace belay::cli::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class CliLog : public ::testing::Test {
 protected:
  // The lines of standard error, each of which must be JSON.
  static std::vector<Value> entries_in(const std::string& text) {
    std::vector<Value> entries;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      auto entry = parse_json(line);
      EXPECT_TRUE(entry.ok()) << line;
      if (entry.ok()) entries.push_back(*std::move(entry));
    }
    return entries;
  }
  // An entry without what differs between two executions: "error run.failed thread=t code=invalid".
  static std::string shown(const Value& entry) {
    std::string line = text(entry["level"]) + " " + text(entry["event"]);
    for (const auto& [name, value] : *entry.as_object()) {
      bool differs = name == "time" || name == "level" || name == "event" || name == "message" ||
                     name == "run" || name == "approval" || name == "workedMs" ||
                     name == "address" || name == "seq";
      if (!differs) line += " " + name + "=" + text(value);
    }
    return line;
  }
  static std::vector<std::string> shown(const std::vector<Value>& entries) {
    std::vector<std::string> lines;
    for (const Value& entry : entries) {
      if (entry["event"] != Value("process.note")) lines.push_back(shown(entry));
    }
    return lines;
  }

  void serve(const std::string& model, Words more = {}, const std::string& format = "json") {
    world.setting.environment["BELAY_MODEL"] = "openai:" + model;
    world.setting.environment["BELAY_MODEL_URL"] = provider.url("/v1");
    world.setting.environment["OPENAI_API_KEY"] = "a-key";
    world.setting.environment["BELAY_LOG_FORMAT"] = format;
    served = std::make_unique<Served>(world.setting, std::move(more));
    ASSERT_TRUE(served->is_up()) << served->process().said();
  }
  Got ask(const std::string& thread, std::vector<net::HttpHeader> headers = {}) {
    return served->send("POST", "/api/agents/assistant/runs",
                        R"({"input":{"question":"Hello?"},"threadId":")" + thread + "\"}",
                        std::move(headers));
  }
  std::vector<Value> end() {
    served->process().send(SIGTERM);
    Outcome ended = served->process().finish();
    EXPECT_EQ(ended.code, 0);
    return entries_in(ended.err);
  }

  providers::ScriptedProvider provider;
  World world;
  std::unique_ptr<Served> served;
};

TEST_F(CliLog, OfARunNamesItsStartAndItsEnd) {
  serve("plain");
  EXPECT_EQ(ask("t").status, 200);
  std::vector<Value> entries = end();
  EXPECT_THAT(shown(entries),
              ElementsAre("info run.started agent=assistant thread=t",
                          "info run.completed agent=assistant node=remember outcome=answered "
                          "thread=t"));
  for (const Value& entry : entries) {
    EXPECT_TRUE(instant_from(text(entry["time"]))) << to_json(entry);
    EXPECT_THAT(to_json(entry), AllOf(Not(HasSubstr("Hello")), Not(HasSubstr("a-key"))));
  }
}

TEST_F(CliLog, OfAModelThatRefusesTheKeyNamesTheCause) {
  serve("no-key");
  EXPECT_EQ(ask("t").status, 200);
  std::vector<Value> entries = end();
  EXPECT_THAT(
      shown(entries),
      ElementsAre("info run.started agent=assistant thread=t", "warning model.failed code=invalid",
                  "error run.failed agent=assistant code=invalid node=answer thread=t"));
  for (const Value& entry : entries) {
    if (entry["event"] != Value("run.failed")) continue;
    EXPECT_THAT(text(entry["message"]), HasSubstr("OPENAI_API_KEY"));
  }
}

TEST_F(CliLog, OfAFailedAttemptNamesItsError) {
  serve("busy-ms");
  EXPECT_EQ(ask("t").status, 200);
  std::vector<Value> entries = end();
  EXPECT_THAT(
      shown(entries),
      ElementsAre("info run.started agent=assistant thread=t",
                  "warning model.failed code=unavailable", "warning node.failed node=answer/model",
                  "info run.completed agent=assistant node=remember outcome=answered "
                  "thread=t"));
  for (const Value& entry : entries) {
    if (entry["event"] != Value("node.failed")) continue;
    EXPECT_FALSE(text(entry["message"]).empty());
  }
}

TEST_F(CliLog, IsOffWithQuiet) {
  Outcome worked = world.run({"worker", "--until-idle", "--quiet"});
  EXPECT_EQ(worked.code, 0);
  ASSERT_EQ(world.run({"enqueue", "assistant", "--thread", "t", "--input", "question=Hello?"}).code,
            0);
  EXPECT_EQ(world.run({"worker", "--until-idle", "--quiet"}).err, "");
}

TEST_F(CliLog, OfARunThatExceedsItsTimeNamesTheLimit) {
  world.setting.environment["AGENT_TIMEOUT_MS"] = "300";
  serve("hang-midway");
  EXPECT_EQ(ask("t").status, 200);
  EXPECT_THAT(shown(end()), testing::Contains("error run.failed agent=assistant code=exhausted "
                                              "node=answer thread=t"));
}

TEST_F(CliLog, OfACancelledRunSaysSo) {
  serve("hang-midway");
  ASSERT_EQ(ask("t", {{"Prefer", "respond-async"}}).status, 202);
  EXPECT_EQ(served->post("/api/threads/t/cancel", "{}").status, 200);
  EXPECT_THAT(shown(end()), testing::Contains(HasSubstr("warning run.cancelled agent=assistant")));
}

TEST_F(CliLog, OfADeniedRequestNamesTheOperationAndTheAddress) {
  std::string keys = world.write("keys", "ana read token-of-ana-0001\n");
  ::chmod(keys.c_str(), 0600);
  serve("plain", {"--api-keys", keys});
  EXPECT_EQ(ask("t").status, 401);
  EXPECT_EQ(ask("t", {{"Authorization", "Bearer wrong"}}).status, 401);
  EXPECT_EQ(ask("t", {{"Authorization", "Bearer token-of-ana-0001"}}).status, 403);
  std::vector<Value> entries = end();
  EXPECT_THAT(shown(entries), ElementsAre("warning http.denied operation=startRun status=401",
                                          "warning http.denied operation=startRun status=401",
                                          "warning http.denied operation=startRun status=403"));
  for (const Value& entry : entries) EXPECT_THAT(to_json(entry), Not(HasSubstr("token-of")));
}

TEST_F(CliLog, OfADeletedThreadCountsItsRuns) {
  serve("plain");
  EXPECT_EQ(ask("t").status, 200);
  EXPECT_EQ(served->send("DELETE", "/api/threads/t", "").status, 200);
  EXPECT_THAT(shown(end()), testing::Contains("info runs.deleted runs=1"));
}

TEST_F(CliLog, LeavesOutWhatIsBelowItsLevel) {
  world.setting.environment["BELAY_LOG_LEVEL"] = "error";
  serve("no-key", {}, "text");
  EXPECT_EQ(ask("t").status, 200);
  served->process().send(SIGTERM);
  std::string err = served->process().finish().err;
  EXPECT_THAT(err, AllOf(HasSubstr("Z error run.failed agent=assistant thread=t "),
                         Not(HasSubstr("Z info ")), Not(HasSubstr("Z warning "))));
}

TEST_F(CliLog, IsOffOnRequest) {
  world.setting.environment["BELAY_LOG_LEVEL"] = "off";
  Served plain(world.setting);
  ASSERT_TRUE(plain.is_up());
  plain.process().send(SIGTERM);
  EXPECT_THAT(plain.process().finish().err, Not(HasSubstr("run.")));
}

TEST_F(CliLog, RefusesUnknownLevelsAndFormats) {
  world.setting.environment["BELAY_LOG_LEVEL"] = "loud";
  Outcome refused = world.run({"serve", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"BELAY_LOG_LEVEL", "loud", "off"})) << refused.err;
  world.setting.environment["BELAY_LOG_LEVEL"] = "info";
  world.setting.environment["BELAY_LOG_FORMAT"] = "xml";
  refused = world.run({"serve", "--listen", "127.0.0.1:0"});
  EXPECT_TRUE(refused.says({"BELAY_LOG_FORMAT", "xml", "json"})) << refused.err;
}

TEST_F(CliLog, OfAWorkerIsTextByDefault) {
  ASSERT_EQ(world.run({"enqueue", "assistant", "--thread", "t", "--input", "question=Hello?"}).code,
            0);
  Outcome worked = world.run({"worker", "--until-idle"});
  EXPECT_EQ(worked.code, 0) << worked.err;
  EXPECT_THAT(worked.err, AllOf(HasSubstr(" info run.claimed agent=assistant thread=t run="),
                                HasSubstr(" error run.failed agent=assistant thread=t run=")));
}

TEST_F(CliLog, CountsInTheMetricsOfTheServer) {
  serve("plain");
  EXPECT_EQ(ask("t").status, 200);
  EXPECT_EQ(served->get("/api/threads/none").status, 404);
  Got got = served->get("/metrics");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(
      got.body,
      AllOf(HasSubstr("\nbelay_runs_started_total{agent=\"assistant\"} 1\n"),
            HasSubstr("belay_runs_ended_total{agent=\"assistant\",status=\"completed\"} 1\n"),
            HasSubstr("belay_model_call_seconds_count{result=\"ok\"} 1\n"),
            HasSubstr("belay_commit_seconds_count{outcome=\"applied\"} "),
            HasSubstr("belay_failure_rate 0\n"),
            HasSubstr("belay_http_request_seconds_count{operation=\"startRun\","
                      "status=\"200\"} 1\n"),
            HasSubstr("belay_http_request_seconds_count{operation=\"getThread\","
                      "status=\"404\"} 1\n")));
  EXPECT_THAT(got.body, Not(HasSubstr("\"t\""))) << "ids are no labels";
}

}  // namespace
}  // namespace belay::cli::tests
