#pragma once
// belay/detail/codec.h - reads and writes plain structs as JSON, for belay/value.h.
//
// Long on purpose: the templates call each other recursively for nested types.

#include <array>
#include <chrono>
#include <cmath>
#include <concepts>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "belay/clock.h"
#include "belay/detail/milliseconds.h"
#include "belay/detail/reflect.h"

namespace belay {

// Members that were read but do not exist in the struct. They are kept and written back with it.
struct Unknown {
  Value::Object members;                  // of this struct itself
  std::map<std::string, Unknown> inside;  // of a member or a map entry, by name
  // Of list items, by the text of the item's known members: an unchanged item keeps its unknown
  // members wherever it moves in the list, a changed item loses them.
  std::map<std::string, Unknown> items;
  bool empty() const { return members.empty() && inside.empty() && items.empty(); }
};

class Encoder {
 public:
  std::string text;     // the text written so far
  std::string problem;  // the first value that JSON cannot represent; empty: none

  void write(bool value) { text += value ? "true" : "false"; }
  void write(std::int64_t value);
  void write(std::uint64_t value);
  void write(double value);
  void write(std::string_view value);
  void write_name(std::string_view name, bool first);
  void write_value(const Value& value);
  void write(Instant value);
  // Writes the key of a map, which can be any text.
  void write_key(std::string_view key, bool first);

  // Enters and leaves an array or object. enter() returns false, and sets `problem`, if the nesting
  // is too deep.
  bool enter();
  void leave() { --depth_; }
  // Prepends a part to the problem's path while the recursion returns.
  void note_part(std::string_view name);
  // Writes null instead of a value that could not be read again, and records the reason.
  void refuse(std::string why);

 private:
  void check_text(std::string_view value);

  std::size_t depth_ = 0;
  bool is_located_ = false;
};

class Decoder {
 public:
  std::string problem;  // the first mismatch, with its path; empty: none

  // Records a mismatch at the current path. Always returns false, so that callers can return it.
  bool mismatch(std::string_view expected, const Value& found);

  // The path of the value being read: member names and indices.
  std::vector<std::string> path;
};

namespace codec {

template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_string_map = false;
template <typename T>
inline constexpr bool is_string_map<std::map<std::string, T>> = true;
template <typename T>
inline constexpr bool is_duration = false;
template <typename R, typename P>
inline constexpr bool is_duration<std::chrono::duration<R, P>> = true;

// True for types whose value might be written as null, which reads back as an absent value.
template <typename T>
inline constexpr bool may_be_null = std::is_same_v<T, Value> || is_optional<T>;

// True for the types of members. The members of a struct are checked where it is used.
template <typename T>
inline constexpr bool is_storable =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || is_duration<T> || std::is_same_v<T, Instant> ||
    std::is_convertible_v<const T&, std::string_view> || reflect::PlainStruct<T>;
template <typename T>
inline constexpr bool is_storable<std::optional<T>> = is_storable<T>;
template <typename T>
inline constexpr bool is_storable<std::vector<T>> = is_storable<T>;
template <typename T>
inline constexpr bool is_storable<std::map<std::string, T>> = is_storable<T>;
template <>
inline constexpr bool is_storable<Value> = true;

// The name of a member as a template argument: compilers print it with an error.
template <std::size_t size>
struct MemberName {
  char text[size]{};
  constexpr bool is_empty() const { return size <= 1; }
};
template <typename Struct, std::size_t index>
consteval auto member_name() {
  constexpr std::string_view name = reflect::member_names<Struct>[index];
  MemberName<name.size() + 1> copy;
  for (std::size_t i = 0; i < name.size(); ++i) copy.text[i] = name[i];
  return copy;
}
#define BELAY_NOT_STORABLE                                                       \
  "This member cannot be stored. Use bool, numbers, enums, durations, Instant, " \
  "std::string, Value, a struct of these, or an optional, vector or "            \
  "map<std::string, ...> of them."
#define BELAY_NO_BASE "A state or record has no base class: make the base a member."
template <MemberName name, typename Member>
void require_storable_member() {
  static_assert(is_storable<Member>, BELAY_NOT_STORABLE);
}

template <typename>
struct StructMembers;
template <typename... Member>
struct StructMembers<std::tuple<Member*...>> {
  static constexpr bool are_storable = (is_storable<std::remove_const_t<Member>> && ...);
  static constexpr std::array<bool, sizeof...(Member)> storable = {
      is_storable<std::remove_const_t<Member>>...};
  template <typename Struct, std::size_t... I>
  static void require_storable(std::index_sequence<I...>) {
    (require_storable_member<member_name<Struct, I>(), std::remove_const_t<Member>>(), ...);
  }
};
template <typename Struct>
using MembersOf = StructMembers<decltype(reflect::detail::member_pointers<Struct>())>;

// A use of the templates below with such a struct would be reported for each of them.
template <reflect::PlainStruct Struct>
inline constexpr bool has_storable_members =
    MembersOf<Struct>::are_storable && !reflect::has_base<Struct>;

// The index of the first member that cannot be stored; no_index if each member can be.
inline constexpr std::size_t no_index = static_cast<std::size_t>(-1);
template <typename Struct>
consteval std::size_t unstorable_index() {
  if constexpr (reflect::PlainStruct<Struct>) {
    constexpr auto storable = MembersOf<Struct>::storable;
    for (std::size_t i = 0; i < storable.size() && !reflect::has_base<Struct>; ++i) {
      if (!storable[i]) return i;
    }
  }
  return no_index;
}
// The name of that member; empty for no_index.
template <typename Struct>
consteval auto unstorable_member() {
  constexpr std::size_t index = unstorable_index<Struct>();
  if constexpr (index == no_index) {
    return MemberName<1>();
  } else {
    return member_name<Struct, index>();
  }
}

// The parameter of a function of a state with such a member: the conversion of the caller's
// argument is a compile error that names it.
template <MemberName name>
struct Unstorable {
  template <typename Argument>
  BELAY_REFUSED(BELAY_NOT_STORABLE)
  Unstorable(Argument) {
    std::abort();
  }
};

// A compile error that names the member that cannot be stored, if there is one.
template <reflect::PlainStruct Struct>
void require_storable_members() {
  static_assert(!reflect::has_base<Struct>, BELAY_NO_BASE);
  if constexpr (!has_storable_members<Struct>) {
    MembersOf<Struct>::template require_storable<Struct>(
        std::make_index_sequence<reflect::member_count<Struct>>());
  }
}

template <typename T>
void encode(const T& value, Encoder& out, const Unknown* unknown = nullptr);
template <typename T>
bool decode(const Value& from, T& value, Decoder& in, Unknown* unknown = nullptr);

inline const Unknown* inside(const Unknown* unknown, std::string_view name) {
  if (!unknown || unknown->inside.empty()) return nullptr;
  auto found = unknown->inside.find(std::string(name));
  return found == unknown->inside.end() ? nullptr : &found->second;
}

// Encodes a part called `name`, and adds the name to the problem if it cannot be written.
template <typename T>
void encode_part(const T& part, std::string_view name, Encoder& out, const Unknown* unknown) {
  bool was_sound = out.problem.empty();
  encode<T>(part, out, unknown);
  if (was_sound && !out.problem.empty()) out.note_part(name);
}

template <typename T>
void encode_struct(const T& value, Encoder& out, const Unknown* unknown) {
  if (!out.enter()) return;
  out.text += '{';
  bool first = true;
  require_storable_members<T>();
  if constexpr (has_storable_members<T>) {
    reflect::for_each_member(value, [&](std::string_view name, const auto& member) {
      out.write_name(name, std::exchange(first, false));
      encode_part(member, name, out, inside(unknown, name));
    });
  }
  if (unknown) {
    for (const auto& [name, member] : unknown->members) {
      out.write_name(name, std::exchange(first, false));
      write_json(member, out.text);
    }
  }
  out.text += '}';
  out.leave();
}

template <typename T>
void encode_list(const std::vector<T>& list, Encoder& out, const Unknown* unknown) {
  if (!out.enter()) return;
  out.text += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out.text += ',';
    if (unknown && !unknown->items.empty()) {
      Encoder known;
      encode<T>(list[i], known);
      auto found = unknown->items.find(known.text);
      encode<T>(list[i], out, found == unknown->items.end() ? nullptr : &found->second);
    } else {
      bool was_sound = out.problem.empty();
      encode<T>(list[i], out);
      if (was_sound && !out.problem.empty()) out.note_part(std::to_string(i));
    }
  }
  out.text += ']';
  out.leave();
}

template <typename T>
void encode_map(const std::map<std::string, T>& map, Encoder& out, const Unknown* unknown) {
  if (!out.enter()) return;
  out.text += '{';
  bool first = true;
  for (const auto& [name, item] : map) {
    out.write_key(name, std::exchange(first, false));
    encode_part(item, name, out, inside(unknown, name));
  }
  out.text += '}';
  out.leave();
}

template <typename E>
bool has_name(std::size_t value) {
  constexpr auto& names = reflect::enumerator_names<E>;
  return value < names.size() && !names[value].empty() && names[value].front() > '9';
}

template <typename E>
void encode_enum(E value, Encoder& out) {
  auto index = static_cast<std::size_t>(value);
  if (has_name<E>(index)) return out.write(reflect::enumerator_names<E>[index]);
  auto number = static_cast<std::underlying_type_t<E>>(value);
  out.refuse("An enum is " + std::to_string(number) +
             ", and none of its enumerators from 0 to 31 is that.");
}

template <typename R, typename P>
void encode_duration(std::chrono::duration<R, P> value, Encoder& out) {
  static_assert(std::integral<R>, "A duration in a state or record counts whole ticks.");
  using Duration = std::chrono::duration<R, P>;
  if (auto whole = whole_milliseconds(value)) return out.write(*whole);
  double rounded = rounded_milliseconds(value);
  if (duration_of<Duration>(rounded) == value) return out.write(rounded);
  out.refuse("A duration of " + std::to_string(value.count()) +
             " ticks is no exact number of milliseconds.");
}

template <typename T>
void encode(const T& value, Encoder& out, const Unknown* unknown) {
  if constexpr (std::is_same_v<T, Value>) {
    out.write_value(value);
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Instant>) {
    out.write(value);
  } else if constexpr (std::is_enum_v<T>) {
    encode_enum(value, out);
  } else if constexpr (std::integral<T> && std::is_signed_v<T>) {
    static_assert(sizeof(T) <= sizeof(std::int64_t), "An integer has 64 bits at most.");
    out.write(static_cast<std::int64_t>(value));
  } else if constexpr (std::unsigned_integral<T>) {
    out.write(static_cast<std::uint64_t>(value));
  } else if constexpr (std::floating_point<T>) {
    static_assert(sizeof(T) <= sizeof(double), "A long double cannot be written exactly.");
    out.write(static_cast<double>(value));
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out.write(std::string_view(value));
  } else if constexpr (is_duration<T>) {
    encode_duration(value, out);
  } else if constexpr (is_optional<T>) {
    static_assert(
        !may_be_null<typename T::value_type>,
        "An optional of a type that can be null itself. Use a Value, whose null means absent.");
    if (value) {
      encode(*value, out, unknown);
    } else {
      out.text += "null";
    }
  } else if constexpr (is_vector<T>) {
    encode_list(value, out, unknown);
  } else if constexpr (is_string_map<T>) {
    encode_map(value, out, unknown);
  } else {
    static_assert(reflect::PlainStruct<T>, "This type cannot be stored.");
    encode_struct(value, out, unknown);
  }
}

// Decodes a part called `name`, and keeps its unknown members.
template <typename T>
bool decode_part(const Value& from, T& part, std::string name, Decoder& in,
                 std::map<std::string, Unknown>* keep) {
  Unknown within;
  in.path.push_back(std::move(name));
  bool worked = decode(from, part, in, keep ? &within : nullptr);
  if (worked && keep && !within.empty()) keep->emplace(in.path.back(), std::move(within));
  in.path.pop_back();
  return worked;
}

template <typename T>
bool decode_struct(const Value& from, T& value, Decoder& in, Unknown* unknown) {
  const Value::Object* members = from.as_object();
  if (!members) return in.mismatch("an object", from);
  bool worked = true;
  std::size_t known = 0;
  require_storable_members<T>();
  if constexpr (has_storable_members<T>) {
    reflect::for_each_member(value, [&](std::string_view name, auto& member) {
      const Value* found = worked ? from.find(name) : nullptr;
      if (!found) return;
      ++known;
      worked =
          decode_part(*found, member, std::string(name), in, unknown ? &unknown->inside : nullptr);
    });
  }
  if (!worked || !unknown || known == members->size()) return worked;
  for (const auto& [name, member] : *members) {
    bool is_known = false;
    for (std::string_view each : reflect::member_names<T>) is_known = is_known || each == name;
    if (!is_known) unknown->members.emplace(name, member);
  }
  return true;
}

template <typename T>
bool decode_list(const Value& from, std::vector<T>& list, Decoder& in, Unknown* unknown) {
  const Value::Array* items = from.as_array();
  if (!items) return in.mismatch("an array", from);
  list.clear();
  for (std::size_t i = 0; i < items->size(); ++i) {
    T item{};
    Unknown within;
    in.path.push_back(std::to_string(i));
    if (!decode<T>((*items)[i], item, in, unknown ? &within : nullptr)) return false;
    in.path.pop_back();
    if (!within.empty()) {
      Encoder key;
      encode<T>(item, key);
      unknown->items.emplace(std::move(key.text), std::move(within));
    }
    list.push_back(std::move(item));
  }
  return true;
}

template <typename T>
bool decode_map(const Value& from, std::map<std::string, T>& map, Decoder& in, Unknown* unknown) {
  const Value::Object* members = from.as_object();
  if (!members) return in.mismatch("an object", from);
  map.clear();
  for (const auto& [name, member] : *members) {
    T item{};
    if (!decode_part(member, item, name, in, unknown ? &unknown->inside : nullptr)) return false;
    map.emplace(name, std::move(item));
  }
  return true;
}

template <typename T>
bool decode_integer(const Value& from, T& value, Decoder& in) {
  if constexpr (std::is_signed_v<T>) {
    auto number = from.as_int();
    if (!number || !std::in_range<T>(*number)) return in.mismatch("an integer in range", from);
    value = static_cast<T>(*number);
  } else {
    auto number = from.as_uint();
    if (!number || !std::in_range<T>(*number)) return in.mismatch("an integer in range", from);
    value = static_cast<T>(*number);
  }
  return true;
}

template <typename E>
bool decode_enum(const Value& from, E& value, Decoder& in) {
  if (const std::string* name = from.as_string()) {
    for (std::size_t i = 0; i < reflect::enumerator_names<E>.size(); ++i) {
      if (!has_name<E>(i) || reflect::enumerator_names<E>[i] != *name) continue;
      value = static_cast<E>(i);
      return true;
    }
  }
  return in.mismatch("one of its enumerators' names", from);
}

template <typename Duration>
bool decode_duration(const Value& from, Duration& value, Decoder& in) {
  auto number = from.as_double();
  if (!number) return in.mismatch("a number of milliseconds", from);
  auto whole = from.as_int();
  auto read = whole ? duration_of<Duration>(*whole) : duration_of<Duration>(*number);
  if (!read) return in.mismatch("a number of milliseconds, in range and whole in its unit", from);
  value = *read;
  return true;
}

template <typename T>
bool decode(const Value& from, T& value, Decoder& in, Unknown* unknown) {
  if constexpr (std::is_same_v<T, Value>) {
    value = from;
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    const bool* flag = from.as_bool();
    if (flag) value = *flag;
    return flag || in.mismatch("true or false", from);
  } else if constexpr (std::is_enum_v<T>) {
    return decode_enum(from, value, in);
  } else if constexpr (std::integral<T>) {
    return decode_integer(from, value, in);
  } else if constexpr (std::floating_point<T>) {
    auto number = from.as_double();
    if (!number) return in.mismatch("a number", from);
    // A float could not hold the value, and it could not be written again.
    if (std::abs(*number) > std::numeric_limits<T>::max()) {
      return in.mismatch("a number in range", from);
    }
    value = static_cast<T>(*number);
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    const std::string* text = from.as_string();
    if (text) value = *text;
    return text || in.mismatch("a string", from);
  } else if constexpr (std::is_same_v<T, Instant>) {
    const std::string* text = from.as_string();
    auto instant = text ? instant_from(*text) : std::nullopt;
    if (instant) value = *instant;
    return instant || in.mismatch("a UTC time like 2026-11-21T12:00:00Z", from);
  } else if constexpr (is_duration<T>) {
    return decode_duration(from, value, in);
  } else if constexpr (is_optional<T>) {
    if (from.is_null()) {
      value.reset();
      return true;
    }
    return decode(from, value.emplace(), in, unknown);
  } else if constexpr (is_vector<T>) {
    return decode_list(from, value, in, unknown);
  } else if constexpr (is_string_map<T>) {
    return decode_map(from, value, in, unknown);
  } else {
    static_assert(reflect::PlainStruct<T>, "This type cannot be stored.");
    return decode_struct(from, value, in, unknown);
  }
}

}  // namespace codec

}  // namespace belay
