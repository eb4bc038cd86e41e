#include <gtest/gtest.h>

#include "tests/tidy/checks.h"

namespace belay::tidy {
namespace {

bool clean(std::string path, std::string text) {
  return check_text({std::move(path), std::move(text)}).empty();
}

// The samples are written in two halves, so that this file obeys the rules.

TEST(TidyText, FindsRemindersAndSuppressions) {
  for (const char* bad : {"// FIX"
                          "ME\n",
                          "// TO"
                          "DO(me): later\n",
                          "# XX"
                          "X\n",
                          "f();  // NO"
                          "LINT\n",
                          "#pragma GCC "
                          "diagnostic ignored \"-Wall\"\n",
                          "__attribute__((no_"
                          "sanitize))\n"}) {
    EXPECT_FALSE(clean("src/base/a.cc", bad)) << bad;
  }
  EXPECT_TRUE(clean("src/base/a.cc",
                    "// XX"
                    "XX and FIX"
                    "MENOT and todo\n"));
}

TEST(TidyText, FindsPathsAndHostsOfOneMachine) {
  for (const char* bad : {"see /ho"
                          "me/ana/x\n",
                          "cd /ro"
                          "ot/x\n",
                          "../sha"
                          "red/data\n",
                          "sha"
                          "red/data\n",
                          "\"/wo"
                          "rk/main\"\n",
                          "from deb.debian"
                          ".org\n",
                          "curl https://py"
                          "pi.org/x\n"}) {
    EXPECT_FALSE(clean("docs/a.md", bad)) << bad;
    EXPECT_FALSE(clean("scripts/a", bad)) << bad;
  }
  EXPECT_TRUE(clean("docs/a.md", "/usr/share/doc and .local/share/belay and a shared lock\n"));
}

TEST(TidyText, DataKeepsItsWords) {
  EXPECT_TRUE(clean("examples/diaries/a.jsonl",
                    "{\"content\": \"chapter XX"
                    "X\"}\n"));
}

TEST(TidyText, HoldsTheLookOfLines) {
  EXPECT_FALSE(clean("src/base/a.cc", "\tint a;\n"));
  EXPECT_FALSE(clean("src/base/a.cc", "int a; \n"));
  EXPECT_FALSE(clean("src/base/a.cc", "int a;\r\n"));
  EXPECT_FALSE(clean("src/base/a.cc", "int a;"));
  EXPECT_FALSE(clean("src/base/a.cc", std::string(101, '/') + "\n"));
  EXPECT_TRUE(clean("src/base/a.cc", std::string(100, '/') + "\n"));
  EXPECT_TRUE(clean("Makefile", "a:\n\tb\n"));
  EXPECT_TRUE(clean("README.md", std::string(200, 'a') + "  \n"));
}

TEST(TidyText, CountsCharactersNotBytes) {
  std::string line = "//";
  for (int i = 0; i < 98; ++i) line += "\xC3\xB1";
  EXPECT_TRUE(clean("src/base/a.cc", line + "\n"));
  EXPECT_FALSE(clean("src/base/a.cc", line + "a\n"));
}

TEST(TidyText, NamesTheLine) {
  Findings findings = check_text({"src/base/a.cc", "int a;\nint b; \n"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 2);
}

TEST(TidyName, FindsFileNamesThatSayNothing) {
  EXPECT_FALSE(check_name({"src/base/string_util.cc", ""}).empty());
  EXPECT_FALSE(check_name({"src/base/common.h", ""}).empty());
  EXPECT_FALSE(check_name({"src/driver/run_manager.cc", ""}).empty());
  EXPECT_TRUE(check_name({"src/base/text.cc", ""}).empty());
  EXPECT_TRUE(check_name({"docs/misconceptions.md", ""}).empty());
}

}  // namespace
}  // namespace belay::tidy
