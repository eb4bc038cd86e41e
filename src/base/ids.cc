#include "belay/ids.h"

#include <cstring>

#include "base/hex.h"
#include "belay/limits.h"
#include "belay/value.h"

namespace belay {
namespace {

// 100 ns ticks between 1582-10-15, where UUID time begins, and 1970-01-01.
constexpr std::uint64_t ticks_to_unix_epoch = 0x01B21DD213814000ULL;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_dash_position(std::size_t index) {
  return index == 8 || index == 13 || index == 18 || index == 23;
}

void set_version(Uuid& id, int version) {
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | (version << 4));
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
}

}  // namespace

std::string Uuid::text() const {
  std::string out;
  out.reserve(36);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (is_dash_position(out.size())) out.push_back('-');
    append_hex(bytes[i], out);
  }
  return out;
}

std::optional<Uuid> uuid_from(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uuid id;
  std::size_t digit = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_dash_position(i)) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    int value = hex_value(text[i]);
    if (value < 0) return std::nullopt;
    id.bytes[digit / 2] = static_cast<std::uint8_t>(id.bytes[digit / 2] << 4 | value);
    ++digit;
  }
  return id;
}

Uuid random_uuid(Random& random) {
  Uuid id;
  std::uint64_t words[2] = {random.bits(), random.bits()};
  std::memcpy(id.bytes.data(), words, sizeof words);
  set_version(id, 4);
  return id;
}

std::uint64_t uuid_ticks(Instant at) {
  return static_cast<std::uint64_t>(at.time_since_epoch().count()) * 10 + ticks_to_unix_epoch;
}

std::uint64_t uuid_ticks(const Uuid& id) {
  std::uint64_t high = 0;
  for (std::size_t i = 0; i < 6; ++i) high = high << 8 | id.bytes[i];
  return high << 12 | static_cast<std::uint64_t>(id.bytes[6] & 0x0f) << 8 | id.bytes[7];
}

Uuid time_ordered_uuid(std::uint64_t ticks, std::uint64_t random_bits) {
  Uuid id;
  for (std::size_t i = 0; i < 6; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(ticks >> (12 + 8 * (5 - i)));
  }
  id.bytes[6] = static_cast<std::uint8_t>(ticks >> 8 & 0x0f);
  id.bytes[7] = static_cast<std::uint8_t>(ticks);
  std::memcpy(id.bytes.data() + 8, &random_bits, sizeof random_bits);
  set_version(id, 6);
  return id;
}

Uuid derived_uuid(std::string_view seed) {
  Digest digest = sha256(seed);
  Uuid id;
  std::memcpy(id.bytes.data(), digest.data(), id.bytes.size());
  set_version(id, 8);
  return id;
}

Result<Done> check_name(std::string_view what, std::string_view text) {
  auto refuse = [&](std::string_view why) {
    return error(ErrorCode::invalid, "The " + std::string(what) + " " + std::string(why));
  };
  if (text.empty()) return refuse("is empty. Provide at least one character.");
  if (text.size() > limits::identifier_bytes_max) {
    return refuse("is longer than " + std::to_string(limits::identifier_bytes_max) + " bytes.");
  }
  if (first_invalid_utf8(text)) return refuse("is not valid UTF-8.");
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too: some terminals interpret them.
    bool is_of_second_set = byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7f || is_of_second_set) {
      return refuse("contains a control character. Use printable text.");
    }
  }
  return Done{};
}

std::string to_hex(const Digest& digest) {
  std::string out;
  out.reserve(2 * digest.size());
  for (std::uint8_t byte : digest) append_hex(byte, out);
  return out;
}

}  // namespace belay
