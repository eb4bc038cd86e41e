#pragma once
// engine/expiry_message.h - the outbox message of an approval's expiry.
//
// It is stored with the approval when that is requested. Every commit that records the expiry adds
// it, and no other: it is therefore sent exactly if the approval expires.

#include <optional>

#include "belay/context.h"

namespace belay::engine {

// Returns the row of the message. Its id and body depend on the approval only, not on the commit
// that records the expiry. `corrupt` if the stored message is damaged.
Result<std::optional<OutboxRow>> expiry_outbox_row(const ApprovalRow& expired, Instant now);

}  // namespace belay::engine
