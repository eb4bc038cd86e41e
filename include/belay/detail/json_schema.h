#pragma once
// belay/detail/json_schema.h - the JSON Schema of a plain struct, from its members and from the
// texts and bounds that its describe() adds, for belay/route.h and belay/tool.h.
// https://json-schema.org/draft/2020-12

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "belay/value.h"

namespace belay {

// The text and the bounds of one member.
class MemberSchema {
 public:
  // For the model: the meaning, the unit, an example.
  MemberSchema& text(std::string_view description);
  // Bounds of a number, inclusive.
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  MemberSchema& between(Number least, Number most) {
    using Stored = std::conditional_t<std::is_integral_v<Number>, std::int64_t, double>;
    return bounds(Value(static_cast<Stored>(least)), Value(static_cast<Stored>(most)));
  }
  // Bounds of the length of a text, in characters, or of a list.
  MemberSchema& length(std::uint64_t least, std::uint64_t most);
  // The call may omit the member, which then has the default of the struct. A std::optional is
  // always optional.
  MemberSchema& optional();
  MemberSchema& one_of(std::vector<std::string> values);

  bool is_optional() const { return is_optional_; }
  void add_to(Value& schema) const;

 private:
  MemberSchema& bounds(Value least, Value most);

  Value::Object members_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> length_;
  bool is_optional_ = false;
};

// Receives the descriptions of T's members, in T::describe().
template <typename T>
class Described {
 public:
  template <typename M>
  MemberSchema& member(M T::* which) {
    return members_[reflect::index_of(which)];
  }
  const MemberSchema& at(std::size_t index) const { return members_[index]; }

 private:
  std::array<MemberSchema, reflect::member_count<T>> members_{};
};

// Which members of a struct its schema requires.
enum class RequiredMembers {
  none,  // each has a default
  all,   // except std::optional and those described as optional()
  // All, as states and records are encoded: a std::optional without a value is null, and members of
  // other versions are allowed.
  stored,
};

// Returns the JSON Schema of a T, as decode_json() accepts it. Members that a struct does not have
// are not allowed.
template <typename T>
Value json_schema(RequiredMembers required = RequiredMembers::none);

namespace detail {

Value enum_schema(const std::vector<std::string_view>& names);
Value or_null(Value schema);

// `Outer`: the structs that contain T. The schema of a struct inside itself accepts any value.
template <typename T, typename... Outer>
Value schema_of(RequiredMembers required);

// The schema of a member. The bounds of a stored std::optional are those of its value.
template <typename M, typename... Outer>
Value member_schema(RequiredMembers required, const MemberSchema& text) {
  if constexpr (codec::is_optional<M>) {
    if (required == RequiredMembers::stored) {
      return or_null(member_schema<typename M::value_type, Outer...>(required, text));
    }
  }
  Value schema = schema_of<M, Outer...>(required);
  text.add_to(schema);
  return schema;
}

template <typename T, typename... Outer>
Value struct_schema(RequiredMembers required) {
  Described<T> described;
  if constexpr (requires { T::describe(described); }) T::describe(described);
  Value::Object properties;
  Value::Array names;
  std::size_t index = 0;
  T instance{};
  reflect::for_each_member(instance, [&](std::string_view name, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    const MemberSchema& text = described.at(index++);
    Value schema = member_schema<Member, T, Outer...>(required, text);
    properties.emplace(std::string(name), std::move(schema));
    bool is_optional = text.is_optional() || codec::is_optional<Member>;
    bool is_required = required == RequiredMembers::all && !is_optional;
    if (is_required || required == RequiredMembers::stored) names.emplace_back(std::string(name));
  });
  Value schema = Value::object({{"type", "object"}, {"properties", std::move(properties)}});
  if (required != RequiredMembers::stored) {
    schema.as_object()->emplace("additionalProperties", false);
  }
  if (!names.empty()) schema.as_object()->emplace("required", std::move(names));
  return schema;
}

template <typename T, typename... Outer>
Value schema_of(RequiredMembers required) {
  if constexpr (std::is_same_v<T, Value> || (std::is_same_v<T, Outer> || ...)) {
    return Value(true);
  } else if constexpr (std::is_same_v<T, bool>) {
    return Value::object({{"type", "boolean"}});
  } else if constexpr (std::is_enum_v<T>) {
    std::vector<std::string_view> names;
    for (std::string_view name : reflect::enumerator_names<T>) {
      if (!name.empty() && name.front() > '9') names.push_back(name);
    }
    return enum_schema(names);
  } else if constexpr (std::integral<T> || codec::is_duration<T>) {
    return Value::object({{"type", "integer"}});
  } else if constexpr (std::floating_point<T>) {
    return Value::object({{"type", "number"}});
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return Value::object({{"type", "string"}});
  } else if constexpr (std::is_same_v<T, Instant>) {
    return Value::object({{"type", "string"}, {"format", "date-time"}});
  } else if constexpr (codec::is_optional<T>) {
    Value schema = schema_of<typename T::value_type, Outer...>(required);
    return required == RequiredMembers::stored ? or_null(std::move(schema)) : schema;
  } else if constexpr (codec::is_vector<T>) {
    return Value::object(
        {{"type", "array"}, {"items", schema_of<typename T::value_type, Outer...>(required)}});
  } else if constexpr (codec::is_string_map<T>) {
    return Value::object(
        {{"type", "object"},
         {"additionalProperties", schema_of<typename T::mapped_type, Outer...>(required)}});
  } else {
    return struct_schema<T, Outer...>(required);
  }
}

}  // namespace detail

template <typename T>
Value json_schema(RequiredMembers required) {
  return detail::schema_of<T>(required);
}

}  // namespace belay
