#pragma once
// client/remote_events.h - RemoteEvents: reads the events of a run from a server, and reconnects if
// a connection breaks.
//
// Each new connection continues after the last event id received, so that no event is lost or
// repeated. Each byte of streamed text is returned once.

#include <deque>
#include <map>

#include "belay/event.h"
#include "client/connection.h"
#include "net/event_stream.h"

namespace belay::client {

class RemoteEvents final : public EventReader {
 public:
  // Requests the events; fails with `not_found` and other errors of the server. The connection must
  // outlive the reader.
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
  // Adds the events of `bytes`. Returns true at the end of the stream.
  Result<bool> take(std::string_view bytes, std::vector<StreamEvent>& events);
  // Removes the received part of a text. Returns false if nothing remains.
  bool is_news(StreamEvent& event);

  Connection& connection_;
  const std::string target_;
  std::optional<EventId> seen_;  // id of the last event received
  std::optional<net::HttpAnswer> answer_;
  std::optional<net::EventStreamReader> stream_;
  std::map<TaskId, Heard> heard_;
  Patience patience_;
  bool has_ended_ = false;
};

}  // namespace belay::client
