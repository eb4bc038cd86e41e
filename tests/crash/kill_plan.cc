#include "tests/crash/kill_plan.h"

#include <algorithm>

namespace belay::crash {
namespace {

using std::chrono::microseconds;

// The next commit follows a progress line within this time.
constexpr microseconds kAfterLine{4'000};
// The shortest wait for a retry is 1.6 s.
constexpr microseconds kDuringWait{1'500'000};
constexpr std::uint64_t kTakeoverCommits = 3;

microseconds up_to(microseconds most, Random& random) {
  auto range = static_cast<std::uint64_t>(std::max<std::int64_t>(most.count(), 1));
  return microseconds(random.bits() % range);
}

Kill around_commit(std::uint64_t commit, bool after) {
  Kill kill;
  kill.moment = after ? Moment::after : Moment::before;
  kill.commit = commit;
  return kill;
}

Kill between(const Baseline& baseline, std::size_t step, Random& random) {
  Kill kill;
  kill.moment = Moment::between;
  const std::vector<std::string>& told = baseline.told_by(step);
  std::size_t choice = random.bits() % (told.size() + 1);
  if (choice < told.size()) {
    kill.told = told[choice];
    kill.delay = up_to(kill.told.starts_with("~") ? kDuringWait : kAfterLine, random);
  } else {
    // An import does not wait: it works for its whole duration. The other steps work at most three
    // times as long.
    microseconds works = std::min(baseline.duration_of(step), 3 * baseline.duration_of(0));
    kill.delay = up_to(works, random);
  }
  return kill;
}

}  // namespace

std::string text_of(const Kill& kill) {
  switch (kill.moment) {
    case Moment::before:
      return "before commit " + std::to_string(kill.commit);
    case Moment::after:
      return "after commit " + std::to_string(kill.commit);
    case Moment::between:
      break;
  }
  std::string from = kill.told.empty() ? "the start" : "\"" + kill.told + "\"";
  return std::to_string(kill.delay.count()) + " us after " + from;
}

std::string text_of(const Fate& fate, const Baseline& baseline) {
  std::string text =
      "step \"" + baseline.steps()[fate.step].name + "\" killed " + text_of(fate.kill);
  if (fate.takeover) text += ", its take-over " + text_of(*fate.takeover);
  return text;
}

std::vector<Fate> at_every_commit(const Baseline& baseline) {
  std::vector<Fate> fates;
  for (std::size_t step = 0; step < baseline.steps().size(); ++step) {
    for (std::uint64_t commit = 1; commit <= baseline.commits_of(step); ++commit) {
      for (bool after : {false, true}) {
        fates.push_back({.step = step, .kill = around_commit(commit, after)});
      }
    }
  }
  return fates;
}

std::vector<Fate> at_every_takeover(const Baseline& baseline, Random& random) {
  std::vector<Fate> fates;
  for (Fate& fate : at_every_commit(baseline)) {
    bool begun = fate.kill.commit > 1 || fate.kill.moment == Moment::after;
    bool last =
        fate.kill.commit == baseline.commits_of(fate.step) && fate.kill.moment == Moment::after;
    // There is nothing to take over if the run has not been created or has reached the step's last
    // commit.
    if (!begun || last) continue;
    std::uint64_t left = baseline.commits_of(fate.step) - fate.kill.commit +
                         (fate.kill.moment == Moment::before ? 1 : 0);
    std::uint64_t most = std::min(kTakeoverCommits, left + 1);  // one of them is the claim
    fate.takeover = around_commit(1 + random.bits() % most, random.bits() % 2 == 0);
    fates.push_back(std::move(fate));
  }
  return fates;
}

std::vector<Fate> between_commits(const Baseline& baseline, std::size_t count, Random& random) {
  std::vector<Fate> fates;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t step = i % baseline.steps().size();
    fates.push_back({.step = step, .kill = between(baseline, step, random)});
  }
  return fates;
}

}  // namespace belay::crash
