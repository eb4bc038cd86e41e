#pragma once
// ag_ui/stream_position.h - StreamPosition: what a client has received of the stream of a run, and
// its text, which is the id of each server-sent event.
//
//     12-3.1                   the event 1 of those made from the event 12-3 of the run
//     12-3.1~TASK:2:27:HASH    and 27 bytes, with this hash, of the text that the attempt 2 of TASK
//                              streams
//     12-3.1~TASK:2r1          and one message of the attempt 2 of TASK that another one has
//                              replaced
//
// A stream that continues after a position sends exactly what the client has not received: no
// event is repeated, and a text that was cut in the middle continues with its next byte.
//
// Threading: values.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "belay/event.h"

namespace belay::ag_ui {

struct OpenText {
  int attempt = 1;
  std::uint64_t bytes = 0;  // received
  // Of these bytes; unset: not known, as in positions of older servers.
  std::optional<std::uint64_t> hash = std::nullopt;
  friend bool operator==(const OpenText&, const OpenText&) = default;
};
using OpenTexts = std::map<TaskId, OpenText>;  // texts that have started and not ended
// The messages of attempts whose texts were streamed again in another form, by task and attempt.
using ReplacedTexts = std::map<std::pair<TaskId, int>, int>;

// The hash (FNV-1a) of a text whose first part has the hash `before`.
constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325;
std::uint64_t hash_of_text(std::string_view text, std::uint64_t before = hash_of_nothing);
// True if the text begins with the bytes that the client has received.
bool goes_on(const OpenText& open, std::string_view text);

struct StreamPosition {
  EventId event;           // the event of the run; {0, 0} and {SEQ, 0} begin a segment after SEQ
  std::uint64_t part = 0;  // of the events that are made from it
  OpenTexts open = {};
  ReplacedTexts replaced = {};
  std::string text() const;
  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};
// nullopt for a text that is not a position.
std::optional<StreamPosition> stream_position_from(std::string_view text);

}  // namespace belay::ag_ui
