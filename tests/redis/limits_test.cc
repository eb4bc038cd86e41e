// Limits that several processes share, and their shared cache of model replies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "belay/testing.h"
#include "models/rate_limiter.h"
#include "models/reply_cache.h"
#include "redis/redis_rate_limit.h"
#include "redis/redis_reply_cache.h"
#include "tests/redis/redis_server.h"

namespace belay::redis {
namespace {

using std::chrono::milliseconds;
using tests::becomes_true;
using tests::connected;
using tests::RedisServer;

struct SharedTier : ::testing::Test {
  std::optional<milliseconds> take(SharedRateLimit& limit, const std::string& name,
                                   std::size_t per_minute) {
    return block_on(*loop, limit.acquire(name, per_minute));
  }
  KeyRing ring(char digit) { return KeyRing::from_text("key:" + std::string(64, digit)).value(); }

  RedisServer server;
  std::unique_ptr<Random> random = system_random();
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<Client> one = connected(server.url(), *random);
  std::unique_ptr<Client> other = connected(server.url(), *random);
};

TEST_F(SharedTier, ALimitIsOneForAllWhoNameItAlike) {
  RedisRateLimit first(*one);
  RedisRateLimit second(*other);
  int taken = 0;
  for (int i = 0; i < 5; ++i) {
    taken += take(first, "a", 6) == milliseconds(0);
    taken += take(second, "a", 6) == milliseconds(0);
  }
  EXPECT_EQ(taken, 6);
  auto wait = take(first, "a", 6);
  ASSERT_TRUE(wait);
  EXPECT_GT(*wait, milliseconds(0));
  EXPECT_LE(*wait, milliseconds(10'000));
  EXPECT_EQ(take(second, "b", 6), milliseconds(0)) << "another name";
}

TEST_F(SharedTier, WhatIsGivenBackToALimitMayBeTakenAgainByAnyone) {
  RedisRateLimit first(*one);
  RedisRateLimit second(*other);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(take(first, "a", 3), milliseconds(0));
  EXPECT_GT(take(second, "a", 3), milliseconds(0));
  block_on(*loop, second.give_back("a", 3));
  EXPECT_EQ(take(first, "a", 3), milliseconds(0));
  EXPECT_GT(take(first, "a", 3), milliseconds(0));
  for (int i = 0; i < 10; ++i) block_on(*loop, first.give_back("a", 3));
  int taken = 0;
  for (int i = 0; i < 10; ++i) taken += take(second, "a", 3) == milliseconds(0);
  EXPECT_EQ(taken, 3) << "no more than a minute allows, however much is given back";
  ASSERT_TRUE(one->call_and_wait({"SET", one->name("limit:a"), "tomorrow"}).ok());
  block_on(*loop, first.give_back("a", 3));
}

TEST_F(SharedTier, WhatStandsInTheWayOfALimitIsAMinuteAtTheMostOrNotKnown) {
  RedisRateLimit limit(*one);
  std::string key = one->name("limit:a");
  ASSERT_TRUE(one->call_and_wait({"SET", key, "99999999999999999999999"}).ok());
  auto wait = take(limit, "a", 60);
  ASSERT_TRUE(wait);
  EXPECT_LE(*wait, milliseconds(1'001));
  for (const char* nonsense : {"", "tomorrow", "nan", "-inf", "1e400"}) {
    ASSERT_TRUE(one->call_and_wait({"SET", key, nonsense}).ok());
    wait = take(limit, "a", 60);
    EXPECT_TRUE(!wait || *wait <= milliseconds(60'000)) << nonsense;
  }
  ASSERT_TRUE(one->call_and_wait({"DEL", key}).ok());
  ASSERT_TRUE(one->call_and_wait({"LPUSH", key, "x"}).ok());
  EXPECT_FALSE(take(limit, "a", 60)) << "of another type: not known";
  server.kill();
  ASSERT_TRUE(becomes_true([&] { return !one->is_up(); }));
  EXPECT_FALSE(take(limit, "a", 60)) << "not there: not known";
}

// Returns the results that the test sets.
struct SaidLimit final : SharedRateLimit {
  std::vector<std::optional<milliseconds>> answers;
  std::size_t asked = 0;
  Task<std::optional<milliseconds>> acquire(std::string, std::size_t) override {
    std::optional<milliseconds> answer;
    if (asked < answers.size()) answer = answers[asked];
    ++asked;
    co_return answer;
  }
  Task<Done> give_back(std::string, std::size_t) override { co_return Done{}; }
};

TEST(SharedRates, MakeACallWaitAndNeverLetMoreThroughThanThisProcessWould) {
  belay::testing::SimulatedClock clock(*instant_from("2026-11-21T12:00:00Z"));
  belay::testing::SimulatedLoop loop(clock);
  SaidLimit said;
  said.answers = {milliseconds(2'000), milliseconds(1'000), milliseconds(0)};
  models::RateLimiter rate(2, clock, &said, "calls:x");
  Instant began = clock.now();
  EXPECT_TRUE(block_on(loop, rate.enter("m")).ok());
  EXPECT_EQ(clock.now() - began, milliseconds(3'000));
  EXPECT_EQ(said.asked, 3u);
  // From here on the shared limit returns nothing: the process's own limit applies.
  EXPECT_TRUE(block_on(loop, rate.enter("m")).ok());
  EXPECT_TRUE(block_on(loop, rate.enter("m")).ok());
  EXPECT_GE(clock.now() - began, milliseconds(60'000));
  said.answers.assign(1'000, milliseconds(59'000));
  said.asked = 0;
  loop.run_until(clock.now() + std::chrono::minutes(5));
  auto refused = block_on(loop, rate.enter("m"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(refused.error().retry_after);
}

ModelRequest question(const std::string& text) {
  ModelRequest request;
  Message message;
  message.text = text;
  request.messages.push_back(std::move(message));
  return request;
}

struct Answering {
  Answering(Client& client, KeyRing keys, Random& random, Clock& clock)
      : model(std::make_shared<belay::testing::ScriptedModel>()),
        answers(client, std::make_shared<MessageEncryption>(std::move(keys), random)) {
    model->then_always([this](const ModelRequest& request) {
      ++asked;
      return "answer to " + request.messages.at(0).text;
    });
    models::ReplyCacheOptions options;
    options.ttl = std::chrono::hours(1);
    options.entries_max = 10;
    options.bytes_max = 1'000'000;
    options.shared = &answers;
    cached = std::make_shared<models::CachedModel>(model, "m", options, clock);
  }
  std::string ask(EventLoop& loop, const std::string& text,
                  std::shared_ptr<AnswerVerdict> verdict = nullptr) {
    ModelRequest request = question(text);
    request.verdict = std::move(verdict);
    auto reply = block_on(loop, cached->generate(std::move(request)));
    return reply.ok() ? reply->text : reply.error().message;
  }
  int asked = 0;
  std::shared_ptr<belay::testing::ScriptedModel> model;
  RedisReplyCache answers;
  std::shared_ptr<models::CachedModel> cached;
};

TEST_F(SharedTier, AnAnswerIsGivenAgainInAnotherProcessWithTheSameKeysAlone) {
  auto clock = system_clock();
  Answering first(*one, ring('a'), *random, *clock);
  EXPECT_EQ(first.ask(*loop, "x"), "answer to x");
  auto is_kept = [&] { return one->call_and_wait({"DBSIZE"})->number == 1; };
  ASSERT_TRUE(becomes_true(is_kept));
  Answering second(*other, ring('a'), *random, *clock);
  EXPECT_EQ(second.ask(*loop, "x"), "answer to x");
  EXPECT_EQ(second.asked, 0);
  Answering stranger(*other, ring('b'), *random, *clock);
  EXPECT_EQ(stranger.ask(*loop, "x"), "answer to x");
  EXPECT_EQ(stranger.asked, 1);
  Answering plain(*other, KeyRing(), *random, *clock);
  EXPECT_EQ(plain.ask(*loop, "y"), "answer to y");
  EXPECT_EQ(one->call_and_wait({"DBSIZE"})->number, 1) << "without a key nothing is kept";
}

TEST_F(SharedTier, AnAnswerIsThereOnceItsReaderHasAcceptedItAndGoneOnceOneRefusesIt) {
  auto clock = system_clock();
  auto is_kept = [&](int count) {
    return [this, count] { return one->call_and_wait({"DBSIZE"})->number == count; };
  };
  Answering first(*one, ring('a'), *random, *clock);
  auto reading = std::make_shared<AnswerVerdict>();
  first.ask(*loop, "x", reading);
  EXPECT_TRUE(is_kept(0)()) << "nobody knows yet whether it is of use";
  reading->accept();
  ASSERT_TRUE(becomes_true(is_kept(1)));
  Answering second(*other, ring('a'), *random, *clock);
  auto refusing = std::make_shared<AnswerVerdict>();
  second.ask(*loop, "x", refusing);
  EXPECT_EQ(second.asked, 0);
  refusing->refuse();
  EXPECT_TRUE(becomes_true(is_kept(0)));
  second.ask(*loop, "x");
  EXPECT_EQ(second.asked, 1) << "a retry asks the model itself";
}

TEST_F(SharedTier, NoAnswerIsTakenFromAnotherQuestionsPlaceNorOneThatWasChanged) {
  auto clock = system_clock();
  Answering first(*one, ring('a'), *random, *clock);
  first.ask(*loop, "x");
  first.ask(*loop, "y");
  ASSERT_TRUE(becomes_true([&] { return one->call_and_wait({"DBSIZE"})->number == 2; }));
  auto keys = one->call_and_wait({"KEYS", "*"}).value().items;
  std::string of_one = one->call_and_wait({"GET", keys[0].text}).value().text;
  std::string of_other = one->call_and_wait({"GET", keys[1].text}).value().text;
  ASSERT_TRUE(one->call_and_wait({"SET", keys[0].text, of_other}).ok());
  of_one.back() ^= 1;
  ASSERT_TRUE(one->call_and_wait({"SET", keys[1].text, of_one}).ok());
  Answering second(*other, ring('a'), *random, *clock);
  EXPECT_EQ(second.ask(*loop, "x"), "answer to x");
  EXPECT_EQ(second.ask(*loop, "y"), "answer to y");
  EXPECT_EQ(second.asked, 2);
  // The write of the second client might still be on its way to Redis.
  ASSERT_TRUE(becomes_true([&] {
    (void)one->call_and_wait({"DEL", keys[0].text});
    return one->call_and_wait({"LPUSH", keys[0].text, "x"}).ok();
  }));
  Answering third(*other, ring('a'), *random, *clock);
  EXPECT_EQ(third.ask(*loop, "x"), "answer to x");
  server.kill();
  EXPECT_EQ(third.ask(*loop, "z"), "answer to z");
}

}  // namespace
}  // namespace belay::redis
