// The client with a real redis-server, and with servers that send wrong replies.

#include <gtest/gtest.h>

#include <latch>

#include "tests/redis/redis_server.h"

namespace belay::redis {
namespace {

using std::chrono::milliseconds;
using tests::becomes_true;
using tests::connected;
using tests::patient;
using tests::RedisServer;
using tests::ScriptedRedis;

class RedisClient : public ::testing::Test {
 protected:
  std::unique_ptr<Random> random_ = system_random();
};

TEST_F(RedisClient, KeepsWhatItIsTold) {
  RedisServer server;
  auto client = connected(server.url(), *random_);
  std::string bytes("\0\r\n$5\xff", 6);
  auto set = client->call_and_wait({"SET", client->name("a"), bytes});
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->text, "OK");
  auto got = client->call_and_wait({"GET", "belay:a"});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->text, bytes);
  auto none = client->call_and_wait({"GET", client->name("b")});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->kind, Reply::Kind::nil);
}

TEST_F(RedisClient, IsAwaitedByTasksInAnyNumber) {
  RedisServer server;
  auto client = connected(server.url(), *random_);
  auto loop = make_event_loop();
  auto count = [](Client& of) -> Task<std::int64_t> {
    std::int64_t last = 0;
    for (int i = 0; i < 100; ++i) {
      Command command{"INCR", of.name("count")};
      auto reply = co_await of.call(std::move(command));
      if (!reply.ok()) co_return -1;
      last = reply->number;
    }
    co_return last;
  };
  std::vector<Spawned> running;
  std::vector<std::int64_t> ends;
  loop->post([&] {
    for (int i = 0; i < 10; ++i) {
      running.push_back(spawn<std::int64_t>(*loop, count(*client), [&](std::int64_t end) {
        ends.push_back(end);
        if (ends.size() == 10) loop->stop();
      }));
    }
  });
  loop->run();
  EXPECT_EQ(*std::max_element(ends.begin(), ends.end()), 1'000);
}

TEST_F(RedisClient, TakesAnErrorForAnAnswerAndGoesOn) {
  RedisServer server;
  auto client = connected(server.url(), *random_);
  ASSERT_TRUE(client->call_and_wait({"LPUSH", client->name("list"), "x"}).ok());
  auto wrong = client->call_and_wait({"GET", client->name("list")});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid);
  EXPECT_NE(wrong.error().message.find("WRONGTYPE"), std::string::npos);
  EXPECT_TRUE(client->call_and_wait({"PING"}).ok());
}

TEST_F(RedisClient, ComesBackByItselfAfterTheServerDied) {
  RedisServer server;
  auto client = connected(server.url(), *random_);
  server.kill();
  ASSERT_TRUE(becomes_true([&] { return !client->is_up(); }));
  auto away = client->call_and_wait({"PING"});
  ASSERT_FALSE(away.ok());
  EXPECT_EQ(away.error().code, ErrorCode::unavailable);
  EXPECT_NE(client->trouble(), "");
  server.start();
  EXPECT_TRUE(becomes_true([&] { return client->call_and_wait({"PING"}).ok(); }));
  EXPECT_EQ(client->trouble(), "");
}

TEST_F(RedisClient, SaysThatAPasswordIsWrongAndNeverWhichOne) {
  RedisServer server({"--requirepass", "right-one"});
  auto good = connected(server.url(":right-one"), *random_);
  EXPECT_TRUE(good->call_and_wait({"PING"}).ok());
  Client bad(patient(server.url(":wrong-one")), *random_);
  ASSERT_TRUE(becomes_true(
      [&] { return bad.trouble().find("does not accept the password") != std::string::npos; }));
  EXPECT_EQ(bad.trouble().find("wrong-one"), std::string::npos);
  EXPECT_EQ(bad.call_and_wait({"PING"}).error().message.find("wrong-one"), std::string::npos);
  Client none(patient(server.url()), *random_);
  EXPECT_TRUE(becomes_true([&] { return none.trouble().find("NOAUTH") != std::string::npos; }));
}

TEST_F(RedisClient, UsesTheDatabaseThatIsNamed) {
  RedisServer server;
  auto third = connected(server.url("", 3), *random_);
  auto first = connected(server.url(), *random_);
  ASSERT_TRUE(third->call_and_wait({"SET", "belay:a", "3"}).ok());
  EXPECT_EQ(first->call_and_wait({"GET", "belay:a"})->kind, Reply::Kind::nil);
}

TEST_F(RedisClient, HearsWhatIsPublishedAlsoAfterTheServerDied) {
  RedisServer server;
  auto one = connected(server.url(), *random_);
  auto other = connected(server.url(), *random_);
  std::atomic<int> heard = 0;
  auto subscription = other->subscribe("news", [&](std::string_view text) {
    if (text == "hello") ++heard;
  });
  ASSERT_TRUE(becomes_true([&] { return other->hears(); }));
  one->publish("news", "hello");
  one->publish("other", "hello");
  ASSERT_TRUE(becomes_true([&] { return heard == 1; }));
  server.kill();
  ASSERT_TRUE(becomes_true([&] { return !other->hears(); }));
  server.start();
  ASSERT_TRUE(becomes_true([&] { return other->hears() && one->is_up(); }));
  one->publish("news", "hello");
  EXPECT_TRUE(becomes_true([&] { return heard == 2; }));
}

TEST_F(RedisClient, HearsNoMoreOnceNobodyListens) {
  RedisServer server;
  auto client = connected(server.url(), *random_);
  std::atomic<int> heard = 0;
  auto count = [&](std::string_view) { ++heard; };
  auto kept = client->subscribe("news", count);
  auto left = client->subscribe("news", count);
  ASSERT_TRUE(becomes_true([&] { return client->hears(); }));
  left = ChannelSubscription();
  client->publish("news", "a");
  ASSERT_TRUE(becomes_true([&] { return heard == 1; }));
  kept = ChannelSubscription();
  auto reaches_nobody = [&] {
    auto reply = client->call_and_wait({"PUBLISH", client->name("news"), "b"});
    return reply.ok() && reply->number == 0;
  };
  EXPECT_TRUE(becomes_true(reaches_nobody));
  ChannelSubscription outlives;
  outlives = client->subscribe("news", count);
  client.reset();
}

TEST_F(RedisClient, FailsInTimeAndThenAtOnceWhereTheServerStandsStill) {
  RedisServer server;
  ClientOptions options = patient(server.url());
  options.link.reply_timeout = milliseconds(30);
  Client client(options, *random_);
  ASSERT_TRUE(client.wait_until_up(milliseconds(10'000)));
  server.freeze();
  auto late = client.call_and_wait({"PING"});
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
  // A later call does not wait for a connection: it fails immediately.
  bool is_told = false;
  ASSERT_TRUE(becomes_true([&] {
    auto again = client.call_and_wait({"PING"});
    is_told = !again.ok() && again.error().message.find("Redis is unavailable") == 0;
    return is_told;
  }));
  server.thaw();
  EXPECT_TRUE(becomes_true([&] { return client.call_and_wait({"PING"}).ok(); }));
}

TEST_F(RedisClient, KeepsRepliesApartWhereOneCameTooLate) {
  std::latch asked(1);
  ScriptedRedis server([&](int socket, int) {
    if (!ScriptedRedis::greet(socket)) return;
    if (!ScriptedRedis::expect(socket, "first\r\n")) return;
    asked.wait();
    ScriptedRedis::say(socket, "$5\r\nFIRST\r\n");
    if (!ScriptedRedis::expect(socket, "second\r\n")) return;
    ScriptedRedis::say(socket, "$6\r\nSECOND\r\n");
    ScriptedRedis::wait_for_end(socket);
  });
  ClientOptions options = patient(server.url());
  options.link.reply_timeout = milliseconds(200);
  Client client(options, *random_);
  ASSERT_TRUE(client.wait_until_up(milliseconds(10'000)));
  EXPECT_FALSE(client.call_and_wait({"GET", "first"}).ok());
  asked.count_down();
  std::string got;
  EXPECT_TRUE(becomes_true([&] {
    auto reply = client.call_and_wait({"GET", "second"});
    if (reply.ok()) got = reply->text;
    return reply.ok();
  }));
  EXPECT_EQ(got, "SECOND");
}

TEST_F(RedisClient, LeavesAServerThatIsNoRedisOrSaysTooMuch) {
  for (std::string_view answer :
       {"HTTP/1.1 400 Bad Request\r\n\r\n", "$3\r\nPON\r\n", "-LOADING wait\r\n", ":1\r\n", ""}) {
    ScriptedRedis server([&](int socket, int) {
      if (ScriptedRedis::expect(socket, "PING\r\n")) ScriptedRedis::say(socket, answer);
    });
    Client client(patient(server.url()), *random_);
    ASSERT_TRUE(becomes_true([&] { return server.connections() >= 2; })) << answer;
    EXPECT_FALSE(client.is_up());
    EXPECT_FALSE(client.call_and_wait({"PING"}).ok());
  }
}

TEST_F(RedisClient, TellsEveryCallerOnceWhereAConnectionBreaksInAReply) {
  ScriptedRedis server([](int socket, int) {
    if (!ScriptedRedis::greet(socket)) return;
    if (ScriptedRedis::expect(socket, "k\r\n")) ScriptedRedis::say(socket, "$100\r\nhalf");
  });
  auto client = connected(server.url(), *random_);
  auto reply = client->call_and_wait({"GET", "k"});
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(becomes_true([&] { return server.connections() >= 2; }));
}

TEST_F(RedisClient, TakesNoMoreThanItsBound) {
  ScriptedRedis server([](int socket, int) {
    if (ScriptedRedis::greet(socket)) ScriptedRedis::wait_for_end(socket);
  });
  ClientOptions options = patient(server.url());
  options.link.commands_max = 10;
  Client client(options, *random_);
  ASSERT_TRUE(client.wait_until_up(milliseconds(10'000)));
  for (int i = 0; i < 10; ++i) client.send({"SET", "k", "v"});
  auto refused = client.call_and_wait({"PING"});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("queue of requests is full"), std::string::npos);
}

}  // namespace
}  // namespace belay::redis
