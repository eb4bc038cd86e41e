#pragma once
// driver/run_events.h - a run's durable events, page by page, made of its rows: see
// commit_events.h.

#include "driver/commit_events.h"
#include "driver/graph_registry.h"

namespace belay {

// As many commits as give some hundred kilobytes of events, and at least one event where there is
// one: a commit of several large ones may be told in parts.
struct EventPage {
  EventPlace place;
  std::vector<StreamEvent> events;
  bool is_behind = false;  // there is more to tell
  bool is_over = false;    // the run has ended, and everything is told
};

// Where a reader with these options begins.
Result<EventPlace> first_place(Snapshot& view, const GraphRegistry& graphs,
                               const EventOptions& options);
// What follows.
Result<EventPage> next_page(Snapshot& view, EventPlace place);

}  // namespace belay
