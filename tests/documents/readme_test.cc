// README.md is the first page of a reader: it leads to every other one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/documents/source_text.h"

namespace belay::documents {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Readme, LinksEveryPage) {
  std::string readme = text_of("README.md");
  std::size_t pages = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(BELAY_SOURCE_DIR) / "docs")) {
    if (entry.path().extension() != ".md") continue;
    ++pages;
    EXPECT_THAT(readme, HasSubstr("](docs/" + entry.path().filename().string()));
  }
  EXPECT_GE(pages, 40u);
  for (const char* page :
       {"ARCHITECTURE.md", "CONTRIBUTING.md", "deploy/README.md", "examples/README.md"}) {
    EXPECT_THAT(readme, HasSubstr("](" + std::string(page) + ")"));
  }
}

TEST(Readme, HasLinesOfAtMostAHundredColumns) {
  std::istringstream lines(text_of("README.md"));
  for (std::string line; std::getline(lines, line);) {
    // The columns of UTF-8: bytes that do not continue a character.
    auto columns =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_LE(columns, 100) << line;
  }
}

// Returns the part of a source after its first comment.
std::string program_in(const std::string& source) {
  std::size_t at = 0;
  while (source.compare(at, 2, "//") == 0) at = source.find('\n', at) + 1;
  return source.substr(source.find_first_not_of('\n', at));
}

// A reader copies a program and compiles it: nothing of its source is left out.
TEST(Readme, HasWholePrograms) {
  std::string readme = text_of("README.md");
  const std::string mark = "<!-- from ";
  int programs = 0;
  for (std::size_t at = readme.find(mark); at != readme.npos; at = readme.find(mark, at + 1)) {
    std::size_t name = at + mark.size();
    std::string source = readme.substr(name, readme.find(" -->", name) - name);
    std::size_t begin = readme.find("```cpp\n", at) + 7;
    EXPECT_EQ(readme.substr(begin, readme.find("```\n", begin) - begin),
              program_in(text_of(source)));
    ++programs;
  }
  EXPECT_GE(programs, 2);
}

TEST(Readme, BeginsWithAnAgentOfTenLines) {
  std::string source = text_of("examples/forecast/forecast.cc");
  std::istringstream lines(source);
  int code = 0;
  for (std::string line; std::getline(lines, line);) code += line.empty() ? 0 : 1;
  EXPECT_LE(code, 10);
  std::string readme = text_of("README.md");
  EXPECT_LT(readme.find(source), readme.find("\n## "));
}

}  // namespace
}  // namespace belay::documents
