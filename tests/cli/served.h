#pragma once
// tests/cli/served.h - a belay that serves, as a child process, and requests to it.

#include <sys/types.h>

#include <memory>
#include <string>

#include "net/http_client.h"
#include "tests/cli/belay_process.h"

namespace belay::cli::tests {

struct Got {
  int status = 0;  // 0: no answer came
  std::string body;
  std::string type;
  std::string retry_after;
  std::string error;  // why not
  Value json() const { return parse_json(body).value_or(Value()); }
};

// A text as it is, anything else as JSON.
inline std::string text(const Value& value) {
  const std::string* held = value.as_string();
  return held ? *held : to_json(value);
}

// Sends one request and returns its response.
Task<Got> exchange(net::HttpClient& client, net::HttpRequest request);

class Served {
 public:
  // Listens on a free port, or on that of another one that is gone.
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

// A stream of events that is being read.
class Stream {
 public:
  // `last`: the id of the last event that was seen; empty for none.
  Stream(Served& served, const std::string& path, const std::string& last = "");
  // Reads until what came holds `text`; false when the stream ended without it.
  bool reads(const std::string& text);
  const std::string& so_far() const { return text_; }
  // The id of the last whole event that came.
  std::string last_id() const;

 private:
  Served& served_;
  std::optional<net::HttpAnswer> answer_;
  std::string text_;
};

}  // namespace belay::cli::tests
