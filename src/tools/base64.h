#pragma once
// tools/base64.h - encodes bytes in base64 (RFC 4648, section 4), with padding and without line
// ends.

#include <openssl/evp.h>

#include <string>
#include <string_view>

namespace belay::tools {

inline std::string base64(std::string_view bytes) {
  // EVP_EncodeBlock writes four characters for three bytes, and a NUL.
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                               reinterpret_cast<const unsigned char*>(bytes.data()),
                               static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace belay::tools
