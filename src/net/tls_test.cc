// HTTPS against OpenSSL's own server: a certificate is accepted only if a trusted authority has
// signed it for the same name.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "net/http_client.h"

extern char** environ;

namespace belay::net {
namespace {

using ::testing::HasSubstr;

struct Tls : ::testing::Test {
  std::string folder = make_folder();
  pid_t server = -1;
  int said = -1;  // the server's output; it would fail if the pipe were closed
  std::string port;
  std::unique_ptr<EventLoop> loop = make_event_loop();

  static std::string make_folder() {
    std::string path = std::filesystem::temp_directory_path() / "belay-tls-XXXXXX";
    return ::mkdtemp(path.data());
  }

  // Creates a self-signed certificate, for 127.0.0.1 only.
  void SetUp() override {
    pid_t maker = start({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                         "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                         "/CN=belay test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                         folder + "/key.pem", "-out", folder + "/certificate.pem"},
                        nullptr);
    int status = -1;
    ::waitpid(maker, &status, 0);
    ASSERT_EQ(status, 0) << "openssl makes no certificate";
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    said = pipe[0];
    server = start({"openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-key",
                    folder + "/key.pem", "-cert", folder + "/certificate.pem"},
                   &pipe[1]);
    ::close(pipe[1]);
    constexpr std::string_view before = "ACCEPT 127.0.0.1:";
    std::string line;
    for (char c = 0; port.empty() && ::read(said, &c, 1) == 1;) {
      if (c != '\n') {
        line += c;
        continue;
      }
      if (line.starts_with(before)) port = line.substr(before.size());
      line.clear();
    }
    ASSERT_NE(port, "");
  }
  void TearDown() override {
    if (server > 0) {
      ::kill(server, SIGKILL);
      ::waitpid(server, nullptr, 0);
    }
    ::close(said);
    std::filesystem::remove_all(folder);
  }

  static pid_t start(std::vector<std::string> words, const int* output) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (output) ::posix_spawn_file_actions_adddup2(&files, *output, 1);
    pid_t child = -1;
    int failed = ::posix_spawnp(&child, "openssl", &files, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    EXPECT_EQ(failed, 0);
    return child;
  }

  Result<int> status_from(const std::string& host, const std::string& trusted) {
    HttpClientOptions options;
    options.trusted_certificates = trusted;
    options.proxy = "";
    auto client = HttpClient::open(std::move(options)).value();
    HttpRequest request;
    request.url = "https://" + host + ":" + port + "/";
    auto asks = [](HttpClient& asked, HttpRequest what) -> Task<Result<int>> {
      auto begun = co_await asked.begin(std::move(what));
      if (!begun.ok()) co_return std::move(begun).error();
      auto body = co_await begun->read_all();
      if (!body.ok()) co_return std::move(body).error();
      co_return begun->status();
    };
    return block_on(*loop, asks(*client, std::move(request)));
  }
};

TEST_F(Tls, ACertificateOfSomebodyWhomWeTrustIsBelieved) {
  auto status = status_from("127.0.0.1", folder + "/certificate.pem");
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(*status, 200);
}

TEST_F(Tls, AnyOtherOneIsNotAndNoRepetitionHelps) {
  Error unknown = status_from("127.0.0.1", "").error();
  EXPECT_EQ(unknown.code, ErrorCode::invalid);
  EXPECT_THAT(unknown.message, HasSubstr("certificate"));
  Error of_another_name = status_from("localhost", folder + "/certificate.pem").error();
  EXPECT_EQ(of_another_name.code, ErrorCode::invalid);
  EXPECT_THAT(of_another_name.message, HasSubstr("localhost"));
}

TEST_F(Tls, WhatIsTrustedMustBeThere) {
  Error missing = status_from("127.0.0.1", folder + "/nothing.pem").error();
  EXPECT_EQ(missing.code, ErrorCode::invalid);
  std::ofstream(folder + "/garbage.pem") << "no certificate";
  EXPECT_EQ(status_from("127.0.0.1", folder + "/garbage.pem").error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace belay::net
