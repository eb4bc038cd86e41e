#include "tools/file_access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/conformance/temporary_folder.h"
#include "tools/file_path.h"

namespace belay::tools {
namespace {

class FilesOfARun : public ::testing::Test {
 protected:
  FileAccess access(FileLimits limits = {1000, 10, 500}) const {
    return FileAccess(folder_.path(), "run", limits);
  }
  std::string on_disk(const std::string& path) const { return folder_.file("run/" + path); }
  bool exists(const std::string& path) const { return std::filesystem::exists(on_disk(path)); }

  conformance::TemporaryFolder folder_;
};

TEST_F(FilesOfARun, AWrittenFileIsReadBack) {
  ASSERT_TRUE(access().write("notes/today.md", "Rain.").ok());
  auto read = access().read("notes/today.md", 0, 100);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->text, "Rain.");
  EXPECT_EQ(read->size, 5u);
}

TEST_F(FilesOfARun, AMissingRootIsCreatedByAWrite) {
  FileAccess files(folder_.file("new/root"), "run", FileLimits{1000, 10, 500});
  EXPECT_FALSE(files.read("a", 0, 10).ok());
  ASSERT_TRUE(files.write("a", "text").ok());
  EXPECT_TRUE(std::filesystem::exists(folder_.file("new/root/run/a")));
}

TEST_F(FilesOfARun, FilesAreForTheirOwnerOnly) {
  ASSERT_TRUE(access().write("folder/file", "x").ok());
  struct stat status{};
  ASSERT_EQ(::stat(on_disk("folder/file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(on_disk("folder").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(FilesOfARun, AMissingFileIsNotFound) {
  ASSERT_TRUE(access().write("a", "x").ok());
  auto read = access().read("b/c", 0, 10);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::not_found);
  EXPECT_EQ(read.error().message,
            "The file \"b/c\" does not exist. Use the path of a written file.");
}

TEST_F(FilesOfARun, AnErrorQuotesNoControlCharacter) {
  auto fault = access().write(std::string("a\n\x1b[2J\0b", 8), "x");
  ASSERT_FALSE(fault.ok());
  EXPECT_EQ(fault.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(fault.error().message.find('\x1b'), std::string::npos);
}

TEST_F(FilesOfARun, AFileHasALimit) {
  EXPECT_TRUE(access().write("a", std::string(500, 'x')).ok());
  auto fault = access().write("a", std::string(501, 'x'));
  ASSERT_FALSE(fault.ok());
  EXPECT_EQ(fault.error().code, ErrorCode::exhausted);
  EXPECT_EQ(access().read("a", 0, 1000)->size, 500u);
}

TEST_F(FilesOfARun, AllFilesTogetherHaveALimit) {
  ASSERT_TRUE(access().write("a", std::string(500, 'x')).ok());
  ASSERT_TRUE(access().write("folder/b", std::string(400, 'x')).ok());
  auto fault = access().write("c", std::string(101, 'x'));
  ASSERT_FALSE(fault.ok());
  EXPECT_EQ(fault.error().code, ErrorCode::exhausted);
  EXPECT_FALSE(exists("c"));
  EXPECT_TRUE(access().write("c", std::string(100, 'x')).ok());
  // A file that is replaced does not count.
  EXPECT_TRUE(access().write("a", std::string(500, 'y')).ok());
}

TEST_F(FilesOfARun, TheNumberOfFilesAndFoldersHasALimit) {
  FileAccess files = access({1000, 3, 500});
  ASSERT_TRUE(files.write("a/b", "x").ok());
  auto fault = files.write("c/d", "x");
  ASSERT_FALSE(fault.ok());
  EXPECT_EQ(fault.error().code, ErrorCode::exhausted);
  EXPECT_FALSE(exists("c"));
  EXPECT_TRUE(files.write("a/c", "x").ok());
  EXPECT_FALSE(files.write("d", "x").ok());
  EXPECT_TRUE(files.write("a/b", "y").ok());
}

TEST_F(FilesOfARun, TheRemainsOfAnInterruptedWriteAreRemovedAndDoNotCount) {
  ASSERT_TRUE(access().write("folder/a", "x").ok());
  std::ofstream(on_disk("folder/" + std::string(temporary_name))) << std::string(900, 'x');
  ASSERT_TRUE(access().write("b", std::string(400, 'y')).ok());
  EXPECT_FALSE(exists("folder/" + std::string(temporary_name)));
}

TEST_F(FilesOfARun, AFileWithSeveralLinksIsNotReplaced) {
  ASSERT_TRUE(access().write("a", "x").ok());
  std::filesystem::create_hard_link(on_disk("a"), on_disk("b"));
  EXPECT_EQ(access().write("a", "y").error().code, ErrorCode::forbidden);
  EXPECT_EQ(access().read("b", 0, 10)->text, "x");
}

TEST_F(FilesOfARun, AFolderIsNotReplaced) {
  ASSERT_TRUE(access().write("a/b", "x").ok());
  EXPECT_EQ(access().write("a", "y").error().code, ErrorCode::invalid);
  EXPECT_EQ(access().read("a", 0, 10).error().code, ErrorCode::invalid);
}

TEST_F(FilesOfARun, PartsBeginAndEndAtACharacter) {
  ASSERT_TRUE(access().write("a", "x\u20ac\u20acy").ok());
  std::string whole;
  for (std::uint64_t offset = 0; offset < 8;) {
    auto part = access().read("a", offset, 1);
    ASSERT_TRUE(part.ok()) << part.error().message;
    ASSERT_FALSE(part->text.empty());
    whole += part->text;
    offset = part->begin + part->text.size();
  }
  EXPECT_EQ(whole, "x\u20ac\u20acy");
  auto within = access().read("a", 2, 100);
  EXPECT_EQ(within->text, "\u20acy");
  EXPECT_EQ(within->begin, 4u);
  EXPECT_EQ(access().read("a", 100, 100)->text, "");
}

TEST_F(FilesOfARun, AFileThatIsNotUtf8IsRefused) {
  ASSERT_TRUE(access().write("a", "text").ok());
  std::ofstream(on_disk("a"), std::ios::binary) << "ab\xff\xfe" << std::string(20, 'c');
  auto fault = access().read("a", 0, 100);
  ASSERT_FALSE(fault.ok());
  EXPECT_NE(fault.error().message.find("byte 2 is not UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace belay::tools
