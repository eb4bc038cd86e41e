#pragma once
// ag_ui/stream_position.h - StreamPosition: what a client has received of the stream of a run, and
// its text, which is the id of each server-sent event.
//
//     12-3.1                   the event 1 of those made from the event 12-3 of the run
//     12-3.1~TASK:2:27         and 27 bytes of the text that the attempt 2 of TASK streams
//
// A stream that continues after a position sends exactly what the client has not received: no
// event is repeated, and a text that was cut in the middle continues with its next byte.
//
// Threading: values.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "belay/event.h"

namespace belay::ag_ui {

struct OpenText {
  int attempt = 1;
  std::uint64_t bytes = 0;  // received
  friend bool operator==(const OpenText&, const OpenText&) = default;
};
using OpenTexts = std::map<TaskId, OpenText>;  // texts that have started and not ended

struct StreamPosition {
  EventId event;           // the event of the run; {0, 0} and {SEQ, 0} begin a segment after SEQ
  std::uint64_t part = 0;  // of the events that are made from it
  OpenTexts open = {};
  std::string text() const;
  friend bool operator==(const StreamPosition&, const StreamPosition&) = default;
};
// nullopt for a text that is not a position.
std::optional<StreamPosition> stream_position_from(std::string_view text);

}  // namespace belay::ag_ui
