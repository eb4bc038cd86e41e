#include "tests/simulation/one_thread.h"

#include <malloc.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/crash/campaign.h"

namespace belay::simulation {
namespace {

// More than any block of a seed, and the most that the C library takes here.
constexpr int kBlockMax = 32 << 20;

// SQLite's memory: blocks of powers of two, with a size halfway between, that are kept for the next
// of their size. Each begins with its class.
struct alignas(std::max_align_t) Block {
  std::size_t size_class;
  Block* next;
};
constexpr int kClasses = 64;  // up to 2^32 bytes
std::array<Block*, kClasses> free_blocks{};

std::size_t class_of(std::size_t bytes) {
  std::size_t size = std::max<std::size_t>(bytes, 16);
  auto power = static_cast<std::size_t>(std::bit_width(size - 1));
  std::size_t halfway = (std::size_t{1} << power) / 4 * 3;
  return power * 2 - (size <= halfway ? 1 : 0);
}
std::size_t size_of(std::size_t size_class) {
  std::size_t power = (size_class + 1) / 2;
  std::size_t whole = std::size_t{1} << power;
  return size_class % 2 == 0 ? whole : whole / 4 * 3;
}

Block* block_of(void* memory) { return static_cast<Block*>(memory) - 1; }

void* take(int bytes) {
  std::size_t wanted = class_of(static_cast<std::size_t>(bytes));
  Block*& first = free_blocks[wanted];
  Block* block = first;
  if (block) {
    first = block->next;
  } else {
    block = static_cast<Block*>(std::malloc(sizeof(Block) + size_of(wanted)));
    if (!block) return nullptr;
    block->size_class = wanted;
  }
  return block + 1;
}

void give_back(void* memory) {
  Block* block = block_of(memory);
  block->next = std::exchange(free_blocks[block->size_class], block);
}

int size(void* memory) {
  return memory ? static_cast<int>(size_of(block_of(memory)->size_class)) : 0;
}

void* resize(void* memory, int bytes) {
  if (size(memory) >= bytes) return memory;
  void* more = take(bytes);
  if (!more) return nullptr;
  std::memcpy(more, memory, static_cast<std::size_t>(size(memory)));
  give_back(memory);
  return more;
}

int round_up(int bytes) {
  return static_cast<int>(size_of(class_of(static_cast<std::size_t>(bytes))));
}
int begin(void*) { return SQLITE_OK; }
void end(void*) {}

}  // namespace

void set_for_one_thread() {
  [[maybe_unused]] static const bool once = [] {
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    // A sanitizer has to see each block.
    static sqlite3_mem_methods memory{take, give_back, resize, size, round_up, begin, end, nullptr};
    if (!crash::kSanitized) sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    mallopt(M_MMAP_THRESHOLD, kBlockMax);
    mallopt(M_TRIM_THRESHOLD, 16 * kBlockMax);
    mallopt(M_TOP_PAD, kBlockMax / 2);
    return true;
  }();
}

}  // namespace belay::simulation
