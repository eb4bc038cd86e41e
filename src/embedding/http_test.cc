// Context::http(): the HTTP requests of nodes.

#include "belay/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/open.h"

namespace belay {
namespace {

using ::testing::HasSubstr;

// Answers each call with its URL, and counts the calls.
class EchoHttp final : public HttpAccess {
 public:
  Task<Result<HttpReply>> send(HttpCall call) override {
    ++calls;
    HttpReply reply;
    reply.status = 200;
    reply.body = std::move(call.url);
    co_return std::move(reply);
  }
  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string>) override {
    return error(ErrorCode::invalid, "Not needed here.");
  }

  int calls = 0;
};

struct Page {
  std::string url{};
  std::string text{};
};

Task<Result<std::string>> fetch(HttpAccess& http, std::string url) {
  HttpCall call;
  call.url = std::move(url);
  BELAY_CO_TRY(HttpReply reply, co_await http.send(std::move(call)));
  co_return std::move(reply.body);
}

Graph<Page> page_graph(bool in_effect) {
  GraphBuilder<Page> graph{"page"};
  graph.node("fetch", [in_effect](const Page& page, Context& context) -> Task<Update<Page>> {
    if (!in_effect) {
      auto text = co_await fetch(context.http(), page.url);
      co_return set(&Page::text, std::move(text).value());
    }
    auto action = [&context, url = page.url] { return fetch(context.http(), url); };
    std::string text = co_await context.keyed_effect("fetch", action);
    co_return set(&Page::text, std::move(text));
  });
  graph.edge(start, "fetch").edge("fetch", end);
  return std::move(graph).build().value();
}

struct HttpOfNodes : ::testing::Test {
  std::shared_ptr<EchoHttp> echo = std::make_shared<EchoHttp>();
  std::unique_ptr<Embedded> belay;

  RunView run(bool in_effect, std::string url, bool with_echo = true) {
    OpenOptions options;
    if (with_echo) options.http = echo;
    belay = open("memory:", std::move(options)).value();
    auto graph = page_graph(in_effect);
    belay->add(graph);
    StartOptions start_options;
    start_options.thread = ThreadId("first");
    return belay->run(graph, Page{.url = std::move(url)}, start_options).value();
  }
  ReplayReport replay() {
    ReplayOptions options;
    options.thread = ThreadId("first");
    return belay->wait(belay->runtime().replay(options)).value();
  }
};

TEST_F(HttpOfNodes, IsThatOfTheOptions) {
  RunView view = run(true, "http://example.com/");
  EXPECT_EQ(view.row.status, RunStatus::completed);
  EXPECT_EQ(view.state["text"], Value("http://example.com/"));
  EXPECT_EQ(echo->calls, 1);
}

TEST_F(HttpOfNodes, PermitsPublicAddressesOnlyByDefault) {
  RunView view = run(true, "http://127.0.0.1/", false);
  EXPECT_EQ(view.row.status, RunStatus::failed);
  EXPECT_THAT(view.row.error, HasSubstr("egress policy"));
}

TEST_F(HttpOfNodes, AReplaySendsNothingAndReturnsTheRecordedResult) {
  run(true, "http://example.com/");
  EXPECT_FALSE(replay().divergence);
  EXPECT_EQ(echo->calls, 1);
}

TEST_F(HttpOfNodes, ARequestOutsideOfAnEffectIsNotSentByAReplay) {
  run(false, "http://example.com/");
  EXPECT_TRUE(replay().divergence);
  EXPECT_EQ(echo->calls, 1);
}

TEST_F(HttpOfNodes, IsMissingInAContextWithoutARuntime) {
  Context context{Context::Attempt{}};
  auto loop = make_event_loop();
  auto missing = block_on(*loop, fetch(context.http(), "http://example.com/"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::invalid);
  EXPECT_THAT(missing.error().message, HasSubstr("Context::Attempt::http"));
}

}  // namespace
}  // namespace belay
