#pragma once
// mcp/http_connection.h - HttpConnection: a Connection over streamable HTTP, a POST for each
// message. A reply is JSON or a stream of events, which is read as a whole.

#include <atomic>
#include <mutex>

#include "mcp/connection.h"

namespace belay::mcp {

struct HttpOptions {
  std::string name;  // of the server, for messages
  std::string url;
  std::vector<HttpHeader> headers;
  std::shared_ptr<HttpAccess> http;
  std::size_t message_bytes_max = 0;
};

class HttpConnection final : public Connection,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  explicit HttpConnection(HttpOptions options) : options_(std::move(options)) {}

  Task<Result<Reply>> send(Request request) override;
  Task<Result<Done>> notify(std::string method, Value params) override;
  void use(Dialect dialect) override;
  bool is_usable() override;
  std::uint64_t changes() override;

 private:
  HttpCall call_of(const Request& request, std::string body);
  HttpCall continuation_of(const Request& request, const std::string& last_event);
  void add_state_headers(HttpCall& call);
  Task<Result<Reply>> reply_of(const HttpReply& http, const Value& id, const Request& request);
  Task<Result<Reply>> reply_in_events(std::string body, const Value& id, const Request& request);
  Result<Reply> refused(const HttpReply& http, const Value& id);
  void keep_session(const HttpReply& http);
  Error failure(ErrorCode code, std::string fault) const;

  const HttpOptions options_;
  std::atomic<std::int64_t> last_id_ = 0;
  std::atomic<std::uint64_t> changes_ = 0;
  std::atomic<bool> is_lost_ = false;
  std::mutex mutex_;
  // Protected by mutex_.
  Dialect dialect_;
  std::string session_;  // Mcp-Session-Id; empty: none
};

}  // namespace belay::mcp
