#pragma once
// events/run_events.h - reads a run's durable events page by page (see commit_events.h).

#include "events/commit_events.h"
#include "load/graph_registry.h"

namespace belay {

// Events of several commits, some hundred kilobytes in total, but at least one event if any exists:
// a commit with several large events might be split over pages.
struct EventPage {
  EventCursor place;
  std::vector<StreamEvent> events;
  bool is_behind = false;  // more events are available
  bool is_over = false;    // the run has ended, and all of its events were returned
};

// Returns the position at which a reader with these options starts.
Result<EventCursor> first_place(Snapshot& view, const GraphRegistry& graphs,
                                const EventOptions& options);
// Returns the events after the position.
Result<EventPage> next_page(Snapshot& view, EventCursor place);

}  // namespace belay
