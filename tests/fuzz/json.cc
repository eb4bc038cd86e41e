// The exact JSON reader: an accepted text is written such that it reads back as the same value, bit
// for bit.

#include "belay/value.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

void numbers_agree(const Value& value) {
  if (const Value::Array* items = value.as_array()) {
    for (const Value& item : *items) numbers_agree(item);
  } else if (const Value::Object* members = value.as_object()) {
    for (const auto& [name, member] : *members) numbers_agree(member);
  } else if (auto whole = value.as_int()) {
    require(value.as_double().has_value(), "a whole number is a number");
    if (*whole >= 0) {
      require(value.as_uint() == static_cast<std::uint64_t>(*whole), "a natural number is whole");
    }
  }
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(Json, "json") {
  using namespace belay;
  auto value = parse_json(input);
  if (!value.ok()) {
    fuzz::require_sound(value.error());
    fuzz::require(value.error().code == ErrorCode::invalid, "what is no JSON is invalid");
  } else {
    std::string text = to_json(*value);
    fuzz::require(!first_invalid_utf8(text), "JSON is UTF-8");
    fuzz::require(text.find('\n') == text.npos, "JSON is one line");
    auto again = parse_json(text);
    fuzz::require(again.ok() && *again == *value, "what was written reads back as the same value");
    fuzz::require(to_json(*again) == text, "one value has one text");
    auto pretty = parse_json(to_pretty_json(*value));
    fuzz::require(pretty.ok() && *pretty == *value, "so does what is written for people");
    auto encoded = encode_json(*value);
    fuzz::require(encoded.ok() && *encoded == text, "both writers agree");
    fuzz::numbers_agree(*value);
  }
  if (first_invalid_utf8(input) || input.find('\0') != input.npos) return;
  std::string quoted;
  write_json_string(input, quoted);
  auto back = parse_json(quoted);
  fuzz::require(back.ok() && back->as_string() && *back->as_string() == input,
                "any text comes back from its JSON string");
}
