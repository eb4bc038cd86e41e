#include "belay/value.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <limits>

namespace belay::codec_test {

enum class Mood { low, fair, good };

struct Finding {
  std::string name;
  int weight = 1;
  friend bool operator==(const Finding&, const Finding&) = default;
};

struct Audit {
  bool urgent = false;
  std::int64_t risk = 3;
  std::uint8_t small = 0;
  double score = 0.5;
  std::string text = "none";
  Mood mood = Mood::fair;
  std::optional<std::string> remark;
  std::vector<Finding> findings;
  std::map<std::string, Finding> by_name;
  Finding main;
  Instant at{};
  std::chrono::milliseconds took{0};
  Value free;
  friend bool operator==(const Audit&, const Audit&) = default;
};

namespace {

using testing::HasSubstr;

Audit full_audit() {
  Audit audit;
  audit.urgent = true;
  audit.risk = -7;
  audit.small = 255;
  audit.score = 0.1;
  audit.text = "ärger \"quoted\"\n";
  audit.mood = Mood::good;
  audit.remark = "";
  audit.findings = {{"a", 1}, {"b", 2}};
  audit.by_name = {{"x", {"c", 3}}};
  audit.main = {"d", 4};
  audit.at = *instant_from("2026-11-21T23:54:00.123456Z");
  audit.took = std::chrono::milliseconds(1'500);
  audit.free = Value::object({{"any", 1}});
  return audit;
}

Result<Audit> audit_from(std::string_view json) { return decode_json<Audit>(*parse_json(json)); }

void expect_mismatch(std::string_view json, const std::string& path) {
  auto audit = audit_from(json);
  ASSERT_FALSE(audit.ok()) << json;
  EXPECT_EQ(audit.error().code, ErrorCode::invalid);
  EXPECT_THAT(audit.error().message, HasSubstr(path));
}

// Decodes with unknown members preserved, then encodes both.
std::string read_and_written(std::string_view json) {
  Audit audit;
  Decoder in;
  Unknown unknown;
  Value value = *parse_json(json);
  EXPECT_TRUE(codec::decode(value, audit, in, &unknown)) << in.problem;
  Encoder out;
  codec::encode(audit, out, &unknown);
  return to_json(*parse_json(out.text));
}

TEST(Codec, AStructReadsBackAsItself) {
  std::string text = *encode_json(full_audit());
  EXPECT_EQ(*audit_from(text), full_audit());
  EXPECT_THAT(text, HasSubstr("\"mood\":\"good\""));
  EXPECT_THAT(text, HasSubstr("\"took\":1500"));
  EXPECT_THAT(text, HasSubstr("\"at\":\"2026-11-21T23:54:00.123456Z\""));
}

TEST(Codec, AMissingMemberTakesItsDefault) {
  EXPECT_EQ(*audit_from("{}"), Audit());
  EXPECT_EQ(audit_from(R"({"main":{"name":"x"}})")->main.weight, 1);
}

TEST(Codec, AnUnknownMemberIsKeptAndWrittenBack) {
  std::string text = to_json(*parse_json(*encode_json(full_audit())));
  Value::Object members = *parse_json(text)->as_object();
  members.emplace("later", Value(1));
  members["main"].as_object()->emplace("later", Value("x"));
  members["by_name"].as_object()->at("x").as_object()->emplace("later", Value(true));
  members["findings"].as_array()->at(1).as_object()->emplace("later", Value(Value::Array()));
  std::string newer = to_json(Value(members));
  EXPECT_EQ(read_and_written(newer), newer);
  EXPECT_EQ(*audit_from(newer), full_audit()) << "and it disturbs nothing";
}

TEST(Codec, AnUnknownMemberStaysWithItsListItem) {
  Audit audit;
  Decoder in;
  Unknown unknown;
  Value value = *parse_json(R"({"findings":[{"name":"a","later":1},{"name":"b"}]})");
  ASSERT_TRUE(codec::decode(value, audit, in, &unknown));
  std::swap(audit.findings[0], audit.findings[1]);
  Encoder out;
  codec::encode(audit, out, &unknown);
  Value moved = *parse_json(out.text);
  EXPECT_TRUE((*moved["findings"].as_array())[0]["later"].is_null());
  EXPECT_EQ((*moved["findings"].as_array())[1]["later"].as_int(), 1);
}

TEST(Codec, AWrongKindNamesItsPath) {
  expect_mismatch("[]", "should be an object");
  expect_mismatch(R"({"urgent":1})", "\"urgent\" should be true or false, but is 1");
  expect_mismatch(R"({"text":null})", "\"text\" should be a string, but is null");
  expect_mismatch(R"({"main":{"weight":"heavy"}})", "\"main.weight\"");
  expect_mismatch(R"({"findings":[{},{"name":7}]})", "\"findings.1.name\"");
  expect_mismatch(R"({"by_name":{"x":{"weight":1.5}}})", "\"by_name.x.weight\"");
  expect_mismatch(R"({"findings":{}})", "should be an array");
  expect_mismatch(R"({"mood":"angry"})", "\"mood\"");
  expect_mismatch(R"({"mood":1})", "\"mood\"");
  expect_mismatch(R"({"at":"yesterday"})", "UTC time");
  expect_mismatch(R"({"took":"soon"})", "milliseconds");
  expect_mismatch(R"({"remark":5})", "\"remark\"");
}

TEST(Codec, ANumberOutOfRangeIsRefused) {
  expect_mismatch(R"({"small":256})", "\"small\" should be an integer in range");
  expect_mismatch(R"({"small":-1})", "\"small\"");
  expect_mismatch(R"({"risk":9223372036854775808})", "\"risk\"");
  EXPECT_EQ(audit_from(R"({"small":255.0})")->small, 255);
}

struct Measured {
  float ratio = 0;
  std::chrono::nanoseconds nanoseconds{};
  std::chrono::milliseconds milliseconds{};
  std::chrono::hours hours{};
};

TEST(Codec, ATimeOrFloatBeyondItsTypeIsRefused) {
  auto read = [](std::string_view text) { return decode_json<Measured>(*parse_json(text)); };
  for (std::string_view text :
       {R"({"ratio":1e39})", R"({"ratio":-1e39})", R"({"nanoseconds":9223372036855})",
        R"({"nanoseconds":-9223372036855})"}) {
    auto refused = read(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_THAT(refused.error().message, ::testing::HasSubstr("in range")) << text;
  }
  EXPECT_EQ(read(R"({"nanoseconds":9223372036854})")->nanoseconds,
            std::chrono::milliseconds(9'223'372'036'854));
  EXPECT_EQ(read(R"({"milliseconds":9223372036854775807})")->milliseconds,
            std::chrono::milliseconds::max());
  EXPECT_EQ(read(R"({"hours":7200000})")->hours, std::chrono::hours(2));
  EXPECT_EQ(read(R"({"ratio":3e38})")->ratio, 3e38F);
}

TEST(Codec, WhatJsonCannotSayIsRefused) {
  for (double number :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    Audit audit;
    audit.score = number;
    auto text = encode_json(audit);
    ASSERT_FALSE(text.ok());
    EXPECT_EQ(text.error().code, ErrorCode::invalid);
    EXPECT_THAT(text.error().message, HasSubstr("NaN or infinite"));
  }
  for (const std::string& bad : {std::string("\xff"), std::string("a\0", 2)}) {
    Audit audit;
    audit.main.name = bad;
    EXPECT_FALSE(encode_json(audit).ok());
  }
}

RC_GTEST_PROP(Codec, NumbersOfAStructKeepTheirValue, (std::int64_t risk, double score)) {
  RC_PRE(std::isfinite(score));
  Audit audit;
  audit.risk = risk;
  audit.score = score;
  RC_ASSERT(*audit_from(*encode_json(audit)) == audit);
}

}  // namespace
}  // namespace belay::codec_test
