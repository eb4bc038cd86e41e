// Parses and writes JSON. Parsing uses Boost.JSON's incremental parser for the grammar, UTF-8 and
// depth, with Belay's own handler: Boost's conversion changes the last bit of one double in ten and
// accepts 1e400 as infinity. Belay has its own writer for the same reason (docs/dependencies.md).

#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>

#include "base/swar.h"
#include "belay/limits.h"
#include "belay/value.h"

namespace belay {
namespace {

namespace json = boost::json;
using json::error_code;

class Handler {
 public:
  static constexpr std::size_t max_object_size = -1;
  static constexpr std::size_t max_array_size = -1;
  static constexpr std::size_t max_key_size = -1;
  static constexpr std::size_t max_string_size = -1;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return open(Value::Object()); }
  bool on_array_begin(error_code&) { return open(Value::Array()); }
  bool on_object_end(std::size_t, error_code&) { return close(); }
  bool on_array_end(std::size_t, error_code&) { return close(); }
  bool on_string_part(json::string_view part, std::size_t, error_code&) { return append(part); }
  bool on_key_part(json::string_view part, std::size_t, error_code&) { return append(part); }
  bool on_number_part(json::string_view part, error_code&) { return append(part); }

  bool on_key(json::string_view part, std::size_t, error_code& failure) {
    append(part);
    if (has_nul(failure)) return false;
    Level& level = levels_.back();
    level.key = std::move(text_);
    text_.clear();
    if (level.container.find(level.key)) {
      return refuse("the member name \"" + level.key + "\" stands twice in one object", failure);
    }
    return true;
  }

  bool on_string(json::string_view part, std::size_t, error_code& failure) {
    append(part);
    if (has_nul(failure)) return false;
    Value value(std::move(text_));
    text_.clear();
    return add(std::move(value));
  }

  bool on_int64(std::int64_t number, json::string_view, error_code&) {
    text_.clear();
    return add(Value(number));
  }

  bool on_uint64(std::uint64_t number, json::string_view, error_code&) {
    text_.clear();
    return add(Value(number));
  }

  bool on_double(double, json::string_view part, error_code& failure) {
    append(part);
    double number = 0;
    auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (code != std::errc() || end != text_.data() + text_.size() || !std::isfinite(number)) {
      return refuse("the number " + text_.substr(0, 40) + " does not fit a double", failure);
    }
    text_.clear();
    return add(Value(number));
  }

  bool on_bool(bool value, error_code&) { return add(Value(value)); }
  bool on_null(error_code&) { return add(Value()); }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }

  Value take() { return std::move(result_); }
  const std::string& reason() const { return reason_; }

 private:
  struct Level {
    Value container;
    std::string key;
  };

  bool append(json::string_view part) {
    text_.append(part.data(), part.size());
    return true;
  }

  bool has_nul(error_code& failure) {
    if (text_.find('\0') == std::string::npos) return false;
    refuse("a string contains U+0000, which Belay does not store", failure);
    return true;
  }

  bool refuse(std::string reason, error_code& failure) {
    reason_ = std::move(reason);
    failure = json::error::syntax;
    return false;
  }

  bool open(Value container) {
    levels_.push_back({std::move(container), {}});
    return true;
  }

  bool close() {
    Value value = std::move(levels_.back().container);
    levels_.pop_back();
    return add(std::move(value));
  }

  bool add(Value value) {
    if (levels_.empty()) {
      result_ = std::move(value);
      return true;
    }
    Level& level = levels_.back();
    if (Value::Array* items = level.container.as_array()) {
      items->push_back(std::move(value));
    } else {
      level.container.as_object()->emplace(std::move(level.key), std::move(value));
    }
    return true;
  }

  std::vector<Level> levels_;
  std::string text_;
  std::string reason_;
  Value result_;
};

constexpr std::array<char, 16> hex_digits{'0', '1', '2', '3', '4', '5', '6', '7',
                                          '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

void write_escape(char c, std::string& out) {
  switch (c) {
    case '"':
    case '\\':
      out += {'\\', c};
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += {'\\',
              'u',
              '0',
              '0',
              hex_digits[static_cast<unsigned char>(c) >> 4],
              hex_digits[static_cast<unsigned char>(c) & 0x0f]};
  }
}

template <typename Integer>
void write_integer(Integer number, std::string& out) {
  std::array<char, 24> text;
  auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  out.append(text.data(), written.ptr);
}

void write_pretty(const Value& value, std::size_t indent, std::string& out) {
  auto new_line = [&](std::size_t width) { out.append("\n").append(width, ' '); };
  if (const Value::Array* items = value.as_array(); items && !items->empty()) {
    out += '[';
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (i > 0) out += ',';
      new_line(indent + 2);
      write_pretty((*items)[i], indent + 2, out);
    }
    new_line(indent);
    out += ']';
  } else if (const Value::Object* members = value.as_object(); members && !members->empty()) {
    out += '{';
    bool first = true;
    for (const auto& [name, member] : *members) {
      if (!std::exchange(first, false)) out += ',';
      new_line(indent + 2);
      write_json_string(name, out);
      out += ": ";
      write_pretty(member, indent + 2, out);
    }
    new_line(indent);
    out += '}';
  } else {
    write_json(value, out);
  }
}

}  // namespace

Value::Value(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(INT64_MAX)) {
    held_ = static_cast<std::int64_t>(value);
  } else {
    held_ = value;
  }
}

bool Value::is_number() const { return as_double().has_value(); }

bool Value::holds_integer() const {
  return std::holds_alternative<std::int64_t>(held_) ||
         std::holds_alternative<std::uint64_t>(held_);
}

std::optional<std::int64_t> Value::as_int() const {
  if (auto number = std::get_if<std::int64_t>(&held_)) return *number;
  if (auto number = std::get_if<double>(&held_)) {
    // Both bounds are exact doubles; 2^63 itself does not fit.
    if (*number >= -0x1p63 && *number < 0x1p63 && std::trunc(*number) == *number) {
      return static_cast<std::int64_t>(*number);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Value::as_uint() const {
  if (auto number = std::get_if<std::uint64_t>(&held_)) return *number;
  if (auto number = as_int(); number && *number >= 0) return static_cast<std::uint64_t>(*number);
  return std::nullopt;
}

std::optional<double> Value::as_double() const {
  if (auto number = std::get_if<double>(&held_)) return *number;
  if (auto number = std::get_if<std::int64_t>(&held_)) return static_cast<double>(*number);
  if (auto number = std::get_if<std::uint64_t>(&held_)) return static_cast<double>(*number);
  return std::nullopt;
}

const Value* Value::find(std::string_view name) const {
  const Object* members = as_object();
  if (!members) return nullptr;
  auto found = members->find(name);
  return found == members->end() ? nullptr : &found->second;
}

const Value& Value::operator[](std::string_view name) const {
  static const Value null;
  const Value* found = find(name);
  return found ? *found : null;
}

std::string_view Value::kind() const {
  static constexpr std::array<std::string_view, 8> kinds{"null",   "boolean", "number", "number",
                                                         "number", "string",  "array",  "object"};
  return kinds[held_.index()];
}

Result<Value> parse_json(std::string_view text, std::size_t depth_max) {
  json::parse_options options;
  options.max_depth = depth_max;
  json::basic_parser<Handler> parser(options);
  error_code failure;
  std::size_t read = parser.write_some(false, text.data(), text.size(), failure);
  if (!failure && read < text.size()) failure = json::error::extra_data;
  if (!failure) return parser.handler().take();

  std::string why = parser.handler().reason();
  if (why.empty() && failure == json::error::too_deep) {
    why = "nested deeper than " + std::to_string(depth_max) + " levels";
  }
  if (why.empty()) why = failure.message();
  return error(ErrorCode::invalid,
               "Not valid JSON at byte " + std::to_string(read) + ": " + why + ".");
}

void write_json_string(std::string_view text, std::string& out) {
  out.reserve(out.size() + text.size() + 2);
  out += '"';
  std::size_t written = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    while (text.size() - i > 8 && swar::need_no_escape(text.data() + i)) i += 8;
    char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, written, i - written);
    write_escape(c, out);
    written = i + 1;
  }
  out.append(text, written, text.size() - written);
  out += '"';
}

void write_json_number(double number, std::string& out) {
  std::array<char, 32> text;
  auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  std::string_view digits(text.data(), static_cast<std::size_t>(written.ptr - text.data()));
  out += digits;
  // Keeps the number a double when it is read back.
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void write_json(const Value& value, std::string& out) {
  if (value.is_null()) {
    out += "null";
  } else if (const bool* flag = value.as_bool()) {
    out += *flag ? "true" : "false";
  } else if (auto integer = std::get_if<std::int64_t>(&value.held_)) {
    write_integer(*integer, out);
  } else if (auto natural = std::get_if<std::uint64_t>(&value.held_)) {
    write_integer(*natural, out);
  } else if (auto number = std::get_if<double>(&value.held_)) {
    std::isfinite(*number) ? write_json_number(*number, out) : void(out += "null");
  } else if (const std::string* text = value.as_string()) {
    write_json_string(*text, out);
  } else if (const Value::Array* items = value.as_array()) {
    out += '[';
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (i > 0) out += ',';
      write_json((*items)[i], out);
    }
    out += ']';
  } else if (const Value::Object* members = value.as_object()) {
    out += '{';
    bool first = true;
    for (const auto& [name, member] : *members) {
      if (!std::exchange(first, false)) out += ',';
      write_json_string(name, out);
      out += ':';
      write_json(member, out);
    }
    out += '}';
  }
}

std::string to_json(const Value& value) {
  std::string out;
  write_json(value, out);
  return out;
}

std::string to_pretty_json(const Value& value) {
  std::string out;
  write_pretty(value, 0, out);
  return out;
}

}  // namespace belay
