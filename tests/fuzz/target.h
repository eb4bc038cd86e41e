#pragma once
// tests/fuzz/target.h - what a fuzz target is: one function of any bytes, and the laws that have to
// hold whatever they are.
//
// BELAY_FUZZ_TARGET(Json, "json") { ... `input` ... } stands once in each file. With clang it
// becomes a program of libFuzzer, fuzz_json; in every other build a test that hands it the inputs
// that are kept in tests/fuzz/corpus/json.

#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::fuzz {

// Ends the process, and says which law is broken, unless `holds`.
void require(bool holds, std::string_view law);

// Ends the process unless the error is one that Belay may give: a code of the closed set, and one
// line of valid UTF-8 that a person can read and a store can keep.
void require_sound(const Error& error);

// No input may make an error longer than this.
inline constexpr std::size_t kErrorBytesMax = 4'000;

// The next byte of `input`, which loses it; 0 when there is none.
unsigned take_byte(std::string_view& input);
// The bytes up to the next line break, or all of them; `input` loses both.
std::string_view take_line(std::string_view& input);

using Target = void (*)(std::string_view input);
// Hands the target each input that is kept for it, and those that every target is to bear.
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
