// TLS to a real redis-server, and to servers that misbehave in ways in which a real one does not.
// Nothing is sent to a server whose certificate is not valid, and every error contains a remedy.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "tests/redis/redis_server.h"

namespace belay::redis {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using tests::Authority;
using tests::becomes_true;
using tests::Certificate;
using tests::connected;
using tests::patient;
using tests::RedisServer;
using tests::ScriptedRedis;

constexpr const char* here = "IP:127.0.0.1,DNS:localhost";

// Return the same address for TLS, or for no TLS.
std::string with_tls(const std::string& url) { return "rediss" + url.substr(url.find(':')); }
std::string without_tls(const std::string& url) { return "redis" + url.substr(url.find(':')); }

std::string at_localhost(std::string url) {
  return url.replace(url.find("127.0.0.1"), std::string_view("127.0.0.1").size(), "localhost");
}

class RedisTls : public ::testing::Test {
 protected:
  // The test's end of a connection writes to clients that have disconnected.
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }

  const std::string& ca_file() const { return authority_.file(); }

  // Returns the error of the first attempt to connect.
  std::string refusal_of(const std::string& url, const std::string& file,
                         milliseconds connect_timeout = milliseconds(10'000)) {
    ClientOptions options = patient(url, file);
    options.link.connect_timeout = connect_timeout;
    Client client(std::move(options), *random_);
    EXPECT_TRUE(client.wait_for_first_try(milliseconds(20'000)));
    EXPECT_FALSE(client.is_up());
    return client.trouble();
  }

  std::unique_ptr<Random> random_ = system_random();
  Authority authority_;
};

TEST_F(RedisTls, CommandsAndChannelsWorkAsWithout) {
  RedisServer server(authority_.issue(here), {"--requirepass", "right-one"});
  std::string url = server.url(":right-one", 3);
  for (const std::string& each : {url, at_localhost(url)}) {
    auto client = connected(each, *random_, ca_file());
    std::string bytes("\0\r\n$5\xff", 6);
    ASSERT_TRUE(client->call_and_wait({"SET", client->name("a"), bytes}).ok());
    EXPECT_EQ(client->call_and_wait({"GET", "belay:a"})->text, bytes);
    std::atomic<int> heard = 0;
    auto other = connected(url, *random_, ca_file());
    auto subscription = other->subscribe("news", [&](std::string_view text) {
      if (text == "hello") ++heard;
    });
    ASSERT_TRUE(becomes_true([&] { return other->hears(); }));
    client->publish("news", "hello");
    EXPECT_TRUE(becomes_true([&] { return heard == 1; }));
  }
  Client wrong(patient(server.url(":wrong-one"), ca_file()), *random_);
  EXPECT_TRUE(becomes_true(
      [&] { return wrong.trouble().find("does not accept the password") != std::string::npos; }));
}

TEST_F(RedisTls, BothVersionsThatAreNotBrokenWork) {
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    RedisServer server(authority_.issue(here), {"--tls-protocols", version});
    auto client = connected(server.url(), *random_, ca_file());
    EXPECT_TRUE(client->call_and_wait({"PING"}).ok()) << version;
  }
}

TEST_F(RedisTls, WhatIsLargeGoesAndComesWhole) {
  RedisServer server(authority_.issue(here), {});
  auto client = connected(server.url(), *random_, ca_file());
  std::string large;
  while (large.size() < (6u << 20)) large += std::to_string(random_->bits());
  // More than any buffer holds, so that it is sent in parts.
  server.freeze();
  client->send({"SET", "large", large});
  server.thaw();
  for (int i = 0; i < 2; ++i) {
    auto got = client->call_and_wait({"GET", "large"});
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_TRUE(got->text == large);
  }
  // Many commands together, whose replies share TLS records.
  for (int i = 0; i < 1'000; ++i) client->send({"APPEND", "many", std::to_string(i % 10)});
  auto many = client->call_and_wait({"GET", "many"});
  ASSERT_TRUE(many.ok()) << many.error().message;
  EXPECT_EQ(many->text.size(), 1'000u);
}

TEST_F(RedisTls, ComesBackByItselfAfterTheServerDiedAndHearsAgain) {
  RedisServer server(authority_.issue(here), {});
  auto client = connected(server.url(), *random_, ca_file());
  std::atomic<int> heard = 0;
  auto subscription = client->subscribe("news", [&](std::string_view) { ++heard; });
  ASSERT_TRUE(becomes_true([&] { return client->hears(); }));
  server.kill();
  ASSERT_TRUE(becomes_true([&] { return !client->is_up() && !client->hears(); }));
  server.start();
  ASSERT_TRUE(becomes_true([&] { return client->is_up() && client->hears(); }));
  client->publish("news", "hello");
  EXPECT_TRUE(becomes_true([&] { return heard == 1; }));
}

TEST_F(RedisTls, WhomTheCertificateDoesNotShowIsRefusedWithTheRemedy) {
  RedisServer good(authority_.issue(here), {});
  EXPECT_THAT(
      refusal_of(good.url(), ""),
      AllOf(HasSubstr("its certificate is not signed by an authority that this system trusts"),
            HasSubstr("redis_ca_file"), HasSubstr("BELAY_REDIS_CA_FILE")));
  Authority other;
  EXPECT_THAT(
      refusal_of(good.url(), other.file()),
      AllOf(HasSubstr("its certificate is not signed by an authority in \"" + other.file() + "\""),
            HasSubstr("redis_ca_file")));
  RedisServer elsewhere(authority_.issue("DNS:other.example,IP:127.0.0.2"), {});
  for (const std::string& url : {elsewhere.url(), at_localhost(elsewhere.url())}) {
    EXPECT_THAT(refusal_of(url, ca_file()),
                AllOf(HasSubstr("its certificate is not for \""), HasSubstr("setting redis")));
  }
  RedisServer old(authority_.issue(here, {.from = hours(-48), .until = hours(-24)}), {});
  EXPECT_THAT(refusal_of(old.url(), ca_file()),
              AllOf(HasSubstr("has expired"), HasSubstr("renew it")));
  RedisServer early(authority_.issue(here, {.from = hours(24), .until = hours(48)}), {});
  EXPECT_THAT(refusal_of(early.url(), ca_file()),
              AllOf(HasSubstr("is not valid yet"), HasSubstr("clocks")));
}

TEST_F(RedisTls, WhoSpeaksAnythingElseIsToldFromWhoIsAway) {
  // A server that waits for the end of a line.
  RedisServer plain;
  EXPECT_THAT(refusal_of(with_tls(plain.url()), ca_file(), milliseconds(300)),
              AllOf(HasSubstr("check that the port uses TLS"), HasSubstr("redis://")));
  ScriptedRedis answers([](int socket, int) { ScriptedRedis::say(socket, "-ERR what?\r\n"); });
  EXPECT_THAT(refusal_of(with_tls(answers.url()), ca_file()),
              AllOf(HasSubstr("that port does not use TLS"), HasSubstr("redis://")));
  RedisServer tls(authority_.issue(here), {});
  EXPECT_THAT(refusal_of(without_tls(tls.url()), ""), HasSubstr("write rediss://"));
  RedisServer asking(authority_.issue(here),
                     {"--tls-auth-clients", "yes", "--tls-ca-cert-file", ca_file()});
  EXPECT_THAT(refusal_of(asking.url(), ca_file()), HasSubstr("set tls-auth-clients to no"));
  RedisServer asking_in_1_2(
      authority_.issue(here),
      {"--tls-auth-clients", "yes", "--tls-ca-cert-file", ca_file(), "--tls-protocols", "TLSv1.2"});
  EXPECT_THAT(refusal_of(asking_in_1_2.url(), ca_file()), HasSubstr("set tls-auth-clients to no"));
  RedisServer old(authority_.issue(here),
                  {"--tls-protocols", "TLSv1.1", "--tls-ciphers", "DEFAULT@SECLEVEL=0"});
  EXPECT_THAT(refusal_of(old.url(), ca_file()), HasSubstr("enable TLS 1.2"));
}

TEST_F(RedisTls, AnAlertOrAnEndInPlaceOfAnAnswerSaysThatTheOtherSchemeIsMeant) {
  ScriptedRedis alerts([](int socket, int) {
    ScriptedRedis::expect(socket, "PING\r\n");
    ScriptedRedis::say(socket, std::string_view("\x15\x03\x01\x00\x02\x02\x46", 7));
  });
  EXPECT_THAT(refusal_of(alerts.url(), ""),
              AllOf(HasSubstr("that port uses TLS"), HasSubstr("rediss://")));
  ScriptedRedis leaves([](int, int) {});
  EXPECT_THAT(refusal_of(leaves.url(), ""), HasSubstr("write rediss://"));
  EXPECT_THAT(refusal_of(with_tls(leaves.url()), ca_file()),
              AllOf(HasSubstr("TLS handshake"), HasSubstr("redis://")));
}

TEST_F(RedisTls, AFileOfAuthoritiesThatCannotBeUsedIsNamed) {
  RedisServer server(authority_.issue(here), {});
  std::string missing = authority_.folder() + "/missing.pem";
  EXPECT_THAT(refusal_of(server.url(), missing),
              AllOf(HasSubstr(missing), HasSubstr("No such file"), HasSubstr("redis_ca_file")));
  std::string garbage = authority_.folder() + "/garbage.pem";
  std::ofstream(garbage) << "no certificate";
  for (const std::string& each : {garbage, authority_.folder()}) {
    EXPECT_THAT(
        refusal_of(server.url(), each),
        AllOf(HasSubstr(each), HasSubstr("no PEM certificates"), HasSubstr("BELAY_REDIS_CA_FILE")));
  }
  if (::geteuid() == 0) return;  // root can read everything
  std::string closed = authority_.folder() + "/closed.pem";
  std::ofstream(closed) << "";
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  EXPECT_THAT(refusal_of(server.url(), closed), HasSubstr("Permission denied"));
}

TEST_F(RedisTls, ACorrectedFileCountsAtTheNextConnection) {
  RedisServer server(authority_.issue(here), {});
  std::string file = authority_.folder() + "/to-be-corrected.pem";
  Authority other;
  std::filesystem::copy_file(other.file(), file);
  Client client(patient(server.url(), file), *random_);
  ASSERT_TRUE(
      becomes_true([&] { return client.trouble().find("its certificate is not signed by") == 0; }));
  std::ofstream(file) << std::ifstream(ca_file()).rdbuf();
  EXPECT_TRUE(client.wait_until_up(milliseconds(20'000))) << client.trouble();
}

TEST_F(RedisTls, AServersOwnCertificateMayStandInTheFile) {
  Certificate own = authority_.issue(here);
  RedisServer server(own, {});
  EXPECT_TRUE(connected(server.url(), *random_, own.file)->call_and_wait({"PING"}).ok());
}

TEST_F(RedisTls, NoPasswordIsSaidToWhomWeDoNotBelieve) {
  RedisServer server(authority_.issue(here), {"--requirepass", "right-one"});
  std::string trouble = refusal_of(server.url(":right-one"), "");
  EXPECT_THAT(trouble, Not(HasSubstr("right-one")));
  auto client = connected(server.url(":right-one"), *random_, ca_file());
  auto said = client->call_and_wait({"INFO", "commandstats"});
  ASSERT_TRUE(said.ok());
  EXPECT_THAT(said->text, HasSubstr("cmdstat_auth:calls=1,")) << "its own alone";
}

TEST_F(RedisTls, WhoNeverAnswersTheHandshakeCostsTheTimeToConnectAndNoMore) {
  ScriptedRedis server([](int socket, int) { ScriptedRedis::wait_for_end(socket); });
  ClientOptions options = patient(with_tls(server.url()), ca_file());
  options.link.connect_timeout = milliseconds(300);
  auto begun = steady_clock::now();
  Client client(options, *random_);
  auto refused = client.call_and_wait({"PING"});
  EXPECT_FALSE(refused.ok());
  EXPECT_LT(steady_clock::now() - begun, milliseconds(200)) << "nobody waits for it";
  ASSERT_TRUE(client.wait_for_first_try(milliseconds(10'000)));
  auto took = steady_clock::now() - begun;
  EXPECT_GE(took, milliseconds(290));
  EXPECT_LT(took, milliseconds(1'000));
  EXPECT_THAT(client.trouble(), HasSubstr("did not complete the TLS handshake in time"));
}

// The server's end of a TLS session, blocking.
class TlsEnd {
 public:
  TlsEnd(int socket, const Certificate& certificate)
      : context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free) {
    SSL_CTX_use_certificate_chain_file(context_.get(), certificate.file.c_str());
    SSL_CTX_use_PrivateKey_file(context_.get(), certificate.key_file.c_str(), SSL_FILETYPE_PEM);
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), socket);
    is_there_ = SSL_accept(session_.get()) == 1;
  }
  // Responds to the greeting.
  bool greet() {
    if (!is_there_ || hear().find("PING") == std::string::npos) return false;
    say("+PONG\r\n");
    return true;
  }
  std::string hear() {
    std::array<char, 1024> piece;
    int came = SSL_read(session_.get(), piece.data(), static_cast<int>(piece.size()));
    return std::string(piece.data(), static_cast<std::size_t>(std::max(came, 0)));
  }
  void say(std::string_view text) {
    SSL_write(session_.get(), text.data(), static_cast<int>(text.size()));
  }
  void end() { SSL_shutdown(session_.get()); }
  bool was_ended() {
    while (!hear().empty()) {
    }
    return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  std::string asked_for() {
    const char* name = SSL_get_servername(session_.get(), TLSEXT_NAMETYPE_host_name);
    return name ? name : "";
  }

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> session_{nullptr, &SSL_free};
  bool is_there_ = false;
};

TEST_F(RedisTls, SaysWhichNameItMeansAndThatNothingMoreComes) {
  Certificate certificate = authority_.issue(here);
  std::mutex mutex;
  std::vector<std::string> names;
  int ends = 0;
  ScriptedRedis server([&](int socket, int) {
    TlsEnd end(socket, certificate);
    if (!end.greet()) return;
    bool was_ended = end.was_ended();
    std::lock_guard lock(mutex);
    names.push_back(end.asked_for());
    if (was_ended) ++ends;
  });
  std::string url = with_tls(server.url());
  for (const std::string& each : {at_localhost(url), url}) connected(each, *random_, ca_file());
  EXPECT_TRUE(becomes_true([&] {
    std::lock_guard lock(mutex);
    return ends == 2;
  }));
  std::lock_guard lock(mutex);
  EXPECT_EQ(names, (std::vector<std::string>{"localhost", ""})) << "an address is no name";
}

TEST_F(RedisTls, WhatWasSaidBeforeTheEndIsHeardAndTheEndAlthoughTheConnectionStands) {
  Certificate certificate = authority_.issue(here);
  ScriptedRedis server([&](int socket, int) {
    TlsEnd end(socket, certificate);
    if (!end.greet() || end.hear().find("first") == std::string::npos) return;
    end.say("$5\r\nFIRST\r\n");
    end.end();
    ScriptedRedis::wait_for_end(socket);
  });
  auto client = connected(with_tls(server.url()), *random_, ca_file());
  auto reply = client->call_and_wait({"GET", "first"});
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->text, "FIRST");
  EXPECT_TRUE(becomes_true([&] { return server.connections() >= 2; }));
}

// Forwards data in both directions, to the client in pieces of that size, until one side ends.
void hand_on(int client, int port, std::size_t piece) {
  int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::connect(server, reinterpret_cast<sockaddr*>(&name), sizeof name);
  int yes = 1;
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  std::array<char, 4096> bytes;
  for (bool goes_on = true; goes_on;) {
    pollfd both[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    ::poll(both, 2, -1);
    for (int i = 0; i < 2 && goes_on; ++i) {
      if (both[i].revents == 0) continue;
      auto came = ::recv(both[i].fd, bytes.data(), i == 0 ? bytes.size() : piece, 0);
      goes_on = came > 0;
      if (goes_on) {
        ScriptedRedis::say(both[1 - i].fd, {bytes.data(), static_cast<std::size_t>(came)});
      }
    }
  }
  ::close(server);
}

TEST_F(RedisTls, ARecordThatComesByteByByteIsReadWhole) {
  RedisServer server(authority_.issue(here), {});
  for (std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
    ScriptedRedis between([&](int socket, int) { hand_on(socket, server.port(), piece); });
    auto client = connected(with_tls(between.url()), *random_, ca_file());
    std::string text(3'000, 'x');
    ASSERT_TRUE(client->call_and_wait({"SET", "a", text}).ok());
    EXPECT_EQ(client->call_and_wait({"GET", "a"})->text, text);
    EXPECT_EQ(between.connections(), 1);
  }
}

}  // namespace
}  // namespace belay::redis
