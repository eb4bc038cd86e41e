#pragma once
// http/compression.h - gzip, over zlib: request bodies that come so, answers that may go so.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace belay::http {

// Decompresses a body while it comes.
class Inflater {
 public:
  enum class Outcome { fine, corrupt, too_large };

  explicit Inflater(std::size_t bytes_max);
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  // Appends to `to` what the piece gives; never lets it grow beyond bytes_max.
  Outcome add(std::string_view piece, std::string& to);
  // Whether a gzip member has just ended, or nothing has come at all.
  bool at_end() const;

 private:
  struct Stream;
  const std::size_t bytes_max_;
  std::unique_ptr<Stream> stream_;
};

// The body as one gzip member; nothing where zlib has no memory or it would not get smaller.
std::optional<std::string> deflated(std::string_view body);

// Whether an Accept-Encoding header lets an answer be sent as gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Whether an answer with these headers gets smaller by compression, and may be compressed.
bool is_compressible(const std::vector<Header>& headers);

}  // namespace belay::http
