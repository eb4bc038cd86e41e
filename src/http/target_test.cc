#include "http/target.h"

#include <gtest/gtest.h>

#include "http/message.h"

namespace belay::http {
namespace {

TEST(HttpTargets, GiveTheSegmentsOfAPath) {
  EXPECT_EQ(path_segments("/threads/a%2Fb/runs"),
            (std::vector<std::string>{"threads", "a/b", "runs"}));
  EXPECT_EQ(path_segments("/"), (std::vector<std::string>{""}));
  EXPECT_EQ(path_segments("/a/"), (std::vector<std::string>{"a", ""}));
}

TEST(HttpTargets, GiveTheParametersOfAQuery) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(*query_parameters("a=1&b=x+y%26&c&=d&&a=2"),
            (Pairs{{"a", "1"}, {"b", "x y&"}, {"c", ""}, {"", "d"}, {"a", "2"}}));
  EXPECT_EQ(*query_parameters(""), Pairs{});
  for (const char* bad : {"a=%", "a=%4", "a=%zz", "a=%00", "%ff=1"}) {
    EXPECT_EQ(query_parameters(bad).error().code, ErrorCode::invalid) << bad;
  }
}

}  // namespace
}  // namespace belay::http
