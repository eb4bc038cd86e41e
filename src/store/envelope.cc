#include "store/envelope.h"

#include <cstdint>

#include "belay/value.h"

namespace belay::store {

std::optional<Envelope> split_envelope(std::string_view bytes) {
  if (bytes.size() < envelope_length_bytes) return std::nullopt;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < envelope_length_bytes; ++i) {
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  std::string_view rest = bytes.substr(envelope_length_bytes);
  if (rest.size() < length) return std::nullopt;
  return Envelope{rest.substr(0, length), rest.substr(length)};
}

bool may_be_type(std::string_view type) {
  return type.size() <= envelope_type_bytes_max && !first_invalid_utf8(type);
}

}  // namespace belay::store
