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

// Whether an Accept-Encoding header lets an answer be sent as gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Whether the answer's body is of a type and a size that compression makes smaller, and nothing
// forbids it.
bool is_compressible(const Response& response);

// Says that the answer would be another for a client that accepts other codings.
void add_vary(Response& response);

// Compresses the body and says so in the headers. Leaves the answer as it is where zlib has no
// memory, or it would not get smaller.
void compress(Response& response);

}  // namespace belay::http
