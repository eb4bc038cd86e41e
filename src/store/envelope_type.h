#pragma once
// store/envelope_type.h - the type of an envelope, the only part of it that a store reads.

#include <cstdint>
#include <string>
#include <string_view>

namespace belay::store {

// Returns the first bytes of every envelope of this type: the length of the type, then the type.
// Empty for an empty type.
inline std::string front_of_type(std::string_view type) {
  std::string front;
  if (type.empty()) return front;
  auto length = static_cast<std::uint32_t>(type.size());
  for (int i = 0; i < 4; ++i) front += static_cast<char>(length >> (8 * i) & 0xff);
  front += type;
  return front;
}

}  // namespace belay::store
