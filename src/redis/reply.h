#pragma once
// redis/reply.h - Redis's protocol (RESP2): how a command is written, and what comes back read.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/result.h"

namespace belay::redis {

// A name and its arguments; bytes of any kind.
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

// Cuts what comes into replies. Bounded: a reply of more than `bytes_max`, of more items or deeper
// than any command of ours has is refused, as is what is no Redis's; nothing more can be read then.
class ReplyReader {
 public:
  static constexpr std::size_t bytes_max = 16u << 20;
  static constexpr std::size_t items_max = 10'000;
  static constexpr int depth_max = 4;

  void feed(std::string_view bytes);
  // The next whole reply; nothing while it is not there. `corrupt` for what can't be one.
  Result<std::optional<Reply>> next();
  bool empty() const { return held_.size() == begin_; }

 private:
  // False while bytes are missing.
  Result<bool> read(Reply& reply, std::size_t& at, int depth);
  std::optional<std::string_view> line(std::size_t& at);
  Result<bool> read_text(Reply& reply, std::int64_t size, std::size_t& at);
  Result<bool> read_list(Reply& reply, std::int64_t size, std::size_t& at, int depth);

  std::string held_;
  std::size_t begin_ = 0;   // of what is not read yet
  std::size_t wanted_ = 0;  // with so many bytes it is worth a try
  std::size_t items_ = 0;   // of the reply that is being read
  bool is_broken_ = false;
};

}  // namespace belay::redis
