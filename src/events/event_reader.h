#pragma once
// events/event_reader.h - a reader of a run's durable events and of the text that its nodes stream.

#include <memory>

#include "belay/runtime.h"
#include "events/remote_text.h"
#include "events/run_events.h"

namespace belay {

// See Runtime::events(). The store and the executor of `parts` must outlive the reader. `self`: the
// session of this process, whose own text is not read from other processes' messages.
Task<Result<std::unique_ptr<EventReader>>> open_event_reader(
    RuntimeParts& parts, std::shared_ptr<const GraphRegistry> graphs, std::shared_ptr<TextHub> live,
    SessionId self, EventOptions options);

}  // namespace belay
