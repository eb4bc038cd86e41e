#include "tests/simulation/one_thread.h"

#include <malloc.h>
#include <sqlite3.h>

namespace belay::simulation {
namespace {

// More than any block of a seed, and the maximum that the C library accepts here.
constexpr int kBlockMax = 32 << 20;

}  // namespace

void set_for_one_thread() {
  [[maybe_unused]] static const bool once = [] {
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    mallopt(M_MMAP_THRESHOLD, kBlockMax);
    mallopt(M_TRIM_THRESHOLD, 16 * kBlockMax);
    mallopt(M_TOP_PAD, kBlockMax / 2);
    return true;
  }();
}

}  // namespace belay::simulation
