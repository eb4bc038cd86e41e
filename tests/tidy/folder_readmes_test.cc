#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

const File kMap{"ARCHITECTURE.md", "# Map\n\n| `src/base/` | results, JSON | - |\n"};
const File kCode{"src/base/json.cc", ""};

TEST(TidyReadmes, EachFolderHasOneWithTheLineOfTheMap) {
  EXPECT_TRUE(
      check_readmes({kMap, kCode, {"src/base/README.md", "# src/base/: results, JSON\n\nMore.\n"}})
          .empty());
  EXPECT_EQ(check_readmes({kMap, kCode}).size(), 1u) << "none";
  EXPECT_EQ(check_readmes({kMap, kCode, {"src/base/README.md", "# src/base/: results\n"}}).size(),
            1u)
      << "another line";
  EXPECT_EQ(check_readmes({kCode, {"src/base/README.md", "# src/base/: results, JSON\n"}}).size(),
            1u)
      << "not on the map";
}

TEST(TidyReadmes, AreShort) {
  std::string text = "# src/base/: results, JSON\n";
  for (int i = 1; i < 20; ++i) text += "line\n";
  EXPECT_TRUE(check_readmes({kMap, kCode, {"src/base/README.md", text}}).empty());
  EXPECT_EQ(check_readmes({kMap, kCode, {"src/base/README.md", text + "more\n"}}).size(), 1u);
}

}  // namespace
}  // namespace belay::tidy
