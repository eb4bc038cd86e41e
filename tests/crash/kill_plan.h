#pragma once
// tests/crash/kill_plan.h - which process is killed when, decided by a seed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/baseline.h"

namespace belay::crash {

// `before` and `after`: the process stands still around its n-th commit, before it begins or when
// it is durable but nobody has been told. `between`: at a moment that only the seed and the machine
// know.
enum class Moment { before, after, between };

struct Kill {
  Moment moment = Moment::before;
  std::uint64_t commit = 0;           // before and after
  std::string told = {};              // between: once stderr has said this, at once when empty...
  std::chrono::microseconds delay{};  // ... and this much later
};

// One store's fate: a step is killed and, where `takeover` is set, whoever takes over is too.
struct Fate {
  std::size_t step = 0;
  Kill kill;
  std::optional<Kill> takeover = std::nullopt;
};

std::string text_of(const Kill& kill);
std::string text_of(const Fate& fate, const Baseline& baseline);

// Every commit of every step, before and after.
std::vector<Fate> at_every_commit(const Baseline& baseline);
// Every commit once more, with the process that takes over killed around its first commits.
std::vector<Fate> at_every_takeover(const Baseline& baseline, Random& random);
// `count` moments between commits, over all steps.
std::vector<Fate> between_commits(const Baseline& baseline, std::size_t count, Random& random);

}  // namespace belay::crash
