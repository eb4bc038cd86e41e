#pragma once
// store/envelope_type.h - the type at the front of an envelope: all that a store ever looks at.

#include <cstdint>
#include <string>
#include <string_view>

namespace belay::store {

// The bytes that every envelope of this type begins with: its length, then the type itself. Empty
// for no type.
inline std::string front_of_type(std::string_view type) {
  std::string front;
  if (type.empty()) return front;
  auto length = static_cast<std::uint32_t>(type.size());
  for (int i = 0; i < 4; ++i) front += static_cast<char>(length >> (8 * i) & 0xff);
  front += type;
  return front;
}

}  // namespace belay::store
