// Plain structs from JSON: an accepted value can be written and reads back as the same.

#include "belay/state.h"
#include "tests/fuzz/target.h"

namespace belay::fuzz {

enum class Mood { calm, tense };

struct Part {
  std::int8_t small = 0;
  std::uint64_t large = 0;
  std::optional<std::string> note{};
  friend bool operator==(const Part&, const Part&) = default;
};

struct Everything {
  bool flag = false;
  std::int32_t number = 0;
  std::uint16_t port = 0;
  float ratio = 0;
  double exact = 0;
  std::string text{};
  Mood mood = Mood::calm;
  Instant at{};
  std::chrono::seconds seconds{};
  std::chrono::microseconds microseconds{};
  std::chrono::hours hours{};
  std::optional<Part> part{};
  std::vector<Part> parts{};
  std::map<std::string, Part> by_name{};
  Value anything{};
  friend bool operator==(const Everything&, const Everything&) = default;
};

}  // namespace belay::fuzz

BELAY_FUZZ_TARGET(PlainStruct, "plain_struct") {
  using namespace belay;
  auto value = parse_json(input);
  if (!value.ok()) return;
  fuzz::Everything read;
  Decoder in;
  Unknown unknown;
  if (!codec::decode(*value, read, in, &unknown)) {
    fuzz::require_sound(error(ErrorCode::invalid, in.problem));
    return;
  }
  Encoder out;
  codec::encode(read, out, &unknown);
  fuzz::require(out.problem.empty(), "what was read can be written");
  auto again = parse_json(out.text);
  fuzz::require(again.ok(), "what was written is JSON");
  auto back = decode_json<fuzz::Everything>(*again);
  fuzz::require(back.ok() && *back == read, "what was written reads back as the same struct");
  Decoder in_again;
  fuzz::Everything same;
  Unknown unknown_again;
  fuzz::require(codec::decode(*again, same, in_again, &unknown_again), "and again");
  Encoder out_again;
  codec::encode(same, out_again, &unknown_again);
  fuzz::require(out_again.text == out.text, "what is unknown is kept");
}
