#pragma once
// store/envelope.h - the two parts of an envelope's bytes: see belay/rows.h.

#include <optional>
#include <string_view>

namespace belay::store {

// Views into the envelope's bytes.
struct Envelope {
  std::string_view type;
  std::string_view data;
};

inline constexpr std::size_t envelope_length_bytes = 4;
inline constexpr std::size_t envelope_type_bytes_max = 100;

// Returns nullopt if the bytes end before the end of the type.
std::optional<Envelope> split_envelope(std::string_view bytes);

// Whether the text can be an envelope's type at all.
bool may_be_type(std::string_view type);

}  // namespace belay::store
