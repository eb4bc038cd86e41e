// The server's behaviour towards slow, numerous and disconnected clients, and during a drain.
//
// No test measures time: each waits for an action of the server.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>

#include "tests/support/http_server_fixture.h"

namespace belay::http {
namespace {

using namespace std::chrono_literals;

Handler path_echo() {
  return answering([](const Request& request) {
    Response response;
    response.body = request.path;
    return response;
  });
}

// Long timeouts, except for those that the test sets.
ServerOptions patient() {
  ServerOptions options;
  options.timeouts = {
      .handshake = 1h, .head = 1h, .body = 1h, .idle = 1h, .write = 1h, .drain = 1h};
  return options;
}

TEST(HttpTimeouts, EndAHeadThatDoesNotCome) {
  ServerOptions options = patient();
  options.timeouts.head = 50ms;
  HttpServerFixture world(path_echo(), std::move(options));
  EXPECT_EQ(status_of(exchange(world.port(), "GET / HTTP/1.1\r\nHost: a\r\n")), 408);
  EXPECT_EQ(exchange(world.port(), ""), "");  // a client that sends nothing gets no response
}

TEST(HttpTimeouts, AreNotPutOffByWhatTricklesIn) {
  ServerOptions options = patient();
  options.timeouts.head = 100ms;
  HttpServerFixture world(path_echo(), std::move(options));
  Client client = world.connect();
  client.send("GET / HTTP/1.1\r\nX: ");
  while (client.send("a")) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(world.counts().requests, 0u);
}

TEST(HttpTimeouts, EndABodyThatDoesNotCome) {
  ServerOptions options = patient();
  options.timeouts.body = 50ms;
  HttpServerFixture world(path_echo(), std::move(options));
  std::string answer =
      exchange(world.port(), "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
  EXPECT_EQ(status_of(answer), 408);
  EXPECT_NE(answer.find("The body of the request did not arrive in time."), answer.npos);
}

TEST(HttpTimeouts, CloseAnIdleConnection) {
  ServerOptions options = patient();
  options.timeouts.idle = 50ms;
  HttpServerFixture world(path_echo(), std::move(options));
  Client client = world.connect();
  client.send(kGet);
  EXPECT_EQ(client.status_of_answer(), 200);
  EXPECT_EQ(client.read_all(), "");
}

TEST(HttpTimeouts, EndALaterHeadThatDoesNotCome) {
  ServerOptions options = patient();
  options.timeouts.head = 50ms;
  HttpServerFixture world(path_echo(), std::move(options));
  Client client = world.connect();
  client.send(kGet);
  EXPECT_EQ(client.status_of_answer(), 200);
  client.send("GET");
  EXPECT_EQ(client.status_of_answer(), 408);
}

TEST(HttpTimeouts, EndAnAnswerThatNobodyReads) {
  ServerOptions options = patient();
  options.timeouts.write = 50ms;
  HttpServerFixture world(answering([](const Request&) {
                            Response response;
                            response.body = std::string(50'000'000, 'x');
                            return response;
                          }),
                          std::move(options));
  Client client = world.connect();
  client.send(kGet);
  world.wait_for([](const ServerCounts& counts) { return counts.requests == 1; });
  world.wait_for([](const ServerCounts& counts) { return counts.connections == 0; });
}

TEST(HttpTimeouts, DoNotEndAHandlerThatTakesItsTime) {
  ServerOptions options;
  options.timeouts = {
      .handshake = 20ms, .head = 20ms, .body = 20ms, .idle = 1h, .write = 20ms, .drain = 1h};
  HttpServerFixture world(
      [](Request) -> Task<Response> {
        co_await sleep_for(200ms);
        Response response;
        response.body = "late";
        co_return response;
      },
      std::move(options));
  Client client = world.connect();
  client.send(kGet);
  EXPECT_EQ(body_of(client.answer()), "late");
}

TEST(HttpLimits, TurnConnectionsAwayBeyondTheirNumber) {
  ServerOptions options = patient();
  options.limits.connections = 3;
  HttpServerFixture world(path_echo(), std::move(options));
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(world.connect());
    clients.back().send(kGet);
    EXPECT_EQ(clients.back().status_of_answer(), 200);
  }
  Client fourth = world.connect();
  fourth.end_sending();
  std::string answer = fourth.read_all();
  EXPECT_EQ(status_of(answer), 503) << answer;
  EXPECT_NE(answer.find("\r\nRetry-After: 1\r\n"), answer.npos);
  clients.pop_back();
  world.wait_for([](const ServerCounts& counts) { return counts.connections == 2; });
  Client fifth = world.connect();
  fifth.send(kGet);
  EXPECT_EQ(fifth.status_of_answer(), 200);
}

TEST(HttpLimits, ReadNoMoreAheadThanTheyAllow) {
  HeldHandler held;
  ServerOptions options = patient();
  options.limits.ahead_bytes = 1'000;
  options.ends_with_client = [](const Request&) { return true; };  // otherwise it would not read
                                                                   // ahead
  HttpServerFixture world(held.handler(), std::move(options));
  Client client = world.connect();
  client.send(kGet);
  world.wait_for([](const ServerCounts& counts) { return counts.handling == 1; });
  std::string many;
  while (many.size() < 300'000) many += kGet;
  std::size_t count = many.size() / kGet.size();
  std::thread sender([&] { client.send(many); });
  world.wait_for([](const ServerCounts& counts) { return counts.buffered_bytes > 1'000; });
  EXPECT_LT(world.counts().buffered_bytes, 200'000u);  // at most one read beyond the limit
  held.release("x ");
  for (std::size_t i = 0; i <= count; ++i) ASSERT_EQ(body_of(client.answer()), "x /");
  sender.join();
}

TEST(HttpLimits, ReadNoFasterThanTheyAnswer) {
  HttpServerFixture world(path_echo(), patient());
  Client client = world.connect();
  constexpr int kRequests = 60'000;
  std::thread sender([&] {
    std::string many;
    for (int i = 0; i < 1'000; ++i) many += kGet;
    for (int i = 0; i < kRequests / 1'000; ++i) client.send(many);
  });
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_EQ(body_of(client.answer()), "/");
    if (i % 500 == 0) {
      ASSERT_LT(world.counts().buffered_bytes, 300'000u);
    }
  }
  sender.join();
}

TEST(HttpLimits, HoldNothingForConnectionsThatAreSilent) {
  HttpServerFixture world(path_echo(), patient());
  std::vector<Client> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(world.connect());
    clients.back().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
                        std::string(100'000, 'x'));
    EXPECT_EQ(clients.back().status_of_answer(), 200);
  }
  EXPECT_EQ(world.counts().connections, 200u);
  EXPECT_EQ(world.counts().buffered_bytes, 0u);
}

TEST(HttpLimits, HoldOfASlowHeadWhatHasComeOfIt) {
  HttpServerFixture world(path_echo(), patient());
  std::vector<Client> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(world.connect());
    slow.back().send("GET / HTTP/1.1\r\nHost: a\r\nX: yyyyyyyy");
  }
  world.wait_for([](const ServerCounts& counts) {
    return counts.connections == 200 && counts.buffered_bytes > 200 * 30;
  });
  EXPECT_LT(world.counts().buffered_bytes, 200u * 200);
  Client other = world.connect();
  other.send(kGet);
  EXPECT_EQ(other.status_of_answer(), 200);
}

// --- Drain ---

class Drained {
 public:
  explicit Drained(HttpServerFixture& world) {
    world.on_loop([&] { world.server().drain([this] { done_ = true; }); });
  }
  void wait(HttpServerFixture& world) {
    while (!done_) world.on_loop([] {});
  }
  bool done() const { return done_; }

 private:
  std::atomic<bool> done_ = false;
};

TEST(HttpDrain, ClosesIdleConnectionsAndAcceptsNoMore) {
  HttpServerFixture world(path_echo(), patient());
  Client fresh = world.connect();
  Client idle = world.connect();
  idle.send(kGet);
  EXPECT_EQ(idle.status_of_answer(), 200);
  world.wait_for([](const ServerCounts& counts) { return counts.connections == 2; });
  Drained drained(world);
  drained.wait(world);
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_EQ(fresh.read_all(), "");
  int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getpeername(idle.socket(), reinterpret_cast<sockaddr*>(&address), &size);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(world.port()));
  EXPECT_NE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ::close(socket);
}

TEST(HttpDrain, AnswersWhatIsUnderWay) {
  HeldHandler held;
  HttpServerFixture world(held.handler(), patient());
  Client handled = world.connect();
  handled.send(kGet);
  Client sending = world.connect();
  sending.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
  world.wait_for([](const ServerCounts& counts) {
    return counts.handling == 1 && counts.connections == 2 && counts.buffered_bytes > 0;
  });
  Drained drained(world);
  world.on_loop([] {});
  EXPECT_FALSE(drained.done());
  sending.send("o");
  world.wait_for([](const ServerCounts& counts) { return counts.handling == 2; });
  held.release("done ");
  for (Client* client : {&handled, &sending}) {
    std::string answer = client->read_all();
    EXPECT_EQ(body_of(answer), "done /");
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), answer.npos);
    client->end_sending();
  }
  handled.reset();
  sending.reset();
  drained.wait(world);
}

TEST(HttpDrain, EndsWhatGoesOnForTooLong) {
  ServerOptions options = patient();
  options.timeouts.drain = 50ms;
  HttpServerFixture world(
      [](Request) -> Task<Response> {
        co_await sleep_for(24h);
        co_return Response{};
      },
      std::move(options));
  Client client = world.connect();
  client.send(kGet);
  world.wait_for([](const ServerCounts& counts) { return counts.handling == 1; });
  Drained first(world);
  Drained second(world);
  first.wait(world);
  second.wait(world);
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(world.counts().connections, 0u);
}

TEST(HttpDrain, MayEndTheServerWhenItIsDone) {
  HttpServerFixture world(path_echo(), patient());
  Client client = world.connect();
  client.send(kGet);
  EXPECT_EQ(client.status_of_answer(), 200);
  std::promise<void> destroyed;
  world.on_loop([&] {
    world.server().drain([&] {
      world.destroy_server();
      destroyed.set_value();
    });
  });
  destroyed.get_future().wait();
}

TEST(HttpServerEnd, DestroysTheTasksThatAreUnderWay) {
  auto world = std::make_unique<HttpServerFixture>(
      [](Request) -> Task<Response> {
        co_await sleep_for(24h);
        co_return Response{};
      },
      patient());
  Client client = world->connect();
  client.send(kGet);
  Client reading = world->connect();
  reading.send("GET /");
  world->wait_for([](const ServerCounts& counts) { return counts.handling == 1; });
  world.reset();
  EXPECT_EQ(client.read_all(), "");
}

}  // namespace
}  // namespace belay::http
