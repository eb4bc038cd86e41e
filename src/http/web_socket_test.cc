// WebSocket, with Beast's client.

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <filesystem>

#include <gtest/gtest.h>

#include "http/web_socket.h"
#include "tests/support/http_server_fixture.h"

namespace belay::http {
namespace {

namespace beast = boost::beast;
namespace ssl = boost::asio::ssl;
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
  int shake_hands(const std::vector<Header>& headers = {}) {
    socket_.set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
      for (const Header& each : headers) request.set(each.name, each.value);
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

// Writes a key and a certificate that it signs itself.
void write_certificate(const TlsFiles& files) {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 60 * 60);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME* name = X509_get_subject_name(made.get());
  const auto* text = reinterpret_cast<const unsigned char*>("localhost");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  ASSERT_GT(X509_sign(made.get(), key.get(), EVP_sha256()), 0);
  std::unique_ptr<FILE, decltype(&fclose)> pem(fopen(files.certificate_file.c_str(), "w"), &fclose);
  ASSERT_TRUE(pem && PEM_write_X509(pem.get(), made.get()) == 1);
  std::unique_ptr<FILE, decltype(&fclose)> locked(fopen(files.key_file.c_str(), "w"), &fclose);
  ASSERT_TRUE(locked && PEM_write_PrivateKey(locked.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                             nullptr) == 1);
}

class SocketServer {
 public:
  SocketServer(Handler handler, ServerOptions options)
      : server_(std::move(handler), std::move(options)) {}
  std::uint16_t port() const { return static_cast<std::uint16_t>(server_.port()); }
  std::size_t open() { return server_.counts().streams; }
  std::size_t buffered_bytes() { return server_.counts().buffered_bytes; }
  void drain() {
    server_.on_loop([this] { server_.server().drain([] {}); });
  }

 private:
  HttpServerFixture server_;
};

struct WebSockets : ::testing::Test {
  std::unique_ptr<SocketServer> make_host(ServerOptions of_server = {}) {
    Handler handler = answering([this](const Request& request) {
      return web_socket_response(request, limits, std::make_unique<Echo>(live));
    });
    return std::make_unique<SocketServer>(std::move(handler), std::move(of_server));
  }
  static void wait_until(const std::function<bool()>& done) {
    while (!done()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  WebSocketLimits limits;
  std::atomic<int> live = 0;  // sessions
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
  limits.message_bytes = 1000;
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
  limits.unsent_bytes = 256 * 1024;
  limits.close_timeout = std::chrono::milliseconds(20'000);
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.send("flood");
  for (int i = 0; i < 100; ++i) EXPECT_LE(host->buffered_bytes(), 512u * 1024);
  EXPECT_EQ(client.code(), 1013);
}

TEST_F(WebSockets, EndWithAClientThatReadsNothing) {
  limits.write_timeout = std::chrono::milliseconds(50);
  limits.unsent_bytes = 100 * 1024 * 1024;
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  client.send("flood");
  wait_until([&] { return host->open() == 0 && live == 0; });
}

TEST_F(WebSockets, EndWithAClientThatAnswersNoPing) {
  limits.idle_timeout = std::chrono::milliseconds(100);
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

TEST_F(WebSockets, EndWithTheServer) {
  auto host = make_host();
  SocketClient client(host->port());
  ASSERT_EQ(client.shake_hands(), 101);
  wait_until([&] { return live == 1; });
  host.reset();
  EXPECT_EQ(live, 0);
  EXPECT_EQ(client.code(), 0);
}

TEST_F(WebSockets, ReturnLargeMessagesOverTls) {
  std::string path = std::filesystem::temp_directory_path() / "belay-wss-XXXXXX";
  std::string folder = ::mkdtemp(path.data());
  TlsFiles files{folder + "/certificate.pem", folder + "/certificate.key"};
  write_certificate(files);
  ServerOptions of_server;
  of_server.tls = files;
  auto host = make_host(std::move(of_server));
  std::filesystem::remove_all(folder);
  boost::asio::io_context io;
  ssl::context context(ssl::context::tls_client);
  beast::websocket::stream<beast::ssl_stream<tcp::socket>> client(io, context);
  beast::get_lowest_layer(client).connect({boost::asio::ip::address_v4::loopback(), host->port()});
  client.next_layer().handshake(ssl::stream_base::client);
  client.handshake("127.0.0.1", "/mirror");
  client.text(true);
  for (std::size_t size : {1u, 20'000u, 700'000u}) {
    std::string sent(size, 'a');
    sent.back() = 'z';
    client.write(boost::asio::buffer(sent));
    beast::flat_buffer received;
    client.read(received);
    EXPECT_EQ(beast::buffers_to_string(received.data()), sent);
  }
  host->drain();
  beast::flat_buffer rest;
  boost::system::error_code failed;
  client.read(rest, failed);
  EXPECT_EQ(failed, beast::websocket::error::closed);
  EXPECT_EQ(client.reason().code, 1001);
}

}  // namespace
}  // namespace belay::http
