#pragma once
// http/request_reader.h - RequestReader: parses received bytes to a Request, or a Refusal.
//
// Uses Beast's parser, and decides what that leaves open: which heads are valid, which bytes count
// against which limit, and the maximum size of a decompressed body.

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
  // For one request. `limits` must outlive the reader.
  explicit RequestReader(const ServerLimits& limits);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  // Continues to parse. `bytes`: the received bytes that have not been consumed. Returns the number
  // of bytes consumed from their front; the rest belongs to the next request, or must be passed
  // again with the bytes that follow. REQUIRES: neither complete() nor refusal().
  std::size_t take(std::string_view bytes);
  // The same, but consumes only the head, so that the head can be checked before the body arrives.
  std::size_t take_head(std::string_view bytes);

  bool head_done() const;
  bool complete() const;
  const std::optional<Refusal>& refusal() const;

  // Properties of the head; REQUIRES: head_done().
  bool expects_continue() const;  // the client waits for a 100 before it sends the body
  bool keeps_alive() const;       // the client permits further requests on the connection
  bool is_http_1_0() const;
  bool accepts_gzip() const;

  // REQUIRES: complete(), or head_done() for everything except the body.
  Request& request();

  std::size_t buffered_bytes() const;

 private:
  struct Body;
  std::size_t take_some(std::string_view bytes, bool only_head);
  const std::unique_ptr<Body> body_;
};

}  // namespace belay::http
