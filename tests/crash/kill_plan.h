#pragma once
// tests/crash/kill_plan.h - selects by a seed which process is killed at which moment.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/baseline.h"

namespace belay::crash {

// `before` and `after`: the process is paused at its n-th commit, before it starts or when it is
// durable but not yet acknowledged. `between`: at a moment that depends on the seed and the speed
// of the machine.
enum class Moment { before, after, between };

struct Kill {
  Moment moment = Moment::before;
  std::uint64_t commit = 0;  // for before and after
  // For `between`: the kill follows after stderr has contained this, immediately if empty, ...
  std::string told = {};
  std::chrono::microseconds delay{};  // ... and this much later
};

// The kills of one store: that of a step and, if `takeover` is set, that of the process that takes
// over.
struct Fate {
  std::size_t step = 0;
  Kill kill;
  std::optional<Kill> takeover = std::nullopt;
};

std::string text_of(const Kill& kill);
std::string text_of(const Fate& fate, const Baseline& baseline);

// Returns a kill before and one after every commit of every step.
std::vector<Fate> at_every_commit(const Baseline& baseline);
// Returns the same with a second kill: the process that takes over is killed at one of its first
// commits.
std::vector<Fate> at_every_takeover(const Baseline& baseline, Random& random);
// Returns `count` kills at moments between commits, distributed over all steps.
std::vector<Fate> between_commits(const Baseline& baseline, std::size_t count, Random& random);

}  // namespace belay::crash
