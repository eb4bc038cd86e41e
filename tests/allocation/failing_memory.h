#pragma once
// tests/allocation/failing_memory.h - makes a chosen memory allocation fail
//
// In a program that links this file, operator new and the allocators of SQLite and OpenSSL count
// their calls and fail the chosen one. Allocations of zstd and of the C library itself are not
// affected.

#include <cstdint>

namespace belay::allocation {

// Must be called before any use of SQLite or OpenSSL.
void install();

// Starts counting calls. Call number `at` (0: the next one) fails, and if `for_ever` is set, all
// later ones too. Thread-safe.
void fail(std::uint64_t at, bool for_ever);
// Stops all failures. Return the number of calls and of failed calls since fail().
void heal();
std::uint64_t counted();
std::uint64_t failed();

}  // namespace belay::allocation
