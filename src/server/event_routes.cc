// The events of a run, as a stream of server-sent events, or as a page.

#include <deque>
#include <iterator>

#include "base/json_bytes.h"
#include "belay/limits.h"
#include "server/heartbeat.h"
#include "server/routes.h"

namespace belay::server {
namespace {

constexpr std::chrono::milliseconds kReconnect{1'000};  // sent as "retry:"
constexpr std::chrono::milliseconds kIdlePoll{5'000};
constexpr std::size_t kPieceBytes = 16 * 1024;  // of a stream, unless one event is larger
constexpr std::size_t kPageMax = limits::bounded(1'000);
// A page ends with the event that reaches this size; a single event can be larger.
constexpr std::size_t kReplyBytesMax = 1024 * 1024;

// Returns the event's document; moves the body, which might be a whole state.
Value document_of(StreamEvent event) {
  Value body = std::exchange(event.body, Value());
  Value document = to_value(event);
  document.as_object()->insert_or_assign("body", std::move(body));
  return document;
}

std::string sse_text(StreamEvent event) {
  std::string text;
  if (event.id) text += "id: " + event.id->text() + "\n";
  text += "event: " + std::string(name_of(event.kind)) + "\ndata: ";
  // JSON text contains no line break, which would end the "data:" field.
  write_json(document_of(std::move(event)), text);
  return text += "\n\n";
}

// Sends events as they arrive, each large one in its own piece. The last event reports the end of
// the run. The store is read again only after the client has received the earlier events.
class SseStream final : public http::BodyStream {
 public:
  explicit SseStream(std::unique_ptr<EventReader> reader) : reader_(std::move(reader)) {}

  Task<Result<std::string>> next() override {
    if (!has_started_) {
      has_started_ = true;
      co_return "retry: " + std::to_string(kReconnect.count()) + "\n\n";
    }
    if (has_ended_) co_return std::string();
    if (!read_.empty()) co_return take_some();
    BELAY_CO_TRY(std::vector<StreamEvent> events, co_await reader_->next());
    if (events.empty()) {
      has_ended_ = true;
      co_return std::string("event: end\ndata: {}\n\n");
    }
    read_.assign(std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
    events.clear();
    co_return take_some();
  }

 private:
  // Takes one event, and the small events after it.
  std::string take_some() {
    std::string text;
    do {
      text += sse_text(std::move(read_.front()));
      read_.pop_front();
    } while (!read_.empty() && text.size() + json_bytes(read_.front().body) < kPieceBytes);
    return text;
  }

  const std::unique_ptr<EventReader> reader_;
  bool has_started_ = false;
  bool has_ended_ = false;
  std::deque<StreamEvent> read_;  // not sent yet
};

Result<std::vector<EventKind>> kinds_in(const StringMap& query) {
  std::vector<EventKind> kinds;
  auto found = query.find("kinds");
  if (found == query.end()) return kinds;
  std::string_view rest = found->second;
  while (true) {
    std::size_t end = std::min(rest.find(','), rest.size());
    auto kind = event_kind_named(rest.substr(0, end));
    if (!kind) {
      return error(ErrorCode::invalid,
                   "Invalid \"kinds\": expected a comma-separated list of status, values, updates, "
                   "messages, custom, tasks, checkpoints, approvals and debug.");
    }
    kinds.push_back(*kind);
    if (end == rest.size()) return kinds;
    rest.remove_prefix(end + 1);
  }
}

// Returns the id of the last event that the client has received: the parameter, or the header that
// browsers send when they reconnect.
Result<std::optional<EventId>> seen_in(const Call& call) {
  std::string text(call.request.header("Last-Event-ID"));
  if (auto found = call.query.find("after"); found != call.query.end()) text = found->second;
  if (text.empty()) return std::optional<EventId>();
  auto id = event_id_from(text);
  if (id) return id;
  return error(ErrorCode::invalid, "Invalid event id \"" + text.substr(0, 40) +
                                       "\": expected SEQ-INDEX, such as 12-3.");
}

Result<EventOptions> options_of(const Call& call) {
  EventOptions options;
  BELAY_TRY(options.kinds, kinds_in(call.query));
  BELAY_TRY(options.after, seen_in(call));
  options.follow = !call.query.contains("follow") || call.query.at("follow") == "true";
  return options;
}

bool wants_stream(const Call& call) {
  std::string_view accepted = call.request.header("Accept");
  return accepted.find("text/event-stream") != accepted.npos;
}

// Returns all existing events, or one page of them; `next` is the `after` of the next page.
Task<Result<Reply>> page_of(Service& service, const Principal& who, EventOptions options) {
  options.follow = false;
  std::optional<EventId> last = options.after;
  BELAY_CO_TRY(std::unique_ptr<EventReader> reader,
               co_await service.events(who, std::move(options)));
  Value::Array events;
  std::size_t bytes = 0;
  bool is_full = false;
  while (!is_full) {
    BELAY_CO_TRY(std::vector<StreamEvent> some, co_await reader->next());
    if (some.empty()) break;
    for (StreamEvent& event : some) {
      bytes += json_bytes(event.body);
      if (event.id) last = event.id;
      events.push_back(document_of(std::move(event)));
      is_full = events.size() == kPageMax || bytes >= kReplyBytesMax;
      if (is_full) break;
    }
  }
  Value next;
  if (is_full && last) next = last->text();
  co_return reply_with(Value::object({{"events", std::move(events)}, {"next", std::move(next)}}));
}

Task<Result<Reply>> events_of(ApiContext& world, Service& service, const Principal& who,
                              EventOptions options, bool streams) {
  // Thousands of clients might wait for events of paused runs: poll less often.
  options.poll_max = kIdlePoll;
  if (!streams) co_return co_await page_of(service, who, std::move(options));
  BELAY_CO_TRY(std::unique_ptr<EventReader> reader,
               co_await service.events(who, std::move(options)));
  Reply reply;
  reply.headers = event_stream_headers();
  reply.stream = std::make_unique<HeartbeatStream>(world.parts.executor,
                                                   std::make_unique<SseStream>(std::move(reader)),
                                                   world.options.heartbeat);
  co_return std::move(reply);
}

Route event_route(std::string path, std::string id, std::string summary) {
  Route route = route_of("GET", std::move(path), std::move(id), std::move(summary));
  Value text = Value::object({{"type", "string"}});
  Value truth = Value::object({{"type", "boolean"}, {"default", true}});
  Parameter last = query_parameter(
      "Last-Event-ID", "Id of the last received event; browsers send it when they reconnect", text);
  last.in = Parameter::In::header;
  route.parameters = {query_parameter("kinds", "Only these kinds, comma-separated", text),
                      query_parameter("after", "Only events after this id", std::move(text)),
                      query_parameter("follow", "Wait for further events", std::move(truth)),
                      std::move(last)};
  route.answers = {
      {200,
       "A page, whose `next` is the `after` of the next page; with Accept: text/event-stream, a "
       "stream",
       "EventList"},
      {200, "Events as they are committed; `event: end` is the last", "", "text/event-stream"}};
  return route;
}

Route thread_events(ApiContext& world) {
  Route route = event_route("/api/threads/{threadId}/events", "streamThreadEvents",
                            "Events of a run of the thread");
  route.parameters.push_back(run_parameter());
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(EventOptions options, options_of(call));
    options.thread = thread_in(call);
    BELAY_CO_TRY(options.run, named_run_in(call));
    co_return co_await events_of(served, call.service, call.who, std::move(options),
                                 wants_stream(call));
  });
  return route;
}

Route run_events(ApiContext& world) {
  Route route = event_route("/api/runs/{runId}/events", "streamRunEvents", "Events of a run");
  route.handle = with(world, [](ApiContext& served, Call call) -> Task<Result<Reply>> {
    BELAY_CO_TRY(EventOptions options, options_of(call));
    auto id = uuid_from(call.path.at("runId"));
    if (!id) co_return error(ErrorCode::not_found, "Unknown run.");
    BELAY_CO_TRY(RunRow row, co_await call.service.run(call.who, RunId(*id)));
    options.thread = row.thread;
    options.run = row.run;
    co_return co_await events_of(served, call.service, call.who, std::move(options),
                                 wants_stream(call));
  });
  return route;
}

}  // namespace

std::vector<Route> event_routes(ApiContext& world) {
  std::vector<Route> routes;
  routes.push_back(thread_events(world));
  routes.push_back(run_events(world));
  return routes;
}

}  // namespace belay::server
