// Checks a value against the subset of JSON Schema that belay/models.h defines. Schemas come from
// programs and values from models; steps and depth are bounded, so that neither can cause an
// endless loop.
// https://json-schema.org/draft/2020-12

#include <algorithm>

#include "base/characters.h"
#include "belay/models.h"
#include "models/json_sanitizer.h"

namespace belay {
namespace {

constexpr int depth_max = 200;
constexpr int steps_max = 100'000;
constexpr std::size_t quoted_characters = 60;

bool is_of_type(const Value& value, std::string_view type) {
  if (type == "integer") return value.as_int() || value.as_uint();
  return value.kind() == type;
}

// JSON Schema treats 1 and 1.0 as equal.
bool is_same(const Value& one, const Value& other) {
  if (one.is_number() && other.is_number() && one.as_double() == other.as_double()) return true;
  return one == other;
}

std::string shown_value(const Value& value) {
  return models::quotable(to_json(value), quoted_characters);
}

class Checker {
 public:
  explicit Checker(const Value& root) : root_(root) {}

  using Fault = std::optional<std::string>;

  Fault check(const Value& schema, const Value& value, const std::string& place, int depth) {
    if (depth > depth_max || ++steps_ > steps_max) {
      return at(place) + "the schema is too deep to be checked";
    }
    if (const bool* allowed = schema.as_bool()) {
      if (*allowed) return std::nullopt;
      return at(place) + "nothing may stand here";
    }
    if (!schema.as_object()) return std::nullopt;
    if (auto fault = check_reference(schema, value, place, depth)) return fault;
    if (auto fault = check_kind(schema, value, place)) return fault;
    if (auto fault = check_number(schema, value, place)) return fault;
    if (auto fault = check_text(schema, value, place)) return fault;
    if (auto fault = check_array(schema, value, place, depth)) return fault;
    if (auto fault = check_object(schema, value, place, depth)) return fault;
    return check_choices(schema, value, place, depth);
  }

 private:
  static std::string at(const std::string& place) { return place.empty() ? "" : place + ": "; }

  Fault check_reference(const Value& schema, const Value& value, const std::string& place,
                        int depth) {
    const std::string* reference = schema["$ref"].as_string();
    if (!reference) return std::nullopt;
    const Value* target = &root_;
    std::string_view path(*reference);
    if (!path.starts_with('#')) {
      return at(place) + "the schema refers to " + models::quotable(path, quoted_characters) +
             ", which is not within it";
    }
    path.remove_prefix(1);
    while (target && path.starts_with('/')) {
      path.remove_prefix(1);
      std::string_view name = path.substr(0, path.find('/'));
      target = target->find(name);
      path.remove_prefix(name.size());
    }
    if (!target) {
      return at(place) + "the schema has no " + models::quotable(*reference, quoted_characters);
    }
    return check(*target, value, place, depth + 1);
  }

  Fault check_kind(const Value& schema, const Value& value, const std::string& place) {
    const Value& type = schema["type"];
    std::string wanted;
    bool fits = type.is_null();
    auto add = [&](const Value& one) {
      const std::string* name = one.as_string();
      if (!name) return;
      fits = fits || is_of_type(value, *name);
      wanted += (wanted.empty() ? "" : " or ") + *name;
    };
    add(type);
    if (const Value::Array* types = type.as_array()) {
      for (const Value& one : *types) add(one);
    }
    if (!fits && !wanted.empty()) {
      return at(place) + "must be of type " + wanted + ", not " + std::string(value.kind());
    }
    if (const Value::Array* allowed = schema["enum"].as_array()) {
      auto is_value = [&](const Value& one) { return is_same(one, value); };
      if (std::none_of(allowed->begin(), allowed->end(), is_value)) {
        return at(place) + "must be one of " + shown_value(schema["enum"]) + ", not " +
               shown_value(value);
      }
    }
    const Value* constant = schema.find("const");
    if (constant && !is_same(*constant, value)) {
      return at(place) + "must be " + shown_value(*constant) + ", not " + shown_value(value);
    }
    return std::nullopt;
  }

  Fault check_number(const Value& schema, const Value& value, const std::string& place) {
    auto number = value.as_double();
    if (!number) return std::nullopt;
    auto told = [&](const char* how, const Value& bound) {
      return at(place) + "must be " + how + " " + shown_value(bound) + ", not " +
             shown_value(value);
    };
    const Value& least = schema["minimum"];
    if (auto bound = least.as_double(); bound && *number < *bound) return told("at least", least);
    const Value& most = schema["maximum"];
    if (auto bound = most.as_double(); bound && *number > *bound) return told("at most", most);
    const Value& above = schema["exclusiveMinimum"];
    if (auto bound = above.as_double(); bound && *number <= *bound) return told("more than", above);
    const Value& below = schema["exclusiveMaximum"];
    if (auto bound = below.as_double(); bound && *number >= *bound) return told("less than", below);
    return std::nullopt;
  }

  // Checks a length against two bounds of the schema.
  static Fault check_length(const Value& schema, std::string_view least, std::string_view most,
                            std::size_t length, const std::string& place, const char* unit) {
    auto told = [&](const char* how, std::uint64_t bound) {
      return at(place) + "must have at " + how + " " + std::to_string(bound) + " " + unit +
             ", and has " + std::to_string(length);
    };
    if (auto bound = schema[least].as_uint(); bound && length < *bound)
      return told("least", *bound);
    if (auto bound = schema[most].as_uint(); bound && length > *bound) return told("most", *bound);
    return std::nullopt;
  }

  Fault check_text(const Value& schema, const Value& value, const std::string& place) {
    const std::string* text = value.as_string();
    if (!text) return std::nullopt;
    return check_length(schema, "minLength", "maxLength", characters_in(*text), place,
                        "characters");
  }

  Fault check_array(const Value& schema, const Value& value, const std::string& place, int depth) {
    const Value::Array* items = value.as_array();
    if (!items) return std::nullopt;
    if (auto fault = check_length(schema, "minItems", "maxItems", items->size(), place, "items")) {
      return fault;
    }
    const Value::Array* first = schema["prefixItems"].as_array();
    const Value* each = schema.find("items");
    for (std::size_t i = 0; i < items->size(); ++i) {
      const Value* of = first && i < first->size() ? &(*first)[i] : each;
      if (!of) continue;
      std::string inner = place + "[" + std::to_string(i) + "]";
      if (auto fault = check(*of, (*items)[i], inner, depth + 1)) return fault;
    }
    const bool* unique = schema["uniqueItems"].as_bool();
    if (!unique || !*unique) return std::nullopt;
    for (std::size_t i = 0; i < items->size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (++steps_ > steps_max || is_same((*items)[i], (*items)[k])) {
          return at(place) + "has an item twice: " + shown_value((*items)[i]);
        }
      }
    }
    return std::nullopt;
  }

  Fault check_object(const Value& schema, const Value& value, const std::string& place, int depth) {
    const Value::Object* members = value.as_object();
    if (!members) return std::nullopt;
    if (const Value::Array* required = schema["required"].as_array()) {
      for (const Value& name : *required) {
        const std::string* text = name.as_string();
        if (text && !value.find(*text)) return at(place) + "\"" + *text + "\" is missing";
      }
    }
    const Value& properties = schema["properties"];
    const Value* others = schema.find("additionalProperties");
    for (const auto& [name, member] : *members) {
      std::string shown = models::quotable(name, quoted_characters);
      std::string inner = place.empty() ? shown : place + "." + shown;
      const Value* of = properties.find(name);
      const bool* allowed = others ? others->as_bool() : nullptr;
      if (!of && allowed && !*allowed) return at(place) + "there is no \"" + shown + "\"";
      if (!of) of = others;
      if (!of) continue;
      if (auto fault = check(*of, member, inner, depth + 1)) return fault;
    }
    return std::nullopt;
  }

  Fault check_choices(const Value& schema, const Value& value, const std::string& place,
                      int depth) {
    if (const Value::Array* all = schema["allOf"].as_array()) {
      for (const Value& one : *all) {
        if (auto fault = check(one, value, place, depth + 1)) return fault;
      }
    }
    if (const Value::Array* any = schema["anyOf"].as_array()) {
      Fault first;
      if (count_fitting(*any, value, place, depth, first) == 0 && first) return first;
    }
    if (const Value::Array* one = schema["oneOf"].as_array()) {
      Fault first;
      std::size_t fitting = count_fitting(*one, value, place, depth, first);
      if (fitting == 0 && first) return first;
      if (fitting > 1)
        return at(place) + "obeys more than one of the forms that exclude each other";
    }
    const Value* forbidden = schema.find("not");
    if (forbidden && !check(*forbidden, value, place, depth + 1)) {
      return at(place) + "is what it must not be: " + shown_value(value);
    }
    return std::nullopt;
  }

  // Returns the number of schemas that the value matches. `first`: the fault of the first one that
  // it does not match.
  std::size_t count_fitting(const Value::Array& schemas, const Value& value,
                            const std::string& place, int depth, Fault& first) {
    std::size_t fitting = 0;
    for (const Value& one : schemas) {
      Fault fault = check(one, value, place, depth + 1);
      if (!fault) {
        ++fitting;
      } else if (!first) {
        first = std::move(fault);
      }
    }
    return fitting;
  }

  const Value& root_;
  int steps_ = 0;
};

}  // namespace

std::optional<std::string> schema_violation(const Value& schema, const Value& value) {
  return Checker(schema).check(schema, value, "", 0);
}

}  // namespace belay
