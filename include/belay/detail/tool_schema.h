#pragma once
// belay/detail/tool_schema.h - the JSON Schema of a plain struct, and the function of a tool, for
// belay/tool.h.
// https://json-schema.org/draft/2020-12

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "belay/task.h"
#include "belay/value.h"

namespace belay {

class ToolContext;

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
  void add_to(Value::Object& schema) const;

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

template <reflect::PlainStruct T>
Value json_schema_of();

namespace detail {

Value schema_of_type(std::string_view type);
Value struct_schema(Value::Object properties, Value::Array required);
Value enum_schema(const std::vector<std::string_view>& names);

template <typename T>
Value member_schema() {
  if constexpr (std::is_same_v<T, Value>) {
    return Value(Value::Object{});
  } else if constexpr (std::is_same_v<T, bool>) {
    return schema_of_type("boolean");
  } else if constexpr (std::is_enum_v<T>) {
    std::vector<std::string_view> names;
    for (std::string_view name : reflect::enumerator_names<T>) {
      if (!name.empty() && name.front() > '9') names.push_back(name);
    }
    return enum_schema(names);
  } else if constexpr (std::is_same_v<T, Instant>) {
    Value schema = schema_of_type("string");
    Value::Object members = *schema.as_object();
    members.insert_or_assign("format", Value("date-time"));
    return Value(std::move(members));
  } else if constexpr (std::integral<T> || codec::is_duration<T>) {
    return schema_of_type("integer");
  } else if constexpr (std::floating_point<T>) {
    return schema_of_type("number");
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return schema_of_type("string");
  } else if constexpr (codec::is_optional<T>) {
    return member_schema<typename T::value_type>();
  } else if constexpr (codec::is_vector<T>) {
    return Value::object({{"type", "array"}, {"items", member_schema<typename T::value_type>()}});
  } else if constexpr (codec::is_string_map<T>) {
    return Value::object(
        {{"type", "object"}, {"additionalProperties", member_schema<typename T::mapped_type>()}});
  } else {
    return json_schema_of<T>();
  }
}

// Converts the value that a tool's function returns to the text for the model.
template <typename T>
Result<std::string> tool_text(T value) {
  if constexpr (std::is_convertible_v<T, std::string>) {
    return std::string(std::move(value));
  } else if constexpr (std::is_same_v<T, Done>) {
    return std::string("done");
  } else if constexpr (std::is_same_v<T, Value>) {
    return to_json(value);
  } else {
    return encode_json(value);
  }
}
template <typename T>
Result<std::string> tool_text(Result<T> result) {
  if (!result.ok()) return std::move(result).error();
  return tool_text(std::move(*result));
}

template <typename Arguments, typename F>
Task<Result<std::string>> call_tool(std::shared_ptr<const F> function, Value given,
                                    ToolContext& call) {
  auto arguments = decode_json<Arguments>(given);
  if (!arguments.ok()) co_return std::move(arguments).error();
  using Returned = std::invoke_result_t<const F&, const Arguments&, ToolContext&>;
  if constexpr (requires(Returned returned) { returned.operator co_await(); }) {
    auto task = (*function)(*arguments, call);
    auto returned = co_await task;
    co_return tool_text(std::move(returned));
  } else {
    co_return tool_text((*function)(*arguments, call));
  }
}

template <typename Arguments, typename F>
std::function<Task<Result<std::string>>(Value, ToolContext&)> tool_function(F function) {
  auto shared = std::make_shared<const F>(std::move(function));
  return [shared](Value given, ToolContext& call) {
    return call_tool<Arguments, F>(shared, std::move(given), call);
  };
}

}  // namespace detail

// Returns the JSON Schema of an object with the members of T. Members that T does not have are not
// allowed; a member is required unless it is a std::optional or described as optional().
template <reflect::PlainStruct T>
Value json_schema_of() {
  Described<T> described;
  if constexpr (requires { T::describe(described); }) T::describe(described);
  Value::Object properties;
  Value::Array required;
  std::size_t index = 0;
  const T instance{};
  reflect::for_each_member(instance, [&](std::string_view name, const auto& member) {
    using Member = std::remove_cvref_t<decltype(member)>;
    const MemberSchema& text = described.at(index++);
    Value::Object schema = *detail::member_schema<Member>().as_object();
    text.add_to(schema);
    properties.emplace(std::string(name), Value(std::move(schema)));
    if (!text.is_optional() && !codec::is_optional<Member>)
      required.emplace_back(std::string(name));
  });
  return detail::struct_schema(std::move(properties), std::move(required));
}

}  // namespace belay
