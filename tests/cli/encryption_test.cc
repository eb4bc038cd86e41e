// A store with keys: which processes can read it, how it is encrypted, and how its key is rotated.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

const std::string kOld = "k1:" + std::string(64, 'a') + "\n";
const std::string kNew = "k2:" + std::string(64, 'b') + "\n";

class CliEncryption : public ::testing::Test {
 protected:
  std::string keys(const std::string& lines, mode_t mode = 0600) const {
    std::string path = world.write("keys", lines);
    ::chmod(path.c_str(), mode);
    return path;
  }
  void import(const std::string& content) {
    std::string line = R"({"date":"2026-01-01","content":")" + content + "\"}\n";
    Outcome imported = world.run({"notes", "import", "-"}, line);
    ASSERT_EQ(imported.code, 0) << imported.err;
  }
  bool file_says(const std::string& text) const {
    for (const char* part : {"", "-wal"}) {
      std::ifstream file(world.store_path() + part, std::ios::binary);
      std::string bytes(std::istreambuf_iterator<char>(file), {});
      if (bytes.find(text) != bytes.npos) return true;
    }
    return false;
  }
  bool lists(const std::string& text) const {
    return world.run({"notes", "list"}).out.find(text) != std::string::npos;
  }

  World world;
};

TEST_F(CliEncryption, WithAKeyFileNothingLiesThereInPlain) {
  world.setting.environment["BELAY_KEY_FILE"] = keys(kOld);
  import("slept four hours");
  EXPECT_FALSE(file_says("slept"));
  EXPECT_TRUE(lists("slept"));
  world.setting.environment.erase("BELAY_KEY_FILE");
  Outcome refused = world.run({"notes", "list"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(refused.says({"the key \"k1\"", "not in the key ring"})) << refused.err;
  world.setting.environment["BELAY_KEYS"] = kOld;
  EXPECT_TRUE(lists("slept"));
}

TEST_F(CliEncryption, AKeyFileThatOthersMayReadIsRefused) {
  for (mode_t mode : {0644, 0604, 0620, 0640, 0440}) {
    Outcome refused = world.run({"threads", "--key-file", keys(kOld, mode)});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(refused.says({"key file", "chmod 600"})) << refused.err;
  }
  // As secrets are mounted: owned by root, and readable by the group of the process.
  if (::geteuid() == 0) {
    std::string mounted = keys(kOld, 0440);
    ASSERT_EQ(::chown(mounted.c_str(), 1, 0), 0);
    EXPECT_EQ(world.run({"threads", "--key-file", mounted}).code, 0);
    ASSERT_EQ(::chown(mounted.c_str(), 0, 0), 0);
  }
  Outcome missing = world.run({"threads", "--key-file", "nowhere"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(missing.says({"nowhere", "BELAY_KEY_FILE"})) << missing.err;
  Outcome garbled = world.run({"threads", "--key-file", keys("k1:" + std::string(63, 'a'))});
  EXPECT_EQ(garbled.code, 2);
  EXPECT_TRUE(garbled.says({"Line 1", "32 bytes"})) << garbled.err;
  EXPECT_EQ(garbled.err.find("aaaa"), std::string::npos);
}

TEST_F(CliEncryption, AStoreComesUnderAKeyAndGoesToTheNext) {
  import("slept four hours");
  world.setting.environment["BELAY_KEY_FILE"] = keys(kOld);
  Outcome refused = world.run({"notes", "list"});
  EXPECT_TRUE(refused.says({"plaintext although a key is configured"})) << refused.err;
  EXPECT_EQ(world.run({"doctor"}).code, 6);
  EXPECT_NE(world.run({"store", "rotate"}).code, 0) << "what is in plain may be forged";
  world.setting.environment["BELAY_ACCEPT_PLAIN"] = "true";
  EXPECT_TRUE(lists("slept"));
  world.setting.environment.erase("BELAY_ACCEPT_PLAIN");

  Outcome encrypted = world.run({"store", "encrypt", "--json"});
  ASSERT_EQ(encrypted.code, 0) << encrypted.err;
  EXPECT_EQ(encrypted.json()["complete"], Value(true));
  EXPECT_TRUE(lists("slept"));
  EXPECT_EQ(world.run({"doctor"}).code, 0);

  keys(kNew + kOld);
  ASSERT_EQ(world.run({"store", "rotate"}).code, 0);
  keys(kNew);
  EXPECT_TRUE(lists("slept")) << "the old key is not needed any more";
  Outcome doctor = world.run({"doctor"});
  EXPECT_EQ(doctor.code, 0);
  EXPECT_NE(doctor.out.find("values: 2 with the key k2"), std::string::npos) << doctor.out;
  keys(kOld);
  EXPECT_EQ(world.run({"doctor"}).code, 6);
}

}  // namespace
}  // namespace belay::cli::tests
