// Pages that an agent fetches from a real server on loopback, which the policies of the tests
// permit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "belay/agent.h"
#include "belay/runtime.h"
#include "belay/testing.h"
#include "belay/tools.h"
#include "tests/support/scripted_server.h"

namespace belay {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string http_response(std::string_view body, std::string_view type = "text/html",
                          std::string_view status = "200 OK", std::string_view headers = "") {
  std::string text = "HTTP/1.1 " + std::string(status) + "\r\nConnection: close\r\n";
  if (!type.empty()) text += "Content-Type: " + std::string(type) + "\r\n";
  return text + "Content-Length: " + std::to_string(body.size()) + "\r\n" + std::string(headers) +
         "\r\n" + std::string(body);
}

std::string moved_to(std::string_view location) {
  return http_response("", "", "302 Found", "Location: " + std::string(location) + "\r\n");
}

// Answers each request by its path; 404 for others.
class PageServer {
 public:
  PageServer() : server_([this](net::Peer& peer, int) { answer(peer); }) {}

  std::string url(std::string_view path) const { return server_.url(path); }
  std::string port() const { return std::to_string(server_.port()); }
  void set(const std::string& path, std::string response) {
    std::lock_guard lock(mutex_);
    pages_[path] = std::move(response);
  }
  std::vector<std::string> requests() {
    std::lock_guard lock(mutex_);
    return requests_;
  }
  int requests_of(const std::string& path) {
    std::vector<std::string> all = requests();
    return static_cast<int>(std::count_if(all.begin(), all.end(), [&](const std::string& each) {
      return each.starts_with("GET " + path + " ");
    }));
  }

 private:
  void answer(net::Peer& peer) {
    std::string request = peer.request();
    if (request.empty()) return;
    std::string response = http_response("no", "text/plain", "404 Not Found");
    {
      std::lock_guard lock(mutex_);
      std::string path = request.substr(4, request.find(' ', 4) - 4);
      requests_.push_back(std::move(request));
      if (pages_.contains(path)) response = pages_[path];
    }
    peer.send(response);
  }

  std::mutex mutex_;
  std::map<std::string, std::string> pages_;
  std::vector<std::string> requests_;
  net::ScriptedServer server_;  // last: it uses all members above
};

class FetchPage : public ::testing::Test {
 protected:
  FetchPage() {
    policy_.allowed_networks = {"127.0.0.1/32"};
    policy_.allowed_ports = {};
  }

  // The result that the model receives for each of the calls, which one tool serves in order.
  std::vector<std::string> fetch(std::vector<Value> calls) {
    Tool tool = fetch_page_tool(options_).value();
    EXPECT_TRUE(tool.options().untrusted);
    EXPECT_EQ(tool.options().effect, ToolEffect::reads);
    AgentOptions agent;
    agent.tools = {tool};
    agent.result_bytes_max = 1'000'000;
    auto graph = agent_graph("reader", std::move(agent)).value();
    auto clock = system_clock();
    testing::SeededRandom random{1};
    auto loop = make_event_loop();
    std::vector<std::string> results;
    testing::ScriptedModel model;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      model.calls({{"call" + std::to_string(i), "fetch_page", calls[i]}});
    }
    model.replies_with([&results](const ModelRequest& request) {
      for (const auto& message : request.messages) {
        if (message.role == Role::tool) results.push_back(message.text);
      }
      return std::string("done");
    });
    auto store = open_store("memory:", *clock, random).value();
    RuntimeParts parts{*store, *loop, *clock, random, model};
    parts.http = open_http(policy_).value();
    auto runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
    AgentState state;
    state.question = "Read it.";
    auto view = block_on(*loop, runtime->start(graph, std::move(state), StartOptions()));
    EXPECT_TRUE(view.ok());
    EXPECT_EQ(results.size(), calls.size());
    return results;
  }
  std::string fetch_url(const std::string& url, std::int64_t offset = 0) {
    return fetch({Value::object({{"url", url}, {"offset", offset}})}).at(0);
  }
  std::string fetch_path(std::string_view path) { return fetch_url(server_.url(path)); }

  PageServer server_;
  EgressPolicy policy_;
  FetchPageOptions options_;
};

TEST_F(FetchPage, ReturnsReadableText) {
  server_.set("/a", http_response("<title>A page</title><h1>Head</h1><p>Text <a href=b>more</a>"));
  options_.user_agent = "Reader/1.0";
  EXPECT_EQ(fetch_path("/a#part"), "URL: " + server_.url("/a") +
                                       "\nTitle: A page\n\n# Head\n\nText [more](" +
                                       server_.url("/b") + ")");
  ASSERT_EQ(server_.requests().size(), 2u);
  EXPECT_THAT(server_.requests()[0],
              AllOf(HasSubstr("GET /robots.txt "), HasSubstr("User-Agent: Reader/1.0\r\n")));
  EXPECT_THAT(server_.requests()[1],
              AllOf(HasSubstr("GET /a "), HasSubstr("User-Agent: Reader/1.0\r\n")));
}

TEST_F(FetchPage, DecodesTheCharactersOfEachType) {
  server_.set("/utf8", http_response("<p>\u00e9</p>", "text/html; charset=utf-8"));
  server_.set("/latin", http_response("<p>\xe9</p>", "text/html; charset=ISO-8859-1"));
  server_.set("/1252", http_response("<p>\x93\xe9\x94</p>", "text/html; charset=windows-1252"));
  server_.set("/meta",
              http_response("<meta charset=windows-1251><p>\xcf</p>", "application/xhtml+xml"));
  server_.set("/plain", http_response("a\0b\xff\n <b> \x01"s, "text/plain; charset=utf-8"));
  server_.set("/json", http_response("{\"a\": [1]}", "Application/JSON"));
  server_.set("/markdown", http_response("# A\n\n- b", "text/markdown"));
  EXPECT_THAT(fetch_path("/utf8"), ::testing::EndsWith("\n\n\u00e9"));
  EXPECT_THAT(fetch_path("/latin"), ::testing::EndsWith("\n\n\u00e9"));
  EXPECT_THAT(fetch_path("/1252"), ::testing::EndsWith("\n\n\u201c\u00e9\u201d"));
  EXPECT_THAT(fetch_path("/meta"), ::testing::EndsWith("\n\n\u041f"));
  EXPECT_THAT(fetch_path("/plain"), ::testing::EndsWith("\n\na\ufffdb\ufffd\n <b> "));
  EXPECT_THAT(fetch_path("/json"), ::testing::EndsWith("\n\n{\"a\": [1]}"));
  EXPECT_THAT(fetch_path("/markdown"), ::testing::EndsWith("\n\n# A\n\n- b"));
}

TEST_F(FetchPage, ContinuesAtACharacter) {
  server_.set("/a", http_response("a\u00e9\U0001f600b\u00e9cd", "text/plain; charset=utf-8"));
  options_.characters_max = 3;
  std::string url = server_.url("/a");
  EXPECT_EQ(fetch_url(url),
            "URL: " + url +
                "\nPart: characters 0 to 3 of 7. Continue with offset 3.\n\na\u00e9\U0001f600");
  EXPECT_EQ(fetch_url(url, 3),
            "URL: " + url +
                "\nPart: characters 3 to 6 of 7. Continue with offset 6.\n\nb\u00e9"
                "c");
  EXPECT_EQ(fetch_url(url, 6), "URL: " + url + "\nPart: characters 6 to 7 of 7.\n\nd");
  EXPECT_EQ(fetch_url(url, 7),
            "Error: The text of the page has only 7 characters. Use a lower offset.");
}

TEST_F(FetchPage, RefusesOtherTypes) {
  server_.set("/image", http_response("\x89PNG\r\n", "image/png"));
  server_.set("/odd", http_response("x", "<b>ignore all</b>"));
  server_.set("/none", http_response("x", ""));
  EXPECT_THAT(fetch_path("/image"), HasSubstr("Error: The page has the type image/png."));
  EXPECT_THAT(fetch_path("/odd"), AllOf(HasSubstr("no valid type"), Not(HasSubstr("ignore"))));
  EXPECT_THAT(fetch_path("/none"), HasSubstr("no valid type"));
}

TEST_F(FetchPage, RefusesALargeBodyAtTheLimit) {
  server_.set("/a", http_response(std::string(100'000'000, 'x'), "text/plain"));
  EXPECT_THAT(fetch_path("/a"), ::testing::StartsWith("Error: "));
  options_.bytes_max = 1'000;
  server_.set("/b", http_response(std::string(1'001, 'x'), "text/plain"));
  server_.set("/c", http_response(std::string(1'000, 'x'), "text/plain"));
  EXPECT_THAT(fetch_path("/b"), ::testing::StartsWith("Error: "));
  EXPECT_THAT(fetch_path("/c"), HasSubstr("xxx"));
}

TEST_F(FetchPage, ExplainsStatuses) {
  server_.set("/401", http_response("", "", "401 Unauthorized"));
  server_.set("/503", http_response("", "", "503 Away"));
  server_.set("/418", http_response("", "", "418 Teapot"));
  server_.set("/204", http_response("", "text/html"));
  EXPECT_EQ(fetch_path("/404"), "Error: The page does not exist (status 404).");
  EXPECT_THAT(fetch_path("/401"), HasSubstr("does not permit access to the page (status 401)."));
  EXPECT_THAT(fetch_path("/503"), HasSubstr("cannot deliver the page now (status 503)."));
  EXPECT_THAT(fetch_path("/418"), HasSubstr("did not deliver the page (status 418)."));
  EXPECT_THAT(fetch_path("/204"), HasSubstr("Note: the page has no readable text."));
}

TEST_F(FetchPage, FollowsTheRedirectsOfThePolicy) {
  server_.set("/a", moved_to("/b"));
  server_.set("/b", http_response("<p>Text"));
  EXPECT_EQ(fetch_path("/a"),
            "Error: The page is at another URL (status 302). Fetch this one instead: " +
                server_.url("/b"));
  policy_.redirects_max = 1;
  EXPECT_EQ(fetch_path("/a"), "URL: " + server_.url("/b") + "\n\nText");
  server_.set("/robots.txt", http_response("User-agent: *\nDisallow: /b", "text/plain"));
  EXPECT_THAT(fetch_path("/a"), AllOf(HasSubstr("robots.txt"), Not(HasSubstr("Text"))));
}

TEST_F(FetchPage, ReachesNoForbiddenAddress) {
  policy_.redirects_max = 5;
  server_.set("/a", moved_to("http://169.254.169.254/latest/meta-data"));
  EXPECT_THAT(fetch_path("/a"), HasSubstr("The egress policy does not permit a request"));
  EXPECT_THAT(fetch_url("http://10.0.0.1/"), HasSubstr("The egress policy does not permit"));
  EXPECT_THAT(fetch_url("file:///etc/passwd"), HasSubstr("Error: The URL"));
  EXPECT_THAT(fetch_url("http://user:word@example.com/"),
              AllOf(HasSubstr("Error: "), Not(HasSubstr("word@"))));
  options_.hosts = {"example.com"};
  server_.set("/b", http_response("<p>Text"));
  EXPECT_THAT(fetch_path("/b"), HasSubstr("The egress policy does not permit a request"));
  EXPECT_EQ(server_.requests_of("/b"), 0);
}

TEST_F(FetchPage, RespectsRobots) {
  server_.set("/robots.txt", http_response("User-agent: belay\nDisallow: /private", "text/plain"));
  server_.set("/private/a", http_response("<p>Secret"));
  server_.set("/b", http_response("<p>Text"));
  EXPECT_THAT(fetch_path("/private/a"), HasSubstr("does not permit to fetch this page"));
  EXPECT_EQ(server_.requests_of("/private/a"), 0);
  EXPECT_THAT(fetch_path("/b"), HasSubstr("Text"));
  options_.respects_robots = false;
  EXPECT_THAT(fetch_path("/private/a"), HasSubstr("Secret"));
}

TEST_F(FetchPage, RequestsRobotsOnceForAHost) {
  server_.set("/b", http_response("<p>Text"));
  Value call = Value::object({{"url", server_.url("/b")}});
  Value other = Value::object({{"url", server_.url("/b?c")}});
  EXPECT_EQ(fetch({call, other}).size(), 2u);
  EXPECT_EQ(server_.requests_of("/robots.txt"), 1);
}

TEST_F(FetchPage, RefusesAHostWhoseRobotsCannotBeRead) {
  server_.set("/b", http_response("<p>Text"));
  server_.set("/robots.txt", http_response("", "", "500 Fault"));
  EXPECT_THAT(fetch_path("/b"), HasSubstr("cannot be read, so that its pages must not be fetched"));
  server_.set("/robots.txt", http_response(std::string(3 * 1024 * 1024, '\n'), "text/plain"));
  EXPECT_THAT(fetch_path("/b"), HasSubstr("cannot be read"));
  server_.set("/robots.txt", "");
  EXPECT_THAT(fetch_path("/b"), HasSubstr("cannot be read"));
  EXPECT_EQ(server_.requests_of("/b"), 0);
  for (const char* status : {"401 No", "403 No", "404 No", "429 No"}) {
    server_.set("/robots.txt", http_response("User-agent: *\nDisallow: /", "text/plain", status));
    EXPECT_THAT(fetch_path("/b"), HasSubstr("Text")) << status;
  }
}

TEST_F(FetchPage, FollowsFiveRedirectsOfRobots) {
  server_.set("/b", http_response("<p>Text"));
  for (int i = 1; i <= 4; ++i) {
    server_.set("/" + std::to_string(i), moved_to("/" + std::to_string(i + 1)));
  }
  server_.set("/robots.txt", moved_to("/1"));
  server_.set("/5", http_response("User-agent: *\nDisallow: /b", "text/plain"));
  EXPECT_THAT(fetch_path("/b"), HasSubstr("does not permit to fetch this page"));
  server_.set("/5", moved_to("/6"));
  EXPECT_THAT(fetch_path("/b"), HasSubstr("Text"));
  server_.set("/robots.txt", moved_to("http://10.0.0.1/"));
  EXPECT_THAT(fetch_path("/b"), HasSubstr("The egress policy does not permit"));
}

TEST_F(FetchPage, NeedsOptionsThatCanBeUsed) {
  for (const char* agent : {"", "1.0", "A\r\nX: y"}) {
    options_.user_agent = agent;
    EXPECT_EQ(fetch_page_tool(options_).error().code, ErrorCode::invalid) << agent;
  }
  options_.user_agent = "Belay";
  options_.hosts = {"https://example.com/"};
  EXPECT_EQ(fetch_page_tool(options_).error().code, ErrorCode::invalid);
  options_.hosts = {};
  options_.bytes_max = 0;
  EXPECT_EQ(fetch_page_tool(options_).error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace belay
