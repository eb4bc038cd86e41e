#include "events/event_reader.h"

#include <algorithm>
#include <iterator>

#include "events/run_events.h"

namespace belay {
namespace {

class RunEventReader final : public EventReader {
 public:
  RunEventReader(Store& store, Executor& executor, std::shared_ptr<TextHub> live,
                 EventOptions options, EventCursor place, Broadcast* broadcast, SessionId self)
      : store_(store),
        executor_(executor),
        live_(std::move(live)),
        options_(std::move(options)),
        place_(std::move(place)),
        wait_(options_.poll),
        interest_(*live_, place_.of.run),
        far_(broadcast, executor_, live_, place_.of.run, self) {}

  Task<Result<std::vector<StreamEvent>>> next() override {
    while (true) {
      interest_.begin_look();
      // Read before the events: if a commit happens in between, the token differs at the next poll,
      // and the commit is not missed.
      auto version = store_.change_token();
      if (!version || version != nothing_at_) {
        auto page = co_await read_page();
        if (!page.ok()) co_return std::move(page).error();
        place_ = std::move(page->place);
        if (!page->events.empty()) {
          wait_ = options_.poll;
          co_return std::move(page->events);
        }
        if (page->is_behind) continue;
        if (page->is_over) break;
        nothing_at_ = version;
      }
      auto said = take_said();
      if (!said.empty()) co_return std::move(said);
      if (!options_.follow) break;
      co_await interest_.wait(executor_, wait_);
      wait_ = std::max(options_.poll, std::min(2 * wait_, options_.poll_max));
    }
    co_return std::vector<StreamEvent>();
  }

 private:
  Task<Result<EventPage>> read_page() {
    std::function<Result<EventPage>(Snapshot&)> reader = [place = place_](Snapshot& view) {
      return next_page(view, place);
    };
    co_return co_await read<EventPage>(store_, std::move(reader));
  }

  // Returns the text that running attempts have streamed since the last call.
  std::vector<StreamEvent> take_said() {
    std::vector<StreamEvent> said;
    if (!place_.wants(EventKind::messages)) return said;
    const auto& speakers = live_->speakers(place_.of.run);
    std::erase_if(heard_, [&](const auto& each) { return !speakers.contains(each.first); });
    for (const auto& [task, speaker] : speakers) {
      const Context& context = speaker->context();
      Heard& heard = heard_[task];
      if (heard.attempt != context.attempt()) heard = {context.attempt(), 0};
      std::string_view text = context.streamed();
      if (text.size() <= heard.bytes) continue;
      StreamEvent& event = said.emplace_back();
      event.kind = EventKind::messages;
      event.thread = options_.thread;
      event.run = place_.of.run;
      event.checkpoint_ns = speaker->checkpoint_ns();
      event.node = context.node();
      event.task = task;
      event.attempt = heard.attempt;
      event.offset = heard.bytes;
      event.body = Value::object({{"text", text.substr(heard.bytes)}});
      event.at = context.now();
      heard.bytes = text.size();
    }
    auto far = far_.take(place_, options_.thread);
    std::move(far.begin(), far.end(), std::back_inserter(said));
    return said;
  }

  struct Heard {
    int attempt = 0;
    std::size_t bytes = 0;
  };

  Store& store_;
  Executor& executor_;
  std::shared_ptr<TextHub> live_;
  EventOptions options_;
  EventCursor place_;
  std::chrono::milliseconds wait_;
  std::optional<std::uint64_t> nothing_at_;  // the change token at which there were no more events
  std::map<TaskId, Heard> heard_;
  TextHub::Reader interest_;
  RemoteTextReader far_;
};

}  // namespace

Task<Result<std::unique_ptr<EventReader>>> open_event_reader(
    RuntimeParts& parts, std::shared_ptr<const GraphRegistry> graphs, std::shared_ptr<TextHub> live,
    SessionId self, EventOptions options) {
  if (options.poll.count() <= 0) {
    co_return error(ErrorCode::invalid, "The poll interval must be above zero.");
  }
  std::function<Result<EventCursor>(Snapshot&)> reader =
      [options, graphs = std::move(graphs)](Snapshot& view) {
        return first_place(view, *graphs, options);
      };
  auto place = co_await read<EventCursor>(parts.store, std::move(reader));
  if (!place.ok()) co_return std::move(place).error();
  bool hears_text = options.follow && place->wants(EventKind::messages);
  Broadcast* broadcast = hears_text ? parts.hints.broadcast : nullptr;
  std::unique_ptr<EventReader> made =
      std::make_unique<RunEventReader>(parts.store, parts.executor, std::move(live),
                                       std::move(options), *std::move(place), broadcast, self);
  co_return std::move(made);
}

}  // namespace belay
