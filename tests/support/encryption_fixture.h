#pragma once
// tests/support/encryption_fixture.h - keys, randomness and envelopes for the tests of this
// folder.

#include <atomic>
#include <string>

#include "belay/storage.h"

namespace belay::encrypted {

// The same numbers in every test run.
class SeededRandom final : public Random {
 public:
  std::uint64_t bits() override {
    std::uint64_t mixed = state_.fetch_add(0x9e3779b97f4a7c15ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }

 private:
  std::atomic<std::uint64_t> state_{7};
};

// A line for a key whose bytes are all `digit`.
inline std::string key_line(const std::string& id, char digit) {
  return id + ":" + std::string(64, digit) + "\n";
}

inline KeyRing ring(const std::string& lines) { return KeyRing::from_text(lines).value(); }

inline EncryptionOptions encrypted(const std::string& lines = key_line("k1", 'a')) {
  EncryptionOptions encryption;
  encryption.keys = ring(lines);
  return encryption;
}

// Text that compresses, as people's does.
inline std::string prose(std::size_t bytes) {
  static constexpr std::string_view words[] = {"la ",    "nota ",  "de ",    "hoy ",
                                               "the ",   "plan ",  "for ",   "tomorrow ",
                                               "slept ", "well, ", "walked "};
  std::string text;
  std::size_t next = bytes;
  while (text.size() < bytes) text += words[next = (next * 31 + 7) % 1009 % std::size(words)];
  text.resize(bytes);
  return text;
}

}  // namespace belay::encrypted
