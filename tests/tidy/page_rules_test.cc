#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

bool is_clean(std::string path, std::string text) {
  return check_pages({std::move(path), std::move(text)}).empty();
}

TEST(TidyPages, FindReadsThatAreLimitedByANumber) {
  EXPECT_FALSE(is_clean("src/driver/work.cc", "filter.limit = 1000;"));
  EXPECT_FALSE(is_clean("agents/a/b.cc", "filter.limit = 100'000;"));
  EXPECT_TRUE(is_clean("src/driver/work.cc", "filter.limit = limits::page_rows_max;"));
  EXPECT_TRUE(is_clean("src/driver/work.cc", "filter.limit = 1;"));
  EXPECT_TRUE(is_clean("src/driver/work_test.cc", "filter.limit = 1000;"));
  EXPECT_TRUE(is_clean("src/driver/work.cc", "// filter.limit = 1000;"));
}

TEST(TidyPages, FindBoundsThatDoNotShrinkInTests) {
  EXPECT_FALSE(is_clean("src/store/a.cc", "constexpr std::size_t kPageRows = 64;"));
  EXPECT_FALSE(is_clean("src/store/a.cc", "constexpr std::uint64_t commits_at_once = 250;"));
  EXPECT_FALSE(is_clean("include/belay/a.h", "inline constexpr std::size_t batch_max = 1'024;"));
  EXPECT_TRUE(is_clean("src/store/a.cc", "constexpr std::size_t kPageRows = limits::bounded(64);"));
  EXPECT_TRUE(is_clean("src/store/a.cc", "constexpr std::size_t bytes_max = 64;"));
  EXPECT_TRUE(is_clean("src/store/a.cc", "int page = 0;"));
}

}  // namespace
}  // namespace belay::tidy
