// The routes of analyses, on a server that executes them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/served.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliResearchHttp : public ::testing::Test {
 protected:
  // The data of one company, in a folder that the test can change.
  CliResearchHttp() {
    std::filesystem::create_directories(world.folder.file("data/edgar"));
    std::filesystem::copy_file(BELAY_SOURCE_DIR "/agents/research/data/edgar/CIK0000320193.json",
                               facts_file());
    world.setting.environment["BELAY_RESEARCH_DATA"] = world.folder.file("data");
  }
  std::string facts_file() const { return world.folder.file("data/edgar/CIK0000320193.json"); }

  static Got post(Served& served, const std::string& path, const std::string& body,
                  const std::string& key = "") {
    std::vector<net::HttpHeader> headers;
    if (!key.empty()) headers.push_back({"Idempotency-Key", key});
    return served.send("POST", "/api/analyses" + path, body, std::move(headers));
  }
  static Got as(Served& served, const std::string& who, const std::string& method,
                const std::string& path, const std::string& body = "") {
    return served.send(method, "/api/analyses" + path, body,
                       {{"Authorization", "Bearer token-of-" + who + "-0001"}});
  }
  static std::size_t listed(Served& served, const std::string& query = "") {
    return served.get("/api/analyses" + query).json()["analyses"].as_array()->size();
  }
  // Returns an analysis whose final scoring has failed, because its file had changed meanwhile. It
  // is as before again.
  std::string failed_scoring(Served& served) {
    Got begun = post(served, "", R"({"ticker":"AAPL","only":["strategy"]})");
    EXPECT_EQ(begun.status, 202) << begun.body;
    std::string id = text(begun.json()["analysis"]);
    std::filesystem::copy_file(facts_file(), world.folder.file("facts"),
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream(facts_file(), std::ios::app) << "\n";
    Got failed = post(served, "/" + id + "/resume", "{}");
    EXPECT_EQ(failed.status, 202) << failed.body;
    std::filesystem::copy_file(world.folder.file("facts"), facts_file(),
                               std::filesystem::copy_options::overwrite_existing);
    Value shown = served.get("/api/analyses/" + id).json();
    EXPECT_THAT(text(shown["specialists"]["strategy"]["failure"]), HasSubstr("has changed"));
    return id;
  }

  World world;
};

TEST_F(CliResearchHttp, AnAnalysisIsStartedListedShownAndReported) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  Got begun = post(served, "", R"({"ticker":"AAPL","only":["growth","governance"]})");
  ASSERT_EQ(begun.status, 200) << begun.body;
  EXPECT_EQ(begun.json()["outcome"], Value("complete"));
  std::string id = text(begun.json()["analysis"]);
  Value list = served.get("/api/analyses").json();
  ASSERT_EQ(list["analyses"].as_array()->size(), 1u);
  EXPECT_EQ((*list["analyses"].as_array())[0]["status"], Value("completed"));
  Value shown = served.get("/api/analyses/" + id).json();
  EXPECT_EQ(shown["specialists"]["growth"]["progress"], Value("4 of 4 subtasks"));
  EXPECT_GT(shown["figures"].as_array()->size(), 100u);
  EXPECT_EQ(world.run({"research", "show", id, "--json"}).json(), shown);
  Value report = served.get("/api/analyses/" + id + "/report").json();
  EXPECT_EQ(report["format"], Value("html"));
  EXPECT_THAT(text(report["text"]), HasSubstr("Not investment advice"));
  Value plain = served.get("/api/analyses/" + id + "/report?format=markdown").json();
  EXPECT_THAT(text(plain["text"]), HasSubstr("# Apple Inc."));
  EXPECT_EQ(served.get("/api/analyses/" + id + "/report?format=pdf").status, 422);
}

TEST_F(CliResearchHttp, AnOrderThatCannotBeExecutedCreatesNothing) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  auto refusal = [&](const std::string& body) {
    Got got = post(served, "", body);
    EXPECT_EQ(got.status, 422) << got.body;
    return text(got.json()["detail"]);
  };
  EXPECT_THAT(refusal("{}"), HasSubstr("lacks the member \"ticker\""));
  EXPECT_THAT(refusal(R"({"ticker":"aapl"})"), HasSubstr("Invalid ticker"));
  EXPECT_THAT(refusal(R"({"ticker":"AAPL","data":["/etc"]})"), HasSubstr("member \"data\""));
  EXPECT_THAT(refusal(R"({"ticker":"AAPL","only":["fortune"]})"), HasSubstr("Unknown specialist"));
  EXPECT_THAT(refusal(R"({"ticker":"AAPL","asOf":"2024-02-30"})"), HasSubstr("as-of date"));
  EXPECT_THAT(refusal(R"({"ticker":"AAPL","ciks":{"AAPL":"x"}})"), HasSubstr("Invalid CIK"));
  EXPECT_THAT(refusal(R"({"ticker":"AAPL","constants":{"growth":1}})"), HasSubstr("growth"));
  EXPECT_THAT(refusal(R"({"ticker":"AAPL","peers":"MSFT"})"), HasSubstr("peers"));
  EXPECT_EQ(listed(served), 0u);
  EXPECT_EQ(served.get("/api/analyses?limit=0").status, 422);
  EXPECT_EQ(served.get("/api/analyses/none").status, 404);
  EXPECT_EQ(post(served, "/none/retry", R"({"specialist":"growth"})").status, 404);
  EXPECT_EQ(post(served, "/none/retry", "{}").status, 422);
}

TEST_F(CliResearchHttp, ARepeatedRequestIsThatOfTheFirst) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  const std::string order = R"({"ticker":"AAPL","only":["growth"]})";
  Got first = post(served, "", order, "monday");
  EXPECT_EQ(post(served, "", order, "monday").json(), first.json());
  EXPECT_EQ(listed(served), 1u);
  Got other = post(served, "", R"({"ticker":"AAPL","only":["credit"]})", "monday");
  EXPECT_EQ(other.status, 422) << other.body;
  EXPECT_EQ(listed(served), 1u);
}

TEST_F(CliResearchHttp, ARetryExecutesWhatHasFailed) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  std::string id = failed_scoring(served);
  Got wrong = post(served, "/" + id + "/retry", R"({"specialist":"growth"})");
  EXPECT_EQ(wrong.status, 409) << wrong.body;
  EXPECT_THAT(text(wrong.json()["detail"]), HasSubstr("is not a part of the analysis"));
  EXPECT_EQ(post(served, "/" + id + "/retry", R"({"specialist":"fortune"})").status, 422);
  Got retried = post(served, "/" + id + "/retry", R"({"specialist":"strategy"})");
  EXPECT_EQ(retried.status, 200) << retried.body;
  EXPECT_EQ(retried.json()["outcome"], Value("complete"));
  Got again = post(served, "/" + id + "/retry", R"({"specialist":"strategy"})");
  EXPECT_EQ(again.json(), retried.json());
  Outcome ended = world.run({"research", "retry", id, "strategy"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_THAT(ended.err, HasSubstr("has ended: completed"));
}

TEST_F(CliResearchHttp, APauseIsWithdrawnByResume) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  std::string id =
      text(post(served, "", R"({"ticker":"AAPL","only":["strategy"]})").json()["analysis"]);
  Got paused = post(served, "/" + id + "/pause", "{}");
  EXPECT_EQ(paused.status, 200) << paused.body;
  EXPECT_EQ(paused.json()["specialists"]["strategy"]["progress"], Value("3 of 4 subtasks"));
  Got resumed = post(served, "/" + id + "/resume", "{}");
  EXPECT_EQ(resumed.status, 200) << resumed.body;
  EXPECT_EQ(post(served, "/" + id + "/resume", "{}").json(), resumed.json());
  EXPECT_EQ(post(served, "/" + id + "/pause", "{}").status, 409);
}

TEST_F(CliResearchHttp, ABatchIsQueuedOnce) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  ASSERT_EQ(served.post("/api/queues/slow", R"({"paused":true})").status, 200);
  const std::string order =
      R"({"tickers":["AAPL","ZZZZ=99"],"batch":"b","queue":"slow","only":["growth"]})";
  Got queued = post(served, "/batch", order);
  ASSERT_EQ(queued.status, 202) << queued.body;
  EXPECT_EQ(post(served, "/batch", order).json(), queued.json());
  EXPECT_EQ(listed(served, "?batch=b"), 2u);
  EXPECT_EQ(listed(served, "?batch=other"), 0u);
  Value page = served.get("/api/analyses?batch=b&limit=1").json();
  EXPECT_EQ(listed(served, "?batch=b&limit=1&after=" + text(page["next"])), 1u);
  for (const char* wrong :
       {R"({"tickers":[],"batch":"c"})", R"({"tickers":["AAPL","QQQQ"],"batch":"c"})",
        R"({"tickers":["AAPL"],"batch":"c","queue":""})", R"({"batch":"c"})",
        R"({"tickers":["ZZZZ=1","ZZZZ=2"],"batch":"c"})"}) {
    EXPECT_EQ(post(served, "/batch", wrong).status, 422) << wrong;
  }
  EXPECT_EQ(listed(served, "?batch=c"), 0u);
  EXPECT_EQ(
      post(served, "/batch", R"({"tickers":["AAPL"],"queue":"slow"})", "key").json()["batch"],
      post(served, "/batch", R"({"tickers":["AAPL"],"queue":"slow"})", "key").json()["batch"]);
}

TEST_F(CliResearchHttp, EachUserHasItsAnalysesAndGatesTakeAPermission) {
  std::string keys = world.write("keys",
                                 "ana run token-of-ana-0001\nbob decide token-of-bob-0001\n"
                                 "adm administer token-of-adm-0001\n");
  ::chmod(keys.c_str(), 0600);
  Served served(world.setting, {"--api-keys", keys});
  ASSERT_TRUE(served.is_up());
  Got begun = as(served, "ana", "POST", "", R"({"ticker":"AAPL","only":["strategy"]})");
  ASSERT_EQ(begun.status, 202) << begun.body;
  std::string one = "/" + text(begun.json()["analysis"]);
  EXPECT_EQ(as(served, "ana", "GET", one).status, 200);
  EXPECT_EQ(as(served, "ana", "POST", one + "/resume", "{}").status, 403);
  EXPECT_EQ(as(served, "ana", "POST", "", R"({"ticker":"AAPL","yes":true})").status, 403);
  EXPECT_EQ(as(served, "ana", "POST", "/batch", R"({"tickers":["AAPL"],"yes":true})").status, 403);
  for (const char* path : {"", "/report"}) {
    EXPECT_EQ(as(served, "bob", "GET", one + path).status, 404) << path;
  }
  for (const char* path : {"/pause", "/resume"}) {
    EXPECT_EQ(as(served, "bob", "POST", one + path, "{}").status, 404) << path;
  }
  EXPECT_EQ(as(served, "bob", "POST", one + "/retry", R"({"specialist":"strategy"})").status, 404);
  EXPECT_THAT(as(served, "bob", "GET", "").body, Not(HasSubstr(one.substr(1))));
  EXPECT_EQ(as(served, "bob", "GET", "?userId=ana").status, 404);
  Value shown = as(served, "adm", "GET", one).json();
  EXPECT_GT(shown["figures"].as_array()->size(), 100u);
  EXPECT_EQ(as(served, "adm", "POST", one + "/resume", "{}").status, 200);
}

TEST_F(CliResearchHttp, ARemoteCommandHasTheOutputOfALocalOne) {
  Served served(world.setting);
  ASSERT_TRUE(served.is_up());
  std::string id = failed_scoring(served);
  std::string file = world.write("tickers", "AAPL\n");
  auto remote = [&](Words words) {
    words.insert(words.end(), {"--server", served.url("")});
    return world.run(words);
  };
  for (const Words& words :
       {Words{"research", "show", id.substr(0, 8), "--json"}, Words{"research", "list", "--json"},
        Words{"research", "list", "--batch", "b", "--json"}}) {
    Outcome here = world.run(words), there = remote(words);
    EXPECT_EQ(there.code, 0) << there.err;
    EXPECT_EQ(there.out, here.out);
  }
  EXPECT_EQ(remote({"research", "retry", id, "growth"}).code, 4);
  EXPECT_EQ(remote({"research", "retry", "nothing", "growth"}).code, 2);
  Outcome retried = remote({"research", "retry", id, "strategy", "--json", "--quiet"});
  EXPECT_EQ(retried.json()["outcome"], Value("complete")) << retried.err;
  Words batch{"research", "batch",  file,     "--batch", "b",
              "--only",   "growth", "--wait", "--json",  "--quiet"};
  Outcome waited = remote(batch);
  EXPECT_EQ(waited.code, 0) << waited.err;
  EXPECT_EQ(world.run(batch).out, waited.out);
}

}  // namespace
}  // namespace belay::cli::tests
