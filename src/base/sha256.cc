#include <openssl/evp.h>

#include "belay/ids.h"

namespace belay {

Digest sha256(std::string_view bytes) {
  Digest digest;
  unsigned int size = digest.size();
  // Fetched once: the algorithm is immutable, and each fetch costs more than hashing 1 KB.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  int worked = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, algorithm, nullptr);
  BELAY_ASSERT(worked == 1 && size == digest.size());
  return digest;
}

}  // namespace belay
