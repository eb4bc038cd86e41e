#pragma once
// http/compression.h - decompresses gzip request bodies and compresses responses, with zlib.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace belay::http {

// Decompresses a body piece by piece.
class Inflater {
 public:
  enum class Outcome { fine, corrupt, too_large };

  explicit Inflater(std::size_t bytes_max);
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater();

  // Appends the decompressed piece to `to`, which never exceeds bytes_max.
  Outcome add(std::string_view piece, std::string& to);
  // True if a gzip member has just ended, or no input has been added.
  bool at_end() const;

 private:
  struct Stream;
  const std::size_t bytes_max_;
  std::unique_ptr<Stream> stream_;
};

// True if an Accept-Encoding header permits gzip.
bool accepts_gzip(std::string_view accept_encoding);

// True if the type and size of the body make compression useful, and no header forbids it.
bool is_compressible(const Response& response);

// Adds the Vary header: other clients can get another encoding.
void add_vary(Response& response);

// Compresses the body and sets the headers. Leaves the response unchanged if zlib has no memory, or
// the result would not be smaller.
void compress(Response& response);

}  // namespace belay::http
