// Web searches of an agent, with services that a server on loopback plays.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/agent.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "belay/tools.h"
#include "tests/support/scripted_server.h"

namespace belay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kKey = "BSA-secret-key";

// Answers each request with the same response, and keeps the last request.
class SearchServer {
 public:
  SearchServer()
      : server_([this](net::Peer& peer, int) {
          std::string received = peer.request();
          if (received.empty()) return;
          request = std::move(received);
          peer.send("HTTP/1.1 " + status + "\r\nConnection: close\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body);
        }) {}

  std::string url(std::string_view path = "") const { return server_.url(path); }
  int requests() const { return server_.connections(); }

  // Read and written between two searches.
  std::string status = "200 OK";
  std::string body = "{}";
  std::string request;

 private:
  net::ScriptedServer server_;  // last: it uses all members above
};

std::shared_ptr<SearchProvider> searxng(const SearchServer& server) {
  return searxng_provider(server.url("/sub/")).value();
}
std::shared_ptr<SearchProvider> brave(const SearchServer& server) {
  return brave_provider(std::string(kKey), server.url("/res/v1/web/search")).value();
}

// Returns the text that the model receives.
std::string search(std::shared_ptr<SearchProvider> provider, std::int64_t limit = 5,
                   WebSearchOptions options = {},
                   std::vector<std::string> networks = {"127.0.0.1"}) {
  Tool tool = web_search_tool(std::move(provider), options).value();
  EXPECT_TRUE(tool.options().untrusted);
  EXPECT_EQ(tool.options().effect, ToolEffect::reads);
  AgentOptions agent;
  agent.tools = {tool};
  auto graph = agent_graph("searcher", std::move(agent)).value();
  testing::SimulatedClock clock{*instant_from("2026-01-01T09:00:00Z")};
  testing::SeededRandom random{1};
  auto loop = make_event_loop();
  Value arguments = Value::object({{"query", "a b&c=\u00e9"}, {"limit", limit}});
  auto last_text = [](const ModelRequest& request) { return request.messages.back().text; };
  testing::ScriptedModel model =
      testing::calls({{"a", "web_search", arguments}}).replies_with(last_text);
  auto store = open_store("memory:", clock, random).value();
  RuntimeParts parts{*store, *loop, clock, random, model};
  EgressPolicy policy;
  policy.allowed_networks = std::move(networks);
  policy.allowed_ports = {};
  parts.http = open_http(policy).value();
  auto runtime = Runtime::open(std::move(parts)).value();
  runtime->add(graph);
  AgentState state;
  state.question = "Search it.";
  auto view = block_on(*loop, runtime->start(graph, std::move(state), StartOptions())).value();
  return *view.state["answer"].as_string();
}

TEST(WebSearchTool, ReturnsTheResultsOfSearxng) {
  SearchServer server;
  server.body = R"({"query":"a","number_of_results":0,"results":[
      {"url":"https://example.com/a","title":"One","content":"First &amp; <b>best</b>","score":1.5},
      {"url":"https://example.com/b","title":"Two","content":null}],"answers":[]})";
  EXPECT_EQ(search(searxng(server)),
            R"({"results":[{"title":"One","url":"https://example.com/a","snippet":"First & best"},)"
            R"({"title":"Two","url":"https://example.com/b","snippet":""}]})");
  EXPECT_THAT(server.request,
              ::testing::StartsWith("GET /sub/search?q=a%20b%26c%3D%C3%A9&format=json HTTP/1.1"));
}

TEST(WebSearchTool, ReturnsTheResultsOfBrave) {
  SearchServer server;
  server.body = R"({"type":"search","web":{"type":"search","results":[
      {"title":"One","url":"https://example.com/a","description":"A <strong>word</strong>"}]}})";
  EXPECT_EQ(search(brave(server), 3),
            R"({"results":[{"title":"One","url":"https://example.com/a","snippet":"A word"}]})");
  EXPECT_THAT(server.request,
              AllOf(::testing::StartsWith("GET /res/v1/web/search?q=a%20b%26c%3D%C3%A9&count=3&"),
                    HasSubstr("X-Subscription-Token: " + std::string(kKey))));
  server.body = R"({"type":"search"})";
  EXPECT_EQ(search(brave(server)), R"({"results":[]})");
}

TEST(WebSearchTool, BoundsTheResults) {
  SearchServer server;
  server.body = R"({"results":[)";
  for (int i = 0; i < 10'000; ++i) {
    server.body += R"({"url":"https://example.com/)" + std::to_string(i) + R"(","title":"t"},)";
  }
  server.body.back() = ']';
  server.body += "}";
  Value answer = parse_json(search(searxng(server), 20)).value();
  EXPECT_EQ(answer["results"].as_array()->size(), 10u);
  answer = parse_json(search(searxng(server), 2)).value();
  EXPECT_EQ(answer["results"].as_array()->size(), 2u);
  server.body =
      "{\"results\":[{\"url\":\"https://"
      "e.org\",\"title\":\"\u00e9\u00e9\u00e9\u00e9\",\"content\":\"" +
      std::string(100'000, 'x') + "\"}]}";
  WebSearchOptions options;
  options.title_characters_max = 3;
  options.snippet_characters_max = 2;
  EXPECT_EQ(search(searxng(server), 1, options),
            "{\"results\":[{\"title\":\"\u00e9\u00e9\u00e9\u2026\",\"url\":\"https://e.org/"
            "\",\"snippet\":\"xx\u2026\"}]}");
  server.body = std::string(5'000'000, ' ');
  EXPECT_THAT(search(searxng(server)), HasSubstr("Error"));
}

TEST(WebSearchTool, LeavesOutResultsWithoutAUsableUrl) {
  SearchServer server;
  server.body = R"({"results":[1,null,"a",[],{},{"url":7},{"url":"javascript:f","title":"t"},
      {"url":"https://user:word@e.org/"},{"url":"https://e.org/é x","title":["t"],"content":{}}]})";
  EXPECT_EQ(search(searxng(server)),
            R"({"results":[{"title":"","url":"https://e.org/%C3%A9%20x","snippet":""}]})");
}

TEST(WebSearchTool, ExplainsTheFaultsOfAProvider) {
  SearchServer server;
  for (const char* body :
       {"<html>", "", "[]", "7", R"({"results":7})", R"({"web":[]})", "{\"results\":[{}"}) {
    server.body = body;
    EXPECT_THAT(search(searxng(server)),
                AllOf(HasSubstr("The search provider SearXNG "), HasSubstr("JSON")))
        << body;
  }
  server.body = R"({"web":{"results":"none"}})";
  EXPECT_THAT(search(brave(server)), HasSubstr("without a list of results"));
  server.status = "403 Forbidden";
  EXPECT_THAT(search(searxng(server)), HasSubstr("search.formats"));
}

TEST(WebSearchTool, RetriesAProviderThatIsOverloaded) {
  SearchServer server;
  server.status = "429 Too Many Requests";
  EXPECT_THAT(search(brave(server)), HasSubstr("received too many requests (status 429)."));
  EXPECT_EQ(server.requests(), 3);
}

TEST(WebSearchTool, NeverShowsTheKey) {
  SearchServer server;
  std::string key(kKey);
  for (const char* status : {"401 "
                             "BSA-secret-key",
                             "422 Invalid", "503 Away", "302 Found", "200 OK"}) {
    server.status = status;
    server.body = R"({"error":")" + key + R"("})";
    EXPECT_THAT(search(brave(server)), Not(HasSubstr(key))) << status;
  }
  server.body = R"({"web":{"results":[{"url":"https://e.org/)" + key + R"("},
      {"url":"https://e.org/","title":"BSA-<b>secret</b>-key"},
      {"url":"https://e.org/b","title":"b"}]}})";
  EXPECT_EQ(search(brave(server)),
            R"({"results":[{"title":"b","url":"https://e.org/b","snippet":""}]})");
}

TEST(WebSearchTool, NeedsAHostThatThePolicyPermits) {
  SearchServer server;
  EXPECT_THAT(search(searxng(server), 5, {}, {}), HasSubstr("egress policy does not permit"));
  EXPECT_EQ(server.requests(), 0);
}

class OwnProvider final : public SearchProvider {
 public:
  std::string_view name() const override { return "own"; }
  Task<Result<std::vector<SearchResult>>> search(std::string query, int limit,
                                                 HttpAccess&) override {
    std::vector<SearchResult> results(static_cast<std::size_t>(limit) + 1);
    for (SearchResult& each : results) each = {query, "http://e.org/\xff", "\xff\n"};
    co_return results;
  }
};

TEST(WebSearchTool, AcceptsOtherProviders) {
  EXPECT_EQ(search(std::make_shared<OwnProvider>(), 1),
            "{\"results\":[{\"title\":\"a "
            "b&c=\u00e9\",\"url\":\"http://e.org/%FF\",\"snippet\":\"\ufffd\"}]}");
}

TEST(WebSearchTool, NeedsOptionsThatCanBeUsed) {
  EXPECT_EQ(web_search_tool(nullptr).error().code, ErrorCode::invalid);
  WebSearchOptions options;
  options.results_max = 21;
  EXPECT_EQ(web_search_tool(std::make_shared<OwnProvider>(), options).error().code,
            ErrorCode::invalid);
  for (const char* url : {"", "search.example.com", "https://e.org/?a=b", "ftp://e.org/"}) {
    EXPECT_EQ(searxng_provider(url).error().code, ErrorCode::invalid) << url;
  }
  for (const char* key : {"", "a b", "a\r\nX-Other: b"}) {
    auto refused = brave_provider(key);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace belay
