#pragma once
// http/request_reader.h - makes a Request of the bytes that come, or says why it is refused.
//
// Over Beast's parser, with what that leaves open decided here: which heads are sound, what is
// counted against which limit, what a compressed body may grow to.

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "http/head_scanner.h"
#include "http/message.h"
#include "http/server.h"

namespace belay::http {

class RequestReader {
 public:
  // `limits` outlives the reader. One reader a request.
  explicit RequestReader(const ServerLimits& limits);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  // Reads on. `bytes`: what has come and was not taken yet, with what came since. Returns how many
  // it has taken from their front; the rest is the next request's, or is given again with what
  // follows it. REQUIRES: neither complete() nor refusal().
  std::size_t take(std::string_view bytes);
  // The same, but consumes only the head, so that the head can be checked before the body arrives.
  std::size_t take_head(std::string_view bytes);

  bool head_done() const;
  bool complete() const;
  const std::optional<Refusal>& refusal() const;

  // Of the head, once it is done:
  bool expects_continue() const;  // the client waits for a 100 before it sends the body
  bool keeps_alive() const;       // the client would go on with the connection
  bool is_http_1_0() const;
  bool accepts_gzip() const;

  // REQUIRES: complete(), or head_done() for all but the body.
  Request& request();

  std::size_t buffered_bytes() const;

 private:
  struct Body;
  std::size_t take_some(std::string_view bytes, bool only_head);
  const std::unique_ptr<Body> body_;
};

}  // namespace belay::http
