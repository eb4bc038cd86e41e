#include "ag_ui/stream_position.h"

#include <algorithm>
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

bool add_text(std::string_view named, OpenTexts& open) {
  auto task = uuid_from(take_until(named, ':'));
  auto attempt = count_from(take_until(named, ':'));
  auto bytes = count_from(named);
  bool is_sound = task && attempt && bytes && *attempt > 0 &&
                  *attempt <= static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  if (!is_sound) return false;
  return open.emplace(TaskId(*task), OpenText{static_cast<int>(*attempt), *bytes}).second;
}

}  // namespace

std::string StreamPosition::text() const {
  std::string all = event.text() + "." + std::to_string(part);
  for (const auto& [task, text] : open) {
    all +=
        "~" + task.text() + ":" + std::to_string(text.attempt) + ":" + std::to_string(text.bytes);
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
    if (position.open.size() == kTextsMax) return std::nullopt;
    if (!add_text(take_until(text, '~'), position.open)) return std::nullopt;
  }
  // Each position has one text: others were not made here.
  if (position.text() != whole) return std::nullopt;
  return position;
}

}  // namespace belay::ag_ui
