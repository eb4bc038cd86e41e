#pragma once
// server/response_cache.h - answers that stay good until the store changes.
//
// A program that polls a run that waits overnight asks for the same again and again: it is
// answered without a read. Nothing is ever answered that a read would not have found.
//
// Threading: the loop's thread.

#include <map>
#include <optional>
#include <string>

#include "http/message.h"

namespace belay::server {

// Of a response without a stream.
http::Response copy_of(const http::Response& response);

class ResponseCache {
 public:
  // What was kept for this address while the store was at `version`.
  const http::Response* find(std::uint64_t version, std::string_view address);
  // `version` is the store's from before it was read. Keeps only whole, good answers of some size.
  void keep(std::uint64_t version, std::string address, const http::Response& response);

 private:
  void start_at(std::uint64_t version);

  std::optional<std::uint64_t> version_;  // of all that is kept
  std::map<std::string, http::Response, std::less<>> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace belay::server
