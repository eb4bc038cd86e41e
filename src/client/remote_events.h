#pragma once
// client/remote_events.h - a run's events from a server, across connections that break.
//
// It comes back with the last id that it has seen, so nothing is missed and nothing told twice; of
// text that a node streams it tells each byte once.

#include <deque>
#include <map>

#include "belay/event.h"
#include "client/connection.h"
#include "net/event_stream.h"

namespace belay::client {

class RemoteEvents final : public EventReader {
 public:
  // Asks for the events; `not_found` and the like where there are none to be had. The connection
  // outlives the reader.
  static Task<Result<std::unique_ptr<EventReader>>> open(Connection& connection,
                                                         EventOptions options);

  RemoteEvents(Connection& connection, EventOptions options);

  Task<Result<std::vector<StreamEvent>>> next() override;

 private:
  struct Heard {
    int attempt = 0;
    std::uint64_t bytes = 0;
  };

  Task<Result<Done>> connect();
  // Adds what `bytes` tells; true at the end of the stream.
  Result<bool> take(std::string_view bytes, std::vector<StreamEvent>& events);
  // Cuts off what has been heard of a text; false where nothing is left.
  bool is_news(StreamEvent& event);

  Connection& connection_;
  const std::string target_;
  std::optional<EventId> seen_;  // the last one
  std::optional<net::HttpAnswer> answer_;
  std::optional<net::EventStreamReader> stream_;
  std::map<TaskId, Heard> heard_;
  Patience patience_;
  bool has_ended_ = false;
};

}  // namespace belay::client
