#pragma once
// belay/value.h - JSON values, and the conversion of plain structs to JSON and back.
//
// A Value is null, a bool, a number, a string, an array or an object: data only, never code. It is
// a regular value type: copy, move, compare. Objects sort their members by name; therefore equal
// objects have equal texts.
//
// Numbers are preserved: integers are exact from -2^63 to 2^64-1, any other number is a double that
// reads back as the same bits (the writer uses the shortest text that does so). A number that JSON
// or a double cannot represent (NaN, infinity, too large) is an error and is never changed
// silently.
//
// Strings are UTF-8. parse_json() rejects invalid UTF-8, lone surrogates, U+0000, duplicate member
// names, nesting deeper than limits::json_depth_max, and text after the value.
//
// Plain structs: bool, integers, float and double, std::string, enums (by enumerator name, of the
// values 0 to 31), Instant (years 1 to 9999), std::chrono durations that count integers
// (milliseconds, as a number), std::optional<T>, std::vector<T>, std::map<std::string, T>, Value,
// and plain structs of these, nested.
//
// Reading a struct tolerates other versions of it and rejects wrong data: a missing member has the
// struct's default, an unknown member is kept in Unknown and written back, a wrong kind or a number
// out of range is an error with the path ("analysis.riskLevel").
// Writing fails on values that JSON cannot represent: NaN, infinity, invalid UTF-8, U+0000, and on
// values that could not be read again: an enum without a name, nesting deeper than
// limits::json_depth_max. A value that is written without a problem reads back as an equal value.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "belay/limits.h"
#include "belay/result.h"

namespace belay {

class Value {
 public:
  using Array = std::vector<Value>;
  using Object = std::map<std::string, Value, std::less<>>;

  Value() = default;
  Value(std::nullptr_t) {}
  // Accepts a bool only: a pointer does not convert.
  template <std::same_as<bool> Bool>
  Value(Bool value) : held_(value) {}
  Value(int value) : held_(static_cast<std::int64_t>(value)) {}
  Value(std::int64_t value) : held_(value) {}
  Value(std::uint64_t value);
  Value(double value) : held_(value) {}
  Value(const char* text) : held_(std::string(text)) {}
  Value(std::string_view text) : held_(std::string(text)) {}
  Value(std::string text) : held_(std::move(text)) {}
  Value(Array items) : held_(std::move(items)) {}
  Value(Object members) : held_(std::move(members)) {}

  // Makes an object from its members: Value::object({{"date", date}, {"risk", 7}}).
  static Value object(std::initializer_list<Object::value_type> members) {
    return Value(Object(members));
  }

  bool is_null() const { return held_.index() == 0; }
  // Each returns null if the value has another kind. Numbers: see as_int and as_double.
  const bool* as_bool() const { return std::get_if<bool>(&held_); }
  const std::string* as_string() const { return std::get_if<std::string>(&held_); }
  const Array* as_array() const { return std::get_if<Array>(&held_); }
  const Object* as_object() const { return std::get_if<Object>(&held_); }
  Array* as_array() { return std::get_if<Array>(&held_); }
  Object* as_object() { return std::get_if<Object>(&held_); }
  bool is_number() const;
  // True for a number whose text has no fraction: 7, but not 7.0.
  bool holds_integer() const;
  // Returns the number if it is an integer that fits (7 and 7.0, not 7.5).
  std::optional<std::int64_t> as_int() const;
  std::optional<std::uint64_t> as_uint() const;
  // Returns the number as a double; an integer beyond 2^53 is rounded.
  std::optional<double> as_double() const;

  // Returns the member called `name`; null if this is not an object or has no such member.
  const Value* find(std::string_view name) const;
  // The same, but returns a shared null Value instead of a null pointer.
  const Value& operator[](std::string_view name) const;

  // "null", "boolean", "number", "string", "array" or "object".
  std::string_view kind() const;

  friend bool operator==(const Value&, const Value&) = default;

 private:
  friend void write_json(const Value& value, std::string& out);
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      held_;
};

// Reads one JSON text. Errors are `invalid` and name the byte offset and the fault.
Result<Value> parse_json(std::string_view text, std::size_t depth_max = limits::json_depth_max);

// Appends the value's text: no white space, members sorted, shortest exact numbers. Writes NaN and
// infinity, which JSON cannot represent, as null; the encoding of typed state rejects them before.
void write_json(const Value& value, std::string& out);
std::string to_json(const Value& value);
// The same with two-space indentation, for display.
std::string to_pretty_json(const Value& value);

// Appends `text` as a JSON string, quotes and escapes included. REQUIRES: valid UTF-8.
void write_json_string(std::string_view text, std::string& out);
// Appends a finite number's shortest exact text ("1.5", "1e+300", "2.0").
void write_json_number(double number, std::string& out);

// Returns the offset of the first byte that is not part of well-formed UTF-8, or nullopt.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace belay

#include "belay/detail/codec.h"

namespace belay {

// Returns the JSON text of `value`, members in their order of declaration; `invalid` for a value
// that JSON cannot represent.
template <typename T>
Result<std::string> encode_json(const T& value) {
  Encoder out;
  codec::encode(value, out);
  if (!out.problem.empty()) return error(ErrorCode::invalid, std::move(out.problem));
  return std::move(out.text);
}

// Returns a T from a JSON value; `invalid` with the path of the first mismatch.
template <typename T>
Result<T> decode_json(const Value& from) {
  T value{};
  Decoder in;
  if (codec::decode(from, value, in)) return value;
  return error(ErrorCode::invalid, std::move(in.problem));
}

}  // namespace belay
