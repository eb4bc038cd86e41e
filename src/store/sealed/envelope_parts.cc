#include "store/sealed/envelope_parts.h"

#include <algorithm>
#include <cstdint>

#include "belay/value.h"

namespace belay::sealed {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kTypeBytesMax = 100;

std::size_t length_at_front(std::string_view envelope) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(envelope[i])) << (8 * i);
  }
  return length;
}

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

}  // namespace

Error corrupt(std::string_view subject, std::string_view why) {
  return error(ErrorCode::corrupt, "The stored " + std::string(subject) + " " + std::string(why) +
                                       "; restore the store from a backup.");
}

Result<Parts> parts_of(std::string_view envelope, std::string_view subject) {
  if (envelope.size() < kLengthBytes ||
      envelope.size() - kLengthBytes < length_at_front(envelope)) {
    return corrupt(subject, "is cut off");
  }
  Parts parts;
  parts.type = envelope.substr(kLengthBytes, length_at_front(envelope));
  parts.data = envelope.substr(kLengthBytes + parts.type.size());
  if (parts.type.empty() || parts.type.size() > kTypeBytesMax || first_invalid_utf8(parts.type)) {
    return corrupt(subject, "names no type");
  }
  std::string_view rest = parts.type;
  parts.base = rest.substr(0, rest.find('+'));
  rest.remove_prefix(parts.base.size());
  parts.is_reference = take(rest, kBlobStep);
  parts.is_compressed = !parts.is_reference && take(rest, kZstdStep);
  parts.is_encrypted = take(rest, kSealStep);
  if (parts.is_encrypted) parts.key_id = std::exchange(rest, {});
  if (rest.empty() && !parts.base.empty() && parts.is_encrypted != parts.key_id.empty()) {
    return parts;
  }
  return error(ErrorCode::invalid, "The stored " + std::string(subject) + " is of type \"" +
                                       std::string(parts.type) +
                                       "\", which this Belay can't read; use a newer one.");
}

std::string envelope_front(std::string_view type, std::size_t data_bytes) {
  std::string envelope;
  envelope.reserve(kLengthBytes + type.size() + data_bytes);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    envelope += static_cast<char>(type.size() >> (8 * i) & 0xff);
  }
  envelope += type;
  return envelope;
}

}  // namespace belay::sealed
