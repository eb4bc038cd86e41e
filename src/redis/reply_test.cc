#include "redis/reply.h"

#include <gtest/gtest.h>

namespace belay::redis {
namespace {

// Parses the bytes, fed in pieces of the given size, into replies.
Result<std::vector<Reply>> replies_in(std::string_view bytes, std::size_t piece) {
  ReplyReader reader;
  std::vector<Reply> all;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    while (true) {
      BELAY_TRY(auto reply, reader.next());
      if (!reply) break;
      all.push_back(*std::move(reply));
    }
  }
  return all;
}

TEST(RedisReplies, AreTheSameInWhateverPiecesTheyCome) {
  std::string_view bytes =
      "+OK\r\n-WRONGTYPE no\r\n:-12\r\n$5\r\na\r\nbc\r\n$-1\r\n$0\r\n\r\n"
      "*3\r\n$1\r\nx\r\n:1\r\n*1\r\n+y\r\n*0\r\n*-1\r\n";
  auto whole = replies_in(bytes, bytes.size());
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  ASSERT_EQ(whole->size(), 9u);
  EXPECT_EQ((*whole)[0].kind, Reply::Kind::status);
  EXPECT_EQ((*whole)[1].kind, Reply::Kind::error);
  EXPECT_EQ((*whole)[1].text, "WRONGTYPE no");
  EXPECT_EQ((*whole)[2].number, -12);
  EXPECT_EQ((*whole)[3].text, "a\r\nbc");
  EXPECT_EQ((*whole)[4].kind, Reply::Kind::nil);
  EXPECT_EQ((*whole)[5].kind, Reply::Kind::text);
  ASSERT_EQ((*whole)[6].items.size(), 3u);
  EXPECT_EQ((*whole)[6].items[2].items[0].text, "y");
  EXPECT_EQ((*whole)[7].kind, Reply::Kind::list);
  EXPECT_EQ((*whole)[8].kind, Reply::Kind::nil);
  for (std::size_t piece = 1; piece < 12; ++piece) {
    auto again = replies_in(bytes, piece);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(*again, *whole) << piece;
  }
}

TEST(RedisReplies, OfWhatIsNoRedisAreRefused) {
  for (std::string_view bytes :
       {"HTTP/1.1 400 Bad Request\r\n", ":12x\r\n", "$-2\r\n", "$3\r\nabcd\r\n", "*99999\r\n",
        "$99999999999\r\n", "$999999999999999999999\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "*\r\n",
        "$\r\n"}) {
    auto read = replies_in(bytes, bytes.size());
    ASSERT_FALSE(read.ok()) << bytes;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  }
  EXPECT_FALSE(replies_in("+" + std::string(70'000, 'a'), 1'000).ok());
  std::string many = "*1000\r\n";
  for (int i = 0; i < 1'000; ++i) many += "*1000\r\n";
  EXPECT_FALSE(replies_in(many, many.size()).ok());
}

TEST(RedisReplies, OnceBrokenStayBroken) {
  ReplyReader reader;
  reader.feed("?");
  EXPECT_FALSE(reader.next().ok());
  EXPECT_TRUE(reader.empty()) << "what was held is let go";
  reader.feed("+OK\r\n");
  EXPECT_FALSE(reader.next().ok());
}

TEST(RedisCommands, CarryAnyBytes) {
  EXPECT_EQ(to_bytes({"SET", "k", std::string("\0\r\n", 3)}),
            std::string("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n\0\r\n\r\n", 29));
}

}  // namespace
}  // namespace belay::redis
