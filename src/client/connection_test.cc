// Single requests against a scripted server.

#include "client/connection.h"

#include <gmock/gmock.h>

#include "client/remote_service.h"
#include "tests/support/principals.h"
#include "tests/support/scripted_server.h"

namespace belay::client {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string answer(int status, std::string_view body, std::string_view type = "application/json") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: " + std::string(type) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

struct Connections : ::testing::Test {
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<Random> random = system_random();
  std::unique_ptr<net::HttpClient> http;
  std::unique_ptr<Connection> connection;
  std::unique_ptr<Service> service;

  void connect(const std::string& url, std::string token = "") {
    service.reset();
    connection.reset();
    net::HttpClientOptions client;
    client.proxy = "";
    http = net::HttpClient::open(std::move(client)).value();
    ConnectionOptions options;
    options.token = std::move(token);
    options.patience = 5s;
    connection =
        std::make_unique<Connection>(*http, server_address_from(url).value(), std::move(options));
    service = make_remote_service({*connection, *loop, *random});
  }
  template <typename T>
  T wait(Task<T> task) {
    return block_on(*loop, std::move(task));
  }
  // Before the server is destroyed: its destructor waits for open connections.
  void close() {
    service.reset();
    connection.reset();
    http.reset();
  }
  // Returns the result of a request that receives these bytes.
  Result<std::vector<ThreadId>> answered(const std::string& bytes, std::string token = "") {
    net::ScriptedServer server([&](net::Peer& peer, int) {
      peer.request();
      peer.send(bytes);
      peer.sees_the_end();
    });
    connect(server.url(""), std::move(token));
    auto got = wait(service->orphaned_threads(local_program, std::nullopt));
    close();
    return got;
  }
};

TEST_F(Connections, ThatNobodyTakesAreToldWithWhatToDo) {
  int port = 0;
  {
    net::ScriptedServer server([](net::Peer&, int) {});
    port = server.port();
    connect(server.url(""));
  }
  auto refused = wait(service->orphaned_threads(local_program, std::nullopt));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message,
              StartsWith("Could not connect to a Belay server at http://127.0.0.1:" +
                         std::to_string(port)));
  for (std::string_view part : {"belay serve", "--server", "BELAY_SERVER"}) {
    EXPECT_THAT(refused.error().message, HasSubstr(std::string(part)));
  }
}

TEST_F(Connections, AskUnderThePathOfTheAddressWithTheirKey) {
  std::string seen;
  net::ScriptedServer server([&](net::Peer& peer, int) {
    seen = peer.request();
    peer.send(answer(200, R"({"threads":["a","b/c"]})"));
    peer.sees_the_end();
  });
  connect(server.url("/inner/"), "t0ken");
  auto got = wait(service->orphaned_threads(local_program, std::nullopt));
  close();
  EXPECT_EQ(got.value(), (std::vector{ThreadId("a"), ThreadId("b/c")}));
  EXPECT_THAT(seen, StartsWith("GET /inner/api/left-behind HTTP/1.1\r\n"));
  EXPECT_THAT(seen, HasSubstr("Authorization: Bearer t0ken\r\n"));
}

TEST_F(Connections, TellProblemsAsTheErrorsThatTheyAre) {
  auto got = answered(answer(409, R"({"code":"conflict","detail":"It has ended.","status":409})",
                             "application/problem+json"));
  EXPECT_EQ(got.error(), error(ErrorCode::conflict, "It has ended."));
  got = answered(
      "HTTP/1.1 429 X\r\nRetry-After: 3\r\nContent-Type: application/json\r\n"
      "Content-Length: 40\r\n\r\n{\"code\":\"unavailable\",\"detail\":\"Later.\"}");
  Error later = error(ErrorCode::unavailable, "Later.");
  later.retry_after = 3s;
  EXPECT_EQ(got.error(), later);
}

TEST_F(Connections, SayWhichKeyIsMissingAndNeverShowOne) {
  std::string refused = answer(401, R"({"code":"http","detail":"A key is needed."})");
  auto without = answered(refused);
  EXPECT_EQ(without.error().code, ErrorCode::invalid);
  EXPECT_THAT(without.error().message, HasSubstr("requires an API key"));
  EXPECT_THAT(without.error().message, HasSubstr("--api-key-file"));
  auto with = answered(refused, "s3cret");
  EXPECT_THAT(with.error().message, HasSubstr("does not know this API key"));
  EXPECT_THAT(with.error().message, Not(HasSubstr("s3cret")));
  for (const char* code : {"forbidden", "http"}) {
    std::string body =
        R"({"code":")" + std::string(code) + R"(","detail":"This key may not run."})";
    auto forbidden = answered(answer(403, body));
    EXPECT_EQ(forbidden.error().code, ErrorCode::forbidden) << code;
    EXPECT_THAT(forbidden.error().message, HasSubstr("This key may not run."));
  }
}

TEST_F(Connections, SayOfWhatIsNoBelayThatItIsNone) {
  for (const std::string& bytes :
       {answer(200, "<html>", "text/html"), answer(404, "not here", "text/plain"),
        answer(200, "{\"thr"), answer(200, "[]"), answer(200, R"({"threads":[1]})"),
        answer(404, R"({"code":"http","detail":"There is nothing at this address."})")}) {
    auto got = answered(bytes);
    ASSERT_FALSE(got.ok()) << bytes;
    EXPECT_EQ(got.error().code, ErrorCode::invalid) << bytes;
    EXPECT_THAT(got.error().message, HasSubstr("is not a Belay server, or runs another version"))
        << bytes;
  }
}

TEST_F(Connections, TellAGatewayWithoutAServerBehindAsNoServer) {
  auto got = answered(answer(502, "bad gateway", "text/plain"));
  EXPECT_EQ(got.error().code, ErrorCode::unavailable);
  EXPECT_THAT(got.error().message, StartsWith("Could not connect to a Belay server at "));
}

TEST_F(Connections, WaitForAServerThatHasAnsweredBefore) {
  net::ScriptedServer server([&](net::Peer& peer, int number) {
    peer.request();
    if (number == 1 || number == 2) return;  // closes without a response
    std::string_view status = number == 3 ? "503 X\r\nRetry-After: 1" : "200 OK";
    std::string body =
        number == 3 ? R"({"code":"unavailable","detail":"It begins."})" : R"({"threads":[]})";
    peer.send("HTTP/1.1 " + std::string(status) + "\r\nConnection: close\r\n" +
              "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
  });
  connect(server.url(""));
  EXPECT_TRUE(wait(service->orphaned_threads(local_program, std::nullopt)).ok());
  EXPECT_TRUE(wait(service->orphaned_threads(local_program, std::nullopt)).ok())
      << "asked four times";
  close();
  EXPECT_GE(server.connections(), 5);
}

TEST_F(Connections, DontAskAgainForWhatMayBeDoneAlready) {
  net::ScriptedServer server([&](net::Peer& peer, int number) {
    peer.request();
    if (number > 0) return;
    std::string body = R"({"threads":[]})";
    peer.send(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  connect(server.url(""));
  EXPECT_TRUE(wait(service->orphaned_threads(local_program, std::nullopt)).ok());
  auto moved =
      wait(service->retry_message(local_program, "00000000-0000-0000-0000-000000000000/1/2"));
  close();
  EXPECT_EQ(moved.error().code, ErrorCode::unavailable);
  EXPECT_THAT(moved.error().message, HasSubstr("might or might not have been executed"));
}

// The request line of each read: pages and users.
TEST_F(Connections, AskForThePageAndTheUserThatTheyAreGiven) {
  std::vector<std::string> lines;
  net::ScriptedServer server([&](net::Peer& peer, int) {
    for (std::string seen = peer.request(); !seen.empty(); seen = peer.request()) {
      lines.push_back(seen.substr(0, seen.find(" HTTP")));
      peer.send(answer(404, R"({"code":"not_found","detail":"No.","status":404})"));
    }
  });
  connect(server.url(""));
  UserId ana("ana");
  Whose whose{ana, UserId("ben")};
  ThreadId thread("t u");
  RunId run(random_uuid(*random));
  (void)wait(service->orphaned_threads(local_program, ana));
  (void)wait(service->threads(local_program, {.before = ThreadId("s"), .limit = 7, .user = ana}));
  (void)wait(service->runs(local_program, {.before = run, .limit = 8, .user = ana}));
  (void)wait(service->runs(local_program,
                           {.statuses = {RunStatus::failed, RunStatus::paused}, .user = ana}));
  (void)wait(service->history(local_program, {.thread = thread, .before_seq = 5, .limit = 9}));
  (void)wait(service->calls(local_program, {.thread = thread, .limit = 10}));
  (void)wait(service->status(local_program, thread, 3));
  (void)wait(service->standing(local_program, whose));
  (void)wait(service->approvals(local_program, {.only_open = false, .limit = 11, .user = ana}));
  (void)wait(service->approval(local_program, "4f", whose));
  (void)wait(service->approval_of(local_program, thread, whose));
  (void)wait(service->queues(local_program, ana));
  (void)wait(
      service->messages(local_program, {.thread = thread, .all = true, .limit = 12, .user = ana}));
  close();
  const std::vector<std::string> expected = {
      "GET /api/left-behind?userId=ana",
      "GET /api/threads?limit=7&before=s&userId=ana",
      "GET /api/runs?limit=8&before=" + run.text() + "&userId=ana",
      "GET /api/runs?limit=20&userId=ana&status=failed",  // enough found: no request for the next
                                                          // status
      "GET /api/threads/t%20u/history?limit=9&before=5",
      "GET /api/threads/t%20u/calls?limit=10",
      "GET /api/threads/t%20u?at=3",
      "GET /api/overview?userId=ana",
      "GET /api/approvals?limit=11&all=true&userId=ana",
      "GET /api/approvals/4f?userId=ben",
      "GET /api/threads/t%20u/approval?userId=ben",
      "GET /api/queues?userId=ana",
      "GET /api/outbox?limit=12&threadId=t%20u&all=true&userId=ana",
  };
  EXPECT_EQ(lines, expected);
}

TEST_F(Connections, TakeTheAgentsOfTheServerAndNothingElseForThem) {
  std::string body = R"({"agents":[{"name":"mail"}]})";
  net::ScriptedServer server([&](net::Peer& peer, int) {
    for (std::string seen = peer.request(); !seen.empty(); seen = peer.request()) {
      peer.send(answer(200, body));
    }
  });
  connect(server.url(""));
  auto agents = wait(service->agents(local_program));
  body = R"({"agents":{}})";
  auto none = wait(service->agents(local_program));
  body = "[]";
  auto neither = wait(service->agents(local_program));
  close();
  ASSERT_TRUE(agents.ok()) << agents.error().message;
  EXPECT_EQ(to_json(Value(**agents)), R"([{"name":"mail"}])");
  for (const auto& wrong : {none, neither}) {
    ASSERT_FALSE(wrong.ok());
    EXPECT_THAT(wrong.error().message, HasSubstr("no list \"agents\""));
  }
}

TEST_F(Connections, SayOfAQueueOnlyWhatIsToChange) {
  std::vector<std::string> bodies;
  net::ScriptedServer server([&](net::Peer& peer, int) {
    for (std::string seen = peer.request(); !seen.empty(); seen = peer.request()) {
      std::size_t body = seen.find("\r\n\r\n");
      bodies.push_back(seen.substr(0, seen.find(" HTTP")) + " " + seen.substr(body + 4));
      peer.send(answer(200, "{}"));
    }
  });
  connect(server.url(""));
  (void)wait(service->change_queue(local_program, {.name = "slow", .paused = true}));
  (void)wait(service->change_queue(local_program, {.name = "slow", .paused = false}));
  (void)wait(service->change_queue(local_program, {.name = "slow", .runs_max = 3}));
  (void)wait(service->change_queue(local_program, {.name = "slow", .per_key_max = 4}));
  close();
  EXPECT_EQ(bodies, (std::vector<std::string>{R"(POST /api/queues/slow {"paused":true})",
                                              R"(POST /api/queues/slow {"paused":false})",
                                              R"(POST /api/queues/slow {"runsMax":3})",
                                              R"(POST /api/queues/slow {"perKeyMax":4})"}));
}

TEST_F(Connections, SendNoStartThatSavesRecords) {
  int requests = 0;
  net::ScriptedServer server([&](net::Peer&, int) { ++requests; });
  connect(server.url(""));
  StartRun wanted;
  wanted.agent = "mail";
  wanted.records.emplace_back();
  auto refused = wait(service->start(local_program, std::move(wanted)));
  close();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(requests, 0);
}

}  // namespace
}  // namespace belay::client
