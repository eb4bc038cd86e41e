#pragma once
// server/body.h - converts a JSON body to a plain struct, and that struct to a JSON Schema.

#include "server/route.h"

namespace belay::server {

namespace schema {

template <typename T>
Value of();

template <typename T>
Value of_struct() {
  Value::Object properties;
  T value{};
  reflect::for_each_member(value, [&](std::string_view name, auto& member) {
    properties.emplace(std::string(name), of<std::remove_cvref_t<decltype(member)>>());
  });
  return Value::object(
      {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}});
}

template <typename T>
Value of() {
  if constexpr (std::is_same_v<T, Value>) {
    return Value(true);
  } else if constexpr (std::is_same_v<T, bool>) {
    return Value::object({{"type", "boolean"}});
  } else if constexpr (std::integral<T>) {
    return Value::object({{"type", "integer"}});
  } else if constexpr (std::floating_point<T>) {
    return Value::object({{"type", "number"}});
  } else if constexpr (std::is_same_v<T, std::string>) {
    return Value::object({{"type", "string"}});
  } else if constexpr (std::is_same_v<T, Instant>) {
    return Value::object({{"type", "string"}, {"format", "date-time"}});
  } else if constexpr (codec::is_optional<T>) {
    return of<typename T::value_type>();
  } else if constexpr (codec::is_vector<T>) {
    return Value::object({{"type", "array"}, {"items", of<typename T::value_type>()}});
  } else {
    return of_struct<T>();
  }
}

}  // namespace schema

// Returns the JSON Schema of a body that is decoded into a T; `required` are its required members.
template <typename T>
Value body_schema(std::initializer_list<std::string_view> required = {}) {
  Value schema = schema::of<T>();
  if (required.size() > 0) {
    Value::Array names(required.begin(), required.end());
    schema.as_object()->emplace("required", std::move(names));
  }
  return schema;
}

// Returns the schema of a body without members: `{}`, or no body.
inline Value empty_body_schema() {
  return Value::object({{"type", "object"},
                        {"properties", Value(Value::Object{})},
                        {"additionalProperties", false}});
}

// Fails with `invalid`, naming the member, if a member is missing or unknown.
Result<Done> check_body(const Value& body, const Value& schema);

// Decodes the body of a call, which has passed check_body().
template <typename T>
Result<T> read_body(const Call& call) {
  auto read = decode_json<T>(call.body);
  if (!read.ok())
    return error(ErrorCode::invalid, "The body does not fit: " + read.error().message);
  return read;
}

}  // namespace belay::server
