#include "base/start_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace belay {

namespace {

// The first addresses of mappings with pages of this process alone.
using ChangedMappings = std::set<std::uintptr_t>;

// Reads /proc/self/smaps: a line "first-end permissions ..." for each mapping, then a line for each
// of its figures (proc_pid_smaps(5)). "Anonymous:" and "Swap:" count the pages that are no longer
// those of the file: relocated ones, and those with breakpoints of a debugger.
ChangedMappings changed_mappings() {
  ChangedMappings changed;
  std::ifstream figures("/proc/self/smaps");
  std::uintptr_t first = 0;
  for (std::string line; std::getline(figures, line);) {
    std::string_view text = line;
    std::size_t colon = text.find(':');
    std::string_view name = text.substr(0, colon);
    if (name == "Anonymous" || name == "Swap") {
      if (text.substr(colon).find_first_of("123456789") != text.npos) changed.insert(first);
    } else if (std::size_t dash = text.find('-'); dash < text.find(' ')) {
      std::from_chars(text.data(), text.data() + dash, first, 16);
    }
  }
  return changed;
}

// Unmaps the segments of a loaded object that it cannot write to.
int unmap_constants(dl_phdr_info* object, std::size_t, void* changed_mappings) {
  const auto& changed = *static_cast<const ChangedMappings*>(changed_mappings);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) / page * page;
    const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    auto first_changed = changed.lower_bound(begin);
    if (first_changed != changed.end() && *first_changed < end) continue;
    madvise(std::bit_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void release_start_memory() {
  malloc_trim(0);
  if (access("/proc/self/smaps", R_OK) != 0) return;
  ChangedMappings changed = changed_mappings();
  // It holds the lock of the loader: no object is loaded or removed meanwhile.
  dl_iterate_phdr(&unmap_constants, &changed);
}

}  // namespace belay
