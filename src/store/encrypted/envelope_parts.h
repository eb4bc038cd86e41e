#pragma once
// store/encrypted/envelope_parts.h - parses and composes envelopes.
//
// A type is a base ("json") and the steps applied to the data, in this order, each at most once:
//   +blob                  the data is the id of a blob, which contains the actual envelope
//   +zstd                  the data is one zstd frame
//   +xaes256gcm;k=<key id> the data is sealed: see cipher.h
//   +aes256gcm;k=<key id>  the same, by an older Belay
// +blob and +zstd never occur together.

#include <string>
#include <string_view>

#include "belay/result.h"
#include "store/envelope_subject.h"

namespace belay::encrypted {

inline constexpr std::string_view kBlobStep = "+blob";
inline constexpr std::string_view kZstdStep = "+zstd";
inline constexpr std::string_view kSealStep = "+xaes256gcm;k=";
inline constexpr std::string_view kOldSealStep = "+aes256gcm;k=";

// The base of a row part's texts, which are not JSON.
inline constexpr std::string_view kRowBase = "row";

// Views into an envelope.
struct Parts {
  std::string_view type;  // complete
  std::string_view base;
  bool is_reference = false;
  bool is_compressed = false;
  bool is_encrypted = false;
  bool is_old = false;  // encrypted by an older Belay, and bound only to its row
  std::string_view key_id;
  std::string_view data;

  bool is_plain() const { return base.size() == type.size(); }
  // The type without its last step, if that step encrypts.
  std::string_view type_inside() const {
    std::size_t step = is_old ? kOldSealStep.size() : kSealStep.size();
    return is_encrypted ? type.substr(0, type.size() - step - key_id.size()) : type;
  }
};

// Fails with `corrupt` if the bytes are not an envelope, with `invalid` if this Belay does not know
// the type. The message contains `subject`.
Result<Parts> parts_of(std::string_view envelope, const store::Subject& subject);

// True for type "json", that of most envelopes, without parsing the type.
inline bool is_plain_json(std::string_view envelope) {
  return envelope.starts_with(std::string_view("\x04\0\0\0json", 8));
}

// Returns the first bytes of an envelope of `type`, with capacity for `data_bytes` more.
std::string envelope_front(std::string_view type, std::size_t data_bytes);

Error corrupt(const store::Subject& subject, std::string_view why);

}  // namespace belay::encrypted
