// Stores that cannot be used: a clear error, and unchanged data.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Every command that opens the store.
const std::vector<Words>& every_verb() {
  static const std::vector<Words> all = {{},
                                         {"notes", "list"},
                                         {"run", "routine", "--date", "2026-01-01"},
                                         {"approvals", "list"},
                                         {"approvals", "approve", "t"},
                                         {"resume", "--all"},
                                         {"cancel", "t"},
                                         {"threads"},
                                         {"history", "t"},
                                         {"state", "t"},
                                         {"check"}};
  return all;
}

class CliStore : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", "x")).code, 0);
  }
  void expect_refusal(int code, const Words& parts) {
    std::string before = bytes_of(world.store_path());
    for (const Words& words : every_verb()) {
      Outcome refused = world.run(words);
      EXPECT_EQ(refused.code, code) << refused.err;
      EXPECT_TRUE(refused.says(parts)) << refused.err;
      EXPECT_EQ(refused.out, "");
    }
    EXPECT_EQ(bytes_of(world.store_path()), before);
    Outcome doctor = world.run({"doctor"});
    EXPECT_EQ(doctor.code, 6) << doctor.out;
    EXPECT_EQ(world.run({"doctor", "--json"}).json()["usable"], Value(false));
    EXPECT_EQ(bytes_of(world.store_path()), before);
  }
  World world;
};

TEST_F(CliStore, AFolderIsNoStore) {
  world.setting.environment["BELAY_STORE"] = "sqlite:" + world.folder.path();
  for (const Words& words : every_verb()) {
    Outcome refused = world.run(words);
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(refused.says({"folder"})) << refused.err;
  }
  EXPECT_EQ(world.run({"doctor"}).code, 6);
}

TEST_F(CliStore, NamesThatAreNoStores) {
  for (const std::string& name : Words{"", "belay.db", "sqlite:", "sqlite::memory:", "memory",
                                       "postgres:localhost", "sqlite:/nowhere/at/all/belay.db"}) {
    Outcome refused = world.run({"threads", "--store", name});
    EXPECT_EQ(refused.code, 2) << name;
    EXPECT_TRUE(refused.says({"belay: "})) << name << ": " << refused.err;
  }
}

TEST_F(CliStore, ADamagedStoreIsLeftAsItIs) {
  std::string bytes = bytes_of(world.store_path());
  for (std::size_t at = 4096; at < bytes.size() && at < 60'000; ++at) bytes[at] = '\x5a';
  std::ofstream(world.store_path(), std::ios::binary) << bytes;
  expect_refusal(6, {world.store_path(), "damaged"});
}

TEST_F(CliStore, AFileOfAnotherKindIsLeftAsItIs) {
  std::ofstream(world.store_path(), std::ios::binary) << "Dear diary, this is no database.\n";
  expect_refusal(6, {world.store_path()});
}

TEST_F(CliStore, ANewerStoreIsLeftAsItIs) {
  // SQLite stores the user version in bytes 60 to 63 of the file.
  std::string bytes = bytes_of(world.store_path());
  bytes[60] = bytes[61] = bytes[62] = 0;
  bytes[63] = 99;
  std::ofstream(world.store_path(), std::ios::binary) << bytes;
  expect_refusal(6, {"newer", "99"});
}

TEST_F(CliStore, AReadOnlyStoreIsRefused) {
  std::filesystem::permissions(world.store_path(), std::filesystem::perms::owner_read |
                                                       std::filesystem::perms::others_read |
                                                       std::filesystem::perms::group_read);
  std::filesystem::permissions(world.folder.path(), std::filesystem::perms::owner_read |
                                                        std::filesystem::perms::owner_exec |
                                                        std::filesystem::perms::others_read |
                                                        std::filesystem::perms::others_exec);
  world.setting.as_nobody = true;
  if (world.run({"--version"}).code != 0) GTEST_SKIP() << "nobody may not start the program";
  std::string before = bytes_of(world.store_path());
  Outcome refused = world.run({"run", "routine", "--date", "2026-01-01"});
  EXPECT_EQ(refused.code, 6) << refused.out;
  EXPECT_TRUE(refused.says({world.store_path()})) << refused.err;
  EXPECT_EQ(bytes_of(world.store_path()), before);
  EXPECT_EQ(world.run({"doctor"}).code, 6);
}

TEST_F(CliStore, ADiskThatTakesNoMoreLosesNothing) {
  std::string before = world.store_contents();
  std::string many;
  for (int i = 0; i < 400; ++i) {
    many += note_line("2026-01-02", std::to_string(i) + std::string(5'000, 'y'));
  }
  Setting setting = world.setting;
  setting.input = many;
  setting.file_bytes_max = 600'000;
  Outcome refused = run_belay({"notes", "import", "-"}, setting);
  EXPECT_EQ(refused.code, 6) << refused.err;
  EXPECT_TRUE(refused.says({"belay: "})) << refused.err;
  EXPECT_EQ(world.store_contents(), before);
  EXPECT_EQ(world.run({"doctor"}).code, 0);
  EXPECT_EQ(world.run({"notes", "import", "-"}, many).code, 0) << "once there is room again";
}

TEST_F(CliStore, AFullDiskIsSaidToBeFull) {
  std::string disk = world.folder.file("disk");
  std::filesystem::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "no disk of its own can be made here";
  }
  world.setting.environment["BELAY_STORE"] = "sqlite:" + disk + "/belay.db";
  EXPECT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", "x")).code, 0);
  std::string many;
  for (int i = 0; i < 400; ++i) {
    many += note_line("2026-01-02", std::to_string(i) + std::string(5'000, 'y'));
  }
  Outcome refused = world.run({"notes", "import", "-"}, many);
  EXPECT_EQ(refused.code, 6) << refused.err;
  EXPECT_TRUE(refused.says({"full"})) << refused.err;
  Value listed = world.run({"notes", "list", "--json"}).json();
  EXPECT_EQ(listed["notes"].as_array()->size(), 1u);
  ::umount(disk.c_str());
}

TEST_F(CliStore, DoctorSaysHowTheStoreIs) {
  Outcome doctor = world.run({"doctor"});
  EXPECT_EQ(doctor.code, 0) << doctor.out;
  Value document = world.run({"doctor", "--json"}).json();
  EXPECT_EQ(document["usable"], Value(true));
  std::string names;
  for (const Value& check : *document["checks"].as_array()) {
    names += *check["name"].as_string() + " ";
    EXPECT_EQ(check["status"], Value("ok")) << to_json(check);
  }
  EXPECT_EQ(names, "store folder disk version integrity wal sessions approvals encryption model ");
}

TEST_F(CliStore, LookingMakesNoStore) {
  std::string path = world.folder.file("absent.db");
  world.setting.environment["BELAY_STORE"] = "sqlite:" + path;
  for (const Words& words : every_verb()) {
    if (!words.empty() && words[0] == "run") continue;
    world.run(words);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  Outcome unknown = world.run({"state", "nobody"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(unknown.says({"nobody"})) << unknown.err;
  EXPECT_EQ(world.run({"notes", "import", "-"}, "x").code, 2);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(CliStore, DoctorRefusesANameThatIsNoStore) {
  for (const char* name : {"diary.db", "mysql://root:secret@host/x", "postgresql:u:secret@h/db"}) {
    Outcome doctor = world.run({"doctor", "--store", name, "--json"});
    EXPECT_EQ(doctor.code, 6) << doctor.out;
    EXPECT_EQ(doctor.json()["usable"], Value(false)) << doctor.out;
    EXPECT_EQ(doctor.out.find("secret"), doctor.out.npos) << doctor.out;
  }
}

TEST_F(CliStore, DoctorMakesNoStore) {
  world.setting.environment["BELAY_STORE"] = "sqlite:" + world.folder.file("absent.db");
  Outcome doctor = world.run({"doctor"});
  EXPECT_EQ(doctor.code, 0) << doctor.out;
  EXPECT_NE(doctor.out.find("does not exist yet"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(world.folder.file("absent.db")));
}

}  // namespace
}  // namespace belay::cli::tests
