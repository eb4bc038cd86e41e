#include <gtest/gtest.h>

#include <deque>

#include "tests/support/http_server_fixture.h"

namespace belay::http {
namespace {

using namespace std::chrono_literals;

// The pieces of a test's streams, and the test's observations.
struct Feed {
  using Piece = Result<std::string>;

  // From any thread; for one stream only.
  void say(std::string piece) { add(std::move(piece)); }
  void fail() { add(error(ErrorCode::unavailable, "It broke.")); }

  void add(Piece piece) {
    std::lock_guard lock(mutex);
    pieces.push_back(std::move(piece));
    if (waiting) std::exchange(waiting, std::nullopt)->complete(Done{});
  }

  std::mutex mutex;
  std::deque<Piece> pieces;
  std::optional<Completion<Done>> waiting;
  std::atomic<int> asked = 0;
  // In the order in which they happen.
  std::atomic<int> tasks_destroyed = 0;
  std::atomic<int> streams_destroyed = 0;
  std::atomic<bool> stream_went_first = false;
};

class FedStream final : public BodyStream {
 public:
  explicit FedStream(Feed& feed) : feed_(feed) {}
  ~FedStream() override { ++feed_.streams_destroyed; }

  Task<Result<std::string>> next() override {
    struct End {
      explicit End(Feed& its_feed) : feed(its_feed) {}
      End(const End&) = delete;
      End& operator=(const End&) = delete;
      ~End() {
        ++feed.tasks_destroyed;
        if (feed.streams_destroyed > 0) feed.stream_went_first = true;
      }
      Feed& feed;
    };
    End end(feed_);
    ++feed_.asked;
    while (true) {
      Completion<Done> told;
      {
        std::lock_guard lock(feed_.mutex);
        if (!feed_.pieces.empty()) {
          Feed::Piece piece = std::move(feed_.pieces.front());
          feed_.pieces.pop_front();
          co_return piece;
        }
        feed_.waiting = told;
      }
      co_await told;
    }
  }

 private:
  Feed& feed_;
};

Handler streaming(Feed& feed) {
  return answering([&feed](const Request&) {
    Response response;
    response.headers.push_back({"Content-Type", "text/event-stream"});
    response.stream = std::make_unique<FedStream>(feed);
    return response;
  });
}

bool one_streams(const ServerCounts& counts) { return counts.streams == 1; }
bool none_left(const ServerCounts& counts) { return counts.connections == 0; }

TEST(HttpStreams, SendEachPieceAsItComes) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  client.send(kGet);
  std::string head = client.read_until("\r\n\r\n");  // sent before the first piece
  EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), head.npos) << head;
  EXPECT_EQ(head.find("Content-Length"), head.npos);
  feed.say("data: 1\n\n");
  EXPECT_EQ(client.read_bytes(14), "9\r\ndata: 1\n\n\r\n");
  feed.say(std::string(300, 'x'));
  EXPECT_EQ(client.read_bytes(5 + 300 + 2), "12c\r\n" + std::string(300, 'x') + "\r\n");
  feed.say("");
  EXPECT_EQ(client.read_bytes(5), "0\r\n\r\n");
  world.wait_for([](const ServerCounts& counts) { return counts.streams == 0; });
  EXPECT_EQ(feed.streams_destroyed, 1);
}

TEST(HttpStreams, LeaveTheConnectionToTheNextRequest) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  for (int i = 0; i < 3; ++i) {
    feed.say("a");
    feed.say("");
    client.send(kGet);
    client.read_until("\r\n\r\n");
    ASSERT_EQ(client.read_bytes(11), "1\r\na\r\n0\r\n\r\n");
  }
  EXPECT_EQ(world.counts().accepted, 1u);
}

TEST(HttpStreams, TakeRequestsThatComeMeanwhileAfterThem) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  client.send(kGet);
  client.read_until("\r\n\r\n");
  client.send(kGet);
  feed.say("a");
  feed.say("");
  EXPECT_EQ(client.read_bytes(11), "1\r\na\r\n0\r\n\r\n");
  client.read_until("\r\n\r\n");
  feed.say("b");
  feed.say("");
  EXPECT_EQ(client.read_bytes(11), "1\r\nb\r\n0\r\n\r\n");
}

TEST(HttpStreams, EndAtOnceWhenTheirClientGoes) {
  for (bool by_reset : {false, true}) {
    Feed feed;
    HttpServerFixture world(streaming(feed));
    Client client = world.connect();
    client.send(kGet);
    client.read_until("\r\n\r\n");
    world.wait_for(one_streams);
    if (by_reset) {
      client.reset();
    } else {
      client.end_sending();
    }
    world.wait_for(none_left);
    EXPECT_EQ(feed.tasks_destroyed, 1);
    EXPECT_EQ(feed.streams_destroyed, 1);
    EXPECT_FALSE(feed.stream_went_first);
  }
}

TEST(HttpStreams, EndWhenTheirClientSendsWithoutEnd) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  client.send(kGet);
  while (client.send(std::string(10'000, 'x'))) {
  }
  world.wait_for(none_left);
  EXPECT_EQ(feed.streams_destroyed, 1);
}

TEST(HttpStreams, AreNotAskedForMoreThanTheirClientTakes) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  for (int i = 0; i < 400; ++i) feed.say(std::string(100'000, 'x'));
  feed.say("");
  client.send(kGet);
  client.read_until("\r\n\r\n");
  world.wait_for([](const ServerCounts& counts) { return counts.buffered_bytes > 0; });
  // 40 MB are more than the kernel buffers for a connection; the server buffers one piece.
  EXPECT_LT(feed.asked, 400);
  EXPECT_LT(world.counts().buffered_bytes, 250'000u);
  for (int i = 0; i < 400; ++i) ASSERT_EQ(client.read_bytes(7 + 100'000 + 2).size(), 100'009u) << i;
  EXPECT_EQ(client.read_bytes(5), "0\r\n\r\n");
}

TEST(HttpStreams, EndWhenTheirClientTakesNothing) {
  Feed feed;
  ServerOptions options;
  options.timeouts.write = 50ms;
  HttpServerFixture world(streaming(feed), std::move(options));
  Client client = world.connect();
  for (int i = 0; i < 400; ++i) feed.say(std::string(100'000, 'x'));
  client.send(kGet);
  world.wait_for(one_streams);
  world.wait_for(none_left);
  EXPECT_EQ(feed.streams_destroyed, 1);
}

TEST(HttpStreams, WaitForTheirPiecesAsLongAsTheyTake) {
  Feed feed;
  ServerOptions options;
  options.timeouts = {
      .handshake = 20ms, .head = 1h, .body = 20ms, .idle = 20ms, .write = 20ms, .drain = 1h};
  HttpServerFixture world(streaming(feed), std::move(options));
  Client client = world.connect();
  client.send(kGet);
  client.read_until("\r\n\r\n");
  std::this_thread::sleep_for(200ms);  // ten sweeps
  feed.say("a");
  EXPECT_EQ(client.read_bytes(6), "1\r\na\r\n");
}

TEST(HttpStreams, ThatFailAreCutOffWithoutAnEnd) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  client.send(kGet);
  feed.say("a");
  feed.fail();
  client.read_until("\r\n\r\n");
  EXPECT_EQ(client.read_all(), "1\r\na\r\n");
}

TEST(HttpStreams, AreClosedBehindForOldClients) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  feed.say("a");
  feed.say("b");
  feed.say("");
  std::string answer = client.read_all();
  EXPECT_EQ(body_of(answer), "ab");
  EXPECT_EQ(answer.find("chunked"), answer.npos);
  EXPECT_NE(answer.find("Connection: close\r\n"), answer.npos);
}

TEST(HttpStreams, AreNotAskedForAHeadAnswer) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  client.send("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(body_of(client.read_all()), "");
  EXPECT_EQ(feed.asked, 0);
  EXPECT_EQ(feed.streams_destroyed, 1);
}

class EndlessStream final : public BodyStream {
 public:
  Task<Result<std::string>> next() override { co_return std::string("x"); }
};

TEST(HttpStreams, ThatNeverWaitLeaveOthersTheirTurn) {
  HttpServerFixture world(answering([](const Request& request) {
    Response response;
    if (request.path == "/endless") response.stream = std::make_unique<EndlessStream>();
    return response;
  }));
  Client endless = world.connect();
  endless.send("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  std::atomic<bool> enough = false;
  std::thread reader([&] {
    while (!enough && !endless.read_bytes(6).empty()) {
    }
  });
  for (int i = 0; i < 100; ++i) {
    Client other = world.connect();
    other.send(kGet);
    EXPECT_EQ(other.status_of_answer(), 200);
  }
  enough = true;
  reader.join();
}

TEST(HttpStreams, EndWithTheirLastChunkWhenTheServerDrains) {
  Feed feed;
  HttpServerFixture world(streaming(feed));
  Client client = world.connect();
  client.send(kGet);
  client.read_until("\r\n\r\n");
  world.wait_for(one_streams);
  std::atomic<bool> drained = false;
  world.on_loop([&] { world.server().drain([&] { drained = true; }); });
  EXPECT_EQ(client.read_all(), "0\r\n\r\n");
  client.reset();
  while (!drained) world.on_loop([] {});
  EXPECT_EQ(feed.tasks_destroyed, 1);
  EXPECT_FALSE(feed.stream_went_first);
}

TEST(HttpStreams, HoldNoBufferWhileTheyWait) {
  constexpr int kStreams = 300;
  std::vector<std::unique_ptr<Feed>> feeds;
  HttpServerFixture world(answering([&](const Request&) {
    feeds.push_back(std::make_unique<Feed>());
    Response response;
    response.stream = std::make_unique<FedStream>(*feeds.back());
    return response;
  }));
  std::vector<Client> clients;
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(world.connect());
    clients.back().send(kGet);
    clients.back().read_until("\r\n\r\n");
  }
  world.on_loop([&] {
    for (auto& feed : feeds) feed->say(std::string(10'000, 'x'));
  });
  for (Client& client : clients) ASSERT_EQ(client.read_bytes(10'008).size(), 10'008u);
  world.wait_for([&](const ServerCounts& counts) {
    return counts.streams == kStreams && counts.buffered_bytes == 0;
  });
  world.on_loop([&] { world.destroy_server(); });  // before the feeds are destroyed
}

}  // namespace
}  // namespace belay::http
