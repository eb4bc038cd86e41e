#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

#include "server/routes.h"
#include "server/web_socket_host.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

namespace beast = boost::beast;
namespace websocket = beast::websocket;
using tcp = boost::asio::ip::tcp;
using IoError = boost::system::error_code;

// Returns each message; "flood" is answered with messages until the connection closes, "quit"
// with a close.
class Echo final : public WebSocketSession {
 public:
  explicit Echo(std::atomic<int>& live) : live_(live) { ++live_; }
  ~Echo() override { --live_; }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;
  void open(WebSocket& socket) override { socket_ = &socket; }
  void receive(std::string text) override {
    if (text == "quit") return socket_->close(WebSocketCode::policy, "as asked");
    if (text != "flood") return socket_->send(std::move(text));
    for (int i = 0; i < 1000; ++i) socket_->send(std::string(64 * 1024, 'x'));
  }

 private:
  std::atomic<int>& live_;
  WebSocket* socket_ = nullptr;
};

class SocketClient {
 public:
  explicit SocketClient(std::uint16_t port) : socket_(io_), port_(port) {
    socket_.next_layer().connect({boost::asio::ip::address_v4::loopback(), port});
  }

  // Returns the status of the response: 101 if the WebSocket is open.
  int shake_hands(const std::vector<http::Header>& headers = {}) {
    socket_.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
      for (const http::Header& each : headers) request.set(each.name, each.value);
    }));
    websocket::response_type response;
    IoError failed;
    socket_.handshake(response, "127.0.0.1:" + std::to_string(port_), "/echo", failed);
    return static_cast<int>(response.result_int());
  }
  void send(std::string_view text) {
    socket_.text(true);
    socket_.write(boost::asio::buffer(text.data(), text.size()));
  }
  // Returns the next message; "" when the connection is closed.
  std::string read() {
    beast::flat_buffer buffer;
    IoError failed;
    socket_.read(buffer, failed);
    return failed ? "" : beast::buffers_to_string(buffer.data());
  }
  // Reads until the connection is closed, and returns the code; 0: without one.
  int code() {
    while (!read().empty()) {
    }
    return socket_.reason().code;
  }
  websocket::stream<tcp::socket>& socket() { return socket_; }

 private:
  boost::asio::io_context io_;
  websocket::stream<tcp::socket> socket_;
  const std::uint16_t port_;
};

struct WebSockets : ApiFixture {
  std::unique_ptr<WebSocketHost> make_host() {
    return std::make_unique<WebSocketHost>([this](Executor& loop_of_host) {
      ApiParts parts{*service, loop_of_host, clock, random};
      return std::make_unique<Api>(parts, options, [this](ApiContext&) {
        Route route = route_of("GET", "/echo", "echo", "Returns each message");
        route.permission = Permission::run;
        route.open_web_socket = [this](Call call) { return open_echo(std::move(call)); };
        std::vector<Route> routes;
        routes.push_back(std::move(route));
        return routes;
      });
    });
  }
  Task<Result<std::unique_ptr<WebSocketSession>>> open_echo(Call) {
    if (refuses) co_return error(ErrorCode::not_found, "No echo here.");
    ++opened;
    std::unique_ptr<WebSocketSession> made = std::make_unique<Echo>(live);
    co_return std::move(made);
  }
  void add_key(const std::string& name, Permission permission) {
    ApiKey key;
    key.name = name;
    key.permission = permission;
    key.token = sha256("token-of-" + name);
    options.keys.push_back(std::move(key));
  }
  static void wait_until(const std::function<bool()>& done) {
    while (!done()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  std::atomic<int> live = 0;    // sessions
  std::atomic<int> opened = 0;  // sessions, also those that have ended
  bool refuses = false;
};

TEST_F(WebSockets, ReturnMessagesInTheirOrder) {
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  for (int i = 0; i < 100; ++i) client.send("message " + std::to_string(i));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.read(), "message " + std::to_string(i));
  EXPECT_EQ(host->open(), 1u);
  client.socket().close(websocket::close_code::normal);
  wait_until([&] { return host->open() == 0 && live == 0; });
}

TEST_F(WebSockets, ReadAMessageThatCameWithTheHandshake) {
  auto host = make_host();
  boost::asio::io_context io;
  tcp::socket raw(io);
  raw.connect({boost::asio::ip::address_v4::loopback(), host->port()});
  // A masked frame with the text "hi"; the mask is zero.
  std::string sent =
      "GET /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive, Upgrade\r\n"
      "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  sent += std::string("\x81\x82\0\0\0\0hi", 8);
  boost::asio::write(raw, boost::asio::buffer(sent));
  std::string received;
  char byte = 0;
  while (!received.ends_with(std::string_view("\x81\x02hi", 4))) {
    ASSERT_EQ(raw.read_some(boost::asio::buffer(&byte, 1)), 1u);
    received += byte;
  }
  EXPECT_TRUE(received.starts_with("HTTP/1.1 101"));
  EXPECT_NE(received.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), received.npos);
}

TEST_F(WebSockets, ServeTwoClientsAtTheSameTime) {
  auto host = make_host();
  SocketClient one(host->port()), other(host->port());
  ASSERT_EQ(one.shake_hands(), 101);
  ASSERT_EQ(other.shake_hands(), 101);
  other.send("from the other");
  one.send("from the one");
  EXPECT_EQ(one.read(), "from the one");
  EXPECT_EQ(other.read(), "from the other");
  EXPECT_EQ(host->open(), 2u);
}

TEST_F(WebSockets, JoinTheFragmentsOfAMessage) {
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.socket().text(true);
  client.socket().write_some(false, boost::asio::buffer("one, ", 5));
  client.socket().ping("between");
  client.socket().write_some(false, boost::asio::buffer("two, ", 5));
  client.socket().write_some(true, boost::asio::buffer("three", 5));
  EXPECT_EQ(client.read(), "one, two, three");
}

TEST_F(WebSockets, CloseAMessageAboveTheLimit) {
  options.web_sockets.message_bytes = 1000;
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.send(std::string(1000, 'a'));
  EXPECT_EQ(client.read().size(), 1000u);
  client.send(std::string(1001, 'a'));
  EXPECT_EQ(client.code(), 1009);
  wait_until([&] { return host->open() == 0 && live == 0; });
}

TEST_F(WebSockets, CloseBinaryMessagesAndInvalidText) {
  auto host = make_host();
  SocketClient binary(host->port());
  ASSERT_EQ(binary.shake_hands(), 101);
  binary.socket().binary(true);
  binary.socket().write(boost::asio::buffer("abc", 3));
  EXPECT_EQ(binary.code(), 1003);
  SocketClient invalid(host->port());
  ASSERT_EQ(invalid.shake_hands(), 101);
  invalid.send("a\xFF");
  EXPECT_EQ(invalid.code(), 1007);
}

TEST_F(WebSockets, CloseWhenTheServerDrains) {
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.send("before");
  EXPECT_EQ(client.read(), "before");
  host->drain();
  EXPECT_EQ(client.code(), 1001);
  wait_until([&] { return host->open() == 0 && live == 0; });
}

TEST_F(WebSockets, CloseAsTheSessionAsks) {
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.send("last");
  client.send("quit");
  EXPECT_EQ(client.read(), "last");
  EXPECT_EQ(client.code(), 1008);
  EXPECT_EQ(client.socket().reason().reason, "as asked");
}

TEST_F(WebSockets, CloseASlowClientAndHoldNoMoreThanTheLimit) {
  options.web_sockets.unsent_bytes = 256 * 1024;
  options.web_sockets.close_timeout = std::chrono::milliseconds(20'000);
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.send("flood");
  wait_until([&] { return host->buffered_bytes() > 0; });
  EXPECT_LE(host->buffered_bytes(), 512u * 1024);
  EXPECT_EQ(client.code(), 1013);
}

TEST_F(WebSockets, EndWithAClientThatReadsNothing) {
  options.web_sockets.write_timeout = std::chrono::milliseconds(50);
  options.web_sockets.unsent_bytes = 100 * 1024 * 1024;
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.send("flood");
  wait_until([&] { return host->open() == 0 && live == 0; });
}

TEST_F(WebSockets, EndWithAClientThatAnswersNoPing) {
  options.web_sockets.idle_timeout = std::chrono::milliseconds(100);
  auto host = make_host();
  SocketClient silent(host->port());  // does not read, and does not see the ping
  ASSERT_EQ(silent.shake_hands(), 101);
  wait_until([&] { return host->open() == 0 && live == 0; });
}

TEST_F(WebSockets, EndWithAConnectionThatIsCutWithinAMessage) {
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.socket().text(true);
  client.socket().write_some(false, boost::asio::buffer("half", 4));
  wait_until([&] { return live == 1; });
  client.socket().next_layer().close();
  wait_until([&] { return host->open() == 0 && live == 0; });
}

TEST_F(WebSockets, NeedAKeyWithThePermission) {
  add_key("reader", Permission::read);
  add_key("runner", Permission::run);
  auto host = make_host();
  auto status_with = [&](const std::vector<http::Header>& headers) {
    SocketClient client(host->port());
    return client.shake_hands(headers);
  };
  EXPECT_EQ(status_with({}), 401);
  EXPECT_EQ(status_with({{"Authorization", "Bearer wrong"}}), 401);
  EXPECT_EQ(status_with({{"Authorization", "Bearer token-of-reader"}}), 403);
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(status_with({{"X-Api-Key", "token-of-runner"}}), 101);
  EXPECT_EQ(opened, 1);
}

TEST_F(WebSockets, RefusePagesOfOtherOrigins) {
  add_key("runner", Permission::run);
  options.cors_origins = {"http://chat.example"};
  auto host = make_host();
  auto status_of_page = [&](const std::string& origin) {
    SocketClient client(host->port());
    return client.shake_hands({{"X-Api-Key", "token-of-runner"}, {"Origin", origin}});
  };
  EXPECT_EQ(status_of_page("http://evil.example"), 403);
  EXPECT_EQ(status_of_page("null"), 403);
  EXPECT_EQ(status_of_page("http://chat.example"), 101);
  EXPECT_EQ(status_of_page("http://127.0.0.1:" + std::to_string(host->port())), 101);
}

TEST_F(WebSockets, AnswerFaultyHandshakesAsRequests) {
  auto host = make_host();
  auto status_with = [&](const std::vector<http::Header>& headers) {
    SocketClient client(host->port());
    return client.shake_hands(headers);
  };
  EXPECT_EQ(status_with({{"Upgrade", "h2c"}}), 426);
  EXPECT_EQ(status_with({{"Sec-WebSocket-Version", "8"}}), 426);
  EXPECT_EQ(status_with({{"Sec-WebSocket-Key", "short"}}), 400);
  EXPECT_EQ(status_with({{"Connection", "keep-alive"}}), 400);
  EXPECT_EQ(opened, 0);
}

TEST_F(WebSockets, AnswerAnErrorOfTheRouteAsARequest) {
  refuses = true;
  auto host = make_host();
  SocketClient client(host->port());
  EXPECT_EQ(client.shake_hands(), 404);
}

TEST_F(WebSockets, EndWithTheServer) {
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  wait_until([&] { return live == 1; });
  host.reset();
  EXPECT_EQ(live, 0);
  EXPECT_EQ(client.code(), 0);
}

}  // namespace
}  // namespace belay::server
