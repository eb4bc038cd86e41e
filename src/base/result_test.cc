#include "belay/result.h"

#include <gtest/gtest.h>

#include "belay/value.h"

namespace belay {
namespace {

std::string message_of(std::string text) {
  return error(ErrorCode::invalid, std::move(text)).message;
}

TEST(Results, TheValueOfATemporaryLivesForAsLongAsALoopOverIt) {
  struct Found {
    std::vector<std::string> rows;
  };
  auto find = [] { return Result<Found>(Found{{std::string(100, 'a'), std::string(100, 'b')}}); };
  std::string first;
  for (const std::string& row : find().value().rows) first += row[0];
  auto list = [&] { return Result<std::vector<std::string>>(find().value().rows); };
  for (const std::string& row : list().value()) first += row[0];
  EXPECT_EQ(first, "abab");
}

TEST(Errors, AMessageIsOneLineOfUtf8) {
  EXPECT_EQ(message_of("It is all right: ñ."), "It is all right: ñ.");
  EXPECT_EQ(message_of("two\nlines\tand \x7f"), "two lines and  ");
  EXPECT_EQ(message_of("a\xff"
                       "b\xc3"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(message_of(std::string("a\0b", 3)), "a b");
}

TEST(Errors, ALongMessageIsCutBetweenCharacters) {
  std::string all(4'000, 'x');
  EXPECT_EQ(message_of(all), all);
  for (std::size_t before : {0, 1, 2, 3}) {
    std::string text(before, 'x');
    while (text.size() < 10'000) text += "ñ";
    std::string cut = message_of(text);
    EXPECT_LE(cut.size(), 4'000u);
    EXPECT_GE(cut.size(), 3'990u);
    EXPECT_TRUE(cut.ends_with("..."));
    EXPECT_FALSE(first_invalid_utf8(cut));
  }
  EXPECT_LE(message_of(std::string(10'000, '\xff')).size(), 4'000u);
}

}  // namespace
}  // namespace belay
