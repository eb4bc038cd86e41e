#include "conversation/question_id.h"

#include <gtest/gtest.h>

#include "engine/run_options.h"

namespace belay::conversation {
namespace {

ChatEntry entry(std::string id, Author author) {
  return ChatEntry{.id = std::move(id), .author = author, .text = "Hello"};
}

RunRow run_with(const std::string& configuration) {
  RunRow run;
  RunOptions options;
  options.configuration = configuration;
  run.options = engine::options_text(options);
  return run;
}

TEST(QuestionId, IsThatOfTheNewestMessageOfAPerson) {
  using enum Author;
  EXPECT_EQ(question_id_of({entry("a", person), entry("b", person), entry("c", agent)}), "b");
  EXPECT_EQ(question_id_of({entry("a", agent)}), "");
  EXPECT_EQ(question_id_of({entry("a", person), entry("", person)}), "") << "not another one's";
}

TEST(QuestionId, OfMoreThan256BytesIsNotStored) {
  EXPECT_EQ(question_id_of(run_with(with_question_id("", std::string(256, 'x')))).size(), 256u);
  EXPECT_EQ(with_question_id("", std::string(257, 'x')), "");
}

TEST(QuestionId, IsStoredWithTheOtherMembersOfTheConfiguration) {
  std::string hostile = "\"},{\\u0000 \xC3\xA9";
  for (const std::string& id : {std::string("m1"), hostile}) {
    std::string both = with_question_id(R"({"configurable":{"question_id":"other"}})", id);
    EXPECT_EQ(question_id_of(run_with(both)), id);
    Value configuration = parse_json(both).value();
    EXPECT_EQ(configuration["configurable"]["question_id"], Value("other"));
    EXPECT_EQ(question_id_of(run_with(with_question_id("", id))), id);
  }
  EXPECT_EQ(with_question_id(R"({"a":1})", ""), R"({"a":1})");
  EXPECT_EQ(with_question_id("[1]", "m1"), "[1]") << "the start refuses it";
}

TEST(QuestionId, OfARunWithoutOneIsEmpty) {
  EXPECT_EQ(question_id_of(RunRow()), "");
  EXPECT_EQ(question_id_of(run_with("")), "");
  EXPECT_EQ(question_id_of(run_with(R"({"question_id":7})")), "");
  EXPECT_EQ(question_id_of(run_with(R"({"configurable":{"question_id":"m1"}})")), "");
  RunRow damaged;
  damaged.options = "\"question_id";
  EXPECT_EQ(question_id_of(damaged), "");
}

}  // namespace
}  // namespace belay::conversation
