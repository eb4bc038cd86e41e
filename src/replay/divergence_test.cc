// Tests which node of a superstep a divergence names.

#include "replay/divergence.h"

#include <gtest/gtest.h>

namespace belay {
namespace {

ValueRow written(std::int64_t position, std::string channel, std::string json,
                 WriteOp kind = WriteOp::append) {
  ValueRow row;
  row.index = position;
  row.channel = std::move(channel);
  row.kind = kind;
  row.envelope = json_envelope(json);
  return row;
}

const std::vector<std::string> nodes{"a", "b", "c"};

TEST(ChangedNode, IsTheOneThatWritesOtherwise) {
  std::vector<ValueRow> recorded{written(0, "log", "1"), written(1, "log", "2"),
                                 written(2, "log", "3")};
  EXPECT_EQ(node_with_different_writes(nodes, recorded, recorded), "");
  std::vector<std::vector<ValueRow>> others(5, recorded);
  others[0][1].envelope = json_envelope("4");
  others[1][1].channel = "notes";
  others[2][1].kind = WriteOp::set;
  others[3].push_back(written(1, "log", "2"));
  others[4].erase(others[4].begin() + 1);
  for (const auto& replayed : others) {
    EXPECT_EQ(node_with_different_writes(nodes, recorded, replayed), "b");
    EXPECT_EQ(node_with_different_writes(nodes, replayed, recorded), "b");
  }
  std::swap(others[0][0], others[0][2]);
  EXPECT_EQ(node_with_different_writes(nodes, recorded, others[0]), "b") << "rows in any order";
}

TEST(ChangedNode, IsNoneWhereAReducerAloneMadeAnotherValue) {
  std::vector<ValueRow> recorded{written(0, "log", "1"), written(1, "total", "2", WriteOp::reduce)};
  std::vector<ValueRow> replayed{written(0, "log", "1"), written(1, "total", "3", WriteOp::reduce)};
  EXPECT_EQ(node_with_different_writes(nodes, recorded, replayed), "");
}

}  // namespace
}  // namespace belay
