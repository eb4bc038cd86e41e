#pragma once
// tests/cli/queue_retry.h - tests `queue retry` of a failed and of a quarantined run, on any store.

#include "tests/cli/belay_process.h"

namespace belay::cli::tests {

// Leaves a failed run in the thread "t", and its retry in "u".
void expect_a_failed_run_goes_again(World& world);
// For the shop program: leaves a cancelled run in the thread "a", and its retry in "b".
void expect_a_quarantined_run_goes_again(World& world);

}  // namespace belay::cli::tests
