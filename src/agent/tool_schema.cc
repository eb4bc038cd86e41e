#include "belay/detail/tool_schema.h"

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

void MemberSchema::add_to(Value::Object& schema) const {
  for (const auto& [name, value] : members_) schema.insert_or_assign(name, value);
  if (!length_) return;
  auto type = schema.find("type");
  bool is_list = type != schema.end() && type->second == Value("array");
  schema.insert_or_assign(is_list ? "minItems" : "minLength", Value(length_->first));
  schema.insert_or_assign(is_list ? "maxItems" : "maxLength", Value(length_->second));
}

namespace detail {

Value schema_of_type(std::string_view type) { return Value::object({{"type", Value(type)}}); }

Value struct_schema(Value::Object properties, Value::Array required) {
  Value::Object schema{{"additionalProperties", false},
                       {"properties", Value(std::move(properties))},
                       {"type", "object"}};
  if (!required.empty()) schema.emplace("required", Value(std::move(required)));
  return Value(std::move(schema));
}

Value enum_schema(const std::vector<std::string_view>& names) {
  Value::Array values;
  for (std::string_view name : names) values.emplace_back(name);
  return Value::object({{"enum", Value(std::move(values))}, {"type", "string"}});
}

}  // namespace detail
}  // namespace belay
