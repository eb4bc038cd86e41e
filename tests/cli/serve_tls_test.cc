// belay serve with its own certificate.

#include <gmock/gmock.h>

#include "tests/cli/served.h"
#include "tests/redis/certificates.h"

namespace belay::cli::tests {
namespace {

using ::testing::HasSubstr;

struct CliServeTls : ::testing::Test {
  World world;
  belay::tests::Authority authority;
  belay::tests::Certificate certificate = authority.issue("IP:127.0.0.1");

  Got get(const std::string& url) {
    auto loop = make_event_loop();
    net::HttpClientOptions options;
    options.proxy = "";
    options.trusted_certificates = authority.file();
    auto client = net::HttpClient::open(std::move(options)).value();
    net::HttpRequest request;
    request.url = url;
    return block_on(*loop, exchange(*client, std::move(request)));
  }
};

TEST_F(CliServeTls, AnswersOverTlsAndNotWithout) {
  Belay serves({"serve", "--listen", "127.0.0.1:0", "--tls-certificate", certificate.file,
                "--tls-key", certificate.key_file},
               world.setting);
  ASSERT_TRUE(serves.waits_to_say("Ctrl-C")) << serves.said();
  const std::string listening = "https://127.0.0.1:";
  std::size_t found = serves.said().find(listening);
  ASSERT_NE(found, std::string::npos) << serves.said();
  std::string port = serves.said().substr(found + listening.size());
  port.resize(port.find_first_not_of("0123456789"));
  EXPECT_EQ(get("https://127.0.0.1:" + port + "/api/threads").status, 200);
  EXPECT_NE(get("http://127.0.0.1:" + port + "/api/threads").status, 200);
}

TEST_F(CliServeTls, ACertificateWithoutItsKeyIsRefused) {
  Outcome alone = world.run({"serve", "--tls-certificate", certificate.file});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("require each other"));
  EXPECT_EQ(world.run({"serve", "--tls-key", certificate.key_file}).code, 2);
  std::string other = authority.issue("IP:127.0.0.1").key_file;
  Outcome wrong = world.run({"serve", "--listen", "127.0.0.1:0", "--tls-certificate",
                             certificate.file, "--tls-key", other});
  EXPECT_NE(wrong.code, 0) << "the key of another certificate";
}

}  // namespace
}  // namespace belay::cli::tests
