#include "belay/detail/json_schema.h"

namespace belay {

MemberSchema& MemberSchema::text(std::string_view description) {
  members_.insert_or_assign("description", Value(description));
  return *this;
}

MemberSchema& MemberSchema::bounds(Value least, Value most) {
  members_.insert_or_assign("minimum", std::move(least));
  members_.insert_or_assign("maximum", std::move(most));
  return *this;
}

MemberSchema& MemberSchema::length(std::uint64_t least, std::uint64_t most) {
  length_.emplace(least, most);
  return *this;
}

MemberSchema& MemberSchema::optional() {
  is_optional_ = true;
  return *this;
}

MemberSchema& MemberSchema::one_of(std::vector<std::string> values) {
  Value::Array all;
  for (std::string& value : values) all.emplace_back(std::move(value));
  members_.insert_or_assign("enum", Value(std::move(all)));
  return *this;
}

void MemberSchema::add_to(Value& schema) const {
  if (members_.empty() && !length_) return;
  if (!schema.as_object()) schema = Value(Value::Object{});
  Value::Object& members = *schema.as_object();
  for (const auto& [name, value] : members_) members.insert_or_assign(name, value);
  if (!length_) return;
  bool is_list = schema["type"] == Value("array");
  members.insert_or_assign(is_list ? "minItems" : "minLength", Value(length_->first));
  members.insert_or_assign(is_list ? "maxItems" : "maxLength", Value(length_->second));
}

namespace detail {

Value enum_schema(const std::vector<std::string_view>& names) {
  Value::Array values;
  for (std::string_view name : names) values.emplace_back(name);
  return Value::object({{"enum", Value(std::move(values))}, {"type", "string"}});
}

Value or_null(Value schema) {
  if (schema.as_bool()) return schema;
  Value::Array choices{std::move(schema), Value::object({{"type", "null"}})};
  return Value::object({{"anyOf", std::move(choices)}});
}

}  // namespace detail
}  // namespace belay
