#pragma once
// belay/ids.h - the names of things, each a type of its own, so that none is taken for another.
//
// Two kinds. A Name is chosen by people or programs (thread, user, tenant): text, 1 to
// limits::identifier_bytes_max bytes of UTF-8 without control characters. A Uuid is made by Belay
// (run, checkpoint, task, interrupt, session): 16 bytes, shown as 36 characters.
//
// Thread ids that Belay makes are random (UUID version 4, 122 unpredictable bits): they can't be
// guessed. Checkpoint ids sort by time (UUID version 6, RFC 9562), as LangGraph clients expect.

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "belay/clock.h"
#include "belay/result.h"

namespace belay {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  bool is_null() const { return *this == Uuid{}; }
  std::string text() const;  // "1ef0c1a2-...", lower case
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

// Reads the 36-character form, in either case.
std::optional<Uuid> uuid_from(std::string_view text);
// Version 4: random.
Uuid random_uuid(Random& random);
// Version 6: sorts by `at` (in 100 ns since 1582-10-15); the rest is random.
Uuid time_ordered_uuid(std::uint64_t ticks, std::uint64_t random_bits);
// The ticks of `at` for time_ordered_uuid, and of a version 6 id.
std::uint64_t uuid_ticks(Instant at);
std::uint64_t uuid_ticks(const Uuid& id);
// Version 8: the first bytes of SHA-256 over `seed`; the same seed gives the same id for good.
Uuid derived_uuid(std::string_view seed);

template <typename Tag>
struct UuidId : Uuid {
  UuidId() = default;
  explicit UuidId(const Uuid& uuid) : Uuid(uuid) {}
  friend auto operator<=>(const UuidId&, const UuidId&) = default;
};

template <typename Tag>
struct NameId {
  std::string text;

  NameId() = default;
  explicit NameId(std::string name) : text(std::move(name)) {}
  bool empty() const { return text.empty(); }
  friend auto operator<=>(const NameId&, const NameId&) = default;
};

using TenantId = NameId<struct TenantTag>;
using UserId = NameId<struct UserTag>;
using ThreadId = NameId<struct ThreadTag>;
using RunId = UuidId<struct RunTag>;
using CheckpointId = UuidId<struct CheckpointTag>;
using TaskId = UuidId<struct TaskTag>;
using InterruptId = UuidId<struct InterruptTag>;
using SessionId = UuidId<struct SessionTag>;

// The tenant of a store that has only one.
inline const TenantId& default_tenant() {
  static const TenantId tenant{"local"};
  return tenant;
}

// Whether `text` may be a Name; the Error says which rule it breaks. `what` is named in it.
Result<Done> check_name(std::string_view what, std::string_view text);

// 32 bytes of SHA-256.
using Digest = std::array<std::uint8_t, 32>;
Digest sha256(std::string_view bytes);
std::string to_hex(const Digest& digest);

}  // namespace belay
