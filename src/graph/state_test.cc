#include "belay/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace belay {
namespace {

struct Basket {
  std::string owner{};
  std::vector<std::string> items{};
  std::map<std::string, int> prices{};
  int count = 0;
  double total = 0;
};

void apply(Update<Basket> update, Basket& basket) {
  for (ChannelWrite& change : std::move(update).take_update().changes) {
    ASSERT_TRUE(change.operand->apply(&basket).ok());
  }
}

TEST(Update, SaysWhatChangedAndNothingElse) {
  auto changes = set(&Basket::owner, "ana").append(&Basket::items, "pear").take_update().changes;
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].channel, 0u);
  EXPECT_EQ(changes[0].kind, WriteOp::set);
  EXPECT_EQ(changes[1].channel, 1u);
  EXPECT_EQ(changes[1].kind, WriteOp::append);
  EXPECT_TRUE(unchanged<Basket>().take_update().changes.empty());
}

TEST(Update, SetsAppendsMergesAndAdds) {
  Basket basket;
  basket.items = {"fig"};
  basket.prices = {{"fig", 2}};
  basket.count = 1;
  apply(set(&Basket::owner, "ana")
            .append(&Basket::items, "pear")
            .merge(&Basket::prices, "pear", 3)
            .merge(&Basket::prices, "fig", 4)
            .add(&Basket::count, 1)
            .add(&Basket::total, 1.5),
        basket);
  EXPECT_EQ(basket.owner, "ana");
  EXPECT_EQ(basket.items, (std::vector<std::string>{"fig", "pear"}));
  EXPECT_EQ(basket.prices, (std::map<std::string, int>{{"fig", 4}, {"pear", 3}}));
  EXPECT_EQ(basket.count, 2);
  EXPECT_EQ(basket.total, 1.5);
}

TEST(Update, MakesOneChangeOfAllThatItDoesToAMember) {
  auto changes = append(&Basket::items, "fig")
                     .append(&Basket::items, "pear")
                     .set(&Basket::count, 1)
                     .add(&Basket::count, 2)
                     .take_update()
                     .changes;
  ASSERT_EQ(changes.size(), 2u);
  Encoder items;
  changes[0].operand->encode(items);
  EXPECT_EQ(items.text, R"(["fig","pear"])");
  EXPECT_EQ(changes[1].kind, WriteOp::set);
  Encoder count;
  changes[1].operand->encode(count);
  EXPECT_EQ(count.text, "3");
}

TEST(Update, AppliesItsChangesInOrder) {
  Basket basket;
  apply(set(&Basket::count, 5).add(&Basket::count, 2).set(&Basket::count, 1), basket);
  EXPECT_EQ(basket.count, 1);
}

TEST(Update, IsWholeAfterACallWhoseResultItIsGiven) {
  auto update = append(&Basket::items, "fig");
  for (int each = 0; each < 3; ++each) {
    update = std::move(update).send("weigh", each).go_to("pay").add(&Basket::count, 1);
  }
  NodeUpdate answer = std::move(update).take_update();
  EXPECT_EQ(answer.changes.size(), 2u);
  EXPECT_EQ(answer.sends.size(), 3u);
  EXPECT_EQ(answer.go_to.size(), 3u);
}

TEST(StateType, NamesItsChannelsAsTheMembersAreCalled) {
  const StateType& type = state_type<Basket>();
  ASSERT_EQ(type.channels.size(), 5u);
  EXPECT_EQ(type.channels[0].name, "owner");
  EXPECT_EQ(type.channels[4].name, "total");
}

TEST(StateType, EncodesAndDecodesOneChannelAtATime) {
  const StateType& type = state_type<Basket>();
  Basket basket;
  basket.prices = {{"fig", 2}};
  Encoder out;
  type.channels[2].encode(&basket, out, nullptr);
  EXPECT_EQ(out.text, R"({"fig":2})");

  Basket other;
  Decoder in;
  EXPECT_TRUE(type.channels[2].decode(*parse_json(R"({"pear":7})"), &other, in, nullptr));
  EXPECT_EQ(other.prices.at("pear"), 7);
  EXPECT_TRUE(
      type.channels[2].combine(WriteOp::merge, *parse_json(R"({"fig":1})"), &other, in, nullptr));
  EXPECT_EQ(other.prices, (std::map<std::string, int>{{"fig", 1}, {"pear", 7}}));
  EXPECT_FALSE(type.channels[0].combine(WriteOp::append, *parse_json("[1]"), &other, in, nullptr));
  EXPECT_THAT(in.problem, ::testing::HasSubstr("what this member's type can take"));
}

TEST(StateType, CopiesAreApart) {
  const StateType& type = state_type<Basket>();
  auto first = type.make();
  static_cast<Basket*>(first.get())->count = 3;
  auto second = type.copy(first.get());
  static_cast<Basket*>(second.get())->count = 4;
  EXPECT_EQ(static_cast<Basket*>(first.get())->count, 3);
}

}  // namespace
}  // namespace belay
