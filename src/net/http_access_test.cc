// HttpAccess with scripted servers on loopback, which the policies of the tests permit.

#include "net/http_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scripted_server.h"

namespace belay::net {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Closes after each response, so that each request opens a connection.
std::string ok_response(std::string_view body, std::string_view more_headers = "") {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + std::string(more_headers) + "\r\n" + std::string(body);
}

std::string redirect_to(std::string_view location, int status = 302) {
  return "HTTP/1.1 " + std::to_string(status) + " Found\r\nLocation: " + std::string(location) +
         "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
}

EgressPolicy local() {
  EgressPolicy policy;
  policy.allowed_networks = {"127.0.0.1/32"};
  policy.allowed_ports = {};
  return policy;
}

// Answers each request with the next response, and records the requests.
class Server {
 public:
  explicit Server(std::vector<std::string> responses)
      : responses_(std::move(responses)), server_([this](Peer& peer, int connection) {
          std::string request = peer.request();
          if (request.empty()) return;
          requests_.push_back(std::move(request));
          peer.send(responses_[std::min<std::size_t>(static_cast<std::size_t>(connection),
                                                     responses_.size() - 1)]);
        }) {}

  std::string url(std::string_view path = "/") const { return server_.url(path); }
  std::string port() const { return std::to_string(server_.port()); }
  int connections() const { return server_.connections(); }
  // Call it after the response.
  const std::vector<std::string>& requests() const { return requests_; }

 private:
  const std::vector<std::string> responses_;
  std::vector<std::string> requests_;
  ScriptedServer server_;  // last: it uses all members above
};

struct HttpAccessTest : ::testing::Test {
  std::unique_ptr<EventLoop> loop = make_event_loop();

  Result<HttpReply> send(HttpAccess& access, HttpCall call) {
    return block_on(*loop, access.send(std::move(call)));
  }
  Result<HttpReply> send(EgressPolicy policy, HttpCall call) {
    return send(*open_http(std::move(policy)).value(), std::move(call));
  }
};

TEST_F(HttpAccessTest, PassesTheBodyOnAsItArrives) {
  Server server({ok_response("some text", "content-type: text/plain\r\n")});
  HttpCall call{.url = server.url()};
  std::string body;
  int pieces = 0;
  call.on_piece = [&](const HttpReply& head, std::string_view piece) -> Result<Done> {
    EXPECT_EQ(head.header("content-type"), "text/plain");
    EXPECT_TRUE(head.body.empty());
    EXPECT_EQ(piece.empty(), ++pieces == 1) << "the head has arrived";
    body += piece;
    return Done{};
  };
  auto reply = send(local(), call);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(body, "some text");
  EXPECT_EQ(reply->body, "");
  call.on_piece = [](const HttpReply&, std::string_view) -> Result<Done> {
    return error(ErrorCode::exhausted, "enough");
  };
  auto ended = send(local(), std::move(call));
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "enough");
}

TEST_F(HttpAccessTest, ReturnsTheWholeResponse) {
  Server server({ok_response("{}", "content-type: application/json\r\n")});
  auto reply = send(local(), {.method = "POST",
                              .url = server.url("/a?b#c"),
                              .headers = {{"Authorization", "Bearer word"}},
                              .body = "text"});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "{}");
  EXPECT_EQ(reply->header("Content-Type"), "application/json");
  EXPECT_EQ(reply->header("absent"), "");
  EXPECT_EQ(reply->url, server.url("/a?b"));
  EXPECT_THAT(server.requests().at(0),
              AllOf(StartsWith("POST /a?b HTTP/1.1\r\n"),
                    HasSubstr("Host: 127.0.0.1:" + server.port() + "\r\n"),
                    HasSubstr("Authorization: Bearer word\r\n"), HasSubstr("\r\n\r\ntext")));
}

TEST_F(HttpAccessTest, OpensNoConnectionToThisMachineByDefault) {
  Server server({ok_response("secret")});
  EgressPolicy policy = local();
  policy.allowed_networks = {};
  auto access = make_http_access(policy, [](const std::string&) { return "127.0.0.1"; }).value();
  std::string port = server.port();
  for (std::string host : {"127.0.0.1", "127.1", "2130706433", "[::ffff:7f00:1]", "[::1]",
                           "localhost", "localtest.me", "0.0.0.0", "0"}) {
    HttpCall call;
    call.url = "http://" + host + ":" + port + "/";
    auto refused = send(*access, std::move(call));
    ASSERT_FALSE(refused.ok()) << host;
    EXPECT_EQ(refused.error().code, ErrorCode::forbidden) << host << refused.error().message;
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(HttpAccessTest, TheTextForARefusedAddressIsThatForARefusedName) {
  auto access = make_http_access({}, [](const std::string&) { return "192.168.7.7"; }).value();
  auto by_address = send(*access, {.url = "http://name.example/"});
  auto by_port = send(*access, {.url = "http://name.example:22/"});
  EXPECT_EQ(by_address.error(), by_port.error());
  EXPECT_THAT(by_address.error().message, Not(HasSubstr("192.168")));
}

// The name service returns a permitted address first, and another one for the next request.
TEST_F(HttpAccessTest, ANameThatIsReboundIsRefused) {
  Server server({ok_response("first"), ok_response("second")});
  for (const char* rebound :
       {"127.0.0.2", "10.0.0.1", "169.254.169.254", "[::1]", "127.0.0.2,127.0.0.1"}) {
    int resolved = 0;
    auto resolve = [&](const std::string& name) -> std::string {
      EXPECT_EQ(name, "rebound.example");
      return ++resolved == 1 ? "127.0.0.1" : rebound;
    };
    auto access = make_http_access(local(), resolve).value();
    HttpCall call;
    call.url = "http://rebound.example:" + server.port() + "/";
    int before = server.connections();
    auto first = send(*access, call);
    ASSERT_TRUE(first.ok()) << first.error().message;
    auto second = send(*access, call);
    ASSERT_FALSE(second.ok()) << rebound;
    EXPECT_EQ(second.error().code, ErrorCode::forbidden) << rebound;
    EXPECT_EQ(server.connections(), before + 1);
  }
}

TEST_F(HttpAccessTest, ARedirectIsAReplyUnlessThePolicyFollowsRedirects) {
  Server server({redirect_to("/next")});
  auto reply = send(local(), {.url = server.url()});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->status, 302);
  EXPECT_EQ(reply->header("location"), "/next");
}

TEST_F(HttpAccessTest, FollowsRedirectsUpToTheMaximum) {
  Server server({redirect_to("/b"), redirect_to("c"), ok_response("end")});
  EgressPolicy policy = local();
  policy.redirects_max = 2;
  auto reply = send(policy, {.url = server.url("/a")});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->body, "end");
  EXPECT_EQ(reply->url, server.url("/c"));

  Server endless({redirect_to("/again")});
  auto refused = send(policy, {.url = endless.url()});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::exhausted);
  EXPECT_EQ(endless.connections(), 3);
}

TEST_F(HttpAccessTest, ChecksEachRedirect) {
  Server inside({ok_response("secret")});
  EgressPolicy policy = local();
  policy.redirects_max = 5;
  for (const std::string& target :
       {"http://127.0.0.2:" + inside.port() + "/", std::string("http://169.254.169.254/latest/"),
        std::string("http://metadata.google.internal/"), std::string("http://[::1]/"),
        std::string("http://2130706434/"), std::string("//10.0.0.1/")}) {
    Server server({redirect_to("/hop"), redirect_to(target)});
    auto refused = send(policy, {.url = server.url()});
    ASSERT_FALSE(refused.ok()) << target;
    EXPECT_EQ(refused.error().code, ErrorCode::forbidden) << target;
  }
  for (const char* target : {"file:///etc/passwd", "gopher://127.0.0.1/", "http://a@127.0.0.1/"}) {
    Server server({redirect_to(target)});
    EXPECT_EQ(send(policy, {.url = server.url()}).error().code, ErrorCode::invalid) << target;
  }
  EXPECT_EQ(inside.connections(), 0);
}

HttpCall secret_post(std::string url) {
  HttpCall call;
  call.method = "POST";
  call.url = std::move(url);
  call.headers = {{"Authorization", "Bearer word"},
                  {"Cookie", "word=1"},
                  {"X-Api-Key", "word"},
                  {"Content-Type", "text/word"},
                  {"Accept", "text/plain"}};
  call.body = "word";
  return call;
}

TEST_F(HttpAccessTest, DropsSecretsAndTheBodyAcrossOrigins) {
  EgressPolicy policy = local();
  policy.redirects_max = 1;
  for (int status : {301, 302, 303, 307, 308}) {
    Server other({ok_response("end")});
    Server server({redirect_to(other.url("/x"), status)});
    auto reply = send(policy, secret_post(server.url()));
    ASSERT_TRUE(reply.ok()) << reply.error().message;
    EXPECT_THAT(server.requests().at(0), HasSubstr("Bearer word"));
    EXPECT_THAT(other.requests().at(0),
                AllOf(StartsWith("GET /x HTTP/1.1\r\n"), HasSubstr("Accept: text/plain\r\n"),
                      Not(HasSubstr("word"))))
        << status;
  }
}

TEST_F(HttpAccessTest, KeepsHeadersAndForSomeStatusesTheBodyWithinAnOrigin) {
  EgressPolicy policy = local();
  policy.redirects_max = 1;
  for (int status : {301, 302, 303, 307, 308}) {
    Server server({redirect_to("/x", status), ok_response("end")});
    ASSERT_TRUE(send(policy, secret_post(server.url())).ok());
    bool keeps_body = status >= 307;
    EXPECT_THAT(server.requests().at(1),
                AllOf(StartsWith(keeps_body ? "POST /x " : "GET /x "), HasSubstr("Bearer word")));
    EXPECT_EQ(server.requests().at(1).ends_with("\r\n\r\nword"), keeps_body) << status;
  }
}

TEST_F(HttpAccessTest, LimitsTheBody) {
  Server server({ok_response(std::string(1'000, 'x'))});
  EgressPolicy policy = local();
  policy.body_bytes_max = 999;
  EXPECT_EQ(send(policy, {.url = server.url()}).error().code, ErrorCode::exhausted);
  policy.body_bytes_max = 1'000;
  EXPECT_TRUE(send(policy, {.url = server.url()}).ok());
  EXPECT_EQ(send(policy, {.url = server.url(), .body_bytes_max = 999}).error().code,
            ErrorCode::exhausted);
  policy.body_bytes_max = 999;
  EXPECT_FALSE(send(policy, {.url = server.url(), .body_bytes_max = 5'000}).ok());
}

TEST_F(HttpAccessTest, LimitsTheTimeOfAllRequestsTogether) {
  ScriptedServer slow([](Peer& peer, int) {
    peer.request();
    std::this_thread::sleep_for(120ms);
    peer.send(redirect_to("/again"));
  });
  EgressPolicy policy = local();
  policy.redirects_max = 5;
  auto late = send(policy, {.url = slow.url("/"), .timeout = 200ms});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
  EXPECT_LE(slow.connections(), 3);
}

TEST_F(HttpAccessTest, RefusesBodiesOfOtherContentTypes) {
  EgressPolicy policy = local();
  policy.content_types = {"application/json", "text/*"};
  for (const char* type : {"application/json", "Application/JSON; charset=utf-8", "text/plain"}) {
    Server server({ok_response("x", "Content-Type: " + std::string(type) + "\r\n")});
    EXPECT_TRUE(send(policy, {.url = server.url()}).ok()) << type;
  }
  for (const char* type : {"image/png", "application/json2", "textual/plain", ""}) {
    Server server({ok_response("x", "Content-Type: " + std::string(type) + "\r\n")});
    EXPECT_EQ(send(policy, {.url = server.url()}).error().code, ErrorCode::invalid) << type;
  }
  Server empty({ok_response("")});
  EXPECT_TRUE(send(policy, {.url = empty.url()}).ok()) << "without a body there is no type";
}

TEST_F(HttpAccessTest, RefusesCallsThatDescribeTheTransfer) {
  for (const char* method : {"", "CONNECT", "TRACE", "get", "GET / HTTP/1.1\r\nx: y"}) {
    auto refused = send(local(), {.method = method, .url = "http://127.0.0.1:1/"});
    EXPECT_EQ(refused.error().code, ErrorCode::invalid) << method;
  }
  for (const char* name : {"Host", "content-length", "Transfer-Encoding", "Connection",
                           "Proxy-Authorization", "a b", "a\r\nb"}) {
    auto refused = send(local(), {.url = "http://127.0.0.1:1/", .headers = {{name, "x"}}});
    EXPECT_EQ(refused.error().code, ErrorCode::invalid) << name;
  }
}

TEST_F(HttpAccessTest, NarrowedPermitsLessAndNeverMore) {
  Server server({ok_response("x")});
  EgressPolicy policy = local();
  policy.allowed_hosts = {"127.0.0.1", "api.example.com"};
  auto access = open_http(policy).value();
  HttpCall call;
  call.url = server.url();
  EXPECT_TRUE(send(*access->narrowed({"127.0.0.1"}).value(), call).ok());
  EXPECT_TRUE(send(*access->narrowed({"*"}).value(), call).ok());
  auto other = access->narrowed({"api.example.com"}).value();
  EXPECT_EQ(send(*other, call).error().code, ErrorCode::forbidden);
  EXPECT_FALSE(send(*other->narrowed({"*", "127.0.0.1"}).value(), call).ok());
  EXPECT_FALSE(send(*access->narrowed({}).value(), call).ok());
  auto wider = access->narrowed({"127.0.0.2", "example.org"}).value();
  EXPECT_FALSE(send(*wider, {.url = "http://example.org/"}).ok());
  EXPECT_EQ(access->narrowed({"a b"}).error().code, ErrorCode::invalid);
}

TEST_F(HttpAccessTest, ATaskOutlivesItsAccess) {
  Server server({ok_response("x")});
  auto access = open_http(local()).value();
  HttpCall call;
  call.url = server.url();
  auto task = access->send(std::move(call));
  access.reset();
  EXPECT_TRUE(block_on(*loop, std::move(task)).ok());
}

}  // namespace
}  // namespace belay::net
