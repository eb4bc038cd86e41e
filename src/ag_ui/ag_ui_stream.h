#pragma once
// ag_ui/ag_ui_stream.h - AgUiStream: the events of a segment of a run, as server-sent events.
//
// The id of each one is the position of the client after it: see stream_position.h.
//
// Threading: the executor's thread. The service must outlive the stream.

#include <deque>
#include <memory>
#include <string>

#include "ag_ui/event_translator.h"
#include "http/message.h"

namespace belay::ag_ui {

class AgUiStream final : public http::BodyStream {
 public:
  // `reader`: of all events of the run, of the kinds translated_kinds().
  AgUiStream(Service& service, Principal who, EventTranslator translator,
             std::unique_ptr<EventReader> reader);

  Task<Result<std::string>> next() override;

 private:
  Task<Result<AgUiEvents>> events_of(StreamEvent event);
  Task<Result<std::vector<ApprovalRow>>> open_at(Instant pause);

  Service& service_;
  const Principal who_;
  EventTranslator translator_;
  const std::unique_ptr<EventReader> reader_;
  bool has_begun_ = false;
  std::deque<StreamEvent> read_;  // not translated yet
};

}  // namespace belay::ag_ui
