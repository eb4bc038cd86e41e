// Requests, their rate, retries and errors.

#include "agents/research/edgar/edgar_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "agents/research/edgar/edgar_fixture.h"

namespace belay::research {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TextBody final : public EdgarBody {
 public:
  Result<Done> begin() override {
    text.clear();
    return Done{};
  }
  Result<Done> add(std::string_view piece) override {
    if (text.size() + piece.size() > accepted) {
      return error(ErrorCode::unavailable, "The disk is full.");
    }
    text += piece;
    return Done{};
  }
  std::string text;
  std::size_t accepted = 1 << 30;
};

// Responds with a script, and records the times of the requests.
class TimedHttp final : public HttpAccess {
 public:
  explicit TimedHttp(Clock& clock) : clock_(clock) {}
  void responds(int status, std::vector<HttpHeader> headers = {}, std::string body = "{}") {
    HttpReply reply;
    reply.status = status;
    reply.headers = std::move(headers);
    reply.body = std::move(body);
    script_.emplace_back(std::move(reply));
  }
  void fails(ErrorCode code) { script_.emplace_back(error(code, "data.sec.gov is away.")); }
  Task<Result<HttpReply>> send(HttpCall) override {
    times_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - start_));
    Result<HttpReply> next = std::move(script_.front());
    script_.pop_front();
    co_return next;
  }
  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string>) override {
    return error(ErrorCode::invalid, "TimedHttp is not narrowed.");
  }
  const std::vector<std::chrono::milliseconds>& times() const { return times_; }

 private:
  Clock& clock_;
  const Instant start_ = clock_.now();
  std::deque<Result<HttpReply>> script_;
  std::vector<std::chrono::milliseconds> times_;
};

// A client whose time is simulated.
class TimedClient {
 public:
  TimedClient() {
    options_.user_agent = kDeclaredAgent;
    options_.retry.wait_max = 60s;
  }
  TimedHttp& http() { return *http_; }
  EdgarOptions& options() { return options_; }
  std::vector<Result<EdgarReply>> get(int count) {
    EdgarClient client(http_, options_, clock_, random_);
    std::vector<Result<EdgarReply>> replies;
    for (int i = 0; i < count; ++i) {
      EdgarRequest request{"https://data.sec.gov/x.json", "the list", 1000};
      replies.push_back(block_on(loop_, client.get(std::move(request), body)));
    }
    return replies;
  }
  TextBody body;

 private:
  testing::SimulatedClock clock_{*instant_from("2026-11-21T12:00:00Z")};
  testing::SeededRandom random_{3};
  testing::SimulatedLoop loop_{clock_};
  EdgarOptions options_;
  std::shared_ptr<TimedHttp> http_ = std::make_shared<TimedHttp>(clock_);
};

TEST(EdgarClient, SendsAtMostFiveRequestsPerSecond) {
  TimedClient client;
  for (int i = 0; i < 6; ++i) client.http().responds(200);
  EXPECT_THAT(client.get(6), Each(::testing::Property(&Result<EdgarReply>::ok, true)));
  EXPECT_THAT(client.http().times(), ElementsAre(0ms, 200ms, 400ms, 600ms, 800ms, 1000ms));
}

TEST(EdgarClient, WaitsLongerAfterEachFailure) {
  TimedClient client;
  client.http().fails(ErrorCode::unavailable);
  client.http().responds(500);
  client.http().responds(503);
  client.http().responds(200);
  EXPECT_TRUE(client.get(1)[0].ok());
  const auto& times = client.http().times();
  ASSERT_THAT(times, SizeIs(4));
  for (int i = 1; i <= 3; ++i) {
    auto base = 1000ms * (1 << (i - 1));
    EXPECT_GE(times[i] - times[i - 1], base + 200ms);
    EXPECT_LE(times[i] - times[i - 1], base * 12 / 10 + 200ms);
  }
}

TEST(EdgarClient, WaitsAsLongAsTheServerDemands) {
  TimedClient client;
  client.http().responds(429, {{"Retry-After", "20"}});
  client.http().responds(403, {{"Retry-After", "Sat, 21 Nov 2026 12:01:00 GMT"}});
  client.http().responds(200);
  EXPECT_TRUE(client.get(1)[0].ok());
  const auto& times = client.http().times();
  ASSERT_THAT(times, SizeIs(3));
  EXPECT_EQ(times[1], 20'200ms);
  EXPECT_GE(times[2], 60s);
  EXPECT_LE(times[2], 61'200ms);
}

TEST(EdgarClient, DoesNotWaitLongerThanItsMaximum) {
  TimedClient client;
  client.http().responds(429, {{"Retry-After", "61"}});
  auto reply = client.get(1)[0];
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_EQ(reply.error().retry_after, 61s);
  EXPECT_THAT(client.http().times(), ElementsAre(0ms));
}

TEST(EdgarClient, EndsAfterItsAttempts) {
  TimedClient client;
  for (int i = 0; i < 4; ++i) client.http().responds(500);
  auto reply = client.get(1)[0];
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_THAT(client.http().times(), SizeIs(4));
}

TEST(EdgarClient, DoesNotRepeatWhatCannotSucceed) {
  for (int status : {301, 400, 401, 403, 404, 410}) {
    TimedClient client;
    client.http().responds(status);
    EXPECT_FALSE(client.get(1)[0].ok()) << status;
    EXPECT_THAT(client.http().times(), SizeIs(1)) << status;
  }
  for (ErrorCode code : {ErrorCode::forbidden, ErrorCode::exhausted, ErrorCode::invalid}) {
    TimedClient client;
    client.http().fails(code);
    auto reply = client.get(1)[0];
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().code, code);
    EXPECT_THAT(client.http().times(), SizeIs(1));
  }
}

TEST(EdgarClient, EndsIfItsBodyFails) {
  TimedClient client;
  client.body.accepted = 3;
  client.http().responds(200, {}, "[1,2]");
  auto reply = client.get(1)[0];
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().message, "The disk is full.");
  EXPECT_THAT(client.http().times(), SizeIs(1));
}

TEST(EdgarClient, RefusesAPageInsteadOfData) {
  TimedClient client;
  client.http().responds(200, {}, " \n<html><title>SEC.gov | Maintenance</title></html>");
  auto reply = client.get(1)[0];
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_THAT(reply.error().message, HasSubstr("is a page (\"SEC.gov | Maintenance\"), not data"));
  EXPECT_EQ(client.body.text, "");
}

TEST(EdgarClient, RefusesA304ThatWasNotRequested) {
  TimedClient client;
  client.http().responds(304, {}, "");
  EXPECT_FALSE(client.get(1)[0].ok());
}

TEST(EdgarClient, SendsNothingWithoutADeclaredUserAgent) {
  TimedClient client;
  client.options().user_agent = "curl/8.0";
  auto reply = client.get(1)[0];
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::invalid);
  EXPECT_THAT(client.http().times(), IsEmpty());
}

TEST(UserAgent, HasANameAndAMailAddress) {
  for (const char* text : {"Sample Company admin@sample.org", "Jo jo@a.bc", "jo@a.bc (Jo)"}) {
    EXPECT_TRUE(check_user_agent(text).ok()) << text;
  }
  for (const char* text : {"", "Sample Company", "admin@sample.org", "Jo @sample.org", "Jo jo@org",
                           "Jo jo@.org", "Jo jo@sample.", "Jo\r\njo@a.bc", "J\u00f6 jo@a.bc"}) {
    auto checked = check_user_agent(text);
    ASSERT_FALSE(checked.ok()) << text;
    EXPECT_EQ(checked.error().code, ErrorCode::invalid);
    EXPECT_THAT(checked.error().message, HasSubstr("BELAY_RESEARCH_EDGAR_USER_AGENT"));
  }
  EXPECT_FALSE(check_user_agent("Jo jo@a.bc " + std::string(190, 'x')).ok());
}

TEST(EdgarPolicy, PermitsTheServersOfTheSecOverHttps) {
  auto policy = edgar_policy({}).value();
  EXPECT_TRUE(policy.https_only);
  EXPECT_THAT(policy.allowed_hosts, ElementsAre("www.sec.gov", "data.sec.gov"));
  EXPECT_THAT(policy.allowed_ports, ElementsAre(443, 443));
  EXPECT_THAT(policy.allowed_networks, IsEmpty());
  EXPECT_EQ(policy.redirects_max, 0);
  EXPECT_TRUE(open_http(policy).ok());
}

TEST(EdgarPolicy, PermitsHttpOnlyForLoopback) {
  auto policy = edgar_policy({"http://127.0.0.1:8080", "https://data.sec.gov"}).value();
  EXPECT_FALSE(policy.https_only);
  EXPECT_THAT(policy.allowed_hosts, ElementsAre("127.0.0.1", "data.sec.gov"));
  EXPECT_THAT(policy.allowed_ports, ElementsAre(8080, 443));
  EXPECT_THAT(policy.allowed_networks, ElementsAre("127.0.0.1"));
  for (const char* place : {"", "www.sec.gov", "http://www.sec.gov", "https://", "ftp://a.b",
                            "https://a.b/path", "https://u@a.b", "https://a.b:", "https://a.b:0",
                            "https://a.b:99999", "http://127.0.0.1:8080/x", "https://A b"}) {
    EXPECT_FALSE(edgar_policy({place, "https://data.sec.gov"}).ok()) << place;
    EXPECT_FALSE(edgar_policy({"https://www.sec.gov", place}).ok()) << place;
  }
}

// The following ones use a server on loopback.

Result<EdgarReply> served(FakeEdgar& edgar, EdgarRequest request, TextBody& body) {
  testing::SimulatedClock clock(*instant_from("2026-11-21T12:00:00Z"));
  testing::SeededRandom random(3);
  auto loop = make_event_loop();
  request.url = edgar.url() + request.url;
  EdgarClient client(http_for(edgar), quick_options(), clock, random);
  return block_on(*loop, client.get(std::move(request), body));
}

EdgarRequest request_for(const char* path) { return EdgarRequest{path, "the list", 100'000}; }

TEST(EdgarServer, SeesTheUserAgentInEveryRequest) {
  FakeEdgar edgar;
  edgar.responds("/a", {"500 Internal Server Error"});
  edgar.responds("/a", {"429 Too Many Requests", "", "Retry-After: 0\r\n"});
  edgar.has("/a", {"200 OK", "{\"a\":1}", "ETag: \"7\"\r\nLast-Modified: yesterday\r\n"});
  TextBody body;
  auto reply = served(edgar, request_for("/a"), body);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(body.text, "{\"a\":1}");
  EXPECT_EQ(reply->etag, "\"7\"");
  EXPECT_EQ(reply->last_modified, "yesterday");
  EXPECT_THAT(edgar.requests(),
              AllOf(SizeIs(3), Each(HasSubstr(std::string("User-Agent: ") + kDeclaredAgent))));
}

TEST(EdgarServer, ThatCutsABodyIsAskedAgain) {
  FakeEdgar edgar;
  std::string whole = "{\"a\":\"" + std::string(50'000, 'x') + "\"}";
  edgar.responds("/a", {"200 OK", whole, "", 20'000});
  edgar.responds("/a", {"200 OK", whole, "", 0});
  edgar.has("/a", {"200 OK", whole});
  TextBody body;
  ASSERT_TRUE(served(edgar, request_for("/a"), body).ok());
  EXPECT_TRUE(body.text == whole);
  EXPECT_THAT(edgar.requests(), SizeIs(3));
}

TEST(EdgarServer, ThatCutsEveryBodyIsUnavailable) {
  FakeEdgar edgar;
  edgar.has("/a", {"200 OK", std::string(500, '1'), "", 100});
  TextBody body;
  auto reply = served(edgar, request_for("/a"), body);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_THAT(reply.error().message, HasSubstr("The request for the list failed"));
  EXPECT_THAT(edgar.requests(), SizeIs(4));
}

TEST(EdgarServer, WithTooLargeABodyIsAskedOnce) {
  FakeEdgar edgar;
  edgar.has("/a", {"200 OK", std::string(200'000, '1')});
  TextBody body;
  auto reply = served(edgar, request_for("/a"), body);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::exhausted);
  EXPECT_THAT(reply.error().message, HasSubstr("more than 100000 bytes"));
  EXPECT_LE(body.text.size(), 100'000u);
  EXPECT_THAT(edgar.requests(), SizeIs(1));
}

TEST(EdgarServer, IsNotFollowedToAnotherAddress) {
  FakeEdgar edgar;
  edgar.has("/a", {"302 Found", "", "Location: /b\r\n"});
  edgar.has("/b", {"200 OK", "{}"});
  TextBody body;
  auto reply = served(edgar, request_for("/a"), body);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::forbidden);
  EXPECT_THAT(edgar.paths(), ElementsAre("/a"));
}

TEST(EdgarServer, WithoutTheObjectIsNamed) {
  FakeEdgar edgar;
  TextBody body;
  auto reply = served(edgar, request_for("/a"), body);
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::not_found);
  EXPECT_EQ(reply.error().message, "127.0.0.1 does not have the list.");
}

TEST(EdgarServer, ConfirmsACopy) {
  FakeEdgar edgar;
  edgar.has("/a", {"200 OK", "{}", "ETag: \"7\"\r\n"});
  TextBody body;
  EdgarRequest request = request_for("/a");
  request.etag = "\"7\"";
  request.last_modified = "Fri, 30 Jan 2026 11:00:00 GMT";
  auto reply = served(edgar, request, body);
  ASSERT_TRUE(reply.ok());
  EXPECT_TRUE(reply->is_unchanged);
  EXPECT_EQ(body.text, "");
  EXPECT_THAT(edgar.requests()[0],
              HasSubstr("If-Modified-Since: Fri, 30 Jan 2026 11:00:00 GMT\r\n"));
}

}  // namespace
}  // namespace belay::research
