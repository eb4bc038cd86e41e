#include "tools/webhook_signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "tools/base64.h"

namespace belay::tools {
namespace {

constexpr std::string_view kPrefix = "whsec_";
constexpr std::size_t kSecretBytesMin = 24, kSecretBytesMax = 64;
constexpr std::size_t kGroup = 4;  // characters of base64 for three bytes
constexpr std::size_t kGroupBytes = 3;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

Error unusable() {
  return error(ErrorCode::invalid,
               "The secret of a webhook must be whsec_ and 24 to 64 bytes in base64. Correct it.");
}

}  // namespace

Result<std::string> webhook_secret(std::string_view secret) {
  if (!secret.starts_with(kPrefix)) return unusable();
  secret.remove_prefix(kPrefix.size());
  if (secret.empty() || secret.size() % kGroup != 0 || secret.size() > 2 * kSecretBytesMax) {
    return unusable();
  }
  std::string bytes(secret.size() / kGroup * kGroupBytes, '\0');
  int length = EVP_DecodeBlock(bytes_of(bytes), bytes_of(secret), static_cast<int>(secret.size()));
  if (length < 0) return unusable();
  auto padding = static_cast<std::size_t>(std::count(secret.begin(), secret.end(), '='));
  if (padding >= kGroupBytes) return unusable();
  bytes.resize(static_cast<std::size_t>(length) - padding);
  if (bytes.size() < kSecretBytesMin || bytes.size() > kSecretBytesMax) return unusable();
  return bytes;
}

std::string webhook_signature(std::string_view secret, std::string_view id, std::int64_t timestamp,
                              std::string_view body) {
  std::string text = std::string(id) + "." + std::to_string(timestamp) + "." + std::string(body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes_of(text), text.size(),
       digest.data(), &length);
  std::string_view code(reinterpret_cast<const char*>(digest.data()), length);
  return "v1," + base64(code);
}

}  // namespace belay::tools
