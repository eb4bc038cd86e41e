#include "models/json_sanitizer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace belay::models {
namespace {

const std::string odd = "\xEF\xBF\xBD";

TEST(SoundJson, LeavesWhatIsSoundAlone) {
  for (const char* text : {R"({"a":"\u00e9\ud83d\ude00\n\\u0000"})", R"("\\\\ud800")",
                           "{\"b\":\"\xC3\xA9\xF0\x9F\x98\x80\"}"}) {
    EXPECT_EQ(parse_sanitized_json(text).value(), parse_json(text).value()) << text;
  }
}

TEST(SoundJson, ReplacesWhatNoStoreTakes) {
  EXPECT_EQ(parse_sanitized_json(R"("a\u0000b")").value(), Value("a" + odd + "b"));
  EXPECT_EQ(parse_sanitized_json(R"("a\ud83dz")").value(), Value("a" + odd + "z"));
  EXPECT_EQ(parse_sanitized_json(R"("\ude00\ud83d")").value(), Value(odd + odd));
  EXPECT_EQ(parse_sanitized_json(R"("\ud83d\ud83d\ude00")").value(),
            Value(odd + "\xF0\x9F\x98\x80"));
  EXPECT_EQ(parse_sanitized_json("\"\xED\xA0\x80\"").value(), Value(odd + odd + odd));
  EXPECT_EQ(parse_sanitized_json("\"\xC3\"").value(), Value(odd));
}

TEST(SoundJson, SaysWhatIsNoJsonAtAll) {
  for (const char* text : {"", "{", "nope", "\"\\ud83", "\"\\u00g0\"", "{\"a\":1e999}",
                           "{\"a\":1,\"a\":2}", "\"\\", "[1]]"}) {
    EXPECT_FALSE(parse_sanitized_json(text).ok()) << text;
  }
}

TEST(SoundJson, WhateverComesIsStoredOrRefused) {
  EXPECT_TRUE(rc::check("text of any bytes is made sound", [](const std::string& bytes) {
    std::string sound = sanitized_text(bytes);
    RC_ASSERT(!first_invalid_utf8(sound));
    RC_ASSERT(sound.find('\0') == sound.npos);
    auto value = parse_sanitized_json("\"" + bytes + "\"");
    if (value.ok()) RC_ASSERT(encode_json(*value).ok());
  }));
}

TEST(SoundJson, QuotesAFewCharactersOnOneLine) {
  EXPECT_EQ(quotable("one\ntwo", 100), "one two");
  EXPECT_EQ(quotable("\xC3\xA9\xC3\xA9\xC3\xA9", 2), "\xC3\xA9\xC3\xA9...");
}

}  // namespace
}  // namespace belay::models
