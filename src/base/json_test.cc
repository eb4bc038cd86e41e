#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "belay/limits.h"
#include "belay/value.h"

namespace belay {
namespace {

using testing::HasSubstr;

Value parsed(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.ok()) << text << ": " << value.error().message;
  return value.ok() ? *std::move(value) : Value();
}

void expect_refused(std::string_view text, const std::string& why) {
  auto value = parse_json(text);
  ASSERT_FALSE(value.ok()) << text.substr(0, 60);
  EXPECT_EQ(value.error().code, ErrorCode::invalid);
  EXPECT_THAT(value.error().message, HasSubstr(why));
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

RC_GTEST_PROP(Json, EveryFiniteDoubleReadsBackAsTheVerySameBits, (std::uint64_t bits)) {
  double number = std::bit_cast<double>(bits);
  RC_PRE(std::isfinite(number));
  auto read = parse_json(to_json(Value(number)));
  RC_ASSERT(read.ok());
  RC_ASSERT(std::bit_cast<std::uint64_t>(*read->as_double()) == bits);
}

RC_GTEST_PROP(Json, EveryIntegerReadsBackAsItself, (std::int64_t number)) {
  RC_ASSERT(*parse_json(to_json(Value(number)))->as_int() == number);
}

TEST(Json, DoublesAtTheEdgesKeepTheirBits) {
  for (double number : {0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.1,
                        1.0, 100.0, 9007199254740993.0, 1e15, 1e16, 1e17, -1.5e-7}) {
    Value read = parsed(to_json(Value(number)));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*read.as_double()),
              std::bit_cast<std::uint64_t>(number));
    EXPECT_EQ(to_json(read), to_json(Value(number))) << "it stays a double";
  }
}

TEST(Json, IntegersAreExactUpToTheirBounds) {
  EXPECT_EQ(to_json(parsed("-9223372036854775808")), "-9223372036854775808");
  EXPECT_EQ(to_json(parsed("18446744073709551615")), "18446744073709551615");
  EXPECT_EQ(parsed("18446744073709551615").as_uint(), UINT64_MAX);
  EXPECT_EQ(parsed("18446744073709551615").as_int(), std::nullopt);
  EXPECT_EQ(parsed("7.0").as_int(), 7);
  EXPECT_EQ(parsed("7.5").as_int(), std::nullopt);
  EXPECT_EQ(parsed("-1").as_uint(), std::nullopt);
  EXPECT_EQ(parsed("9223372036854775808.0").as_int(), std::nullopt);
}

TEST(Json, ANumberBeyondADoubleIsRefused) {
  expect_refused("1e400", "1e400");
  expect_refused("[1, -1e400]", "does not fit a double");
  expect_refused("1e-400", "does not fit a double");  // 0 would be a silent change
}

TEST(Json, NestingIsBounded) {
  EXPECT_TRUE(parse_json(nested(limits::json_depth_max)).ok());
  expect_refused(nested(limits::json_depth_max + 1), "nested deeper than 64");
  expect_refused(nested(10'000), "nested deeper than 64");
  expect_refused(std::string(1'000'000, '['), "nested deeper than 64");
}

TEST(Json, DuplicateNamesAreRefused) {
  expect_refused(R"({"a":1,"b":2,"a":3})", "\"a\" stands twice");
  EXPECT_TRUE(parse_json(R"({"a":{"a":1}})").ok());
}

TEST(Json, WhatIsNoTextIsRefused) {
  expect_refused(R"("a\u0000b")", "U+0000");
  expect_refused(R"({"a\u0000b":1})", "U+0000");
  expect_refused(R"("\ud800")", "byte");
  expect_refused(R"("\udc00\ud800")", "byte");
  expect_refused("\"\xff\"", "byte");
  expect_refused("\"\xc3\"", "byte");
  expect_refused("\"\xed\xa0\x80\"", "byte");
  expect_refused(std::string_view("\"\0\"", 3), "byte");
  EXPECT_EQ(*parsed(R"("\ud83d\ude00 \u00e4")").as_string(), "\U0001F600 ä");
}

TEST(Json, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", " ", "{", "[1,]", "{\"a\"}", "nul", "01", "+1", ".5", "1.", "NaN",
                           "Infinity", "-Infinity", "'a'", "1 2", "{} x", "// c\n1", "\"a\nb\""}) {
    EXPECT_FALSE(parse_json(text).ok()) << text;
  }
  expect_refused("[1, 2, x]", "byte 7");
}

TEST(Json, ObjectsAreWrittenInTheOrderOfTheirNames) {
  EXPECT_EQ(to_json(parsed(R"( {"b" : 1, "a" : [true, null, "x"]} )")),
            R"({"a":[true,null,"x"],"b":1})");
  EXPECT_EQ(parsed(R"({"b":1,"a":2})"), parsed(R"({"a":2,"b":1})"));
}

TEST(Json, TextsAreEscapedOnlyWhereTheyMustBe) {
  std::string text = "\"\\\n\r\t\x01 ä / \U0001F600";
  EXPECT_EQ(to_json(Value(text)), "\"\\\"\\\\\\n\\r\\t\\u0001 ä / \U0001F600\"");
  EXPECT_EQ(*parsed(to_json(Value(text))).as_string(), text);
}

TEST(Json, PrettyTextReadsBackAsTheSameValue) {
  Value value = parsed(R"({"a":[1,2,{"b":[]}],"c":{},"d":"x"})");
  EXPECT_EQ(parsed(to_pretty_json(value)), value);
  EXPECT_EQ(to_pretty_json(parsed(R"({"a":[1]})")), "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST(Json, MembersAreFoundOrNull) {
  Value value = parsed(R"({"a":{"b":1}})");
  EXPECT_EQ(value["a"]["b"].as_int(), 1);
  EXPECT_TRUE(value["x"]["y"].is_null());
  EXPECT_EQ(value.find("x"), nullptr);
  EXPECT_EQ(Value(7)["x"].kind(), "null");
}

TEST(Utf8, TheFirstBadByteIsFound) {
  EXPECT_EQ(first_invalid_utf8("plain äöü \U0001F600"), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(first_invalid_utf8("\xc0\x80"), 0u) << "an overlong form";
  EXPECT_EQ(first_invalid_utf8("a\xed\xa0\x80"), 1u) << "a surrogate";
  EXPECT_EQ(first_invalid_utf8("\xf4\x90\x80\x80"), 0u) << "beyond U+10FFFF";
  EXPECT_EQ(first_invalid_utf8("ab\xe2\x82"), 2u) << "cut off";
}

}  // namespace
}  // namespace belay
