#pragma once
// redis/reply.h - the protocol of Redis (RESP2): encodes commands and parses replies.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/result.h"

namespace belay::redis {

// The name of a command and its arguments, as arbitrary bytes.
using Command = std::vector<std::string>;
std::string to_bytes(const Command& command);

struct Reply {
  enum class Kind { nil, text, status, error, number, list };
  Kind kind = Kind::nil;
  std::string text;  // of a text, a status or an error
  std::int64_t number = 0;
  std::vector<Reply> items;
  friend bool operator==(const Reply&, const Reply&) = default;
};

// Parses a stream of bytes into replies. Rejects replies of more than `bytes_max`, with more items
// or more levels than any used command returns, and bytes that are not RESP2. When a call has
// returned an Error, nothing more can be read.
class ReplyReader {
 public:
  static constexpr std::size_t bytes_max = 16u << 20;
  static constexpr std::size_t items_max = 10'000;
  static constexpr int depth_max = 4;

  void feed(std::string_view bytes);
  // Returns the next complete reply; nullopt if bytes are missing. Fails with `corrupt`.
  Result<std::optional<Reply>> next();
  bool empty() const { return held_.size() == begin_; }

 private:
  // False while bytes are missing.
  Result<bool> read(Reply& reply, std::size_t& at, int depth);
  std::optional<std::string_view> line(std::size_t& at);
  Result<bool> read_text(Reply& reply, std::int64_t size, std::size_t& at);
  Result<bool> read_list(Reply& reply, std::int64_t size, std::size_t& at, int depth);

  std::string held_;
  std::size_t begin_ = 0;   // of the unread bytes
  std::size_t wanted_ = 0;  // number of bytes from which parsing is tried again
  std::size_t items_ = 0;   // of the current reply
  bool is_broken_ = false;
};

}  // namespace belay::redis
