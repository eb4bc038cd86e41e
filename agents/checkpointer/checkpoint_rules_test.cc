#include "agents/checkpointer/checkpoint_rules.h"

#include <gtest/gtest.h>

namespace belay::checkpointer {
namespace {

Value parsed(std::string_view json) { return parse_json(json).value(); }

TaskWrite write_at(std::string path, std::string task, std::int64_t idx) {
  TaskWrite write;
  write.taskPath = std::move(path);
  write.taskId = std::move(task);
  write.idx = idx;
  return write;
}

TEST(WriteIndex, OfASpecialChannelIsFixedAndOfAnyOtherItsPosition) {
  EXPECT_EQ(write_index("__error__", 5), -1);
  EXPECT_EQ(write_index("__scheduled__", 5), -2);
  EXPECT_EQ(write_index("__interrupt__", 5), -3);
  EXPECT_EQ(write_index("__resume__", 5), -4);
  EXPECT_EQ(write_index("messages", 5), 5);
  EXPECT_EQ(write_index("__pregel_tasks", 0), 0);
}

TEST(Writes, AreOrderedByPathThenTaskThenIndexInCodePoints) {
  // U+FFFD is less than U+10000, although its first UTF-16 unit is greater.
  std::vector<TaskWrite> writes{write_at("b", "a", 0),         write_at("", "z", 2),
                                write_at("", "z", 10),         write_at("", "z", -1),
                                write_at("", "\U00010000", 0), write_at("", "\uFFFD", 0)};
  sort_writes(writes);
  std::vector<std::string> order;
  for (const TaskWrite& write : writes) {
    order.push_back(write.taskPath + "/" + write.taskId + "/" + std::to_string(write.idx));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"/z/-1", "/z/2", "/z/10", "/\uFFFD/0", "/\U00010000/0",
                                             "b/a/0"}));
}

TEST(Filter, MatchesMetadataWithEqualMembers) {
  Value metadata = parsed(R"({"source":"loop","step":1,"writes":null,"tags":["a","b"]})");
  EXPECT_TRUE(matches_filter(metadata, Value()));
  EXPECT_TRUE(matches_filter(metadata, parsed("{}")));
  EXPECT_TRUE(matches_filter(metadata, parsed(R"({"source":"loop","step":1})")));
  EXPECT_TRUE(matches_filter(metadata, parsed(R"({"step":1.0})")));
  EXPECT_TRUE(matches_filter(metadata, parsed(R"({"writes":null})")));
  EXPECT_FALSE(matches_filter(metadata, parsed(R"({"source":"loop","step":2})")));
  EXPECT_FALSE(matches_filter(metadata, parsed(R"({"step":"1"})")));
  EXPECT_FALSE(matches_filter(metadata, parsed(R"({"absent":null})")));
  EXPECT_FALSE(matches_filter(metadata, parsed(R"({"a' OR 1=1 --":1})")));
}

TEST(Filter, MatchesNestedObjectsAndArraysInPart) {
  Value metadata = parsed(R"({"user":{"id":7,"team":{"name":"x","size":3}},"tags":["a",{"b":1}]})");
  EXPECT_TRUE(matches_filter(metadata, parsed(R"({"user":{"team":{"name":"x"}}})")));
  EXPECT_TRUE(matches_filter(metadata, parsed(R"({"user":{}})")));
  EXPECT_TRUE(matches_filter(metadata, parsed(R"({"tags":[{"b":1}]})")));
  EXPECT_FALSE(matches_filter(metadata, parsed(R"({"user":{"team":{"name":"y"}}})")));
  EXPECT_FALSE(matches_filter(metadata, parsed(R"({"tags":["c"]})")));
  EXPECT_FALSE(matches_filter(metadata, parsed(R"({"user":7})")));
}

TEST(Base64, IsPaddedAndOfTheUsualAlphabet) {
  for (std::string_view good : {"", "QQ==", "QUI=", "QUJD", "+/+/"}) EXPECT_TRUE(is_base64(good));
  for (std::string_view bad : {"Q", "QQ", "QQ=", "====", "=QQQ", "QQ-_", "QQ= ", "Q=Q="}) {
    EXPECT_FALSE(is_base64(bad)) << bad;
  }
}

TEST(Values, AreRefusedWithBadBase64OrParts) {
  std::string blob = "1ef0c1a2-0000-6000-8000-000000000000";
  EXPECT_TRUE(check_value("x", TypedValue{"json", "QQ==", "", 0}).ok());
  EXPECT_TRUE(check_value("x", TypedValue{"bytes", "", blob, 3}).ok());
  EXPECT_TRUE(check_value("x", TypedValue{"json", "", "", 0, "{}"}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"json", "QQ==", "", 0, "{}"}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"json", "", blob, 1, "{}"}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"", "QQ==", "", 0}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"json", "?", "", 0}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"json", "", blob, 0}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"json", "", "", 1}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"json", "", "not-a-uuid", 1}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"json", "QQ==", blob, 1}).ok());
  EXPECT_FALSE(check_value("x", TypedValue{"json", "", blob, kPartsMax + 1}).ok());
}

TEST(Keys, DifferForNamesWithTheSameConcatenation) {
  EXPECT_NE(key_of({"ab", "c"}), key_of({"a", "bc"}));
  EXPECT_NE(key_of({"a", ""}), key_of({"a"}));
  EXPECT_EQ(key_of({"a", "b"}), key_of({"a", "b"}));
  EXPECT_EQ(key_of({std::string(4'000, 'x')}).size(), 36u);
}

}  // namespace
}  // namespace belay::checkpointer
