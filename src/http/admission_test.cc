// Responses sent after a request's head, before its body is read, and the limit on the bytes that
// all connections buffer for requests.

#include <gtest/gtest.h>

#include <thread>

#include "http/response.h"
#include "tests/support/http_server_fixture.h"

namespace belay::http {
namespace {

constexpr std::size_t kMiB = 1024 * 1024;

// Admits requests with a key.
ServerOptions asking_for_a_key() {
  ServerOptions options;
  options.admit = [](Request& head) -> std::optional<Response> {
    if (head.header("X-Key").empty()) return problem_response(401, "A key is needed.");
    head.admission = std::make_shared<std::string>(head.header("X-Key"));
    return std::nullopt;
  };
  return options;
}

Handler telling_the_key() {
  return answering([](const Request& request) {
    Response response;
    response.body = *std::static_pointer_cast<std::string>(request.admission) + " sent " +
                    std::to_string(request.body.size());
    return response;
  });
}

std::string post_of(std::size_t bytes, std::string_view more = {}) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(more) +
         "Content-Length: " + std::to_string(bytes) + "\r\n\r\n";
}

TEST(HttpAdmission, NothingIsKeptOfABodyWhoseHeadIsRefused) {
  constexpr int connections = 300;
  HttpServerFixture world(telling_the_key(), asking_for_a_key());
  std::vector<Client> clients;
  std::size_t most = 0;
  const std::string body(kMiB - 1, 'x');
  for (int i = 0; i < connections; ++i) {
    clients.push_back(world.connect());
    clients.back().send(post_of(kMiB));
    clients.back().send(body);  // all but the last byte: the server waits for it
    most = std::max(most, world.counts().buffered_bytes);
  }
  EXPECT_LT(most, kMiB);
  for (Client& client : clients) EXPECT_EQ(client.status_of_answer(), 401);
  EXPECT_EQ(world.counts().requests, 0u);
  EXPECT_EQ(world.counts().refused, std::uint64_t{connections});
}

TEST(HttpAdmission, ARefusedRequestIsNotAskedForItsBody) {
  HttpServerFixture world(telling_the_key(), asking_for_a_key());
  Client refused = world.connect();
  refused.send(post_of(5, "Expect: 100-continue\r\n"));
  std::string answer = refused.read_all();
  EXPECT_EQ(status_of(answer), 401) << answer;
  EXPECT_NE(answer.find("Connection: close"), answer.npos);
  Client admitted = world.connect();
  admitted.send(post_of(5, "Expect: 100-continue\r\nX-Key: k\r\n"));
  EXPECT_EQ(status_of(admitted.read_until("\r\n\r\n")), 100);
  admitted.send("hello");
  EXPECT_EQ(body_of(admitted.answer()), "k sent 5");
}

TEST(HttpAdmission, ARefusedRequestWithoutABodyLeavesItsConnectionOpen) {
  HttpServerFixture world(telling_the_key(), asking_for_a_key());
  Client client = world.connect();
  client.send(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nX-Key: k\r\n\r\n"
      "HEAD /3 HTTP/1.1\r\nHost: a\r\n\r\n" +
      post_of(2, "X-Key: l\r\n") + "hi" + post_of(2) + "hiGET /4 HTTP/1.1\r\n");
  EXPECT_EQ(client.status_of_answer(), 401);
  EXPECT_EQ(body_of(client.answer()), "k sent 0");
  EXPECT_EQ(status_of(client.read_until("\r\n\r\n")), 401);
  EXPECT_EQ(body_of(client.answer()), "l sent 2");
  std::string last = client.read_all();
  EXPECT_EQ(status_of(last), 401);
  EXPECT_EQ(last.find("HTTP/1.1", 1), last.npos) << "nothing behind a body that was not read";
}

TEST(HttpAdmission, SeesTheHeadOfABodyInChunks) {
  HttpServerFixture world(telling_the_key(), asking_for_a_key());
  std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n";
  EXPECT_EQ(status_of(exchange(world.port(), head + "\r\n5\r\nhello\r\n")), 401);
  Client client = world.connect();
  client.send(head + "X-Key: k\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  EXPECT_EQ(body_of(client.answer()), "k sent 5");
}

TEST(HttpRequestBytes, AreBoundedOverAllConnections) {
  constexpr std::size_t part = 100'000;
  ServerOptions options = asking_for_a_key();
  options.limits.body_bytes = 200'000;
  options.limits.request_bytes = 1'000'000;
  HttpServerFixture world(telling_the_key(), std::move(options));
  std::vector<Client> slow;
  std::uint64_t refused = 0;
  while (refused == 0) {
    ASSERT_LT(slow.size(), 20u) << "nothing is refused";
    slow.push_back(world.connect());
    slow.back().send(post_of(part + 1, "X-Key: k\r\n") + std::string(part, 'x'));
    // Waits until the part is buffered, or is rejected together with its connection.
    std::size_t sent = slow.size() * part;
    world.wait_for([&](const ServerCounts& counts) {
      refused = counts.refused;
      return refused > 0 || counts.request_bytes >= sent;
    });
    EXPECT_LE(world.counts().request_bytes, 1'000'000u);
  }
  EXPECT_GT(slow.size(), 3u);
  std::string answer = slow.back().read_all();
  EXPECT_EQ(status_of(answer), 503) << answer;
  EXPECT_NE(answer.find("\r\nRetry-After: 1\r\n"), answer.npos);
  slow.pop_back();
  // The requests already admitted are read to their end, which frees their buffers.
  for (Client& client : slow) {
    client.send("x");
    EXPECT_EQ(client.status_of_answer(), 200);
  }
  EXPECT_EQ(world.counts().request_bytes, 0u);
  Client next = world.connect();
  next.send(post_of(part, "X-Key: k\r\n") + std::string(part, 'x'));
  EXPECT_EQ(next.status_of_answer(), 200);
}

TEST(HttpRequestBytes, AreGivenBackWhateverBecomesOfTheConnection) {
  HttpServerFixture world(telling_the_key(), asking_for_a_key());
  for (int how = 0; how < 3; ++how) {
    Client client = world.connect();
    client.send(post_of(50'000, "X-Key: k\r\n") + std::string(40'000, 'x'));
    world.wait_for([](const ServerCounts& counts) { return counts.request_bytes >= 40'000; });
    if (how == 0) client.reset();
    if (how == 1) client.end_sending();
    if (how == 2) client.send(std::string(10'000, 'x'));
    world.wait_for([](const ServerCounts& counts) { return counts.request_bytes == 0; });
  }
}

}  // namespace
}  // namespace belay::http
