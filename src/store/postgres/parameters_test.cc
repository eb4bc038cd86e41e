#include "store/postgres/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "store/postgres/query.h"

namespace belay::postgres {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;

std::string value_of(const Parameters& parameters, std::size_t index) {
  Parameters::View view = parameters.view();
  return {view.values[index], static_cast<std::size_t>(view.lengths[index])};
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (int value : values) text += static_cast<char>(value);
  return text;
}

TEST(PostgresParameters, AreBigEndianNumbers) {
  Parameters parameters;
  parameters.add(std::int64_t{0x0102030405060708}).add(std::int64_t{-2});
  EXPECT_EQ(value_of(parameters, 0), bytes({1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(value_of(parameters, 1), bytes({255, 255, 255, 255, 255, 255, 255, 254}));
  EXPECT_THAT(parameters.view().types, ElementsAre(20u, 20u));
  EXPECT_THAT(parameters.view().formats, ElementsAre(1, 1));
}

TEST(PostgresParameters, TakeTheGreatestNumberForWhatIsBeyond) {
  EXPECT_EQ(clamped(~std::uint64_t{0}), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(clamped(7), 7);
}

TEST(PostgresParameters, CountInstantsFrom2000) {
  Instant epoch_2000{microseconds(946'684'800'000'000)};
  EXPECT_EQ(microseconds_since_2000(epoch_2000), 0);
  EXPECT_EQ(microseconds_since_2000(epoch_2000 - microseconds(1)), -1);
  EXPECT_EQ(instant_since_2000(0), epoch_2000);
  for (Instant instant : {Instant{}, Instant::max(), epoch_2000 + microseconds(1)}) {
    EXPECT_EQ(instant_since_2000(microseconds_since_2000(instant)), instant);
  }
  EXPECT_EQ(microseconds_since_2000(Instant::min()), -211'813'488'000'000'000)
      << "the first day that the server knows";
  EXPECT_EQ(instant_since_2000(std::numeric_limits<std::int64_t>::max()), Instant::max())
      << "the server's infinity";
}

TEST(PostgresParameters, KeepTextsBytesNullsAndIds) {
  Uuid id = *uuid_from("00010203-0405-0607-0809-0a0b0c0d0e0f");
  Parameters parameters;
  parameters.add(std::string_view("a")).add_bytes(std::string_view("\0b", 2)).add(id).add(true);
  parameters.add_or_null(Uuid()).add_or_null(Instant{}).add(RunStatus::paused);
  EXPECT_EQ(value_of(parameters, 0), "a");
  EXPECT_EQ(value_of(parameters, 1), bytes({0, 'b'}));
  EXPECT_EQ(value_of(parameters, 2), bytes({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(value_of(parameters, 3), bytes({1}));
  EXPECT_EQ(parameters.view().values[4], nullptr);
  EXPECT_EQ(parameters.view().values[5], nullptr);
  EXPECT_EQ(value_of(parameters, 6), "paused");
  EXPECT_THAT(parameters.view().types, ElementsAre(25u, 17u, 2950u, 16u, 2950u, 1184u, 25u));
}

TEST(PostgresColumn, IsAnArrayOfOneDimension) {
  Column column(Type::text);
  column.add(std::string_view("ab"));
  column.add_null();
  EXPECT_EQ(column.size(), 2u);
  EXPECT_EQ(column.encoded(), bytes({0, 0, 0, 1,   // dimensions
                                     0, 0, 0, 1,   // has nulls
                                     0, 0, 0, 25,  // text
                                     0, 0, 0, 2,   // elements
                                     0, 0, 0, 1,   // from index 1
                                     0, 0, 0, 2,  'a', 'b', 255, 255, 255, 255}));
  EXPECT_EQ(Parameters().add(column).view().types[0], 1009u);
}

TEST(PostgresColumn, HasNoDimensionWithoutElements) {
  EXPECT_EQ(Column(Type::number).encoded(), bytes({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20}));
}

TEST(PostgresQuery, NumbersItsValues) {
  Query query("SELECT 1");
  query.bind(std::string("first")).add(" WHERE a = $1 AND b = ? AND c > ?", std::int64_t{2}, true);
  query.add(" LIMIT ?", std::size_t{3});
  EXPECT_EQ(query.sql(), "SELECT 1 WHERE a = $1 AND b = $2 AND c > $3 LIMIT $4");
  EXPECT_THAT(query.parameters().view().types, ElementsAre(25u, 20u, 16u, 20u));
  EXPECT_FALSE(query.finds_nothing());
}

TEST(PostgresQuery, FindsNothingByATextThatNoColumnHolds) {
  EXPECT_TRUE(Query("").add("?", std::string("a\0b", 3)).finds_nothing());
  EXPECT_TRUE(Query("").add("?", TenantId("a\xff")).finds_nothing());
  EXPECT_FALSE(Query("").add("?", Bytes{std::string_view("\0\xff", 2)}).finds_nothing());
}

}  // namespace
}  // namespace belay::postgres
