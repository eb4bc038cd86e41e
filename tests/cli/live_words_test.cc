// The words that a node streams, joined for a terminal.

#include "cli/live_words.h"

#include <gtest/gtest.h>

namespace belay::cli::tests {
namespace {

StreamEvent delta(std::string text, std::uint64_t offset, int attempt = 1, char task = 'a') {
  StreamEvent event;
  event.kind = EventKind::messages;
  event.attempt = attempt;
  event.offset = offset;
  Uuid id{};
  id.bytes[0] = static_cast<std::uint8_t>(task);
  event.task = TaskId(id);
  event.body = Value::object({{"text", std::move(text)}});
  return event;
}

TEST(WordJoiner, ShowsEachByteOnce) {
  WordJoiner joiner;
  EXPECT_EQ(joiner.take(delta("Hello", 0)), "Hello");
  EXPECT_EQ(joiner.take(delta("Hello wor", 0)), " wor");
  EXPECT_EQ(joiner.take(delta("lo w", 3)), "");
  EXPECT_EQ(joiner.take(delta("ld", 9)), "ld");
}

TEST(WordJoiner, WaitsForTheRestOfACharacter) {
  WordJoiner joiner;
  EXPECT_EQ(joiner.take(delta("a\xE2\x82", 0)), "a");
  EXPECT_EQ(joiner.take(delta("\xAC!", 3)), "\xE2\x82\xAC!");
  EXPECT_EQ(joiner.take(delta("\xC3", 5)), "");
  EXPECT_EQ(joiner.take(delta("\xA9", 6)), "\xC3\xA9");
}

TEST(WordJoiner, BeginsANewLineForAnotherAttemptOrTask) {
  WordJoiner joiner;
  EXPECT_EQ(joiner.take(delta("one", 0)), "one");
  EXPECT_EQ(joiner.take(delta("two", 0, 2)), "\ntwo");
  EXPECT_EQ(joiner.take(delta("late", 3, 1)), "") << "the attempt is over";
  EXPECT_EQ(joiner.take(delta("b", 0, 1, 'b')), "\nb");
  EXPECT_EQ(joiner.take(delta("!", 3, 2)), "\n!");
}

TEST(WordJoiner, PassesOverTheDurableText) {
  WordJoiner joiner;
  StreamEvent whole = delta("Hello", 0);
  whole.id = EventId{3, 1};
  EXPECT_EQ(joiner.take(whole), "");
  StreamEvent other = delta("Hello", 0);
  other.kind = EventKind::custom;
  EXPECT_EQ(joiner.take(other), "");
}

}  // namespace
}  // namespace belay::cli::tests
