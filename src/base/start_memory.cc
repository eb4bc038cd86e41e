#include "base/start_memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace belay {

namespace {

// A mapping of /proc/PID/smaps: "first-end permissions offset device inode path", then a line per
// figure (proc_pid_smaps(5)).
struct Mapping {
  std::uintptr_t first = 0;
  std::uintptr_t end = 0;
  bool is_unwritable_file = false;
};

bool read_address(std::string_view text, std::uintptr_t& address) {
  const char* end = text.data() + text.size();
  auto [rest, problem] = std::from_chars(text.data(), end, address, 16);
  return problem == std::errc() && rest == end;
}

// Returns false for a line that is not the first one of a mapping.
bool read_mapping(std::string_view line, Mapping& mapping) {
  const std::size_t dash = line.find('-');
  const std::size_t space = line.find(' ');
  if (dash == line.npos || space == line.npos || dash > space) return false;
  if (!read_address(line.substr(0, dash), mapping.first)) return false;
  if (!read_address(line.substr(dash + 1, space - dash - 1), mapping.end)) return false;
  const std::string_view permissions = line.substr(space + 1, 4);
  // The path is the only part that begins with a slash: "[vdso]" and memory have none.
  mapping.is_unwritable_file = permissions.starts_with('r') && permissions.substr(1, 1) == "-" &&
                               permissions.ends_with('p') && line.find(" /") != line.npos;
  return true;
}

// A mapping that was relocated or has breakpoints has pages of this process alone, in memory or in
// swap: "Anonymous:" and "Swap:" count them.
bool counts_own_pages(std::string_view line) {
  if (!line.starts_with("Anonymous:") && !line.starts_with("Swap:")) return false;
  return line.substr(line.find(':')).find_first_of("123456789") != line.npos;
}

}  // namespace

void release_start_memory() {
  malloc_trim(0);
  std::ifstream mappings("/proc/self/smaps");
  Mapping mapping;
  for (std::string line; std::getline(mappings, line);) {
    if (read_mapping(line, mapping)) continue;
    if (counts_own_pages(line)) mapping.is_unwritable_file = false;
    // The last figure of a mapping.
    if (!mapping.is_unwritable_file || !line.starts_with("VmFlags:")) continue;
    // An address of this process, as read from the kernel.
    void* first = reinterpret_cast<void*>(mapping.first);  // NOLINT(performance-no-int-to-ptr)
    madvise(first, mapping.end - mapping.first, MADV_DONTNEED);
  }
}

}  // namespace belay
