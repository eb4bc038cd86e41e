// The bytes that a Redis, or another server in its place, sends: the same replies for any division
// into pieces, or an error.

#include "redis/reply.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {
namespace {

struct ReadReplies {
  std::vector<redis::Reply> replies;
  bool is_refused = false;
};

ReadReplies read_in_pieces(std::string_view input, std::size_t piece) {
  ReadReplies read;
  redis::ReplyReader reader;
  for (std::size_t at = 0; at < input.size(); at += piece) {
    reader.feed(input.substr(at, piece));
    while (true) {
      auto reply = reader.next();
      if (!reply.ok()) {
        require_sound(reply.error());
        read.is_refused = true;
        return read;
      }
      if (!*reply) break;
      read.replies.push_back(**std::move(reply));
    }
  }
  return read;
}

}  // namespace
}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(RedisReply, "redis_reply") {
  using namespace belay;
  constexpr std::size_t kBytesMax = 4'096;  // each byte is one piece
  input = input.substr(0, kBytesMax);
  auto whole = fuzz::read_in_pieces(input, input.size() + 1);
  auto pieces = fuzz::read_in_pieces(input, 1);
  fuzz::require(whole.is_refused == pieces.is_refused, "pieces change no refusal");
  fuzz::require(whole.replies == pieces.replies, "pieces change no reply");
}
