#pragma once
// server/response_cache.h - ResponseCache: caches responses until the store's change token changes.
//
// A program that polls a paused run sends the same request again and again; the cache answers it
// without reading the store. A cached response is never staler than a read.
//
// Threading: the loop's thread.

#include <map>
#include <optional>
#include <string>

#include "http/message.h"

namespace belay::server {

// Requires a response without a stream.
http::Response copy_of(const http::Response& response);

class ResponseCache {
 public:
  // Returns the response cached for this address at this change token; otherwise null.
  const http::Response* find(std::uint64_t version, std::string_view address);
  // `version` must be the change token from before the read. Stores only responses of status 200,
  // without a stream, up to a maximum size.
  void keep(std::uint64_t version, std::string address, const http::Response& response);

 private:
  void start_at(std::uint64_t version);

  std::optional<std::uint64_t> version_;  // of all cached responses
  std::map<std::string, http::Response, std::less<>> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace belay::server
