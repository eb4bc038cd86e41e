// Entries of the log and metrics about the requests of the API.

#include <gmock/gmock.h>

#include "tests/support/api_fixture.h"
#include "tests/support/collected_log.h"

namespace belay::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ApiTelemetry : public ApiFixture {
 protected:
  ApiTelemetry() {
    ApiKey key;
    key.name = "ana";
    key.permission = Permission::read;
    key.token = sha256("token-of-ana-0001");
    options.keys = {key};
    ApiParts parts{*service, loop, clock, random};
    parts.telemetry = {&log, metrics.get()};
    api = std::make_unique<Api>(parts, options, nullptr);
  }
  int status_of(std::string method, std::string path, const std::string& token = "") {
    http::Request sent = request(std::move(method), std::move(path));
    if (!token.empty()) sent.headers.push_back({"Authorization", "Bearer " + token});
    return send(std::move(sent)).status;
  }

  CollectedLog log;
};

TEST_F(ApiTelemetry, AFloodOfDeniedRequestsFillsNoLog) {
  for (int i = 0; i < 50; ++i) EXPECT_EQ(status_of("GET", "/api/threads"), 401);
  ASSERT_EQ(log.entries.size(), 10u);
  EXPECT_EQ(log.entries[0].event, "http.denied");
  EXPECT_EQ(CollectedLog::field(log.entries[0], "operation"), "listThreads");
  EXPECT_EQ(CollectedLog::field(log.entries[0], "status"), "401");
  clock.move(std::chrono::seconds(1));
  EXPECT_EQ(status_of("POST", "/api/threads/t/resume", "token-of-ana-0001"), 403);
  ASSERT_EQ(log.entries.size(), 11u);
  EXPECT_EQ(CollectedLog::field(log.entries[10], "status"), "403");
  EXPECT_EQ(CollectedLog::field(log.entries[10], "omitted"), "40");
  EXPECT_EQ(status_of("POST", "/api/threads/t/resume", "token-of-ana-0001"), 403);
  EXPECT_EQ(CollectedLog::field(log.entries[11], "omitted"), "") << "counted once";
  EXPECT_THAT(metrics->text(),
              HasSubstr("belay_http_request_seconds_count{operation=\"listThreads\","
                        "status=\"401\"} 50\n"));
}

TEST_F(ApiTelemetry, NothingOfARequestBecomesALabelOrAnEntry) {
  EXPECT_EQ(status_of("GET", "/api/threads/secret-name", "token-of-ana-0001"), 404);
  EXPECT_EQ(status_of("GET", "/api/invented-address", "token-of-ana-0001"), 404);
  EXPECT_EQ(status_of("GET", "/api/threads", "wrong-token"), 401);
  std::string text = metrics->text();
  for (const LogEntry& entry : log.entries) {
    for (const auto& [name, value] : entry.fields) text += value + "\n";
  }
  EXPECT_THAT(text, Not(HasSubstr("secret-name")));
  EXPECT_THAT(text, Not(HasSubstr("invented")));
  EXPECT_THAT(text, Not(HasSubstr("token")));
  EXPECT_THAT(text, HasSubstr("operation=\"unknown\",status=\"404\""));
}

TEST_F(ApiTelemetry, MetricsNeedAKeyThatMayRead) {
  EXPECT_EQ(status_of("GET", "/metrics"), 401);
  EXPECT_EQ(status_of("GET", "/metrics", "token-of-ana-0001"), 200);
}

using ApiMetrics = ApiFixture;

TEST_F(ApiMetrics, CountTheRunsThatWaitForADecision) {
  begin_urgent("first");
  begin_urgent("second");
  std::string shown = text(get("/metrics").body);
  EXPECT_THAT(shown, HasSubstr("belay_runs{queue=\"default\",status=\"paused\"} 2\n"));
  EXPECT_THAT(shown, HasSubstr("belay_runs{queue=\"default\",status=\"running\"} 0\n"));
}

}  // namespace
}  // namespace belay::server
