#include "server/cors.h"

#include "tests/support/api_fixture.h"

namespace belay::server {
namespace {

constexpr const char* kChat = "https://chat.example.com";

struct ApiCors : ApiFixture {
  ApiCors() { allow({kChat}); }

  void allow(std::vector<std::string> origins) {
    options.cors_origins = std::move(origins);
    api = make_api();
  }
  void require_keys() {
    ApiKey key;
    key.name = "ada";
    key.permission = Permission::run;
    key.token = sha256("token-of-ada");
    options.keys.push_back(std::move(key));
    api = make_api();
  }
  static http::Request from(std::string origin, std::string method = "GET",
                            std::string target = "/api/runs") {
    auto sent = request(std::move(method), std::move(target));
    sent.headers.push_back({"Origin", std::move(origin)});
    return sent;
  }
  static http::Request preflight(std::string origin) {
    auto sent = from(std::move(origin), "OPTIONS", "/api/agents/mail/runs");
    sent.headers.push_back({"Access-Control-Request-Method", "POST"});
    sent.headers.push_back({"Access-Control-Request-Headers", "content-type, x-api-key"});
    return sent;
  }
};

TEST_F(ApiCors, APreflightOfAnAllowedPageNeedsNoKey) {
  require_keys();
  auto answered = send(preflight(kChat));
  EXPECT_EQ(answered.status, 204);
  EXPECT_EQ(answered.header("Access-Control-Allow-Origin"), kChat);
  EXPECT_EQ(answered.header("Access-Control-Allow-Headers"), "content-type, x-api-key");
  EXPECT_NE(answered.header("Access-Control-Allow-Methods").find("DELETE"), std::string::npos);
  EXPECT_EQ(answered.header("Access-Control-Allow-Credentials"), "");
  EXPECT_EQ(answered.header("Vary"), "Origin");
  EXPECT_EQ(send(from(kChat)).status, 401) << "only the preflight needs no key";
}

TEST_F(ApiCors, APreflightOfAnotherPageIsAnUnknownMethod) {
  auto answered = send(preflight("https://evil.example.com"));
  EXPECT_EQ(answered.status, 405);
  EXPECT_EQ(answered.header("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(send(preflight("")).status, 405);
  auto plain = from(kChat, "OPTIONS");
  EXPECT_EQ(send(std::move(plain)).status, 405) << "without the method that it asks about";
}

TEST_F(ApiCors, ResponsesAndErrorsCanBeReadByTheAllowedPage) {
  for (const char* target : {"/api/runs", "/api/threads/none", "/nothing"}) {
    auto answered = send(from(kChat, "GET", target));
    EXPECT_EQ(answered.header("Access-Control-Allow-Origin"), kChat) << target;
    EXPECT_NE(answered.header("Access-Control-Expose-Headers").find("Content-Location"),
              std::string::npos);
  }
  EXPECT_EQ(send(from(kChat)).status, 200);
  EXPECT_EQ(send(from("https://evil.example.com")).status, 403);
  EXPECT_EQ(send(from("https://chat.example.com.evil.org")).status, 403);
  EXPECT_EQ(send(from("http://chat.example.com")).status, 403) << "another scheme";
  EXPECT_EQ(get("/api/runs").header("Access-Control-Allow-Origin"), "");
}

TEST_F(ApiCors, TheHostIsCheckedForAllowedPagesAsWell) {
  auto sent = from(kChat);
  for (http::Header& header : sent.headers) {
    if (header.name == "Host") header.value = "rebound.example.com";
  }
  EXPECT_EQ(send(std::move(sent)).status, 403);
}

TEST_F(ApiCors, AStarAllowsAnyPageAndNeverCredentials) {
  allow({"*"});
  auto answered = send(from("https://any.example.com"));
  EXPECT_EQ(answered.status, 200);
  EXPECT_EQ(answered.header("Access-Control-Allow-Origin"), "*");
  EXPECT_EQ(answered.header("Access-Control-Allow-Credentials"), "");
  EXPECT_EQ(answered.header("Vary"), "");
}

TEST_F(ApiCors, WithoutOriginsThereAreNoHeaders) {
  allow({});
  auto answered = send(from("http://127.0.0.1:8123"));
  EXPECT_EQ(answered.status, 200);
  EXPECT_EQ(answered.header("Access-Control-Allow-Origin"), "");
  EXPECT_EQ(answered.header("Vary"), "");
  EXPECT_EQ(send(preflight(kChat)).status, 405);
}

TEST_F(ApiCors, NamesOfHeadersThatAreNoNamesAreNotRepeated) {
  auto sent = preflight(kChat);
  sent.headers.back().value = "a\"b<script>";
  auto answered = send(std::move(sent));
  EXPECT_EQ(answered.status, 204);
  EXPECT_EQ(answered.header("Access-Control-Allow-Headers"), "");
}

TEST_F(ApiCors, AKeyCanBeSentAsXApiKey) {
  require_keys();
  auto with = [](const char* name, const char* value) {
    auto sent = request("GET", "/api/runs");
    sent.headers.push_back({name, value});
    return sent;
  };
  EXPECT_EQ(send(with("X-Api-Key", "token-of-ada")).status, 200);
  EXPECT_EQ(send(with("X-Api-Key", "another")).status, 401);
  auto both = with("X-Api-Key", "token-of-ada");
  both.headers.push_back({"Authorization", "Bearer another"});
  EXPECT_EQ(send(std::move(both)).status, 401) << "the Authorization header comes first";
}

TEST(Cors, OriginsAreChecked) {
  EXPECT_TRUE(check_origins({"*", "http://localhost:3000", "https://[::1]:8", "tauri://x"}).ok());
  for (const char* wrong : {"", "localhost", "https://a/b", "https://", "https://a b", "://a"}) {
    EXPECT_EQ(check_origins({wrong}).error().code, ErrorCode::invalid) << wrong;
  }
}

}  // namespace
}  // namespace belay::server
