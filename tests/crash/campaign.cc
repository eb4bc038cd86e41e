#include "tests/crash/campaign.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/crash/store_files.h"

namespace belay::crash {
namespace {

// A case mostly waits, for the disk or for a retry: a few threads run more cases in the same time.
constexpr std::uint64_t kThreads = 3;

std::string count_at(const std::map<Moment, std::size_t>& kills, Moment moment) {
  auto found = kills.find(moment);
  return std::to_string(found == kills.end() ? 0 : found->second);
}

std::string loss_text(const Baseline& baseline, const Fate& fate, const Verdict& verdict,
                      std::uint64_t seed, const std::string& folder) {
  Setting setting = setting_for(folder);
  std::string text = "BELAY_CRASH_SEED=" + std::to_string(seed) + ": " + text_of(fate, baseline) +
                     "\n  " + command_line(baseline.steps()[fate.step].words, setting) +
                     "\n  the store: " + store_in(folder);
  for (const std::string& each : verdict.faults) text += "\n  " + each;
  return text;
}

}  // namespace

std::size_t Campaign::kill_count() const {
  std::size_t sum = 0;
  for (const auto& [moment, count] : kills) sum += count;
  return sum;
}

void Campaign::add(const Campaign& other) {
  cases += other.cases;
  for (const auto& [moment, count] : other.kills) kills[moment] += count;
  losses.insert(losses.end(), other.losses.begin(), other.losses.end());
}

std::string Campaign::evidence(const Baseline& baseline) const {
  return "evidence: " + std::to_string(kill_count()) + " kills at " +
         std::to_string(baseline.commits()) +
         " commits x {before: " + count_at(kills, Moment::before) +
         ", after: " + count_at(kills, Moment::after) +
         ", between: " + count_at(kills, Moment::between) + "}: " + std::to_string(losses.size()) +
         " losses, seed " + std::to_string(seed);
}

std::uint64_t chosen_seed() {
  std::unique_ptr<Random> random = system_random();
  std::uint64_t fresh = random->bits() % 1'000'000'000;
  return number_from("BELAY_CRASH_SEED", number_from("BELAY_SOAK_SEED", fresh));
}

Campaign run_campaign(const Baseline& baseline, const std::vector<Fate>& fates,
                      std::uint64_t seed) {
  Campaign campaign;
  campaign.seed = seed;
  campaign.cases = fates.size();
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  auto work = [&] {
    for (std::size_t i = next++; i < fates.size(); i = next++) {
      std::string parent = new_folder();
      std::string folder = parent + "/case";
      Verdict verdict = run_case(baseline, fates[i], folder);
      std::lock_guard lock(mutex);
      for (const auto& [moment, count] : verdict.kills) campaign.kills[moment] += count;
      if (verdict.faults.empty()) {
        remove_folder(parent);
      } else {
        campaign.losses.push_back(loss_text(baseline, fates[i], verdict, seed, folder));
      }
    }
  };
  std::vector<std::thread> threads;
  std::uint64_t count = number_from("BELAY_CRASH_THREADS", kThreads);
  for (std::uint64_t i = 0; i < count; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return campaign;
}

}  // namespace belay::crash
