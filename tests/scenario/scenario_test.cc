// Each script in this folder is a test for each kind of store that it applies to:
// Scenario.ApprovalSurvivesRestart/sqlite.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/scenario/player.h"

namespace belay::scenario {
namespace {

namespace fs = std::filesystem;

class PlayedScript : public testing::Test {
 public:
  PlayedScript(Script script, StoreKind kind)
      : script_(std::move(script)), kind_(std::move(kind)) {}
  void TestBody() override {
    auto fault = play(script_, kind_);
    if (fault) ADD_FAILURE() << report(script_, kind_, *fault);
  }

 private:
  Script script_;
  StoreKind kind_;
};

// A test that reports a script that cannot be read.
class UnreadableScript : public testing::Test {
 public:
  explicit UnreadableScript(std::string why) : why_(std::move(why)) {}
  void TestBody() override { ADD_FAILURE() << why_; }

 private:
  std::string why_;
};

template <typename Made, typename... Parts>
void register_test(const std::string& name, Parts... parts) {
  testing::RegisterTest(
      "Scenario", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
      [parts...]() -> testing::Test* { return std::make_unique<Made>(parts...).release(); });
}

bool register_all() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(BELAY_SOURCE_DIR "/tests/scenario")) {
    if (entry.path().extension() == ".belay") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    auto script = read_script(path);
    auto kinds = script.ok() ? stores_for(*script) : Result<std::vector<StoreKind>>(script.error());
    if (!kinds.ok()) {
      register_test<UnreadableScript>(fs::path(path).stem().string(), kinds.error().message);
      continue;
    }
    for (const StoreKind& kind : *kinds) {
      register_test<PlayedScript>(test_name(*script) + "/" + kind.name, *script, kind);
    }
  }
  return !paths.empty();
}

const bool kRegistered = register_all();

TEST(Scenarios, ThereAreSome) { EXPECT_TRUE(kRegistered); }

}  // namespace
}  // namespace belay::scenario
