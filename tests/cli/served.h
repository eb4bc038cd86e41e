#pragma once
// tests/cli/served.h - a `belay serve` child process, and requests to it.

#include <sys/types.h>

#include <memory>
#include <string>

#include "net/http_client.h"
#include "tests/cli/belay_process.h"

namespace belay::cli::tests {

struct Got {
  int status = 0;  // 0: no response arrived
  std::string body;
  std::string type;
  std::string retry_after;
  std::string error;  // the reason why no response arrived
  Value json() const { return parse_json(body).value_or(Value()); }
};

// Returns a string unchanged, any other value as JSON.
inline std::string text(const Value& value) {
  const std::string* held = value.as_string();
  return held ? *held : to_json(value);
}

// Sends one request and returns its response.
Task<Got> exchange(net::HttpClient& client, net::HttpRequest request);

class Served {
 public:
  // Listens on a free port, or on `port` if it is set, such as that of an earlier server.
  explicit Served(const Setting& setting, Words more = {}, int port = 0);
  bool is_up() const { return port_ > 0; }
  int port() const { return port_; }
  std::string url(const std::string& path) const;
  Belay& process() { return *process_; }

  Got get(const std::string& path) { return send("GET", path, ""); }
  Got post(const std::string& path, const std::string& body = "{}") {
    return send("POST", path, body);
  }
  Got send(const std::string& method, const std::string& path, const std::string& body,
           std::vector<net::HttpHeader> headers = {});

  EventLoop& loop() { return *loop_; }
  net::HttpClient& client() { return *client_; }

 private:
  int port_ = 0;
  std::unique_ptr<EventLoop> loop_ = make_event_loop();
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<Belay> process_;
};

// An open stream of events.
class Stream {
 public:
  // `last` is the id of the last event that was seen; empty for none.
  Stream(Served& served, const std::string& path, const std::string& last = "");
  // Reads until the received text contains `text`. Returns false if the stream ended without it.
  bool reads(const std::string& text);
  const std::string& so_far() const { return text_; }
  // Returns the id of the last complete event.
  std::string last_id() const;

 private:
  Served& served_;
  std::optional<net::HttpAnswer> answer_;
  std::string text_;
};

}  // namespace belay::cli::tests
