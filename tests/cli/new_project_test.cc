// belay new: a project in a new folder. tests/pages/follow builds it and executes it.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The files of a folder by name; those of folders in it are not expected.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    files[entry.path().filename().string()] = contents_of(entry.path());
  }
  return files;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class CliNew : public ::testing::Test {
 protected:
  CliNew() {
    setting.folder = folder.path();
    setting.environment["HOME"] = home.path();
  }
  ~CliNew() override { EXPECT_TRUE(fs::is_empty(home.path())) << "no store is created"; }

  TempFolder home, folder;
  Setting setting;
};

TEST_F(CliNew, CreatesTheProjectOfThePage) {
  Outcome made = run_belay({"new", "helpdesk"}, setting);
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.err, "");
  EXPECT_EQ(files_in(folder.file("helpdesk")),
            files_in(fs::path(BELAY_SOURCE_DIR) / "examples/first_project"));
  for (const char* next :
       {"cd helpdesk", "cmake -S . -B build", "ctest", "BELAY_MODEL", "build/helpdesk run"}) {
    EXPECT_NE(made.out.find(next), std::string::npos) << next;
  }
}

TEST_F(CliNew, UsesAnotherNameEverywhere) {
  ASSERT_EQ(run_belay({"new", "stock_2"}, setting).code, 0);
  std::string all;
  for (const auto& [name, text] : files_in(folder.file("stock_2"))) all += text;
  EXPECT_EQ(times(all, "helpdesk"), 0u);
  std::string page;
  for (const auto& [name, text] : files_in(fs::path(BELAY_SOURCE_DIR) / "examples/first_project")) {
    page += text;
  }
  EXPECT_EQ(times(all, "stock_2"), times(page, "helpdesk"));
}

TEST_F(CliNew, RefusesAFolderThatExistsAndChangesNothing) {
  ASSERT_EQ(run_belay({"new", "helpdesk"}, setting).code, 0);
  std::ofstream(folder.file("helpdesk/main.cc")) << "mine";
  fs::create_directory(folder.file("empty"));
  std::ofstream(folder.file("file")) << "mine";
  fs::create_symlink("nowhere", folder.file("link"));
  for (const char* name : {"helpdesk", "empty", "file", "link"}) {
    Outcome refused = run_belay({"new", name}, setting);
    EXPECT_EQ(refused.code, 4) << name;
    EXPECT_TRUE(refused.says({name, "exists"})) << refused.err;
  }
  EXPECT_EQ(contents_of(folder.file("helpdesk/main.cc")), "mine");
  EXPECT_EQ(contents_of(folder.file("file")), "mine");
  EXPECT_TRUE(fs::is_empty(folder.file("empty")));
  EXPECT_FALSE(fs::exists(folder.file("nowhere")));
}

TEST_F(CliNew, RefusesNamesThatCannotBeUsed) {
  const std::string longest(32, 'a');
  for (const std::string& name :
       {std::string(), std::string("Help"), std::string("../x"), std::string("a/b"),
        std::string("/tmp"), std::string("9a"), std::string("_a"), std::string("a b"),
        std::string("a;b"), std::string("a\n"), std::string("ñ"), std::string("$x"),
        std::string("test"), std::string("all"), std::string("belay"), longest + "a"}) {
    Outcome refused = run_belay({"new", name}, setting);
    EXPECT_EQ(refused.code, 2) << name;
    EXPECT_TRUE(refused.says({"name"})) << refused.err;
  }
  EXPECT_EQ(run_belay({"new"}, setting).code, 2);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(run_belay({"new", longest}, setting).code, 0);
}

TEST_F(CliNew, OfTwoAtTheSameTimeOneCreatesTheProject) {
  for (int round = 0; round < 5; ++round) {
    std::string name = "project_" + std::to_string(round);
    Belay one({"new", name}, setting), other({"new", name}, setting);
    int codes[] = {one.finish().code, other.finish().code};
    EXPECT_EQ(std::min(codes[0], codes[1]), 0);
    EXPECT_EQ(std::max(codes[0], codes[1]), 4);
    EXPECT_EQ(files_in(folder.file(name)).size(), 6u);
  }
}

TEST_F(CliNew, PrintsItsFilesAsJson) {
  Outcome made = run_belay({"new", "helpdesk", "--json"}, setting);
  EXPECT_EQ(made.code, 0);
  EXPECT_EQ(made.json()["folder"], Value("helpdesk"));
  ASSERT_NE(made.json()["files"].as_array(), nullptr);
  EXPECT_EQ(made.json()["files"].as_array()->size(), files_in(folder.file("helpdesk")).size());
}

TEST_F(CliNew, LeavesNothingIfAFileCannotBeWritten) {
  setting.file_bytes_max = 64;
  EXPECT_NE(run_belay({"new", "helpdesk"}, setting).code, 0);
  EXPECT_FALSE(fs::exists(folder.file("helpdesk")));
}

TEST_F(CliNew, IsNoCommandOfOtherPrograms) {
  setting.binary = BELAY_SHOP_BINARY;
  EXPECT_EQ(run_belay({"new", "helpdesk"}, setting).code, 2);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace belay::cli::tests
