// Property: for each type that a state can have, a value that is encoded without a problem decodes
// to an equal value; a value that could not be decoded is rejected with the name of its member.

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "belay/value.h"

namespace belay::round_trip_test {

enum class Mood { low, fair, good };
enum class Wide : std::uint8_t { none, last = 31, beyond = 32 };
enum class Later { first = 1, second };
using Third = std::chrono::duration<std::int32_t, std::ratio<1, 3>>;

struct Part {
  std::int8_t small = 0;
  std::uint64_t large = 0;
  std::optional<std::string> note{};
  std::vector<Mood> moods{};
  friend bool operator==(const Part&, const Part&) = default;
};

struct Everything {
  bool flag = false;
  std::int16_t number = 0;
  std::uint32_t natural = 0;
  std::int64_t integer = 0;
  float ratio = 0;
  double exact = 0;
  std::string text{};
  Mood mood = Mood::fair;
  Wide wide = Wide::none;
  Instant at{};
  std::chrono::hours hours{};
  std::chrono::milliseconds milliseconds{};
  std::chrono::microseconds microseconds{};
  std::chrono::nanoseconds nanoseconds{};
  Third thirds{};
  std::optional<Part> part{};
  std::optional<Mood> maybe{};
  std::vector<bool> flags{};
  std::vector<std::optional<int>> numbers{};
  std::vector<Part> parts{};
  std::map<std::string, Part> by_name{};
  std::map<std::string, std::vector<double>> series{};
  Value anything{};
  friend bool operator==(const Everything&, const Everything&) = default;
};

namespace {

using testing::HasSubstr;

template <typename T>
T any() {
  return *rc::gen::arbitrary<T>();
}
// Most generated values can be written, so that a property does not only test problems.
bool rarely() { return *rc::gen::inRange(0, 60) == 0; }

double any_double() {
  if (rarely()) return std::bit_cast<double>(any<std::uint64_t>());
  return any<double>();
}
std::string any_text() {
  if (rarely()) return any<std::string>();
  return *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
}
template <typename E>
E any_enum(int names) {
  return static_cast<E>(*rc::gen::inRange(0, rarely() ? 40 : names));
}
template <typename T, typename Make>
std::vector<T> several(Make make) {
  std::vector<T> items;
  for (int left = *rc::gen::inRange(0, 4); left > 0; --left) items.push_back(make());
  return items;
}
// Generates all magnitudes: a large duration loses its fraction in a double.
template <typename Duration>
Duration any_duration() {
  auto count = any<typename Duration::rep>();
  return Duration(static_cast<typename Duration::rep>(count >> *rc::gen::inRange(0, 31)));
}

Value any_value(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 8 : 6)) {
    case 0:
      return Value();
    case 1:
      return Value(any<bool>());
    case 2:
      return Value(any<std::int64_t>());
    case 3:
      return Value(any<std::uint64_t>());
    case 4:
      return Value(any_double());
    case 5:
      return Value(any_text());
    case 6:
      return Value(several<Value>([&] { return any_value(depth - 1); }));
    default:
      break;
  }
  Value::Object members;
  for (int left = *rc::gen::inRange(0, 3); left > 0; --left) {
    members.emplace(any_text(), any_value(depth - 1));
  }
  return Value(std::move(members));
}

Part any_part() {
  Part part;
  part.small = any<std::int8_t>();
  part.large = any<std::uint64_t>();
  if (any<bool>()) part.note = any_text();
  part.moods = several<Mood>([] { return any_enum<Mood>(3); });
  return part;
}

Everything anything_at_all() {
  Everything all;
  all.flag = any<bool>();
  all.number = any<std::int16_t>();
  all.natural = any<std::uint32_t>();
  all.integer = any<std::int64_t>();
  all.ratio = rarely() ? std::bit_cast<float>(any<std::uint32_t>()) : any<float>();
  all.exact = any_double();
  all.text = any_text();
  all.mood = any_enum<Mood>(3);
  all.wide = any<bool>() ? Wide::last : any_enum<Wide>(1);
  all.at = Instant(std::chrono::microseconds(any<std::int64_t>() >> (rarely() ? 0 : 11)));
  all.hours = any_duration<std::chrono::hours>();
  all.milliseconds = any_duration<std::chrono::milliseconds>();
  all.microseconds = any_duration<std::chrono::microseconds>();
  all.nanoseconds = any_duration<std::chrono::nanoseconds>();
  all.thirds = any_duration<Third>();
  if (any<bool>()) all.part = any_part();
  if (any<bool>()) all.maybe = any_enum<Mood>(3);
  all.flags = several<bool>([] { return any<bool>(); });
  all.numbers = several<std::optional<int>>(
      [] { return any<bool>() ? std::optional(any<int>()) : std::nullopt; });
  all.parts = several<Part>(any_part);
  for (const Part& part : several<Part>(any_part)) all.by_name.emplace(any_text(), part);
  all.series.emplace(any_text(), several<double>(any_double));
  all.anything = any_value(3);
  return all;
}

RC_GTEST_PROP(CodecRoundTrip, WhatIsWrittenWithoutAProblemReadsBackAsAnEqualValue, ()) {
  Everything all = anything_at_all();
  auto text = encode_json(all);
  RC_CLASSIFY(text.ok());
  if (!text.ok()) {
    RC_ASSERT(text.error().code == ErrorCode::invalid);
    RC_ASSERT(!text.error().message.empty());
    return;
  }
  auto value = parse_json(*text);
  RC_ASSERT(value.ok());
  auto back = decode_json<Everything>(*value);
  if (!back.ok()) RC_FAIL(back.error().message + " of " + *text);
  RC_ASSERT(*back == all);
  RC_ASSERT(*encode_json(*back) == *text);
}

template <typename T>
void expect_whole(T value) {
  struct Holder {
    T held{};
  };
  auto text = encode_json(Holder{value});
  ASSERT_TRUE(text.ok()) << text.error().message;
  auto back = decode_json<Holder>(*parse_json(*text));
  ASSERT_TRUE(back.ok()) << back.error().message << " of " << *text;
  EXPECT_EQ(back->held, value) << *text;
}

template <typename T>
void expect_problem(T value, const std::string& words) {
  struct Holder {
    T held{};
  };
  auto text = encode_json(Holder{value});
  ASSERT_FALSE(text.ok()) << *text;
  EXPECT_EQ(text.error().code, ErrorCode::invalid);
  EXPECT_THAT(text.error().message, HasSubstr("At \"held"));
  EXPECT_THAT(text.error().message, HasSubstr(words));
}

TEST(CodecRoundTrip, AnEnumWithoutANameIsNotWritten) {
  expect_whole(Mood::low);
  expect_whole(Mood::good);
  expect_whole(Wide::last);
  expect_problem(static_cast<Mood>(3), "An enum is 3, and none of its enumerators");
  expect_problem(static_cast<Mood>(-1), "An enum is -1");
  expect_problem(Later{}, "An enum is 0");
  expect_problem(Wide::beyond, "An enum is 32");
  expect_problem(std::optional(static_cast<Mood>(7)), "An enum is 7");
  expect_problem(std::vector{Mood::low, static_cast<Mood>(9)}, "An enum is 9");
}

TEST(CodecRoundTrip, TheEndsOfTimeAreWhole) {
  expect_whole(*instant_from("0001-01-01T00:00:00Z"));
  expect_whole(*instant_from("9999-12-31T23:59:59.999999Z"));
  auto step = std::chrono::microseconds(1);
  expect_problem(*instant_from("0001-01-01T00:00:00Z") - step, "the years 1 to 9999");
  expect_problem(*instant_from("9999-12-31T23:59:59.999999Z") + step, "the years 1 to 9999");
  expect_problem(Instant::max(), "the years 1 to 9999");
}

TEST(CodecRoundTrip, ADurationKeepsWhatIsFinerThanAMillisecond) {
  expect_whole(std::chrono::microseconds(1'500));
  expect_whole(std::chrono::nanoseconds(-1));
  expect_whole(std::chrono::nanoseconds(86'400'000'000'001));
  expect_whole(std::chrono::hours::max() / 3'600'000);
  expect_whole(Third(1));
  expect_whole(Third(std::numeric_limits<std::int32_t>::min()));
  expect_problem(std::chrono::nanoseconds::max(), "no exact number of milliseconds");
}

TEST(CodecRoundTrip, ADurationThatItsUnitCanNotSayIsRefused) {
  struct Unit {
    std::chrono::seconds seconds{};
    std::chrono::microseconds microseconds{};
  };
  auto read = [](std::string_view text) { return decode_json<Unit>(*parse_json(text)); };
  EXPECT_EQ(read(R"({"seconds":2000})")->seconds, std::chrono::seconds(2));
  EXPECT_EQ(read(R"({"seconds":2000.0})")->seconds, std::chrono::seconds(2));
  EXPECT_FALSE(read(R"({"seconds":1500})").ok()) << "half a second would be lost";
  EXPECT_EQ(read(R"({"microseconds":1.5})")->microseconds, std::chrono::microseconds(1'500));
  EXPECT_FALSE(read(R"({"microseconds":0.0001})").ok());
  EXPECT_FALSE(read(R"({"seconds":1e300})").ok());
}

TEST(Value, APointerIsNoBool) {
  static_assert(!std::is_constructible_v<Value, int*>);
  static_assert(!std::is_constructible_v<Value, const void*>);
  EXPECT_TRUE(*Value(true).as_bool());
  EXPECT_EQ(*Value("text").as_string(), "text");
}

}  // namespace
}  // namespace belay::round_trip_test
