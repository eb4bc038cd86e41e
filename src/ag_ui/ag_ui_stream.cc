#include "ag_ui/ag_ui_stream.h"

#include <iterator>

namespace belay::ag_ui {
namespace {

std::string sse_text(const AgUiEvents& events) {
  std::string text;
  for (const AgUiEvent& each : events) {
    text += "id: " + each.position.text() + "\ndata: ";
    // JSON text contains no line break, which would end the "data:" field.
    write_json(each.event, text);
    text += "\n\n";
  }
  return text;
}

}  // namespace

AgUiStream::AgUiStream(Service& service, Principal who, EventTranslator translator,
                       std::unique_ptr<EventReader> reader)
    : service_(service),
      who_(std::move(who)),
      translator_(std::move(translator)),
      reader_(std::move(reader)) {}

Task<Result<std::string>> AgUiStream::next() {
  if (!has_begun_) {
    has_begun_ = true;
    std::string text = sse_text(translator_.begin());
    if (!text.empty()) co_return std::move(text);
  }
  while (!read_.empty() || !translator_.has_ended()) {
    if (read_.empty()) {
      BELAY_CO_TRY(std::vector<StreamEvent> events, co_await reader_->next());
      if (events.empty()) break;
      read_.assign(std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
    }
    StreamEvent event = std::move(read_.front());
    read_.pop_front();
    BELAY_CO_TRY(AgUiEvents events, co_await events_of(std::move(event)));
    std::string text = sse_text(events);
    if (!text.empty()) co_return std::move(text);
  }
  co_return std::string();
}

Task<Result<AgUiEvents>> AgUiStream::events_of(StreamEvent event) {
  AgUiEvents events = translator_.translate(event);
  if (!translator_.has_paused()) co_return std::move(events);
  BELAY_CO_TRY(std::vector<ApprovalRow> open, co_await open_at(event.at));
  if (open.empty()) co_return std::move(events);
  AgUiEvents last = translator_.interrupted(event, open);
  std::move(last.begin(), last.end(), std::back_inserter(events));
  co_return std::move(events);
}

// The approvals that were open at the pause: their rows are the same for each later reader.
Task<Result<std::vector<ApprovalRow>>> AgUiStream::open_at(Instant pause) {
  std::vector<ApprovalRow> open;
  const std::vector<InterruptId> asked = translator_.asked();
  for (const InterruptId& interrupt : asked) {
    Whose any;
    std::string id = interrupt.text();
    BELAY_CO_TRY(ApprovalRow row, co_await service_.approval(who_, std::move(id), std::move(any)));
    if (translator_.is_open_at(row, pause)) open.push_back(std::move(row));
  }
  co_return std::move(open);
}

}  // namespace belay::ag_ui
