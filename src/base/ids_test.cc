#include "belay/ids.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "belay/limits.h"

namespace belay {
namespace {

using testing::HasSubstr;

TEST(Uuid, IsPrintedAndReadInTheUsualForm) {
  auto id = uuid_from("1EF0C1A2-0000-6abc-8def-0123456789AB");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->text(), "1ef0c1a2-0000-6abc-8def-0123456789ab");
  for (const char* text :
       {"", "1ef0c1a2", "1ef0c1a2-0000-6abc-8def-0123456789a",
        "1ef0c1a2-0000-6abc-8def-0123456789abc", "1ef0c1a2-0000-6abc-8def-0123456789ag",
        "1ef0c1a200006abc8def0123456789abcdef", "1ef0c1a2-0000-6abc-8def+0123456789ab"}) {
    EXPECT_FALSE(uuid_from(text)) << text;
  }
}

RC_GTEST_PROP(Uuid, EveryOneReadsBackFromItsText, (std::uint64_t ticks, std::uint64_t random)) {
  Uuid id = time_ordered_uuid(ticks, random);
  RC_ASSERT(*uuid_from(id.text()) == id);
}

TEST(Uuid, RandomOnesAreOfVersion4AndDiffer) {
  auto random = system_random();
  std::set<Uuid> seen;
  for (int i = 0; i < 1'000; ++i) {
    Uuid id = random_uuid(*random);
    EXPECT_EQ(id.text()[14], '4');
    EXPECT_THAT("89ab", HasSubstr(std::string(1, id.text()[19])));
    EXPECT_TRUE(seen.insert(id).second);
  }
}

RC_GTEST_PROP(Uuid, TimeOrderedOnesSortByTheirTime,
              (std::uint64_t a, std::uint64_t b, std::uint64_t random_a, std::uint64_t random_b)) {
  a >>= 4;  // 60 bits, until the year 5236
  b >>= 4;
  RC_PRE(a != b);
  Uuid first = time_ordered_uuid(a, random_a);
  Uuid second = time_ordered_uuid(b, random_b);
  RC_ASSERT((first < second) == (a < b));
  RC_ASSERT((first.text() < second.text()) == (a < b));
  RC_ASSERT(uuid_ticks(first) == a);
  RC_ASSERT(first.text()[14] == '6');
}

TEST(Uuid, TimeOrderedOnesHoldTheTimeOfRfc9562) {
  // The example of RFC 9562, appendix A.5: 2022-02-22 14:22:22 at UTC-5.
  Instant at = *instant_from("2022-02-22T19:22:22Z");
  EXPECT_EQ(time_ordered_uuid(uuid_ticks(at), 0).text().substr(0, 18), "1ec9414c-232a-6b00");
}

TEST(Uuid, DerivedOnesAreAlwaysTheSame) {
  EXPECT_EQ(derived_uuid("a"), derived_uuid("a"));
  EXPECT_NE(derived_uuid("a"), derived_uuid("b"));
  EXPECT_EQ(derived_uuid("a").text()[14], '8');
}

TEST(Sha256, IsTheStandardsOne) {
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Name, IsShortPrintableText) {
  EXPECT_TRUE(check_name("thread", "a").ok());
  EXPECT_TRUE(check_name("thread", "Diario de Ana, 2026 \U0001F600").ok());
  EXPECT_TRUE(check_name("thread", std::string(limits::identifier_bytes_max, 'x')).ok());
  for (const std::string& bad :
       {std::string(), std::string(limits::identifier_bytes_max + 1, 'x'), std::string("a\nb"),
        std::string("a\0b", 3), std::string("\xff"), std::string("\x7f")}) {
    auto checked = check_name("thread", bad);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, ErrorCode::invalid);
    EXPECT_THAT(checked.error().message, HasSubstr("thread"));
  }
}

}  // namespace
}  // namespace belay
