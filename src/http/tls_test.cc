// HTTPS, with OpenSSL's own client.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "tests/support/http_server_fixture.h"

extern char** environ;

namespace belay::http {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

bool run(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& part : command) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  if (failed == 0) ::waitpid(child, &status, 0);
  return status == 0;
}

struct HttpTls : ::testing::Test {
  static inline std::string folder;

  static void SetUpTestSuite() {
    std::string path = std::filesystem::temp_directory_path() / "belay-https-XXXXXX";
    folder = ::mkdtemp(path.data());
    ASSERT_TRUE(make("certificate"));
    ASSERT_TRUE(make("other"));
    ASSERT_TRUE(run({"openssl", "ec", "-in", folder + "/certificate.key", "-aes128", "-passout",
                     "pass:secret", "-out", folder + "/locked.key"}));
    std::ofstream(folder + "/nonsense") << "nonsense\n";
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  static bool make(const std::string& name) {
    return run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-days", "2", "-subj", "/CN=" + name, "-keyout",
                folder + "/" + name + ".key", "-out", folder + "/" + name + ".pem"});
  }

  static ServerOptions options() {
    ServerOptions options;
    options.tls = {.certificate_file = folder + "/certificate.pem",
                   .key_file = folder + "/certificate.key"};
    return options;
  }
};

// The client side of one session; blocks.
class Session {
 public:
  explicit Session(int port, int version = TLS1_3_VERSION)
      : client_(port), context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free) {
    SSL_CTX_set_max_proto_version(context_.get(), version);
    SSL_CTX_set_min_proto_version(context_.get(), version);
    SSL_CTX_set_security_level(context_.get(), 0);  // also offers what a server should reject
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), client_.socket());
    constexpr unsigned char kOffered[] = "\x02h2\x08http/1.1";
    SSL_set_alpn_protos(session_.get(), kOffered, sizeof(kOffered) - 1);
    connected_ = SSL_connect(session_.get()) == 1;
  }

  bool connected() const { return connected_; }
  SSL* session() { return session_.get(); }

  void send(std::string_view bytes) {
    SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size()));
  }

  std::string read_until_size(std::size_t size) {
    std::string bytes;
    std::vector<char> buffer(100'000);
    while (bytes.size() < size) {
      int got = SSL_read(session_.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (got <= 0) break;
      bytes.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return bytes;
  }
  std::string read_all() { return read_until_size(std::string::npos); }

  std::string alpn() {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }

  std::string certificate_name() {
    std::unique_ptr<X509, decltype(&X509_free)> certificate(
        SSL_get1_peer_certificate(session_.get()), &X509_free);
    std::string name(100, '\0');
    int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName,
                                         name.data(), static_cast<int>(name.size()));
    name.resize(static_cast<std::size_t>(std::max(size, 0)));
    return name;
  }

 private:
  Client client_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> session_{nullptr, &SSL_free};
  bool connected_ = false;
};

Handler tls_echo() {
  return answering([](const Request& request) {
    Response response;
    response.body = (request.tls ? "tls " : "plain ") + request.body;
    return response;
  });
}

TEST_F(HttpTls, AnswersOverBothVersionsThatAreFitForUse) {
  HttpServerFixture world(tls_echo(), options());
  for (int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Session session(world.port(), version);
    ASSERT_TRUE(session.connected());
    EXPECT_EQ(session.alpn(), "http/1.1");
    session.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
    std::string answer = session.read_all();
    EXPECT_EQ(body_of(answer), "tls hi") << answer;
    EXPECT_EQ(SSL_get_shutdown(session.session()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
  }
}

TEST_F(HttpTls, RefusesOldVersions) {
  HttpServerFixture world(tls_echo(), options());
  EXPECT_FALSE(Session(world.port(), TLS1_1_VERSION).connected());
}

TEST_F(HttpTls, CarriesLargeBodiesBothWays) {
  HttpServerFixture world(tls_echo(), options());
  Session session(world.port());
  std::string large;
  while (large.size() < 1'000'000) large += std::to_string(large.size()) + " ";
  session.send("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " +
               std::to_string(large.size()) + "\r\n\r\n" + large);
  EXPECT_TRUE(body_of(session.read_all()) == "tls " + large);
}

TEST_F(HttpTls, AnswersPipelinedRequests) {
  HttpServerFixture world(tls_echo(), options());
  Session session(world.port());
  std::string all;
  for (int i = 0; i < 200; ++i) all += kGet;
  session.send(all);
  session.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  std::string answers = session.read_all();
  int count = 0;
  for (std::size_t at = 0; (at = answers.find("HTTP/1.1 200", at)) != answers.npos; ++at) ++count;
  EXPECT_EQ(count, 201);
}

TEST_F(HttpTls, StreamsUntilTheClientGoes) {
  struct Ticks final : BodyStream {
    explicit Ticks(std::atomic<int>& its_ends) : ends(its_ends) {}
    ~Ticks() override { ++ends; }
    Task<Result<std::string>> next() override {
      if (said++ > 0) co_await sleep_for(24h);
      co_return std::string("tick");
    }
    std::atomic<int>& ends;
    int said = 0;
  };
  std::atomic<int> ends = 0;
  HttpServerFixture world(answering([&](const Request&) {
                            Response response;
                            response.stream = std::make_unique<Ticks>(ends);
                            return response;
                          }),
                          options());
  {
    Session session(world.port());
    session.send(kGet);
    while (session.read_until_size(1).find("tick") == std::string::npos) {
    }
    world.wait_for([](const ServerCounts& counts) { return counts.buffered_bytes == 0; });
    EXPECT_EQ(ends, 0);
  }
  world.wait_for([](const ServerCounts& counts) { return counts.connections == 0; });
  EXPECT_EQ(ends, 1);
}

TEST_F(HttpTls, SurvivesClientsThatSpeakSomethingElse) {
  HttpServerFixture world(tls_echo(), options());
  for (std::string_view bytes :
       {std::string_view(kGet), std::string_view("\x16\x03\x01\x00\x05", 5),
        std::string_view("\x00\x00\x00", 3)}) {
    Client client = world.connect();
    client.send(bytes);
    client.end_sending();
    client.read_all();
  }
  world.connect().reset();
  EXPECT_TRUE(Session(world.port()).connected());
  EXPECT_EQ(world.counts().requests, 0u);
}

TEST_F(HttpTls, EndsAHandshakeThatDoesNotCome) {
  ServerOptions impatient = options();
  impatient.timeouts = {
      .handshake = 50ms, .head = 1h, .body = 1h, .idle = 1h, .write = 1h, .drain = 1h};
  HttpServerFixture world(tls_echo(), std::move(impatient));
  Client client = world.connect();
  EXPECT_EQ(client.read_all(), "");
}

TEST_F(HttpTls, SaysWhichFileIsWrong) {
  auto loop = make_asio_loop();
  auto clock = system_clock();
  struct Case {
    std::string certificate, key, names, says;
  };
  const std::vector<Case> cases = {
      {"missing.pem", "certificate.key", "/missing.pem", "provide a PEM file with the certificate"},
      {"nonsense", "certificate.key", "/nonsense", "provide a PEM file with the certificate"},
      {"certificate.pem", "missing.key", "/missing.key", "the private key of"},
      {"certificate.pem", "nonsense", "/nonsense", "the private key of"},
      {"certificate.pem", "locked.key", "/locked.key", "without a passphrase"},
      {"certificate.pem", "other.key", "/other.key", "the private key of"},
  };
  for (const Case& one : cases) {
    ServerOptions wrong;
    wrong.tls = {.certificate_file = folder + "/" + one.certificate,
                 .key_file = folder + "/" + one.key};
    auto listening = Server::listen(*loop, *clock, std::move(wrong), tls_echo());
    ASSERT_FALSE(listening.ok()) << one.names;
    EXPECT_EQ(listening.error().code, ErrorCode::invalid);
    EXPECT_THAT(listening.error().message, HasSubstr(folder + one.names));
    EXPECT_THAT(listening.error().message, HasSubstr(one.says));
  }
}

TEST_F(HttpTls, TakesANewCertificateWhileItRuns) {
  ServerOptions renewed;
  renewed.tls = {.certificate_file = folder + "/renewed.pem", .key_file = folder + "/renewed.key"};
  auto copy = [](const std::string& name) {
    using std::filesystem::copy_options;
    for (const char* ending : {".pem", ".key"}) {
      std::filesystem::copy_file(folder + "/" + name + ending, folder + "/renewed" + ending,
                                 copy_options::overwrite_existing);
    }
  };
  copy("certificate");
  HttpServerFixture world(tls_echo(), std::move(renewed));
  Session before(world.port());
  EXPECT_EQ(before.certificate_name(), "certificate");
  copy("other");
  world.on_loop([&] { EXPECT_TRUE(world.server().reload_certificate().ok()); });
  EXPECT_EQ(Session(world.port()).certificate_name(), "other");
  std::filesystem::remove(folder + "/renewed.key");
  world.on_loop([&] { EXPECT_FALSE(world.server().reload_certificate().ok()); });
  EXPECT_EQ(Session(world.port()).certificate_name(), "other");
  before.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(body_of(before.read_all()), "tls ");
}

}  // namespace
}  // namespace belay::http
