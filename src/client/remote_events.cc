#include "client/remote_events.h"

#include "service/json_decode.h"

namespace belay::client {
namespace {

// The value of a channel, and the members around it.
constexpr std::size_t kEventBytesMax = std::size_t{256} << 20;

std::string target_of(const EventOptions& options) {
  Target target("/api/threads");
  target.segment(options.thread.text);
  std::string path = target.text();
  if (options.run) path = Target("/api/runs").segment(options.run->text()).text();
  Target whole(path + "/events");
  std::string kinds;
  for (EventKind kind : options.kinds)
    kinds += (kinds.empty() ? "" : ",") + std::string(name_of(kind));
  if (!kinds.empty()) whole.query("kinds", kinds);
  if (!options.follow) whole.query("follow", "false");
  return whole.text();
}

}  // namespace

RemoteEvents::RemoteEvents(Connection& connection, EventOptions options)
    : connection_(connection),
      target_(target_of(options)),
      seen_(options.after),
      patience_(connection.options().patience) {}

Task<Result<std::unique_ptr<EventReader>>> RemoteEvents::open(Connection& connection,
                                                              EventOptions options) {
  auto reader = std::make_unique<RemoteEvents>(connection, std::move(options));
  BELAY_CO_CHECK(co_await reader->connect());
  std::unique_ptr<EventReader> opened = std::move(reader);
  co_return std::move(opened);
}

Task<Result<Done>> RemoteEvents::connect() {
  std::string last;
  if (seen_) last = seen_->text();
  auto answer = co_await connection_.ask_for_events(target_, std::move(last));
  if (!answer.ok()) co_return std::move(answer).error();
  answer_.emplace(*std::move(answer));
  stream_.emplace(kEventBytesMax);
  co_return Done{};
}

Task<Result<std::vector<StreamEvent>>> RemoteEvents::next() {
  std::vector<StreamEvent> events;
  while (!has_ended_) {
    if (!answer_) {
      auto connected = co_await connect();
      bool is_gone = !connected.ok() && connected.error().code == ErrorCode::unavailable;
      if (is_gone && co_await patience_.wait()) continue;
      if (!connected.ok()) co_return std::move(connected).error();
    }
    auto piece = co_await answer_->read();
    bool is_broken = !piece.ok() || piece->empty();
    if (is_broken) {
      answer_.reset();
      if (co_await patience_.wait()) continue;
      // The next call to next() tries again.
      patience_.renew(connection_.options().patience);
      co_return error(ErrorCode::unavailable,
                      "The events of the server at " + connection_.base() +
                          " were interrupted repeatedly. Check the server, and try again.");
    }
    auto taken = take(*piece, events);
    // Returns the events before the fault now. The next call reconnects after them and returns the
    // fault.
    if (!taken.ok()) answer_.reset();
    if (!taken.ok() && events.empty()) co_return std::move(taken).error();
    has_ended_ = taken.ok() && *taken;
    if (events.empty()) continue;
    patience_.renew(connection_.options().patience);
    co_return std::move(events);
  }
  co_return std::move(events);
}

Result<bool> RemoteEvents::take(std::string_view bytes, std::vector<StreamEvent>& events) {
  std::vector<net::StreamEvent> told;
  BELAY_CHECK(stream_->take(bytes, told));
  for (const net::StreamEvent& one : told) {
    if (one.name == "end") return true;
    BELAY_TRY(Value document, connection_.fitting(parse_json(one.data)));
    BELAY_TRY(StreamEvent event, connection_.fitting(event_from(document)));
    if (event.id && seen_ && *event.id <= *seen_) continue;
    if (event.id) seen_ = event.id;
    if (is_news(event)) events.push_back(std::move(event));
  }
  return false;
}

bool RemoteEvents::is_news(StreamEvent& event) {
  const std::string* text = event.body["text"].as_string();
  if (event.id && event.kind == EventKind::messages) heard_.erase(event.task);
  if (event.id || !text) return true;
  Heard& heard = heard_[event.task];
  if (heard.attempt != event.attempt) heard = {event.attempt, 0};
  std::uint64_t end = event.offset + text->size();
  if (end <= heard.bytes) return false;
  if (event.offset < heard.bytes) {
    std::string rest = text->substr(static_cast<std::size_t>(heard.bytes - event.offset));
    event.offset = heard.bytes;
    event.body = Value::object({{"text", std::move(rest)}});
  }
  heard.bytes = end;
  return true;
}

}  // namespace belay::client
