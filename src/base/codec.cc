#include <array>
#include <charconv>
#include <cmath>

#include "belay/value.h"

namespace belay {
namespace {

template <typename Integer>
void append_integer(Integer number, std::string& out) {
  std::array<char, 24> text;
  auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  out.append(text.data(), written.ptr);
}

}  // namespace

void Encoder::write(std::int64_t value) { append_integer(value, text); }
void Encoder::write(std::uint64_t value) { append_integer(value, text); }

void Encoder::write(double value) {
  if (std::isfinite(value)) {
    write_json_number(value, text);
    return;
  }
  refuse("A number is NaN or infinite, which JSON can't say.");
}

void Encoder::write(Instant value) {
  // The range that instant_from() reads: years of four digits, from year 1.
  constexpr Instant first = std::chrono::sys_days(std::chrono::January / 1 / 1);
  constexpr Instant end = std::chrono::sys_days(std::chrono::January / 1 / 10'000);
  if (value < first || value >= end) return refuse("A time is not in the years 1 to 9999.");
  write(std::string_view(to_text(value)));
}

void Encoder::refuse(std::string why) {
  if (problem.empty()) problem = std::move(why);
  text += "null";
}

void Encoder::check_text(std::string_view value) {
  if (!problem.empty()) return;
  if (auto offset = first_invalid_utf8(value)) {
    problem = "A text is not valid UTF-8 at byte " + std::to_string(*offset) + ".";
  } else if (value.find('\0') != std::string_view::npos) {
    problem = "A text contains U+0000, which Belay does not store.";
  }
}

void Encoder::write(std::string_view value) {
  check_text(value);
  write_json_string(value, text);
}

void Encoder::write_value(const Value& value) {
  auto write_part = [this](const Value& part, auto name) {
    bool was_sound = problem.empty();
    write_value(part);
    if (was_sound && !problem.empty()) note_part(name());
  };
  if (const std::string* words = value.as_string()) {
    write(std::string_view(*words));
  } else if (const Value::Array* items = value.as_array()) {
    if (!enter()) return;
    text += '[';
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (i > 0) text += ',';
      write_part((*items)[i], [i] { return std::to_string(i); });
    }
    text += ']';
    leave();
  } else if (const Value::Object* members = value.as_object()) {
    if (!enter()) return;
    text += '{';
    bool first = true;
    for (const auto& member : *members) {
      write_key(member.first, std::exchange(first, false));
      write_part(member.second, [&member] { return std::string_view(member.first); });
    }
    text += '}';
    leave();
  } else {
    auto number = value.as_double();
    if (number && !std::isfinite(*number)) return write(*number);
    write_json(value, text);
  }
}

void Encoder::write_key(std::string_view key, bool first) {
  check_text(key);
  write_name(key, first);
}

bool Encoder::enter() {
  if (depth_ < limits::json_depth_max) {
    ++depth_;
    return true;
  }
  refuse("It is nested deeper than " + std::to_string(limits::json_depth_max) + " levels.");
  return false;
}

void Encoder::note_part(std::string_view name) {
  std::string place = "At \"";
  if (is_located_) problem.erase(0, place.size());
  place += name;
  problem.insert(0, place + (is_located_ ? "." : "\": "));
  is_located_ = true;
}

void Encoder::write_name(std::string_view name, bool first) {
  if (!first) text += ',';
  write_json_string(name, text);
  text += ':';
}

bool Decoder::mismatch(std::string_view expected, const Value& found) {
  if (!problem.empty()) return false;
  for (const std::string& part : path) {
    if (!problem.empty()) problem += '.';
    problem += part;
  }
  problem = (problem.empty() ? std::string("The value") : "\"" + problem + "\"") + " should be " +
            std::string(expected) + ", but is ";
  std::string text = to_json(found);
  problem += text.size() <= 40 ? text + "." : std::string(found.kind()) + ".";
  return false;
}

}  // namespace belay
