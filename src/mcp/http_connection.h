#pragma once
// mcp/http_connection.h - HttpConnection: a Connection over streamable HTTP, a POST for each
// message. A reply is JSON or a stream of events, whose messages are handled as they arrive.
//
// The destructor ends the session of the older era, which can take HttpOptions::grace.

#include <atomic>
#include <map>
#include <mutex>

#include "mcp/background.h"
#include "mcp/connection.h"
#include "mcp/reply_stream.h"

namespace belay::mcp {

struct HttpOptions {
  std::string name;  // of the server, for messages
  std::string url;
  std::vector<HttpHeader> headers;
  std::shared_ptr<HttpAccess> http;
  std::size_t message_bytes_max = 0;
  std::chrono::milliseconds grace{0};
};

class HttpConnection final : public Connection,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  explicit HttpConnection(HttpOptions options)
      : options_(std::move(options)), background_(options_.grace) {}
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection() override;

  Task<Result<Reply>> send(Request request) override;
  Task<Result<Done>> notify(std::string method, Value params) override;
  void post(Request request) override;
  void answer(std::string text) override;
  void listen(Request request) override;
  void use(Dialect dialect) override;
  bool is_usable() override;
  std::uint64_t changes() override;

 private:
  class Pending;

  HttpCall call_of(const Request& request, std::string body);
  HttpCall call_without_body(std::string method);
  HttpCall continuation_of(const Request& request, const std::string& last_event);
  void add_state_headers(HttpCall& call);
  bool is_modern();
  Task<Result<Reply>> exchange(Value id, Request request, Inbox inbox);
  Task<Result<Reply>> continued(std::shared_ptr<ReplyStream> stream, Request request, Inbox inbox);
  Task<Done> keep_listening(Request request);
  Task<Done> until_listening();
  void take_question(Message message);
  Result<Reply> reply_of(const HttpReply& http, std::string_view body, const Value& id,
                         const std::string& method);
  void take_message(Message message, const Value& id, const Request& request, const Inbox& inbox);
  void cancel(std::int64_t id);
  Result<Reply> refused(const HttpReply& http, std::string_view body, const Value& id);
  void keep_session(const HttpReply& http);
  Error failure(ErrorCode code, std::string fault) const;

  const HttpOptions options_;
  std::atomic<std::int64_t> last_id_ = 0;
  std::atomic<std::uint64_t> changes_ = 0;
  std::atomic<bool> is_lost_ = false;
  std::atomic<bool> waits_for_stream_ = false;  // listens, and the stream has not started
  std::mutex mutex_;
  // Protected by mutex_.
  Dialect dialect_;
  std::string session_;                   // Mcp-Session-Id; empty: none
  std::map<std::int64_t, Inbox> asking_;  // of requests that accept questions
  Background background_;                 // last: its tasks use all members above
};

}  // namespace belay::mcp
