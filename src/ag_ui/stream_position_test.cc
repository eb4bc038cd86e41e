// The ids of server-sent events: each position has one text, and no other text is a position.

#include "ag_ui/stream_position.h"

#include <gtest/gtest.h>

#include <random>

namespace belay::ag_ui {
namespace {

StreamPosition random_position(std::mt19937& engine) {
  StreamPosition position{EventId{engine() % 1'000, engine() % 100}, engine() % 10};
  for (std::uint32_t i = engine() % 4; i > 0; --i) {
    TaskId task(derived_uuid(std::to_string(engine())));
    OpenText text{static_cast<int>(engine() % 5) + 1, engine()};
    if (engine() % 2 == 0) text.hash = hash_of_text(std::to_string(engine()));
    position.open.emplace(task, text);
    std::pair of(task, static_cast<int>(engine() % 3) + 1);
    if (engine() % 3 == 0) position.replaced.emplace(of, static_cast<int>(engine() % 4) + 1);
  }
  return position;
}

TEST(StreamPositions, AreReadFromTheirTexts) {
  std::mt19937 engine(1);
  for (int i = 0; i < 1'000; ++i) {
    StreamPosition position = random_position(engine);
    EXPECT_EQ(stream_position_from(position.text()), position) << position.text();
  }
}

TEST(StreamPositions, HaveOneTextEach) {
  std::string task = derived_uuid("t").text(), other = derived_uuid("u").text();
  if (other < task) std::swap(task, other);
  EXPECT_TRUE(stream_position_from("1-0.0~" + task + ":1:0~" + other + ":2:7"));
  EXPECT_TRUE(stream_position_from("1-0.0~" + task + ":1:4:00000000000000ab"));
  EXPECT_TRUE(stream_position_from("1-0.0~" + other + ":1:4~" + task + ":1r2"));
  for (const std::string& text : {std::string(),
                                  std::string("1-0"),
                                  std::string("1-0."),
                                  std::string("01-0.0"),
                                  std::string("1-0.00"),
                                  std::string("1-0.0~"),
                                  std::string("1-0.0.0"),
                                  std::string("+1-0.0"),
                                  "1-0.0~" + task,
                                  "1-0.0~" + task + ":1",
                                  "1-0.0~" + task + ":0:1",
                                  "1-0.0~" + task + ":-1:1",
                                  "1-0.0~" + task + ":1:-1",
                                  "1-0.0~" + task + ":1:1~",
                                  "1-0.0~" + task + ":99999999999:1",
                                  "1-0.0~" + task + ":1:1:1",
                                  "1-0.0~" + task + ":1:1~" + task + ":1:1",
                                  "1-0.0~" + other + ":1:0~" + task + ":1:0",
                                  "1-0.0~" + task + ":1:1:ab",
                                  "1-0.0~" + task + ":1:1:00000000000000AB",
                                  "1-0.0~" + task + ":1:1:0000000000000000a",
                                  "1-0.0~" + task + ":1r0",
                                  "1-0.0~" + task + ":0r1",
                                  "1-0.0~" + task + ":1r",
                                  "1-0.0~" + task + ":1r1:1",
                                  "1-0.0~" + task + ":1r1~" + task + ":1:1",
                                  "1-0.0~" + std::string(36, 'A') + ":1:1"}) {
    EXPECT_FALSE(stream_position_from(text)) << text;
  }
}

TEST(StreamPositions, OfAnyBytesAreRefusedOrRead) {
  std::mt19937 engine(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random_position(engine).text();
    for (std::uint32_t change = engine() % 4; change > 0; --change) {
      text[engine() % text.size()] = static_cast<char>(engine() % 256);
    }
    auto position = stream_position_from(text);
    EXPECT_TRUE(!position || position->text() == text) << text;
  }
}

TEST(StreamPositions, WithVeryManyTextsAreRefused) {
  std::string text = "1-0.0";
  for (int i = 0; i < 1'001; ++i) text += "~" + derived_uuid(std::to_string(i)).text() + ":1:1";
  EXPECT_FALSE(stream_position_from(text));
}

}  // namespace
}  // namespace belay::ag_ui
