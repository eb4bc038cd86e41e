// The routes of the usage of agents: their periods, and who may read them.

#include "driver/run_driver.h"
#include "tests/support/api_fixture.h"
#include "usage/usage_flush.h"
#include "usage/usage_log.h"

namespace belay::server {
namespace {

struct ApiUsage : ApiFixture {
  void end_run(const std::string& run, const std::string& agent, const char* ended_at,
               bool failed) {
    PendingInvocation ended;
    ended.run = run;
    ended.agent = agent;
    ended.failed = failed;
    ended.latency_ms = 40;
    ended.ended_at = *instant_from(ended_at);
    std::vector<RecordWrite> writes{record_write(ended, UserId()).value()};
    ASSERT_TRUE(block_on(loop, save_records(*store, default_tenant(), std::move(writes))).ok());
    ASSERT_TRUE(block_on(loop, usage::flush_usage(*store, clock, default_tenant())).ok());
  }
};

TEST_F(ApiUsage, IsSummedForEachAgentOverAPeriodWithBothOfItsDays) {
  end_run("1", "mail", "2026-11-18T23:59:59Z", false);
  end_run("2", "mail", "2026-11-19T00:00:00Z", false);
  end_run("3", "mail", "2026-11-20T23:59:59Z", true);
  end_run("4", "other", "2026-11-20T12:00:00Z", false);
  Answered found = get("/api/analytics/agents?startDate=2026-11-19&endDate=2026-11-20");
  ASSERT_EQ(found.status, 200) << to_json(found.body);
  const Value::Array& summary = *found.body["summary"].as_array();
  ASSERT_EQ(summary.size(), 2u);
  EXPECT_EQ(summary[0]["agentId"], Value("mail"));
  EXPECT_EQ(summary[0]["invocationCount"], Value(2));
  EXPECT_EQ(summary[0]["successCount"], Value(1));
  EXPECT_EQ(summary[0]["errorCount"], Value(1));
  EXPECT_EQ(summary[0]["p95LatencyMs"], Value(40));
}

TEST_F(ApiUsage, OfAllAgentsHasAnEntryForEachDayIfItIsDaily) {
  end_run("1", "mail", "2026-11-19T00:00:00Z", false);
  end_run("2", "mail", "2026-11-20T12:00:00Z", true);
  end_run("3", "other", "2026-11-20T12:00:00Z", false);
  std::string period = "/api/analytics/agents?startDate=2026-11-18&endDate=2026-11-20";
  EXPECT_TRUE(get(period).body["usage"].is_null());
  EXPECT_TRUE(get(period + "&daily=false").body["usage"].is_null());
  Answered found = get(period + "&daily=true");
  ASSERT_EQ(found.status, 200) << to_json(found.body);
  EXPECT_EQ(found.body["summary"].as_array()->size(), 2u);
  const Value::Array& usage = *found.body["usage"].as_array();
  ASSERT_EQ(usage.size(), 3u);
  EXPECT_EQ(usage[0]["date"], Value("2026-11-18"));
  EXPECT_EQ(usage[0]["invocationCount"], Value(0));
  EXPECT_EQ(usage[2]["invocationCount"], Value(2));
  EXPECT_EQ(usage[2]["errorCount"], Value(1));
  EXPECT_EQ(get("/api/analytics/agents?startDate=2026-01-01&endDate=2026-12-31&daily=true").status,
            200)
      << "365 days";
  Answered refused =
      get("/api/analytics/agents?startDate=2026-01-01&endDate=2027-01-01&daily=true");
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(
      refused.body["detail"],
      Value("With \"daily\", the period from \"startDate\" to \"endDate\" can have at most 365 "
            "days: it has 366."));
  EXPECT_EQ(get("/api/analytics/agents?startDate=2026-01-01&endDate=2027-01-01").status, 200);
}

TEST_F(ApiUsage, OfAnAgentHasAnEntryForEachDayUpToToday) {
  end_run("1", "mail", "2026-11-20T12:00:00Z", true);
  end_run("2", "mail 2", "2026-11-20T12:00:00Z", true);
  Answered found = get("/api/analytics/agents/mail/daily?days=3");
  ASSERT_EQ(found.status, 200) << to_json(found.body);
  const Value::Array& usage = *found.body["usage"].as_array();
  ASSERT_EQ(usage.size(), 3u);
  EXPECT_EQ(usage[0]["date"], Value("2026-11-19"));
  EXPECT_EQ(usage[1]["errorCount"], Value(1));
  EXPECT_EQ(usage[2]["invocationCount"], Value(0));
  EXPECT_TRUE(usage[2]["p95LatencyMs"].is_null());
  EXPECT_EQ(get("/api/analytics/agents/mail/daily").body["usage"].as_array()->size(), 30u);
  EXPECT_EQ(get("/api/analytics/agents/mail/daily?days=365").body["usage"].as_array()->size(),
            365u);
}

TEST_F(ApiUsage, RejectsAPeriodThatIsNone) {
  for (const char* query :
       {"", "?startDate=2026-11-19", "?startDate=2026-11-19&endDate=2026-11-18",
        "?startDate=2026-02-30&endDate=2026-03-01", "?startDate=2026-1-1&endDate=2026-03-01"}) {
    EXPECT_EQ(get(std::string("/api/analytics/agents") + query).status, 422) << query;
  }
  for (const char* days : {"0", "366", "-1", "x"}) {
    EXPECT_EQ(get(std::string("/api/analytics/agents/mail/daily?days=") + days).status, 422);
  }
}

TEST_F(ApiUsage, IsReadByAdministratorsOnly) {
  for (const Route& route : api->routes()) {
    if (route.path.starts_with("/api/analytics/")) {
      EXPECT_EQ(route.permission, Permission::administer) << route.path;
    }
  }
}

}  // namespace
}  // namespace belay::server
