#pragma once
// tests/cli/queue_retry.h - `queue retry` of a run that failed, and of one that killed its workers:
// on whatever store the world has.

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {

// Leaves a failed run in the thread "t", and one that went again in "u".
void expect_a_failed_run_goes_again(World& world);
// Of the shop's program: leaves a cancelled run in the thread "a", and one that went again in "b".
void expect_a_quarantined_run_goes_again(World& world);

}  // namespace belay::cli::tests
