// Values that set(), append(), merge(), reduce() and add() accept: checked by the compiler, and
// with the resulting state.

#include <gtest/gtest.h>

#include "belay/state.h"

namespace belay {
namespace {

using detail::Fits;
using detail::FitsEach;
using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Text = std::string;

enum class Level { low, high };
enum Plain { none, some };
struct Page {
  std::string url{};
  int tries = 0;
  friend bool operator==(const Page&, const Page&) = default;
};
struct OneMore {
  operator int() const { return 4; }
};

// Text.
static_assert(Fits<Text, Text> && Fits<Text, const Text&> && Fits<Text, const char (&)[5]>);
static_assert(Fits<Text, const char*> && Fits<Text, std::string_view>);
static_assert(!Fits<Text, int> && !Fits<Text, char> && !Fits<Text, std::nullptr_t>);
static_assert(!Fits<Text, std::optional<Text>> && !Fits<Text, Value>);

// Numbers: accepted if the member can hold every value of the other type.
static_assert(Fits<std::int64_t, int> && Fits<std::int64_t, std::uint32_t>);
static_assert(Fits<double, int> && Fits<double, float> && Fits<double, std::uint32_t>);
static_assert(Fits<int, std::int16_t> && Fits<int, bool> && Fits<std::uint64_t, unsigned>);
static_assert(!Fits<int, std::int64_t> && !Fits<int, unsigned> && !Fits<std::size_t, int>);
static_assert(!Fits<std::int64_t, std::size_t> && !Fits<std::uint8_t, int>);
static_assert(!Fits<int, double> && !Fits<float, double> && !Fits<float, int>);
static_assert(!Fits<double, std::int64_t> && !Fits<double, std::uint64_t>);
static_assert(!Fits<int, const char*> && !Fits<int, Text> && !Fits<int, Level>);
static_assert(Fits<int, OneMore> && Fits<int, std::integral_constant<int, 3>>);
static_assert(!Fits<std::int8_t, OneMore>, "its int may be too large");

// Bools.
static_assert(Fits<bool, bool> && Fits<bool, std::true_type>);
static_assert(Fits<bool, std::vector<bool>::reference>);
static_assert(!Fits<bool, int> && !Fits<bool, const char*> && !Fits<bool, void*>);
static_assert(!Fits<bool, std::nullptr_t> && !Fits<bool, std::optional<bool>>);
static_assert(!Fits<bool, Plain> && !Fits<bool, std::shared_ptr<int>>);

// Enums.
static_assert(Fits<Level, Level> && Fits<Level, const Level&>);
static_assert(!Fits<Level, int> && !Fits<Level, Plain> && !Fits<Level, Text>);
static_assert(!Fits<Plain, int> && !Fits<Plain, Level>);

// Optionals: accept all that fits their value, or nothing.
static_assert(Fits<std::optional<int>, int> && Fits<std::optional<int>, std::nullopt_t>);
static_assert(Fits<std::optional<std::int64_t>, std::optional<int>>);
static_assert(Fits<std::optional<Text>, const char (&)[3]>);
static_assert(Fits<std::optional<Text>, std::string_view>);
static_assert(!Fits<std::optional<int>, double> && !Fits<std::optional<int>, const char*>);
static_assert(!Fits<std::optional<int>, std::optional<double>>);
static_assert(!Fits<std::optional<bool>, const char*> && !Fits<std::optional<Level>, int>);

// Times.
static_assert(Fits<milliseconds, seconds> &&
              Fits<duration<std::int64_t, std::milli>, milliseconds>);
static_assert(!Fits<seconds, milliseconds> && !Fits<milliseconds, int>);
static_assert(!Fits<duration<int, std::milli>, milliseconds>, "an int may be too small for it");
static_assert(!Fits<milliseconds, duration<double, std::milli>>);
static_assert(Fits<Instant, Instant> && !Fits<Instant, Text> && !Fits<Instant, int>);

// Lists, maps, structs and JSON.
static_assert(Fits<std::vector<int>, std::vector<int>> && !Fits<std::vector<int>, int>);
static_assert(!Fits<std::vector<int>, std::vector<double>>);
static_assert(FitsEach<std::int64_t, std::vector<int>> && FitsEach<Text, std::vector<Text>&>);
static_assert(!FitsEach<int, std::vector<double>> && !FitsEach<int, int>);
static_assert(Fits<Page, Page> && !Fits<Page, Text> && !Fits<Page, int>);
static_assert(Fits<Value, int> && Fits<Value, const char*> && Fits<Value, bool>);
static_assert(!Fits<Value, int*> && !Fits<Value, const void*> && !Fits<Value, Page>);

struct Desk {
  std::int64_t count = 0;
  std::size_t size = 0;
  double ratio = 0;
  std::string text{};
  std::optional<std::string> remark{};
  std::vector<std::string> lines{};
  std::vector<bool> flags{};
  std::vector<Page> pages{};
  std::vector<std::vector<int>> rows{};
  std::map<std::string, Page> by_name{};
  Page page{};
  std::chrono::milliseconds wait{};
};

Desk after(Update<Desk> update) {
  Desk desk;
  for (ChannelWrite& change : std::move(update).take_update().changes) {
    EXPECT_TRUE(change.operand->apply(&desk).ok());
  }
  return desk;
}

TEST(Fits, AnIntBecomesALargerNumberOrADouble) {
  Desk desk = after(set(&Desk::count, 5).set(&Desk::ratio, 3).set(&Desk::size, 7u));
  EXPECT_EQ(desk.count, 5);
  EXPECT_EQ(desk.ratio, 3.0);
  EXPECT_EQ(desk.size, 7u);
  desk = after(add(&Desk::count, 5).add(&Desk::ratio, 2).add(&Desk::size, std::uint8_t{1}));
  EXPECT_EQ(desk.count, 5);
  EXPECT_EQ(desk.ratio, 2.0);
  EXPECT_EQ(desk.size, 1u);
}

TEST(Fits, ATextOfAnyKindBecomesAString) {
  std::string_view view = "view";
  EXPECT_EQ(after(set(&Desk::text, view)).text, "view");
  EXPECT_EQ(after(set(&Desk::text, "literal")).text, "literal");
  EXPECT_EQ(after(set(&Desk::remark, view)).remark, "view");
  EXPECT_EQ(after(set(&Desk::remark, "a").set(&Desk::remark, std::nullopt)).remark, std::nullopt);
}

TEST(Fits, BracesMakeAListAMapOrAStruct) {
  Desk desk = after(set(&Desk::lines, {"a", "b"})
                        .set(&Desk::page, {.url = "u", .tries = 2})
                        .merge(&Desk::by_name, "x", {.url = "v"})
                        .set(&Desk::remark, {}));
  EXPECT_EQ(desk.lines, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(desk.page, (Page{"u", 2}));
  EXPECT_EQ(desk.by_name.at("x"), (Page{"v", 0}));
  EXPECT_EQ(desk.remark, std::nullopt);
  desk = after(set(&Desk::by_name, {{"x", Page{"v"}}}).set(&Desk::lines, {}));
  EXPECT_EQ(desk.by_name.at("x"), (Page{"v", 0}));
  EXPECT_TRUE(desk.lines.empty());
}

TEST(Fits, AListTakesOneItemOrAllOfAnother) {
  std::vector<std::string> more = {"c", "d"};
  Desk desk =
      after(append(&Desk::lines, "a").append(&Desk::lines, {"b", "b"}).append(&Desk::lines, more));
  EXPECT_EQ(desk.lines, (std::vector<std::string>{"a", "b", "b", "c", "d"}));
  EXPECT_EQ(more.size(), 2u) << "and leaves it whole";
  desk = after(append(&Desk::pages, {Page{"u"}, Page{"v"}}).append(&Desk::pages, Page{"w"}));
  EXPECT_EQ(desk.pages.size(), 3u);
  std::vector<bool> flags = {true, false};
  desk = after(append(&Desk::flags, flags).append(&Desk::flags, flags[0]));
  EXPECT_EQ(desk.flags, (std::vector<bool>{true, false, true}));
}

TEST(Fits, AListThatIsAnItemIsOneItem) {
  std::vector<int> row = {1, 2};
  Desk desk = after(append(&Desk::rows, row));
  EXPECT_EQ(desk.rows, (std::vector<std::vector<int>>{{1, 2}}));
}

TEST(Fits, ALongerUnitBecomesAShorterOne) {
  EXPECT_EQ(after(set(&Desk::wait, seconds(2))).wait, milliseconds(2'000));
}

}  // namespace
}  // namespace belay
