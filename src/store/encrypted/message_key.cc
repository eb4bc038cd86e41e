#include "store/encrypted/message_key.h"

#include <openssl/evp.h>

#include <cstring>

#include "belay/result.h"

namespace belay::encrypted {
namespace {

// Doubles the number in the field of 2^128 elements that CMAC uses.
void double_block(std::array<std::uint8_t, 16>& block) {
  bool carries = (block[0] & 0x80) != 0;
  for (std::size_t i = 0; i + 1 < block.size(); ++i) {
    block[i] = static_cast<std::uint8_t>(block[i] << 1 | block[i + 1] >> 7);
  }
  block[15] = static_cast<std::uint8_t>(block[15] << 1 ^ (carries ? 0x87 : 0));
}

}  // namespace

void MessageKeys::Free::operator()(evp_cipher_ctx_st* context) const {
  EVP_CIPHER_CTX_free(context);
}

MessageKeys::MessageKeys(const TenantKey& key) : blocks_(EVP_CIPHER_CTX_new()) {
  // Fetched once: the algorithm is immutable and shared.
  static const EVP_CIPHER* const algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-ECB", nullptr);
  BELAY_ASSERT(blocks_ != nullptr);
  const std::array<std::uint8_t, 16> zeros{};
  int size = 0;
  int worked = EVP_EncryptInit_ex2(blocks_.get(), algorithm, key.data(), nullptr, nullptr) &
               EVP_CIPHER_CTX_set_padding(blocks_.get(), 0) &
               EVP_EncryptUpdate(blocks_.get(), mask_.data(), &size, zeros.data(), zeros.size());
  BELAY_ASSERT(worked == 1);
  double_block(mask_);
}

void MessageKeys::derive(std::string_view nonce, TenantKey& derived) const {
  std::array<std::uint8_t, 32> blocks{0, 1, 'X', 0};
  blocks[17] = 2;
  blocks[18] = 'X';
  for (std::size_t half : {0, 16}) {
    std::memcpy(blocks.data() + half + 4, nonce.data(), 12);
    for (std::size_t i = 0; i < 16; ++i) blocks[half + i] ^= mask_[i];
  }
  int size = 0;
  int worked = EVP_EncryptUpdate(blocks_.get(), derived.data(), &size, blocks.data(),
                                 static_cast<int>(blocks.size()));
  BELAY_ASSERT(worked == 1 && size == static_cast<int>(blocks.size()));
}

}  // namespace belay::encrypted
