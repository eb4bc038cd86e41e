// Two programs on one store, with hints through a real redis-server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/runtime.h"
#include "belay/testing.h"
#include "redis/redis_hints.h"
#include "tests/redis/redis_server.h"

namespace belay::redis {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using tests::becomes_true;
using tests::connected;
using tests::RedisServer;

struct Talk {
  std::string said{};
};

KeyRing ring(char digit) { return KeyRing::from_text("key:" + std::string(64, digit)).value(); }

// Waits for some milliseconds on the loop.
Task<Done> wait_a_while(milliseconds time) {
  co_await sleep_for(time);
  co_return Done{};
}

TEST(RedisHints, WakesAreToldAtOnceAndThenNoMoreThanTwentyTimesASecond) {
  RedisServer server;
  auto random = system_random();
  auto client = connected(server.url(), *random);
  auto loop = make_event_loop();
  RedisNotifier wake_up(*client, *loop);
  std::atomic<int> called = 0;
  auto listening = wake_up.subscribe("mail", [&] { ++called; });
  auto other = wake_up.subscribe("other", [&] { called += 1'000; });
  ASSERT_TRUE(becomes_true([&] { return client->hears(); }));
  loop->post([&] { wake_up.notify("mail"); });
  block_on(*loop, wait_a_while(milliseconds(1)));
  ASSERT_TRUE(becomes_true([&] { return called == 1; }));
  loop->post([&] {
    for (int i = 0; i < 1'000; ++i) wake_up.notify("mail");
  });
  block_on(*loop, wait_a_while(milliseconds(200)));
  ASSERT_TRUE(becomes_true([&] { return called >= 2; }));
  listening.reset();
  EXPECT_LE(called, 3);
}

TEST(RedisHints, TextsThatWereSealedWithAnotherKeyOrNotAtAllAreNotHeard) {
  RedisServer server;
  auto random = system_random();
  auto client = connected(server.url(), *random);
  RedisBroadcast ours(*client, std::make_shared<MessageEncryption>(ring('a'), *random));
  RedisBroadcast theirs(*client, std::make_shared<MessageEncryption>(ring('b'), *random));
  RedisBroadcast plain(*client, std::make_shared<MessageEncryption>(KeyRing(), *random));
  std::vector<std::string> heard;
  std::atomic<int> count = 0;
  auto listening = ours.subscribe("talk", [&](std::string text) {
    heard.push_back(std::move(text));
    ++count;
  });
  ASSERT_TRUE(becomes_true([&] { return client->hears(); }));
  theirs.publish("talk", "theirs");
  plain.publish("talk", "plain");
  client->publish("talk", "rubbish");
  ours.publish("talk", "ours");
  ASSERT_TRUE(becomes_true([&] { return count == 1; }));
  listening.reset();
  EXPECT_THAT(heard, ElementsAre("ours"));
}

TEST(RedisHints, WhoComesLaterHearsWhatIsKeptForAsLongAsItIs) {
  RedisServer server;
  auto random = system_random();
  auto client = connected(server.url(), *random);
  auto seal = std::make_shared<MessageEncryption>(ring('a'), *random);
  RedisBroadcast broadcast(*client, seal);
  std::atomic<int> early = 0, late = 0, too_late = 0;
  auto first = broadcast.subscribe_retained("circuit:smtp", [&](std::string) { ++early; });
  ASSERT_TRUE(becomes_true([&] { return client->hears(); }));
  broadcast.publish_retained("circuit:smtp", "open", milliseconds(60'000));
  ASSERT_TRUE(becomes_true([&] { return early == 1; }));
  auto second = broadcast.subscribe_retained("circuit:smtp", [&](std::string) { ++late; });
  ASSERT_TRUE(becomes_true([&] { return late == 1; }));
  ASSERT_TRUE(client->call_and_wait({"PEXPIRE", client->name("circuit:smtp"), "1"}).ok());
  ASSERT_TRUE(becomes_true([&] {
    auto kept = client->call_and_wait({"EXISTS", client->name("circuit:smtp")});
    return kept.ok() && kept->number == 0;
  }));
  auto third = broadcast.subscribe_retained("circuit:smtp", [&](std::string) { ++too_late; });
  // Replies arrive in order: when this one has arrived, the subscription's has too.
  ASSERT_TRUE(client->call_and_wait({"PING"}).ok());
  EXPECT_EQ(too_late, 0);
  EXPECT_EQ(early, 1);
}

// A program: its own client, runtime and session, on the loop of the test.
struct OneProgram {
  OneProgram(const std::string& url, Store& store, EventLoop& loop, Clock& clock, Random& random,
             Model& model, const Graph<Talk>& graph)
      : client(connected(url, random)),
        wake_up(*client, loop),
        broadcast(*client, std::make_shared<MessageEncryption>(KeyRing(), random)) {
    RuntimeParts parts{store, loop, clock, random, model};
    parts.hints.work_notifier = &wake_up;
    parts.hints.broadcast = &broadcast;
    runtime = Runtime::open(std::move(parts)).value();
    runtime->add(graph);
  }
  std::unique_ptr<Client> client;
  RedisNotifier wake_up;
  RedisBroadcast broadcast;
  std::unique_ptr<Runtime> runtime;
};

// A graph whose node waits until the test releases it.
struct HeldTalk {
  Completion<Done> go_on;
  Graph<Talk> graph() {
    GraphBuilder<Talk> made{"talk"};
    made.node("say", [this](const Talk&, Context& context) -> Task<Update<Talk>> {
      context.stream("Dear Ana");
      co_await go_on;
      co_return set(&Talk::said, "Dear Ana");
    });
    made.edge(start, "say").edge("say", end);
    return std::move(made).build().value();
  }
};

Task<Done> all_of_it(OneProgram& asks, OneProgram& works, HeldTalk& talk,
                     std::vector<std::string>& heard) {
  WorkerOptions work;
  work.poll_interval = std::chrono::minutes(10);
  Executor& executor = co_await this_executor();
  std::function<void(Result<std::size_t>)> ended = [](const Result<std::size_t>&) {};
  auto working =
      spawn<Result<std::size_t>>(executor, works.runtime->run_worker(work), std::move(ended));
  // The worker has polled without a result, and is subscribed.
  for (int i = 0; i < 2'000 && !works.client->hears(); ++i) co_await sleep_for(milliseconds(5));
  co_await sleep_for(milliseconds(50));
  StartOptions options;
  options.thread = ThreadId("t");
  auto graph = talk.graph();
  Talk input;
  auto queued = co_await asks.runtime->enqueue(graph, std::move(input), options, Instant());
  if (!queued.ok()) co_return Done{};
  EventOptions wanted;
  wanted.thread = options.thread;
  wanted.kinds = {EventKind::messages};
  wanted.poll = milliseconds(5);
  auto reader = co_await asks.runtime->events(wanted);
  if (!reader.ok()) co_return Done{};
  for (int i = 0; i < 2 && heard.size() < 2; ++i) {
    auto events = co_await (*reader)->next();
    if (!events.ok()) break;
    for (const StreamEvent& event : *events) {
      heard.push_back(*event.body["text"].as_string() + (event.id ? " for good" : ""));
    }
    talk.go_on.complete(Done{});
  }
  co_return Done{};
}

TEST(RedisHints, AWorkerElsewhereTakesARunUpAtOnceAndItsTextIsHeardWhileItComes) {
  RedisServer server;
  auto random = system_random();
  auto clock = system_clock();
  auto store = open_memory_store(*clock, *random);
  auto loop = make_event_loop();
  testing::ScriptedModel model;
  HeldTalk talk;
  OneProgram asks(server.url(), *store, *loop, *clock, *random, model, talk.graph());
  OneProgram works(server.url(), *store, *loop, *clock, *random, model, talk.graph());
  std::vector<std::string> heard;
  block_on(*loop, all_of_it(asks, works, talk, heard));
  EXPECT_THAT(heard, ElementsAre("Dear Ana", "Dear Ana for good"));
}

}  // namespace
}  // namespace belay::redis
