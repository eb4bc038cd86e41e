// Short texts that the processes of a store share, with a real redis-server.

#include "redis/redis_text_cache.h"

#include <gtest/gtest.h>

#include "redis/redis_reply_cache.h"
#include "tests/redis/redis_server.h"

namespace belay::redis {
namespace {

using std::chrono::milliseconds;
using tests::becomes_true;
using tests::connected;
using tests::patient;
using tests::RedisServer;

constexpr milliseconds kMinute{60'000};
constexpr const char* kKey = "checkpoint:analysis-1:valuation";
constexpr std::size_t kTextBytesMax = 1u << 20;
constexpr std::size_t kKeyBytesMax = 1u << 10;

std::shared_ptr<const MessageEncryption> seal_with(char digit, Random& random) {
  KeyRing ring = KeyRing::from_text("key:" + std::string(64, digit)).value();
  return std::make_shared<MessageEncryption>(std::move(ring), random);
}

struct TextCaches : ::testing::Test {
  std::optional<std::string> get(SharedTextCache& cache, const std::string& key = kKey) {
    return block_on(*loop, cache.get(key));
  }
  std::string stored(const std::string& key = kKey) {
    return one->call_and_wait({"GET", one->name(key)}).value().text;
  }
  void store(const std::string& key, const std::string& text) {
    ASSERT_TRUE(one->call_and_wait({"SET", one->name(key), text}).ok());
  }
  std::int64_t keys() { return one->call_and_wait({"DBSIZE"}).value().number; }

  RedisServer server;
  std::unique_ptr<Random> random = system_random();
  std::unique_ptr<EventLoop> loop = make_event_loop();
  std::unique_ptr<Client> one = connected(server.url(), *random);
  std::unique_ptr<Client> other = connected(server.url(), *random);
  std::shared_ptr<const MessageEncryption> no_keys =
      std::make_shared<MessageEncryption>(KeyRing(), *random);
};

TEST_F(TextCaches, ATextIsReadByAnotherProcessUntilItIsErased) {
  RedisTextCache first(*one, no_keys);
  RedisTextCache second(*other, no_keys);
  EXPECT_EQ(get(first), std::nullopt);
  std::string text("{\"version\":\"1.0.3\"}\0\r\n\xff", 23);
  first.put(kKey, text, kMinute);
  EXPECT_EQ(get(first), text);
  EXPECT_EQ(get(second), text);
  EXPECT_EQ(get(second, "checkpoint:analysis-1:business"), std::nullopt);
  EXPECT_EQ(one->call_and_wait({"GET", "belay:checkpoint:analysis-1:valuation"})->text, text);
  first.put(kKey, "", kMinute);
  EXPECT_EQ(get(first), "");
  first.erase(kKey);
  EXPECT_EQ(get(first), std::nullopt);
  EXPECT_EQ(keys(), 0);
}

TEST_F(TextCaches, ATextExpiresAfterItsTime) {
  RedisTextCache cache(*one, no_keys);
  cache.put(kKey, "long", kMinute);
  std::int64_t left = one->call_and_wait({"PTTL", one->name(kKey)}).value().number;
  EXPECT_GT(left, 30'000);
  EXPECT_LE(left, 60'000);
  cache.put(kKey, "short", milliseconds(20));
  EXPECT_TRUE(becomes_true([&] { return get(cache) == std::nullopt; }));
  EXPECT_EQ(keys(), 0);
}

TEST_F(TextCaches, WithKeysATextIsEncryptedAndOnlyTheyReadIt) {
  RedisTextCache first(*one, seal_with('a', *random));
  RedisTextCache second(*other, seal_with('a', *random));
  RedisTextCache stranger(*other, seal_with('b', *random));
  const std::string text = "free cash flow: 99.803";
  first.put(kKey, text, kMinute);
  EXPECT_EQ(get(first), text);
  EXPECT_EQ(get(second), text);
  EXPECT_EQ(stored().find("cash"), std::string::npos);
  EXPECT_EQ(get(stranger), std::nullopt);
  RedisTextCache plain(*other, no_keys);
  auto read = get(plain);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->find("cash"), std::string::npos);
}

TEST_F(TextCaches, WithKeysATextFromElsewhereOrChangedIsNotFound) {
  auto seal = seal_with('a', *random);
  RedisTextCache cache(*one, seal);
  cache.put(kKey, "valuation", kMinute);
  cache.put("other", "business", kMinute);
  ASSERT_EQ(get(cache), "valuation");
  std::string good = stored();
  store(kKey, stored("other"));
  EXPECT_EQ(get(cache), std::nullopt) << "of another key";
  std::string changed = good;
  changed.back() ^= 1;
  for (const std::string& bad : {changed, good.substr(0, good.size() / 2), std::string(),
                                 std::string("valuation"), good + "x"}) {
    store(kKey, bad);
    EXPECT_EQ(get(cache), std::nullopt) << bad.size();
  }
  store(kKey, good);
  EXPECT_EQ(get(cache), "valuation");
}

TEST_F(TextCaches, ATextCannotBeReadAsAReplyNorAReplyAsAText) {
  auto seal = seal_with('a', *random);
  RedisTextCache texts(*one, seal);
  RedisReplyCache replies(*one, seal);
  Digest request = sha256("request");
  std::string key = "answer:" + to_hex(request);
  texts.put(key, "forged", kMinute);
  EXPECT_EQ(get(texts, key), "forged");
  EXPECT_EQ(block_on(*loop, replies.get(request)), std::nullopt);
  replies.put(request, "true", kMinute);
  EXPECT_EQ(block_on(*loop, replies.get(request)), "true");
  EXPECT_EQ(get(texts, key), std::nullopt);
}

TEST_F(TextCaches, TooMuchOrForNoTimeIsNotStored) {
  RedisTextCache cache(*one, no_keys);
  std::string most(kTextBytesMax, 'x');
  cache.put(kKey, most, kMinute);
  EXPECT_EQ(get(cache), most);
  cache.put(kKey, most + "x", kMinute);
  EXPECT_EQ(get(cache), most) << "the one before";
  cache.put(kKey, "no time", milliseconds(0));
  cache.put(kKey, "no time", milliseconds(-1));
  EXPECT_EQ(get(cache), most);
  std::string long_key(kKeyBytesMax, 'k');
  cache.put(long_key, "text", kMinute);
  EXPECT_EQ(get(cache, long_key), "text");
  EXPECT_EQ(keys(), 2);
  for (const std::string& key : {std::string(), long_key + "k"}) {
    cache.put(key, "text", kMinute);
    EXPECT_EQ(get(cache, key), std::nullopt);
    cache.erase(key);
  }
  EXPECT_EQ(keys(), 2);
  // Another program can store more, or a value of another type.
  store(kKey, most + "x");
  EXPECT_EQ(get(cache), std::nullopt);
  ASSERT_TRUE(one->call_and_wait({"DEL", one->name(kKey)}).ok());
  ASSERT_TRUE(one->call_and_wait({"LPUSH", one->name(kKey), "x"}).ok());
  EXPECT_EQ(get(cache), std::nullopt);
}

TEST_F(TextCaches, WithoutRedisNothingIsFoundAndNothingWaits) {
  auto start = std::chrono::steady_clock::now();
  Client nowhere(patient("redis://127.0.0.1:1"), *random);
  RedisTextCache never(nowhere, no_keys);
  RedisTextCache cache(*one, no_keys);
  server.kill();
  ASSERT_TRUE(becomes_true([&] { return !one->is_up() && nowhere.wait_for_first_try(kMinute); }));
  for (int i = 0; i < 1'000; ++i) {
    for (RedisTextCache* each : {&never, &cache}) {
      each->put(kKey, "text", kMinute);
      ASSERT_EQ(get(*each), std::nullopt);
      each->erase(kKey);
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(8'000))
      << "2,000 reads wait less than one patient connection or reply can take";
}

TEST_F(TextCaches, ARedisThatDoesNotAnswerDelaysTheFirstReaderOnly) {
  ClientOptions options = patient(server.url());
  options.link.reply_timeout = milliseconds(50);
  Client client(options, *random);
  ASSERT_TRUE(client.wait_until_up(milliseconds(10'000)));
  RedisTextCache cache(client, no_keys);
  server.freeze();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) ASSERT_EQ(get(cache), std::nullopt);
  // One hundred waits of 50 ms would be five seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(4'000));
  server.thaw();
  EXPECT_TRUE(becomes_true([&] {
    cache.put(kKey, "text", kMinute);
    return get(cache) == "text";
  }));
}

TEST_F(TextCaches, AfterARestartTextsAreLostAndNewOnesAreStored) {
  RedisTextCache cache(*one, seal_with('a', *random));
  cache.put(kKey, "before", kMinute);
  ASSERT_EQ(get(cache), "before");
  server.kill();
  ASSERT_TRUE(becomes_true([&] { return !one->is_up(); }));
  EXPECT_EQ(get(cache), std::nullopt);
  server.start();
  ASSERT_TRUE(becomes_true([&] { return one->is_up(); }));
  EXPECT_EQ(get(cache), std::nullopt) << "this server stores nothing on disk";
  EXPECT_TRUE(becomes_true([&] {
    cache.put(kKey, "after", kMinute);
    return get(cache) == "after";
  }));
}

}  // namespace
}  // namespace belay::redis
