// Effects whose functions wait: a World reports whether one has happened, and how often.

#include <gtest/gtest.h>

#include "belay/testing.h"

namespace belay::testing {
namespace {

using namespace std::chrono_literals;

struct Letter {
  std::string topic{};
  std::string receipt{};
};

const Letter letter{.topic = "the outage"};

// Counts the posted letters; has one method for each way to wait.
struct Post {
  int posted = 0;

  Task<Result<std::string>> after_waiting() {
    co_await sleep_for(1s);
    co_return "receipt " + std::to_string(++posted);
  }
  Task<Result<std::string>> before_waiting() {
    std::string receipt = "receipt " + std::to_string(++posted);
    co_await sleep_for(1s);
    co_await sleep_for(1s);
    co_return receipt;
  }
  Task<Result<std::string>> in_a_pool(Context& context) {
    std::function<Result<std::string>()> work = [this]() -> Result<std::string> {
      return "receipt " + std::to_string(++posted);
    };
    co_return co_await context.run_blocking(std::move(work));
  }
  Task<Result<std::string>> in_the_midst_of_waiting(Context& context) {
    co_await sleep_for(1s);
    auto receipt = co_await in_a_pool(context);
    co_await sleep_for(1s);
    co_return receipt;
  }
};

using Call = std::function<Task<Result<std::string>>(Post&, Context&)>;

const std::vector<std::pair<std::string, Call>> ways = {
    {"after waiting", [](Post& post, Context&) { return post.after_waiting(); }},
    {"before waiting", [](Post& post, Context&) { return post.before_waiting(); }},
    {"in a pool", [](Post& post, Context& context) { return post.in_a_pool(context); }},
    {"in the midst",
     [](Post& post, Context& context) { return post.in_the_midst_of_waiting(context); }}};

GraphBuilder<Letter> around(auto send, std::optional<std::chrono::milliseconds> timeout = {}) {
  GraphBuilder<Letter> graph{"letter"};
  auto node = graph.node("send", std::move(send)).retry({.attempts = 3});
  if (timeout) node.timeout(*timeout);
  graph.node("file", [](const Letter&, Context&) { return unchanged<Letter>(); });
  graph.edge(start, "send").edge("send", "file").edge("file", end);
  return graph;
}

Graph<Letter> unkeyed(Post& post, const Call& call) {
  auto graph = around([&post, call](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto send = [&post, &context, call] { return call(post, context); };
    EffectOptions options;
    auto sent = co_await context.unkeyed_effect("smtp", options, send);
    co_return set(&Letter::receipt, sent.value_or("skipped"));
  });
  return std::move(graph).build().value();
}

TEST(WorldEffects, AnUnkeyedOneOfACoroutineHappensOnceWhereverTheProcessDies) {
  for (const auto& [name, call] : ways) {
    Post post;
    auto graph = unkeyed(post, call);
    auto calm = World{}.run(graph, letter).approve_all();
    ASSERT_TRUE(calm.ok()) << calm.error()->message;
    EXPECT_EQ(calm.state().receipt, "receipt 1");
    int cut = 0;
    for (auto crash : calm.crash_points()) {
      SCOPED_TRACE(name + ", " + crash.text);
      cut += crash.text.find("\"send\" waits") != std::string::npos ? 1 : 0;
      post.posted = 0;
      auto rough = World{}.run(graph, letter).crash_at(crash).approve_all();
      EXPECT_EQ(rough.crashes(), 1);
      EXPECT_TRUE(rough.ok()) << rough.error()->message;
      EXPECT_EQ(rough.state(), calm.state());
      EXPECT_EQ(post.posted, 1);
      EXPECT_EQ(rough.effects("smtp"), post.posted);
      EXPECT_EQ(rough.calls("smtp"), post.posted);
    }
    EXPECT_GE(cut, 1) << name;
  }
}

TEST(WorldEffects, AnUnkeyedOneHappensOnceThroughTwoCrashes) {
  Post post;
  auto graph = unkeyed(post, ways.back().second);
  auto calm = World{}.run(graph, letter).approve_all();
  for (auto first : calm.crash_points()) {
    post.posted = 0;
    auto once = World{}.run(graph, letter).crash_at(first).approve_all();
    for (auto second : once.crash_points()) {
      SCOPED_TRACE(first.text + ", " + second.text);
      post.posted = 0;
      auto twice = World{}.run(graph, letter).crash_at(first).crash_at(second).approve_all();
      EXPECT_EQ(twice.crashes(), 2);
      EXPECT_EQ(twice.state().receipt, "receipt 1");
      EXPECT_EQ(post.posted, 1);
      EXPECT_EQ(twice.effects("smtp"), 1);
    }
  }
}

TEST(WorldEffects, AKeyedOneIsCalledAsOftenAsItReallyWasAndCountsOnce) {
  for (const auto& [name, call] : ways) {
    Post post;
    auto builder = around([&post, call](const Letter&, Context& context) -> Task<Update<Letter>> {
      auto send = [&post, &context, call] { return call(post, context); };
      co_await context.keyed_effect("smtp", send);
      co_return set(&Letter::receipt, "sent");
    });
    auto graph = std::move(builder).build().value();
    auto calm = World{}.run(graph, letter).approve_all();
    for (auto crash : calm.crash_points()) {
      SCOPED_TRACE(name + ", " + crash.text);
      post.posted = 0;
      auto rough = World{}.run(graph, letter).crash_at(crash).approve_all();
      EXPECT_EQ(rough.state(), calm.state());
      EXPECT_EQ(rough.effects("smtp"), 1);
      EXPECT_EQ(rough.calls("smtp"), post.posted);
    }
  }
}

// Policy `skip` requests no decision: if the effect had not happened, it is lost; if it had
// happened, it is not repeated.
TEST(WorldEffects, OneThatHadNotBegunHasNotHappened) {
  Post post;
  auto builder = around([&post](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto send = [&post] { return post.after_waiting(); };
    EffectOptions options{.when_uncertain = WhenUncertain::skip};
    auto sent = co_await context.unkeyed_effect("smtp", options, send);
    co_return set(&Letter::receipt, sent.value_or("skipped"));
  });
  auto graph = std::move(builder).build().value();
  auto calm = World{}.run(graph, letter).approve_all();
  int lost = 0;
  for (auto crash : calm.crash_points()) {
    SCOPED_TRACE(crash.text);
    post.posted = 0;
    auto rough = World{}.run(graph, letter).crash_at(crash).approve_all();
    EXPECT_EQ(rough.effects("smtp"), post.posted);
    EXPECT_EQ(rough.calls("smtp"), post.posted);
    if (post.posted == 0) ++lost;
  }
  EXPECT_EQ(lost, 2) << "after the commit of its intent, before it is called";
}

TEST(WorldEffects, OneThatATimeOutStoppedHasNotHappened) {
  Post post;
  auto send = [&post](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto wait = context.attempt() == 1 ? 60s : 1s;
    auto call = [&post, wait]() -> Task<Result<std::string>> {
      co_await sleep_for(wait);
      co_return "receipt " + std::to_string(++post.posted);
    };
    EffectOptions options;
    auto sent = co_await context.unkeyed_effect("smtp", options, call);
    co_return set(&Letter::receipt, sent.value_or("skipped"));
  };
  auto graph = around(std::move(send), 10s).build().value();
  auto calm = World{}.run(graph, letter).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(calm.calls("smtp"), 2);
  EXPECT_EQ(post.posted, 1);
  EXPECT_EQ(calm.effects("smtp"), 1);
  EXPECT_EQ(calm.state().receipt, "receipt 1");
}

// The event that the call waits for belongs to the dead process and never arrives.
TEST(WorldEffects, OneThatWaitsForItsOwnProcessHasNotHappened) {
  Post post;
  auto builder = around([&post](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto send = [&post, &context]() -> Task<Result<std::string>> {
      auto text = co_await context.model().complete("A letter");
      if (!text.ok()) co_return std::move(text).error();
      co_return co_await post.after_waiting();
    };
    EffectOptions options;
    auto sent = co_await context.unkeyed_effect("smtp", options, send);
    co_return set(&Letter::receipt, sent.value_or("skipped"));
  });
  auto graph = std::move(builder).build().value();
  auto world = World{}.model(replies("Dear all").takes(2s));
  auto calm = world.run(graph, letter).approve_all();
  for (auto crash : calm.crash_points()) {
    SCOPED_TRACE(crash.text);
    post.posted = 0;
    auto rough = world.run(graph, letter).crash_at(crash).approve_all();
    EXPECT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(post.posted, 1);
    EXPECT_EQ(rough.effects("smtp"), 1);
  }
}

// If the function threw, its outcome is unknown; a person who checks finds that it has happened.
TEST(WorldEffects, OneWhoseFunctionThrewCountsAsHappened) {
  int posted = 0;
  auto builder = around([&posted](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto send = [&posted]() -> Task<std::string> {
      co_await sleep_for(1s);
      if (++posted == 1) throw std::runtime_error("the line is cut");
      co_return "receipt";
    };
    EffectOptions options;
    auto sent = co_await context.unkeyed_effect("smtp", options, send);
    co_return set(&Letter::receipt, sent.value_or(""));
  });
  auto calm = World{}.run(std::move(builder).build().value(), letter).approve_all();
  EXPECT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(posted, 1);
  EXPECT_EQ(calm.effects("smtp"), 1);
}

TEST(WorldEffects, ACallThatIsUnderWayBesideADyingNodeComesToItsEnd) {
  Post post;
  GraphBuilder<Letter> builder{"letters"};
  builder.node("send", [&post](const Letter&, Context& context) -> Task<Update<Letter>> {
    auto send = [&post] { return post.before_waiting(); };
    EffectOptions options;
    auto sent = co_await context.unkeyed_effect("smtp", options, send);
    co_return set(&Letter::receipt, sent.value_or("skipped"));
  });
  builder.node("watch", [](const Letter&, Context&) -> Task<Update<Letter>> {
    co_await sleep_for(500ms);
    co_await sleep_for(100ms);
    co_return unchanged<Letter>();
  });
  builder.edge(start, "send").edge(start, "watch").edge("send", end).edge("watch", end);
  auto graph = std::move(builder).build().value();
  auto calm = World{}.run(graph, letter).approve_all();
  for (auto crash : calm.crash_points()) {
    SCOPED_TRACE(crash.text);
    post.posted = 0;
    auto rough = World{}.run(graph, letter).crash_at(crash).approve_all();
    EXPECT_TRUE(rough.ok()) << rough.error()->message;
    EXPECT_EQ(rough.state(), calm.state());
    EXPECT_EQ(post.posted, 1);
    EXPECT_EQ(rough.effects("smtp"), 1);
  }
}

// Answers each request with its number.
class CountingHttp final : public HttpAccess {
 public:
  Task<Result<HttpReply>> send(HttpCall call) override {
    HttpReply reply;
    reply.status = 200;
    reply.url = call.url;
    reply.body = std::to_string(++calls);
    co_return reply;
  }
  Result<std::shared_ptr<HttpAccess>> narrowed(std::vector<std::string>) override {
    return error(ErrorCode::invalid, "Not used.");
  }
  int calls = 0;
};

Result<Graph<Letter>> fetching() {
  GraphBuilder<Letter> graph{"letter"};
  graph.node("fetch", [](const Letter&, Context& context) -> Task<Result<Update<Letter>>> {
    auto fetch = [&context]() -> Task<Result<std::string>> {
      HttpCall call;
      call.url = "https://example.com/receipt";
      BELAY_CO_TRY(HttpReply reply, co_await context.http().send(std::move(call)));
      co_return std::move(reply.body);
    };
    std::string receipt = co_await context.keyed_effect("fetch", fetch);
    co_return set(&Letter::receipt, std::move(receipt));
  });
  graph.node("file", [](const Letter&, Context&) { return unchanged<Letter>(); });
  graph.edge(start, "fetch").edge("fetch", "file").edge("file", end);
  return std::move(graph).build();
}

TEST(WorldHttp, AnswersTheRequestsOfNodesWhereverTheProcessDies) {
  auto http = std::make_shared<CountingHttp>();
  auto world = World{}.http(http);
  auto calm = world.run(fetching(), letter).approve_all();
  ASSERT_TRUE(calm.ok()) << calm.error()->message;
  EXPECT_EQ(static_cast<const Letter&>(calm.state()).receipt, "1");
  for (const CrashPoint& crash : calm.crash_points()) {
    auto run = world.run(fetching(), letter).crash_at(crash).approve_all();
    EXPECT_TRUE(run.ok()) << run.error()->message;
    EXPECT_EQ(run.effects("fetch"), 1);
  }
}

TEST(WorldHttp, IsAbsentUnlessTheWorldHasOne) {
  auto run = World{}.run(fetching(), letter).approve_all();
  EXPECT_EQ(run.status(), RunStatus::failed);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error()->message.find("World{}.http"), std::string::npos) << run.error()->message;
}

}  // namespace
}  // namespace belay::testing
