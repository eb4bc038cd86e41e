// Simulations of several processes with and without faults, checked against the guarantees that
// must always hold.
//
//   BELAY_SIM_SEED   the first seed; default: 1
//   BELAY_SIM_SEEDS  the number of seeds per plan; default: enough for CI

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/conformance/temporary_folder.h"
#include "tests/crash/campaign_size.h"
#include "tests/simulation/simulation.h"

namespace belay::simulation {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Matches;

constexpr std::uint64_t kSeeds = 30;            // per plan
constexpr std::uint64_t kSeedsSanitized = 2;    // scripts/campaigns plays further ones
constexpr std::uint64_t kMeetingsPer1000 = 20;  // of each fault with each state, in seeds

std::string path_of(const std::string& plan) { return BELAY_PLANS "/" + plan + ".toml"; }

Plan plan_of(const std::string& name) { return read_plan(path_of(name)).value(); }

Played play(const Plan& plan, std::uint64_t seed) {
  conformance::TemporaryFolder folder;
  return simulate(plan, seed, folder.path());
}

std::string repeat(const std::string& plan, std::uint64_t seed) {
  return "to play it again: make sim SEED=" + std::to_string(seed) + " PLAN=tests/simulation/" +
         plan + ".toml";
}

std::vector<std::string> all_plans() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(BELAY_PLANS)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Simulation, KeepsEveryPromiseInEveryWorldAndEveryFaultMeetsEveryState) {
  std::uint64_t first = crash::number_from("BELAY_SIM_SEED", 1);
  std::uint64_t count =
      crash::number_from("BELAY_SIM_SEEDS", crash::kSanitized ? kSeedsSanitized : kSeeds);
  Tally all;
  std::uint64_t seeds = 0;  // of plans whose agents call receivers or models
  auto began = std::chrono::steady_clock::now();
  for (const std::string& name : all_plans()) {
    Plan plan = plan_of(name);
    if (plan.threads == 0) seeds += count;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      Played played = play(plan, seed);
      EXPECT_THAT(played.troubles, IsEmpty()) << repeat(name, seed);
      all.add(played);
    }
  }
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
  std::printf("%sevidence: simulation from seed %llu on: %s\n", all.coverage.table().c_str(),
              static_cast<unsigned long long>(first), all.text(time).c_str());
  EXPECT_GE(all.events, seeds * 2'000);
  EXPECT_GE(all.faults, all.seeds * 10);
  EXPECT_THAT(all.coverage.rarer_than(seeds * kMeetingsPer1000 / 1000), IsEmpty());
}

TEST(Simulation, TheSameSeedGivesTheSameEventsByteForByte) {
  Plan plan = plan_of("everything");
  std::vector<std::string> lines;
  conformance::TemporaryFolder folder;
  auto first =
      simulate(plan, 7, folder.path(), [&](const std::string& line) { lines.push_back(line); });
  std::size_t place = 0;
  std::string difference;
  conformance::TemporaryFolder other;
  auto second = simulate(plan, 7, other.path(), [&](const std::string& line) {
    bool is_same = place < lines.size() && lines[place] == line;
    ++place;
    if (!is_same && difference.empty()) difference = line;
  });
  EXPECT_EQ(difference, "");
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_NE(first.digest, play(plan, 8).digest);
}

// The canary: a fault that violates Belay's assumptions must be detected, otherwise the simulation
// might detect nothing.
TEST(Simulation, ADiskThatLiesAboutItsSyncsIsFoundOut) {
  Plan plan = plan_of("everything");
  plan.disk_lies = true;
  plan.faults[FaultKind::power_cut] = 4;
  // With more runs, a seed whose store is damaged but lost no commit takes minutes to end.
  plan.runs = 20;
  plan.workloads.erase("talk");
  bool is_found_out = false;
  for (std::uint64_t seed = 1; seed <= 5 && !is_found_out; ++seed) {
    is_found_out = Matches(Contains(HasSubstr("I1 ")))(play(plan, seed).troubles);
  }
  EXPECT_TRUE(is_found_out) << "five seeds, and no lost commit was missed";
}

// The same for the checks of the clients of the Agent Server API.
TEST(Simulation, RecordsOfRunsThatAreNotStoredAreFoundOut) {
  Plan plan = plan_of("agent_server");
  plan.loses_run_records = true;
  EXPECT_THAT(play(plan, 1).troubles, Contains(HasSubstr("without its record")));
}

// Each of these seeds once found a fault, which the file describes.
// With other bounds they are other histories, and under sanitizers they take minutes.
TEST(Simulation, SeedsThatOnceFailedKeepTheirPromises) {
  if (crash::kSanitized) GTEST_SKIP() << "the build without sanitizers plays them";
  std::ifstream kept(BELAY_PLANS "/kept_seeds.txt");
  ASSERT_TRUE(kept);
  std::size_t played = 0;
  for (std::string line; std::getline(kept, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string plan;
    std::uint64_t seed = 0;
    ASSERT_TRUE(words >> plan >> seed) << line;
    EXPECT_THAT(play(plan_of(plan), seed).troubles, IsEmpty()) << repeat(plan, seed);
    ++played;
  }
  EXPECT_GT(played, 0u);
}

std::string fault_in_plan(const std::string& text) {
  conformance::TemporaryFolder folder;
  std::string path = folder.file("plan.toml");
  std::ofstream(path) << text;
  auto plan = read_plan(path);
  return plan.ok() ? "" : plan.error().message;
}

TEST(SimulationPlan, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(fault_in_plan("about = \"x\"\n[workloads]\nparcel = 1\n"), "");
  EXPECT_THAT(fault_in_plan("about = "), HasSubstr("line 1"));
  EXPECT_THAT(fault_in_plan("[workloads]\nparcel = 1\n"), HasSubstr("does not say"));
  EXPECT_THAT(fault_in_plan("about = \"x\"\n"), HasSubstr("no workloads"));
  EXPECT_THAT(fault_in_plan("about = \"x\"\n[workloads]\nparcels = 1\n"), HasSubstr("\"parcels\""));
  EXPECT_THAT(fault_in_plan("about = \"x\"\n[faults]\nkill = 1\n"), HasSubstr("\"kill\""));
  EXPECT_THAT(fault_in_plan("about = \"x\"\n[faults]\nmodel_lies = 1\n"), HasSubstr("by itself"));
  EXPECT_THAT(fault_in_plan("about = \"x\"\n[chances]\nzombie = 1\n"), HasSubstr("of a call"));
  EXPECT_THAT(fault_in_plan("about = \"x\"\nworkers = 0\n"), HasSubstr("workers"));
  EXPECT_THAT(fault_in_plan("about = \"x\"\nwokers = 1\n"), HasSubstr("wokers"));
}

}  // namespace
}  // namespace belay::simulation
