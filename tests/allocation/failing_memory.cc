#include "tests/allocation/failing_memory.h"

#include <openssl/crypto.h>
#include <sqlite3.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace belay::allocation {
namespace {

std::atomic<bool> is_armed = false;
std::atomic<bool> lasts = false;
std::atomic<std::uint64_t> chosen = 0;
std::atomic<std::uint64_t> calls = 0;
std::atomic<std::uint64_t> failures = 0;

bool fails() {
  if (!is_armed) return false;
  std::uint64_t number = calls++;
  bool fails = lasts ? number >= chosen : number == chosen;
  if (fails) ++failures;
  return fails;
}

sqlite3_mem_methods sqlite_memory;

void* sqlite_malloc(int size) { return fails() ? nullptr : sqlite_memory.xMalloc(size); }
void* sqlite_realloc(void* old, int size) {
  return fails() ? nullptr : sqlite_memory.xRealloc(old, size);
}

void* openssl_malloc(std::size_t size, const char*, int) {
  return size == 0 || fails() ? nullptr : std::malloc(size);
}
void* openssl_realloc(void* old, std::size_t size, const char*, int) {
  return fails() ? nullptr : std::realloc(old, size);
}
void openssl_free(void* memory, const char*, int) { std::free(memory); }

}  // namespace

void* take(std::size_t size, std::size_t alignment) {
  if (fails()) return nullptr;
  if (size == 0) size = 1;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return std::malloc(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void install() {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
  sqlite3_mem_methods counting = sqlite_memory;
  counting.xMalloc = sqlite_malloc;
  counting.xRealloc = sqlite_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &counting);
  CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc, openssl_free);
}

void fail(std::uint64_t at, bool for_ever) {
  lasts = for_ever;
  chosen = at;
  calls = 0;
  failures = 0;
  is_armed = true;
}

void heal() { is_armed = false; }
std::uint64_t counted() { return calls; }
std::uint64_t failed() { return failures; }

}  // namespace belay::allocation

namespace {
void* take_or_throw(std::size_t size, std::size_t alignment) {
  if (void* memory = belay::allocation::take(size, alignment)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return take_or_throw(size, 1); }
void* operator new[](std::size_t size) { return take_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return take_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return belay::allocation::take(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return belay::allocation::take(size, 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
