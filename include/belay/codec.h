#pragma once
// belay/codec.h - plain structs to JSON text and back; a user of Belay writes no JSON code.
//
// Types: bool, integers, float and double, std::string, enums (by enumerator name), Instant,
// std::chrono durations (milliseconds, as a number), std::optional<T>, std::vector<T>,
// std::map<std::string, T>, Value, and plain structs of these, nested.
//
// Reading is forgiving where time passes and strict where it matters: a missing member takes the
// struct's default, an unknown one is kept in Unknown and written back, a wrong kind or a number
// out of range is an error that names the path ("analysis.riskLevel").
// Writing fails on what JSON can't say: NaN, infinity, invalid UTF-8, U+0000.

#include <string>
#include <utility>

#include "belay/detail/codec.h"
#include "belay/result.h"
#include "belay/value.h"

namespace belay {

// The JSON text of `value`, members in their order of declaration; `invalid` for what JSON can't
// say.
template <typename T>
Result<std::string> encode_json(const T& value) {
  Encoder out;
  codec::encode(value, out);
  if (!out.problem.empty()) return error(ErrorCode::invalid, std::move(out.problem));
  return std::move(out.text);
}

// A T from a JSON value; `invalid` with the path of the first mismatch.
template <typename T>
Result<T> decode_json(const Value& from) {
  T value{};
  Decoder in;
  if (codec::decode(from, value, in)) return value;
  return error(ErrorCode::invalid, std::move(in.problem));
}

}  // namespace belay
