// Real sockets on loopback: the client with servers that conform to the protocol, and with others.

#include "net/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/support/scripted_server.h"

namespace belay::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string answer(std::string_view body, std::string_view more_headers = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(more_headers) + "\r\n" + std::string(body);
}

struct Got {
  int status = 0;
  std::string type;
  std::string body;
};

struct HttpClientTest : ::testing::Test {
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<HttpClient> client = with({});

  static std::unique_ptr<HttpClient> with(HttpClientOptions options) {
    // Proxies of the test environment must not be used.
    if (!options.proxy) options.proxy = "";
    return HttpClient::open(std::move(options)).value();
  }

  static Task<Result<Got>> whole(HttpClient& client, HttpRequest request) {
    auto begun = co_await client.begin(std::move(request));
    if (!begun.ok()) co_return std::move(begun).error();
    auto body = co_await begun->read_all();
    if (!body.ok()) co_return std::move(body).error();
    Got got;
    got.status = begun->status();
    got.type = begun->header("content-TYPE");
    got.body = *std::move(body);
    co_return std::move(got);
  }
  Result<Got> send(HttpRequest request) {
    return block_on(*loop, whole(*client, std::move(request)));
  }
  static HttpRequest get(const ScriptedServer& server, std::string_view path = "/") {
    HttpRequest request;
    request.url = server.url(path);
    return request;
  }
  Error failure(HttpRequest request) {
    auto got = send(std::move(request));
    if (!got.ok()) return got.error();
    ADD_FAILURE() << "it answered " << got->status << " " << got->body;
    return error(ErrorCode::corrupt, "It answered.");
  }
};

TEST_F(HttpClientTest, SendsWhatItIsGivenAndGetsTheWholeAnswer) {
  std::string seen;
  ScriptedServer server([&](Peer& peer, int) {
    seen = peer.request();
    peer.send(answer("{\"a\":1}", "content-type: application/json\r\n"));
    peer.sees_the_end();
  });
  HttpRequest request = get(server, "/v1/chat?x=1");
  request.method = "POST";
  request.body = std::string("{\0}", 3);
  request.headers = {{"content-type", "application/json"}, {"x-empty", ""}};
  auto got = send(std::move(request));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->type, "application/json");
  EXPECT_EQ(got->body, "{\"a\":1}");
  client.reset();
  EXPECT_THAT(seen, StartsWith("POST /v1/chat?x=1 HTTP/1.1\r\n"));
  EXPECT_THAT(seen, HasSubstr("\r\nx-empty:"));
  EXPECT_THAT(seen, Not(HasSubstr("Expect")));
  EXPECT_TRUE(seen.ends_with(std::string("\r\n\r\n{\0}", 7)));
}

TEST_F(HttpClientTest, GivesEachPieceAsItComes) {
  std::promise<void> first_was_read;
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.send("5\r\nfirst\r\n");
    first_was_read.get_future().wait();
    peer.send("6\r\nsecond\r\n0\r\n\r\n");
    peer.sees_the_end();
  });
  auto reads = [](HttpClient& from, HttpRequest request,
                  std::promise<void>& read) -> Task<Result<std::string>> {
    auto begun = co_await from.begin(std::move(request));
    auto first = co_await begun->read();
    read.set_value();
    auto second = co_await begun->read();
    auto end = co_await begun->read();
    co_return *first + "," + *second + "," + *end + ".";
  };
  auto all = block_on(*loop, reads(*client, get(server), first_was_read));
  EXPECT_EQ(*all, "first,second,.");
  client.reset();
}

TEST_F(HttpClientTest, UsesAConnectionAgain) {
  ScriptedServer server([](Peer& peer, int) {
    while (!peer.request().empty()) peer.send(answer("x"));
  });
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(send(get(server)).ok());
  client.reset();
  EXPECT_EQ(server.connections(), 1);
}

Task<Result<Done>> read_a_piece_and_leave(HttpClient& from, HttpRequest request) {
  auto begun = co_await from.begin(std::move(request));
  if (!begun.ok()) co_return std::move(begun).error();
  auto piece = co_await begun->read();
  std::move(*begun).leave();
  co_return Done{};
}

TEST_F(HttpClientTest, UsesTheConnectionOfAnAnswerThatWasLeftNearItsEnd) {
  ScriptedServer server([](Peer& peer, int) {
    while (!peer.request().empty()) {
      peer.send(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
          "5\r\nfirst\r\n4\r\nrest\r\n0\r\n\r\n");
    }
  });
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(block_on(*loop, read_a_piece_and_leave(*client, get(server))).ok());
  }
  client.reset();
  EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpClientTest, ClosesTheConnectionOfAnAnswerThatWasLeftAndDoesNotEnd) {
  for (std::size_t more : {std::size_t{0}, std::size_t{10'000'000}}) {
    std::promise<bool> closed;
    ScriptedServer server([&](Peer& peer, int) {
      peer.request();
      peer.send("HTTP/1.1 200 OK\r\n\r\nfirst");
      bool sent_all = peer.send(std::string(more, 'x'));
      closed.set_value(!sent_all || peer.sees_the_end());
    });
    EXPECT_TRUE(block_on(*loop, read_a_piece_and_leave(*client, get(server))).ok());
    EXPECT_TRUE(closed.get_future().get()) << more;
  }
}

TEST_F(HttpClientTest, TakesARedirectForAnAnswerLikeAnyOther) {
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send("HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    peer.sees_the_end();
  });
  EXPECT_EQ(send(get(server))->status, 307);
  client.reset();
}

TEST_F(HttpClientTest, PassesOverInterimAnswers) {
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send("HTTP/1.1 103 Early Hints\r\ncontent-type: text/wrong\r\n\r\n" + answer("now"));
    peer.sees_the_end();
  });
  auto got = send(get(server));
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->type, "");
  EXPECT_EQ(got->body, "now");
  client.reset();
}

TEST_F(HttpClientTest, SaysWhereNobodyListens) {
  int port = 0;
  {
    ScriptedServer gone([](Peer&, int) {});
    port = gone.port();
  }
  HttpRequest request;
  request.url = "http://127.0.0.1:" + std::to_string(port) + "/secret-path?key=secret";
  Error why = failure(std::move(request));
  EXPECT_EQ(why.code, ErrorCode::unavailable);
  EXPECT_THAT(why.message, HasSubstr("127.0.0.1:" + std::to_string(port)));
  EXPECT_THAT(why.message, Not(HasSubstr("secret")));
}

TEST_F(HttpClientTest, AnAnswerThatEndsTooSoonIsAFailure) {
  for (std::string_view cut :
       {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive.", "HTTP/1.1 200 OK\r\nConte", "",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"}) {
    ScriptedServer server([&](Peer& peer, int) {
      peer.request();
      peer.send(cut);
    });
    EXPECT_EQ(failure(get(server)).code, ErrorCode::unavailable) << cut;
  }
}

TEST_F(HttpClientTest, GarbageIsAFailure) {
  for (std::string_view garbage :
       {"\x16\x03\x01 what\r\n\r\n", "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nfirst\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"}) {
    ScriptedServer server([&](Peer& peer, int) {
      peer.request();
      peer.send(garbage);
    });
    EXPECT_EQ(failure(get(server)).code, ErrorCode::unavailable) << garbage;
  }
}

TEST_F(HttpClientTest, WaitsForTheHeadAndForEachPieceAsLongAsItMay) {
  for (std::string_view before :
       {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive."}) {
    ScriptedServer server([&](Peer& peer, int) {
      peer.request();
      peer.send(before);
      peer.sees_the_end();
    });
    HttpRequest request = get(server);
    request.timeouts.first_byte = 100ms;
    request.timeouts.idle = 50ms;
    Error why = failure(std::move(request));
    EXPECT_EQ(why.code, ErrorCode::unavailable);
    EXPECT_THAT(why.message, HasSubstr(before.empty() || before.size() < 20 ? "100 ms" : "50 ms"));
  }
}

TEST_F(HttpClientTest, ABodyThatDripsForEverEndsAtTheTotal) {
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send("HTTP/1.1 200 OK\r\n\r\n");
    while (peer.send(".")) std::this_thread::sleep_for(5ms);
  });
  HttpRequest request = get(server);
  request.timeouts.idle = 10s;
  request.timeouts.total = 150ms;
  EXPECT_EQ(failure(std::move(request)).code, ErrorCode::unavailable);
}

TEST_F(HttpClientTest, AnAnswerBeyondItsLimitsIsGivenUp) {
  ScriptedServer server([&](Peer& peer, int connection) {
    peer.request();
    if (connection == 0) peer.send(answer(std::string(2'000, 'x')));
    if (connection == 1) peer.send(answer("", "x: " + std::string(2'000, 'x') + "\r\n"));
    peer.sees_the_end();
  });
  HttpRequest request = get(server);
  request.limits.head_bytes = 1'000;
  request.limits.body_bytes = 1'999;
  for (const char* what : {"1999 bytes", "1000 bytes"}) {
    Error why = failure(request);
    EXPECT_EQ(why.code, ErrorCode::exhausted);
    EXPECT_THAT(why.message, HasSubstr(what));
  }
}

// 10,000 zeros in 45 bytes.
TEST_F(HttpClientTest, TheLimitCountsWhatIsUnpacked) {
  static constexpr unsigned char packed[] = {
      0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0xed, 0xc1, 0x01, 0x0d, 0x00,
      0x00, 0x00, 0xc2, 0xa0, 0xf7, 0x4f, 0x6d, 0x0e, 0x37, 0xa0, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0xe0, 0xdf, 0x00, 0x2e, 0xca, 0x3b, 0x4d, 0x10, 0x27, 0x00, 0x00};
  std::string zeros(reinterpret_cast<const char*>(packed), sizeof(packed));
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send(answer(zeros, "Content-Encoding: gzip\r\n"));
    peer.sees_the_end();
  });
  HttpRequest request = get(server);
  auto got = send(request);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got->body, std::string(10'000, '\0'));
  client = with({});
  request.limits.body_bytes = 9'999;
  EXPECT_EQ(failure(request).code, ErrorCode::exhausted);
  client.reset();
}

TEST_F(HttpClientTest, WhoReadsSlowlyKeepsTheOtherSideWaiting) {
  constexpr std::size_t whole = 24 * 1024 * 1024;
  std::atomic<std::size_t> sent = 0;
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(whole) + "\r\n\r\n");
    std::string piece(64 * 1024, 'x');
    while (sent < whole && peer.send(piece)) sent += piece.size();
    peer.sees_the_end();
  });
  auto reads = [&](HttpClient& from, HttpRequest request) -> Task<Result<std::size_t>> {
    auto begun = co_await from.begin(std::move(request));
    co_await sleep_for(300ms);
    EXPECT_LT(sent, whole);
    auto all = co_await begun->read_all();
    if (!all.ok()) co_return std::move(all).error();
    co_return all->size();
  };
  HttpRequest request = get(server);
  request.limits.body_bytes = whole;
  request.timeouts.idle = 200ms;
  auto size = block_on(*loop, reads(*client, std::move(request)));
  ASSERT_TRUE(size.ok()) << size.error().message;
  EXPECT_EQ(*size, whole);
  client.reset();
}

TEST_F(HttpClientTest, DroppingTheTaskClosesTheConnection) {
  std::promise<bool> closed;
  ScriptedServer server([&](Peer& peer, int connection) {
    peer.request();
    if (connection == 1) peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    if (connection < 2) closed.set_value(peer.sees_the_end());
  });
  for (bool has_head : {false, true}) {
    closed = {};
    Spawned running;
    loop->post(
        [&] { running = spawn<Result<Got>>(*loop, whole(*client, get(server)), [](auto) {}); });
    auto later = []() -> Task<Done> {
      co_await sleep_for(50ms);
      co_return Done{};
    };
    block_on(*loop, later());
    running.reset();
    EXPECT_TRUE(closed.get_future().get()) << has_head;
  }
}

TEST_F(HttpClientTest, ClosingTheClientEndsWhatIsUnderWay) {
  ScriptedServer server([&](Peer& peer, int) {
    peer.request();
    client.reset();
    peer.sees_the_end();
  });
  auto got = block_on(*loop, whole(*client, get(server)));
  EXPECT_EQ(got.error().code, ErrorCode::cancelled);
}

TEST_F(HttpClientTest, RefusesWhatIsNoRequest) {
  for (const char* url : {"", "ftp://example.org/x", "file:///etc/passwd", "http://", "//host",
                          "http://a b/", "https://[::1"}) {
    HttpRequest request;
    request.url = url;
    EXPECT_EQ(failure(std::move(request)).code, ErrorCode::invalid) << url;
  }
  HttpRequest request;
  request.url = "http://127.0.0.1:1/";
  for (HttpHeader header : {HttpHeader{"x-key", "secret\r\nx: y"}, HttpHeader{"x-key", "secret\n"},
                            HttpHeader{"x y", "secret"}, HttpHeader{"", "secret"}}) {
    request.headers = {header};
    Error why = failure(request);
    EXPECT_EQ(why.code, ErrorCode::invalid);
    EXPECT_THAT(why.message, Not(HasSubstr("secret")));
  }
}

TEST_F(HttpClientTest, GoesThroughTheProxyThatItIsGiven) {
  std::string seen;
  ScriptedServer proxy([&](Peer& peer, int) {
    seen = peer.request();
    peer.send(answer("by proxy"));
    peer.sees_the_end();
  });
  HttpClientOptions options;
  options.proxy = proxy.url("");
  client = with(std::move(options));
  HttpRequest request;
  request.url = "http://models.invalid/v1";
  EXPECT_EQ(send(std::move(request))->body, "by proxy");
  client.reset();
  EXPECT_THAT(seen, StartsWith("GET http://models.invalid/v1 HTTP/1.1\r\n"));
}

TEST(RetryAfter, IsReadInSecondsOrAsADate) {
  Instant now = *instant_from("2026-11-21T12:00:00Z");
  EXPECT_EQ(retry_after("0", now), 0ms);
  EXPECT_EQ(retry_after("7", now), 7s);
  EXPECT_EQ(retry_after("3601", now), 10min);
  EXPECT_EQ(retry_after("99999999999999999999", now), 10min);
  EXPECT_EQ(retry_after("Sat, 21 Nov 2026 12:00:30 GMT", now), 30s);
  EXPECT_EQ(retry_after("Sat, 21 Nov 2026 11:00:30 GMT", now), 0ms);
  for (const char* nothing : {"", "-1", "-99999999999999999999", "soon", "1.5", "7 s"}) {
    EXPECT_EQ(retry_after(nothing, now), std::nullopt) << nothing;
  }
}

}  // namespace
}  // namespace belay::net
