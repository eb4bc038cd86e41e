#include "agents/research/graph/neo4j_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay::research {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Neo4jOptions graph_server() {
  Neo4jOptions options;
  options.url = "https://graph.example.com:7473";
  options.user = "neo4j";
  options.password = "very secret";
  return options;
}

std::string header_of(const HttpCall& call, std::string_view name) {
  for (const HttpHeader& header : call.headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

HttpReply reply_with(int status, std::string body) {
  HttpReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

std::string errors_of(std::string_view code) {
  return R"({"errors":[{"code":")" + std::string(code) + R"(","message":"the row of Ana"}]})";
}

Result<Done> verdict(int status, std::string body) {
  return neo4j_verdict(graph_server(), reply_with(status, std::move(body)));
}

constexpr const char* kAccepted = R"({"data":{"fields":[],"values":[]},"bookmarks":["FB:1"]})";

TEST(Neo4jCall, PostsTheStatementAndItsParameters) {
  CypherRequest request{"UNWIND $rows AS row RETURN 1", Value::object({{"rows", Value::Array()}})};
  HttpCall call = neo4j_call(graph_server(), request);
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.url, "https://graph.example.com:7473/db/neo4j/query/v2");
  EXPECT_EQ(header_of(call, "Content-Type"), "application/json");
  EXPECT_EQ(header_of(call, "Accept"), "application/json");
  EXPECT_EQ(call.body, R"({"parameters":{"rows":[]},"statement":"UNWIND $rows AS row RETURN 1"})");
  EXPECT_EQ(call.timeout, 15'000ms);
}

TEST(Neo4jCall, HasTheLogin) {
  Neo4jOptions options = graph_server();
  EXPECT_EQ(header_of(neo4j_call(options, {}), "Authorization"), "Basic bmVvNGo6dmVyeSBzZWNyZXQ=");
  options.user.clear();
  EXPECT_EQ(header_of(neo4j_call(options, {}), "Authorization"), "");
  options.token = "a.b.c";
  EXPECT_EQ(header_of(neo4j_call(options, {}), "Authorization"), "Bearer a.b.c");
}

TEST(Neo4jCall, NamesTheDatabase) {
  Neo4jOptions options = graph_server();
  options.url = "http://localhost:7474/";
  options.database = "research-1.a_b";
  EXPECT_EQ(neo4j_call(options, {}).url, "http://localhost:7474/db/research-1.a_b/query/v2");
}

TEST(Base64Text, HasPadding) {
  EXPECT_EQ(base64_text(""), "");
  EXPECT_EQ(base64_text("f"), "Zg==");
  EXPECT_EQ(base64_text("fo"), "Zm8=");
  EXPECT_EQ(base64_text("foo"), "Zm9v");
  EXPECT_EQ(base64_text("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_text("\xFF\xFE"), "//4=");
}

TEST(Neo4jOptionsCheck, AcceptsAUsableServer) {
  EXPECT_TRUE(check_neo4j(graph_server()).ok());
  for (const char* url : {"http://localhost:7474", "http://127.0.0.1:7474/", "http://[::1]:7474"}) {
    Neo4jOptions options = graph_server();
    options.url = url;
    EXPECT_TRUE(check_neo4j(options).ok()) << url;
  }
}

TEST(Neo4jOptionsCheck, RefusesOtherUrls) {
  for (const char* url :
       {"", "graph.example.com", "bolt://graph.example.com", "https://", "https:///",
        "https://ana:pw@graph.example.com", "https://graph.example.com/browser",
        "https://graph.example.com?x=1", "https://graph.example.com#a", "https://a b",
        "https://a\r\nb", "https://graph.example.com//"}) {
    Neo4jOptions options = graph_server();
    options.url = url;
    Result<Done> checked = check_neo4j(options);
    ASSERT_FALSE(checked.ok()) << url;
    EXPECT_EQ(checked.error().code, ErrorCode::invalid);
  }
}

TEST(Neo4jOptionsCheck, RefusesOtherDatabasesAndLogins) {
  for (const char* database : {"", "a/b", "a?b", "..", "-a", "a b", "a\n"}) {
    Neo4jOptions options = graph_server();
    options.database = database;
    EXPECT_FALSE(check_neo4j(options).ok()) << database;
  }
  Neo4jOptions options = graph_server();
  options.database = std::string(64, 'a');
  EXPECT_FALSE(check_neo4j(options).ok());
  options = graph_server();
  options.user = "a:b";
  EXPECT_FALSE(check_neo4j(options).ok());
  options = graph_server();
  options.password = "a\nb";
  EXPECT_FALSE(check_neo4j(options).ok());
  options = graph_server();
  options.token = "t";
  EXPECT_FALSE(check_neo4j(options).ok()) << "a user and a token";
}

TEST(Neo4jOptionsCheck, RefusesALoginThatAnyoneOnTheNetworkCouldRead) {
  Neo4jOptions options = graph_server();
  options.url = "http://graph.example.com:7474";
  Result<Done> checked = check_neo4j(options);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, Not(HasSubstr("secret")));
  options.permits_plain_text = true;
  EXPECT_TRUE(check_neo4j(options).ok());
  options.permits_plain_text = false;
  options.user.clear();
  EXPECT_TRUE(check_neo4j(options).ok()) << "without a login";
  options.token = "t";
  EXPECT_FALSE(check_neo4j(options).ok());
  options.url = "http://localhost.example.com";
  EXPECT_FALSE(check_neo4j(options).ok());
}

TEST(Neo4jVerdict, IsDoneForAnAcceptedStatement) {
  EXPECT_TRUE(verdict(202, kAccepted).ok());
  EXPECT_TRUE(verdict(200, kAccepted).ok());
  EXPECT_TRUE(verdict(200, R"({"bookmarks":[],"errors":[]})").ok());
}

TEST(Neo4jVerdict, IsUnavailableWhileTheServerIsBusy) {
  for (int status : {408, 429, 500, 502, 503, 504}) {
    for (const char* body : {"", "<html>", "{}"}) {
      Result<Done> busy = verdict(status, body);
      ASSERT_FALSE(busy.ok());
      EXPECT_EQ(busy.error().code, ErrorCode::unavailable) << status;
    }
  }
}

TEST(Neo4jVerdict, IsUnavailableForTransientErrorsWithAnyStatus) {
  for (int status : {200, 202, 400, 500}) {
    Result<Done> failed =
        verdict(status, errors_of("Neo.TransientError.Transaction.DeadlockDetected"));
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::unavailable) << status;
    EXPECT_THAT(failed.error().message, HasSubstr("DeadlockDetected"));
  }
  EXPECT_EQ(verdict(400, errors_of("Neo.ClientError.Cluster.NotALeader")).error().code,
            ErrorCode::unavailable);
}

TEST(Neo4jVerdict, IsPermanentForOtherErrors) {
  EXPECT_EQ(verdict(400, errors_of("Neo.ClientError.Statement.SyntaxError")).error().code,
            ErrorCode::invalid);
  EXPECT_EQ(verdict(202, errors_of("Neo.DatabaseError.General.UnknownError")).error().code,
            ErrorCode::invalid);
  EXPECT_EQ(verdict(401, errors_of("Neo.ClientError.Security.Unauthorized")).error().code,
            ErrorCode::forbidden);
  EXPECT_EQ(verdict(403, errors_of("Neo.ClientError.Security.Forbidden")).error().code,
            ErrorCode::forbidden);
  EXPECT_EQ(verdict(404, errors_of("Neo.ClientError.Database.DatabaseNotFound")).error().code,
            ErrorCode::not_found);
  EXPECT_EQ(verdict(302, "").error().code, ErrorCode::invalid);
  std::string both =
      R"({"errors":[{"code":"Neo.TransientError.A.B"},{"code":"Neo.ClientError.C.D"}]})";
  EXPECT_EQ(verdict(200, both).error().code, ErrorCode::invalid);
}

TEST(Neo4jVerdict, IsPermanentForAServerThatIsNotNeo4j) {
  for (const char* body : {"", "<html>ok</html>", "{}", "[]", "null", R"({"errors":{}})",
                           R"({"errors":"none"})", "{"}) {
    Result<Done> other = verdict(200, body);
    ASSERT_FALSE(other.ok()) << body;
    EXPECT_EQ(other.error().code, ErrorCode::invalid) << body;
  }
  EXPECT_FALSE(verdict(200, R"({"errors":[{}]})").ok());
  EXPECT_FALSE(verdict(200, R"({"errors":[7]})").ok());
}

TEST(Neo4jVerdict, NamesPlaceStatusAndCodeOnly) {
  Result<Done> failed = verdict(400, errors_of("Neo.ClientError.Statement.SyntaxError"));
  EXPECT_EQ(failed.error().message,
            "Neo4j at https://graph.example.com:7473, neo4j responded with status 400: "
            "Neo.ClientError.Statement.SyntaxError.");
  std::string long_code(5000, 'x');
  EXPECT_LE(verdict(400, errors_of(long_code)).error().message.size(), 250u);
  EXPECT_THAT(verdict(400, errors_of("a\\nb<script>")).error().message,
              AllOf(Not(HasSubstr("\n")), HasSubstr("a?b?script?")));
}

TEST(Neo4jVerdict, HasTheTimeOfRetryAfter) {
  auto retry_after = [](const std::string& text) {
    HttpReply reply = reply_with(503, "");
    reply.headers.push_back({"retry-after", text});
    return neo4j_verdict(graph_server(), reply).error().retry_after;
  };
  EXPECT_EQ(retry_after("7"), 7s);
  EXPECT_EQ(retry_after("0"), 0s);
  EXPECT_EQ(retry_after("999999999"), 1h);
  for (const char* text :
       {"", "-1", "soon", "1.5", "7 ", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999999999999"}) {
    EXPECT_EQ(retry_after(text), std::nullopt) << text;
  }
  EXPECT_EQ(verdict(400, "").error().retry_after, std::nullopt);
}

}  // namespace
}  // namespace belay::research
