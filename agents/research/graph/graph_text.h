#pragma once
// agents/research/graph/graph_text.h - texts and numbers of the graph, as every sink can store
// them.
//
// Pure functions.

#include <string>
#include <string_view>

namespace belay::research {

// Returns `text` as UTF-8 without U+0000: each NUL, and each byte that is not part of a well-formed
// character, becomes U+FFFD.
std::string graph_text(std::string_view text);

// Returns a decimal text that reads back as the same double: "391035000000", "0.47", "1e+300".
// REQUIRES: finite.
std::string graph_number(double number);

// Returns a hash of the bytes as 16 hexadecimal digits (64-bit FNV-1a): distinguishes
// contents, and is not cryptographic.
std::string content_hash(std::string_view bytes);

}  // namespace belay::research
