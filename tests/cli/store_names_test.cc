// One store with many names: a table of names, each tested against processes that are alive, were
// killed, or lost every file next to the store that is not SQLite's.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {
namespace {

namespace fs = std::filesystem;

// Unmounted at the end of the test, before the folder is removed.
class Mount {
 public:
  explicit Mount(std::string at) : at_(std::move(at)) {}
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  ~Mount() { umount2(at_.c_str(), MNT_DETACH); }

 private:
  std::string at_;
};

struct Place {
  std::string store;   // path that the first process opens
  std::string folder;  // another folder, for new names
  std::vector<std::unique_ptr<Mount>>& mounts;
};

enum class Answer { same_store, refused };

struct Name {
  std::string label;
  // Returns the other path; empty if this machine does not support it.
  std::function<std::string(const Place&)> make;
  Answer answer = Answer::same_store;
  std::string refusal = {};
  friend void PrintTo(const Name& name, std::ostream* out) { *out << name.label; }
};

std::string bound(const Place& place, const std::string& from, const std::string& to) {
  if (mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) != 0) return {};
  place.mounts.push_back(std::make_unique<Mount>(to));
  return to;
}

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

std::string the_same(const Place& place) { return place.store; }
std::string relative(const Place& place) { return fs::relative(place.store).string(); }
std::string dotted(const Place& place) {
  return folder_of(place.store) + "/./../" + fs::path(folder_of(place.store)).filename().string() +
         "/" + fs::path(place.store).filename().string();
}
std::string link_to_file(const Place& place) {
  fs::create_symlink(place.store, place.folder + "/link.db");
  return place.folder + "/link.db";
}
std::string link_to_link(const Place& place) {
  fs::create_symlink(fs::relative(place.store, place.folder), place.folder + "/first.db");
  fs::create_symlink("first.db", place.folder + "/second.db");
  return place.folder + "/second.db";
}
std::string link_to_folder(const Place& place) {
  fs::create_directory_symlink(folder_of(place.store), place.folder + "/linked");
  return place.folder + "/linked/" + fs::path(place.store).filename().string();
}
std::string mounted_folder(const Place& place) {
  std::string at = bound(place, folder_of(place.store), place.folder);
  return at.empty() ? at : at + "/" + fs::path(place.store).filename().string();
}
std::string hard_link_beside(const Place& place) {
  std::string other = folder_of(place.store) + "/other.db";
  fs::create_hard_link(place.store, other);
  return other;
}
std::string hard_link_elsewhere(const Place& place) {
  fs::create_hard_link(place.store, place.folder + "/other.db");
  return place.folder + "/other.db";
}
std::string mounted_file(const Place& place) {
  std::string at = place.folder + "/mounted.db";
  std::ofstream(at).flush();
  return bound(place, place.store, at);
}
std::string uri(const Place& place) { return "file:" + place.store; }
std::string uri_in_memory(const Place& place) { return "file:" + place.store + "?mode=memory"; }

const std::vector<Name>& names() {
  static const std::vector<Name> all{
      {"TheSame", the_same},
      {"Relative", relative},
      {"WithDots", dotted},
      {"ALinkToTheFile", link_to_file},
      {"ALinkToALink", link_to_link},
      {"ALinkToTheFolder", link_to_folder},
      {"AMountOfTheFolder", mounted_folder},
      {"AHardLinkBeside", hard_link_beside, Answer::refused, "hard links"},
      {"AHardLinkElsewhere", hard_link_elsewhere, Answer::refused, "hard links"},
      {"AMountOfTheFile", mounted_file, Answer::refused, "Mount its folder"},
      {"AUri", uri, Answer::refused, "is a URI"},
      {"AUriOfNoFile", uri_in_memory, Answer::refused, "is a URI"},
  };
  return all;
}

class StoreNames : public ::testing::TestWithParam<Name> {
 protected:
  void SetUp() override {
    ASSERT_EQ(world.run({"notes", "import", "-"}, note_line("2026-01-01", hard_day())).code, 0);
  }
  // Sets the other name. Call it once, after the store exists.
  bool can_name() {
    other_ = GetParam().make(Place{world.store_path(), other_folder_.path(), mounts_});
    return !other_.empty();
  }
  Outcome run_by_name(Words words) {
    words.push_back("--store");
    words.push_back("sqlite:" + other_);
    return run_belay(words, world.setting);
  }
  std::unique_ptr<Belay> paused_at_third_commit() {
    Setting setting = world.setting;
    setting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "3";
    Words words = {"run", "daily-audit", "--date", "2026-01-01", "--thread", "t"};
    auto process = std::make_unique<Belay>(words, setting);
    EXPECT_TRUE(process->waits_to_say("belay-test: paused"));
    return process;
  }
  // Removes all files next to the store except SQLite's, and creates one at a former lock path.
  void remove_what_is_beside() {
    for (const auto& entry : fs::directory_iterator(folder_of(world.store_path()))) {
      std::string name = entry.path().filename().string();
      bool is_of_sqlite = name == "belay.db" || name == "belay.db-wal" || name == "belay.db-shm";
      if (!is_of_sqlite) fs::remove_all(entry.path());
    }
    std::ofstream(world.store_path() + "-sessions") << "somebody else's\n";
  }
  bool is_refused() const { return GetParam().answer == Answer::refused; }
  void expect_refusal(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
    EXPECT_TRUE(outcome.says({GetParam().refusal})) << outcome.err;
  }
  void expect_kept_by(const Belay& living) {
    Outcome resumed = run_by_name({"resume", "t"});
    Outcome worked = run_by_name({"worker", "--until-idle", "--json"});
    if (is_refused()) {
      expect_refusal(resumed);
      expect_refusal(worked);
      return;
    }
    EXPECT_EQ(resumed.code, 4) << resumed.err;
    EXPECT_TRUE(resumed.says({"live process", std::to_string(living.process())})) << resumed.err;
    EXPECT_EQ(worked.code, 0) << worked.err;
    EXPECT_EQ(worked.json()["processed"], Value(0));
    EXPECT_EQ(run_by_name({"doctor", "--json"}).out.find("0 live processes"), std::string::npos);
  }

  World world;
  TempFolder other_folder_;
  std::vector<std::unique_ptr<Mount>> mounts_;
  std::string other_;
};

constexpr const char* kNoMounts = "this machine lets nobody mount (needs root, and CAP_SYS_ADMIN)";

TEST_P(StoreNames, ALivingOwnerKeepsItsRun) {
  auto living = paused_at_third_commit();
  if (!can_name()) GTEST_SKIP() << kNoMounts;
  expect_kept_by(*living);
}

TEST_P(StoreNames, ALivingOwnerKeepsItsRunWithoutTheFilesBeside) {
  auto living = paused_at_third_commit();
  remove_what_is_beside();
  if (!can_name()) GTEST_SKIP() << kNoMounts;
  expect_kept_by(*living);
}

TEST_P(StoreNames, AKilledOwnersRunIsTakenOverOnce) {
  paused_at_third_commit()->send(SIGKILL);
  if (!can_name()) GTEST_SKIP() << kNoMounts;
  Outcome taken = run_by_name({"resume", "t"});
  if (is_refused()) {
    expect_refusal(taken);
    Outcome looked = run_by_name({"doctor"});
    EXPECT_EQ(looked.code, 6) << looked.out;
    EXPECT_NE(looked.out.find(GetParam().refusal), std::string::npos) << looked.out;
    return;
  }
  EXPECT_EQ(taken.code, 3) << taken.err;
  EXPECT_NE(taken.err.find("Claiming thread t"), std::string::npos) << taken.err;
  Outcome again = world.run({"resume", "t"});
  EXPECT_EQ(again.err.find("Claiming"), std::string::npos) << again.err;
  EXPECT_EQ(world.run({"approvals", "approve", "t"}).code, 0);
  EXPECT_EQ(run_by_name({"check"}).code, 0);
}

TEST_P(StoreNames, OwnersByTwoNamesSeeEachOther) {
  if (!can_name()) GTEST_SKIP() << kNoMounts;
  if (is_refused()) {
    expect_refusal(run_by_name({"run", "daily-audit", "--date", "2026-01-01", "--thread", "u"}));
    EXPECT_EQ(world.run({"state", "u"}).code, 2) << "nothing was written by that name";
    return;
  }
  Setting setting = world.setting;
  setting.environment["BELAY_STORE"] = "sqlite:" + other_;
  setting.environment["BELAY_TEST_PAUSE_AT_COMMIT"] = "3";
  Words words = {"run", "daily-audit", "--date", "2026-01-01", "--thread", "u"};
  Belay by_the_other_name(words, setting);
  ASSERT_TRUE(by_the_other_name.waits_to_say("belay-test: paused"));
  Outcome resumed = world.run({"resume", "u"});
  EXPECT_EQ(resumed.code, 4) << resumed.err;
  EXPECT_EQ(world.run({"worker", "--until-idle", "--json"}).json()["processed"], Value(0));
  by_the_other_name.send(SIGKILL);
  by_the_other_name.finish();
  EXPECT_EQ(world.run({"resume", "u"}).code, 3);
}

INSTANTIATE_TEST_SUITE_P(Table, StoreNames, testing::ValuesIn(names()),
                         [](const auto& tested) { return tested.param.label; });

}  // namespace
}  // namespace belay::cli::tests
