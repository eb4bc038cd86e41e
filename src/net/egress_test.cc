// The decisions of a policy about URLs and addresses, without sockets.

#include "net/egress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <fstream>

namespace belay::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Egress egress(EgressPolicy policy = {}) { return Egress::from(std::move(policy)).value(); }

IpAddress address(std::string_view text) { return parse_network(text).value().base; }

Result<Target> permitted(const Egress& by, std::string_view url) {
  auto target = parse_target(url);
  if (!target.ok()) return target;
  BELAY_CHECK(by.check(*target));
  return target;
}

struct Row {
  int line = 0;
  std::string verdict, url, host;
};

// "\x0a", "\n", "\\".
std::string unescaped(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    std::size_t used = 1;
    char c = text[0];
    if (c == '\\') {
      char kind = text.at(1);
      used = kind == 'x' ? 4 : 2;
      if (kind == 'x') {
        int code = 0;
        std::from_chars(text.data() + 2, text.data() + 4, code, 16);
        c = static_cast<char>(code);
      } else {
        c = kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind;
      }
    }
    plain += c;
    text.remove_prefix(used);
  }
  return plain;
}

std::vector<Row> corpus() {
  std::ifstream file(BELAY_SOURCE_DIR "/src/net/egress_corpus.tsv");
  std::vector<Row> rows;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    std::size_t first = line.find('\t');
    std::size_t second = std::min(line.find('\t', first + 1), line.size());
    Row row;
    row.line = number;
    row.verdict = line.substr(0, first);
    row.url = unescaped(std::string_view(line).substr(first + 1, second - first - 1));
    if (second < line.size()) row.host = line.substr(second + 1);
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(EgressCorpus, EverySpellingHasItsVerdict) {
  Egress by_default = egress();
  std::vector<Row> rows = corpus();
  EXPECT_GE(rows.size(), 500u);
  for (const Row& row : rows) {
    auto target = permitted(by_default, row.url);
    if (row.verdict == "refused") {
      EXPECT_FALSE(target.ok()) << row.line << ": " << row.url;
      if (target.ok()) continue;
      bool is_refusal =
          target.error().code == ErrorCode::invalid || target.error().code == ErrorCode::forbidden;
      EXPECT_TRUE(is_refusal) << row.line;
      continue;
    }
    ASSERT_TRUE(target.ok()) << row.line << ": " << row.url << ": " << target.error().message;
    EXPECT_EQ(target->host, row.host) << row.line;
    EXPECT_EQ(target->address.has_value(), row.verdict == "address") << row.line;
  }
}

TEST(EgressCorpus, APermittedUrlIsStableWhenItIsParsedAgain) {
  for (const Row& row : corpus()) {
    auto target = parse_target(row.url);
    if (!target.ok()) continue;
    auto again = parse_target(target->url());
    ASSERT_TRUE(again.ok()) << row.line;
    EXPECT_EQ(again->url(), target->url()) << row.line;
    EXPECT_EQ(again->address, target->address) << row.line;
  }
}

TEST(EgressPolicies, RefuseWithOneTextForAllReasons) {
  Egress by_default = egress();
  Egress secure = egress({.https_only = true});
  auto text_for = [](const Egress& by, const std::string& host, std::string_view url) {
    std::string text = permitted(by, url).error().message;
    text.replace(text.find(host), host.size(), "HOST");
    return text;
  };
  std::string expected = text_for(by_default, "10.0.0.1", "http://10.0.0.1/secret?secret");
  EXPECT_THAT(expected, Not(HasSubstr("secret")));
  EXPECT_EQ(text_for(by_default, "wiki.internal", "http://wiki.internal/"), expected);
  EXPECT_EQ(text_for(by_default, "example.com", "http://example.com:22/"), expected);
  EXPECT_EQ(text_for(secure, "example.com", "http://example.com/"), expected);
}

TEST(EgressPolicies, PermitHostsOfTheirListOnly) {
  Egress by = egress({.allowed_hosts = {"api.example.com", "*.example.org", "8.8.8.8"}});
  for (const char* url :
       {"https://api.example.com/", "https://API.example.com:443/x", "http://a.example.org/",
        "http://a.b.example.org/", "http://8.8.8.8/", "http://0x08080808/"}) {
    EXPECT_TRUE(permitted(by, url).ok()) << url;
  }
  for (const char* url :
       {"https://example.com/", "https://x.api.example.com/", "http://example.org/",
        "http://badexample.org/", "http://8.8.4.4/", "http://api.example.com.evil.com/"}) {
    EXPECT_EQ(permitted(by, url).error().code, ErrorCode::forbidden) << url;
  }
}

TEST(EgressPolicies, AnInternalNameNeedsItsOwnEntry) {
  for (const char* entry : {"*", "*.internal", "other.internal"}) {
    EXPECT_FALSE(permitted(egress({.allowed_hosts = {entry}}), "http://wiki.internal/").ok())
        << entry;
  }
  Egress by = egress({.allowed_hosts = {"*", "wiki.internal", "redis"}});
  EXPECT_TRUE(permitted(by, "http://wiki.internal/").ok());
  EXPECT_TRUE(permitted(by, "http://redis/").ok());
  EXPECT_TRUE(permitted(by, "http://example.com/").ok());
  EXPECT_FALSE(by.permits(address("10.0.0.1"), {})) << "its address needs an entry, too";
}

TEST(EgressPolicies, PermitTheirNetworksInEverySpelling) {
  Egress by = egress({.allowed_networks = {"10.1.0.0/16", "127.0.0.1", "fd00::/8"}});
  for (const char* url : {"http://10.1.255.255/", "http://127.1/", "http://[::ffff:10.1.0.1]/",
                          "http://0x7f000001/", "http://[fd12::1]/"}) {
    EXPECT_TRUE(permitted(by, url).ok()) << url;
  }
  for (const char* url : {"http://10.2.0.1/", "http://127.0.0.2/", "http://[fe80::1]/",
                          "http://[::10.1.0.1]/", "http://[::127.0.0.1]/"}) {
    EXPECT_FALSE(permitted(by, url).ok()) << url;
  }
}

TEST(EgressPolicies, PermitPortsOfTheirListOnly) {
  EXPECT_TRUE(permitted(egress({.allowed_ports = {8443}}), "https://example.com:8443/").ok());
  EXPECT_FALSE(permitted(egress({.allowed_ports = {8443}}), "https://example.com/").ok());
  EXPECT_TRUE(permitted(egress({.allowed_ports = {}}), "https://example.com:9/").ok());
}

TEST(EgressPolicies, RefuseTheAddressesOfThisMachine) {
  IpAddress own = address("8.8.8.8");
  EXPECT_FALSE(egress().permits(own, {address("1.1.1.1"), own}));
  EXPECT_TRUE(egress().permits(own, {address("1.1.1.1")}));
  EXPECT_TRUE(egress({.allowed_networks = {"8.8.8.8"}}).permits(own, {own}));
  EXPECT_THAT(own_addresses(), ::testing::Contains(address("127.0.0.1")));
}

TEST(EgressPolicies, ThatAreMalformedAreInvalid) {
  for (const char* host : {"", ".", "*.", "**", "*.*", "a.*", "EXAMPLE.com", "example.com:80",
                           "example.com/", "http://example.com", "bücher.example", "a@b", "a b",
                           "example.com.", "example.com:8080", "*.8.8.8.8", "0x7f.1", "127.1"}) {
    auto refused = Egress::from({.allowed_hosts = {host}});
    ASSERT_FALSE(refused.ok()) << host;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid) << host;
  }
  for (const char* network : {"", "10.0.0.0/33", "10.0.0.1/8", "10/8", "010.0.0.0/8", "0x0a000000",
                              "fd00::/129", "fd00::1/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x",
                              "example.com", "::ffff:10.0.0.0/8", "[::1]", "10.0.0.0/8/8"}) {
    auto refused = Egress::from({.allowed_networks = {network}});
    ASSERT_FALSE(refused.ok()) << network;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid) << network;
  }
  for (const char* type : {"", "*", "text", "/", "text/", "/plain", "text/plain; x", "a/b/c"}) {
    EXPECT_FALSE(Egress::from({.content_types = {type}}).ok()) << type;
  }
  EXPECT_FALSE(Egress::from({.allowed_ports = {0}}).ok());
  EXPECT_FALSE(Egress::from({.allowed_ports = {65'536}}).ok());
  EXPECT_FALSE(Egress::from({.redirects_max = 6}).ok());
  EXPECT_FALSE(Egress::from({.timeout = std::chrono::milliseconds(0)}).ok());
}

TEST(Redirects, AreResolvedAgainstTheUrlThatRedirects) {
  Target from = parse_target("https://example.com:8443/a/b?c=d").value();
  std::pair<const char*, const char*> cases[] = {
      {"https://other.example/x", "https://other.example/x"},
      {"HTTP://OTHER.example", "http://other.example/"},
      {"//other.example/x", "https://other.example/x"},
      {"/x?y", "https://example.com:8443/x?y"},
      {"x", "https://example.com:8443/a/x"},
      {"../x", "https://example.com:8443/a/../x"},
      {"?y", "https://example.com:8443/a/b?y"},
      {"#f", "https://example.com:8443/a/b?c=d"},
      {"x/y:z", "https://example.com:8443/a/x/y:z"}};
  for (const auto& [location, url] : cases) {
    auto to = parse_redirect(from, location);
    ASSERT_TRUE(to.ok()) << location;
    EXPECT_EQ(to->url(), url) << location;
  }
  for (const char* location : {"javascript:alert(1)", "file:///etc/passwd", "http:/x", "//",
                               "//a@b/", "/\\evil.example", "\\\\evil.example\\", "x y", "///x"}) {
    EXPECT_FALSE(parse_redirect(from, location).ok()) << location;
  }
}

}  // namespace
}  // namespace belay::net
