#pragma once
// tools/webhook_signature.h - signs webhooks as the Standard Webhooks specification defines it.
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

#include <cstdint>
#include <string>
#include <string_view>

#include "belay/result.h"

namespace belay::tools {

// Returns the bytes of a secret "whsec_" + base64, 24 to 64 bytes. Fails with `invalid` without the
// secret in the message.
Result<std::string> webhook_secret(std::string_view secret);

// Returns the header webhook-signature: "v1," + base64(HMAC-SHA256(secret, "id.timestamp.body")).
// `secret` are the bytes; `timestamp` in seconds since 1970.
std::string webhook_signature(std::string_view secret, std::string_view id, std::int64_t timestamp,
                              std::string_view body);

}  // namespace belay::tools
