#include "ag_ui/stream_position.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "server/routes.h"

namespace belay::ag_ui {
namespace {

constexpr std::size_t kTextsMax = 1'000;

std::string_view take_until(std::string_view& text, char end) {
  std::size_t length = std::min(text.find(end), text.size());
  std::string_view taken = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

std::optional<std::uint64_t> count_from(std::string_view text) {
  auto number = server::number_from(text);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<int> attempt_from(std::string_view text) {
  auto number = count_from(text);
  bool is_sound = number && *number > 0 &&
                  *number <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  if (!is_sound) return std::nullopt;
  return static_cast<int>(*number);
}

std::string hash_text(std::uint64_t hash) {
  std::string text(16, '0');
  for (std::size_t i = text.size(); i > 0; hash >>= 4) text[--i] = "0123456789abcdef"[hash & 0xF];
  return text;
}

std::optional<std::uint64_t> hash_from(std::string_view text) {
  std::uint64_t hash = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return hash;
}

bool add_replaced(const TaskId& task, std::string_view named, ReplacedTexts& replaced) {
  auto attempt = attempt_from(take_until(named, 'r'));
  auto count = attempt_from(named);
  if (!attempt || !count) return false;
  return replaced.emplace(std::pair(task, *attempt), *count).second;
}

bool add_text(std::string_view named, StreamPosition& position) {
  auto task = uuid_from(take_until(named, ':'));
  if (!task) return false;
  bool is_replaced = named.find('r') != named.npos;
  if (is_replaced) return add_replaced(TaskId(*task), named, position.replaced);
  auto attempt = attempt_from(take_until(named, ':'));
  auto bytes = count_from(take_until(named, ':'));
  if (!attempt || !bytes) return false;
  OpenText text{*attempt, *bytes};
  if (!named.empty()) {
    text.hash = hash_from(named);
    if (!text.hash) return false;
  }
  return position.open.emplace(TaskId(*task), text).second;
}

}  // namespace

std::uint64_t hash_of_text(std::string_view text, std::uint64_t before) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (char each : text) before = (before ^ static_cast<unsigned char>(each)) * prime;
  return before;
}

bool goes_on(const OpenText& open, std::string_view text) {
  if (open.bytes == 0 || !open.hash) return true;
  return text.size() >= open.bytes && hash_of_text(text.substr(0, open.bytes)) == *open.hash;
}

std::string StreamPosition::text() const {
  std::string all = event.text() + "." + std::to_string(part);
  for (const auto& [task, text] : open) {
    all +=
        "~" + task.text() + ":" + std::to_string(text.attempt) + ":" + std::to_string(text.bytes);
    if (text.hash && text.bytes > 0) all += ":" + hash_text(*text.hash);
  }
  for (const auto& [of, count] : replaced) {
    all += "~" + of.first.text() + ":" + std::to_string(of.second) + "r" + std::to_string(count);
  }
  return all;
}

std::optional<StreamPosition> stream_position_from(std::string_view text) {
  const std::string_view whole = text;
  std::string_view durable = take_until(text, '~');
  std::string_view id = take_until(durable, '.');
  auto event = event_id_from(id);
  auto part = count_from(durable);
  if (!event || !part) return std::nullopt;
  StreamPosition position{*event, *part};
  while (!text.empty()) {
    if (position.open.size() + position.replaced.size() == kTextsMax) return std::nullopt;
    if (!add_text(take_until(text, '~'), position)) return std::nullopt;
  }
  // Each position has one text: others were not made here.
  if (position.text() != whole) return std::nullopt;
  return position;
}

}  // namespace belay::ag_ui
