#pragma once
// tests/allocation/failing_memory.h - memory that runs out where a test says so.
//
// In a program that links this, operator new and the memory of SQLite and OpenSSL count their
// calls, and fail the one that was chosen. Allocations of zstd and of the C library itself are left
// alone.

#include <cstdint>

namespace belay::allocation {

// Before anything of SQLite or OpenSSL is used.
void install();

// From now on calls are counted, and call number `at` (0: the next one) fails, with `for_ever` all
// that come after it too. Thread-safe.
void fail(std::uint64_t at, bool for_ever);
// Nothing fails any more. How many calls there were since fail(), and how many have failed.
void heal();
std::uint64_t counted();
std::uint64_t failed();

}  // namespace belay::allocation
