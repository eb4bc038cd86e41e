// WebSocket over TLS, with Beast's client.

#include <openssl/pem.h>
#include <openssl/x509.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <filesystem>

#include "server/routes.h"
#include "server/web_socket_host.h"
#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

namespace beast = boost::beast;
namespace ssl = boost::asio::ssl;
using tcp = boost::asio::ip::tcp;

// Writes a key and a certificate that it signs itself.
void write_certificate(const http::TlsFiles& files) {
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

class Mirror final : public WebSocketSession {
 public:
  void open(WebSocket& socket) override { socket_ = &socket; }
  void receive(std::string text) override { socket_->send(std::move(text)); }

 private:
  WebSocket* socket_ = nullptr;
};

Task<Result<std::unique_ptr<WebSocketSession>>> open_mirror(Call) {
  std::unique_ptr<WebSocketSession> made = std::make_unique<Mirror>();
  co_return std::move(made);
}

struct WebSocketsOverTls : ApiFixture {
  std::string folder;
  std::unique_ptr<WebSocketHost> host;

  void SetUp() override {
    std::string path = std::filesystem::temp_directory_path() / "belay-wss-XXXXXX";
    folder = ::mkdtemp(path.data());
    http::TlsFiles files{folder + "/certificate.pem", folder + "/certificate.key"};
    write_certificate(files);
    host = std::make_unique<WebSocketHost>(
        [this](Executor& loop_of_host) {
          ApiParts parts{*service, loop_of_host, clock, random};
          return std::make_unique<Api>(parts, options, [](ApiContext&) {
            Route route = route_of("GET", "/mirror", "mirror", "Returns each message");
            route.open_web_socket = open_mirror;
            std::vector<Route> routes;
            routes.push_back(std::move(route));
            return routes;
          });
        },
        http::TlsContext::load(files).value());
  }
  void TearDown() override {
    host.reset();
    std::filesystem::remove_all(folder);
  }
};

TEST_F(WebSocketsOverTls, ReturnLargeMessagesInBothDirections) {
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
}  // namespace belay::server
