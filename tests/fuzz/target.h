#pragma once
// tests/fuzz/target.h - fuzz targets: functions of any bytes, with laws that must always hold
//
// Each file contains one BELAY_FUZZ_TARGET(Json, "json") { ... `input` ... }. With Clang it becomes
// a program of libFuzzer, fuzz_json; in every other build it becomes a test that calls it with the
// inputs in tests/fuzz/corpus/json.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::fuzz {

// Ends the process with the name of the violated law, unless `holds`.
void require(bool holds, std::string_view law);

// Ends the process unless the error is one that Belay may return: a code of the closed set, and one
// readable line of valid UTF-8 that a store can contain.
void require_sound(const Error& error);

// No input may cause a longer error.
inline constexpr std::size_t kErrorBytesMax = 4'000;

// Removes the next byte of `input` and returns it; 0 if it is empty.
unsigned take_byte(std::string_view& input);
// Removes the bytes up to the next line break, or all of them, from `input` and returns them
// without the line break.
std::string_view take_line(std::string_view& input);

using Target = void (*)(std::string_view input);
// Calls the target with each input of its corpus, and with inputs that every target must accept.
void replay(const char* corpus, Target target);

}  // namespace belay::fuzz

#ifdef BELAY_LIBFUZZER
#define BELAY_FUZZ_TARGET(name, corpus)                                                 \
  static void feed_##name(std::string_view input);                                      \
  extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) { \
    feed_##name(std::string_view(reinterpret_cast<const char*>(bytes), size));          \
    return 0;                                                                           \
  }                                                                                     \
  static void feed_##name(std::string_view input)
#else
#include <gtest/gtest.h>
#define BELAY_FUZZ_TARGET(name, corpus)                                                 \
  static void feed_##name(std::string_view input);                                      \
  TEST(KeptInputs, Of##name##HoldItsLaws) { belay::fuzz::replay(corpus, feed_##name); } \
  static void feed_##name(std::string_view input)
#endif
