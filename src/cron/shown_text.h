#pragma once
// cron/shown_text.h - a part of an input, for messages.

#include <string>
#include <string_view>

namespace belay::cron {

// Returns `text` as printable ASCII: other bytes as \xNN, and a long text with "..." at its end.
std::string shown_text(std::string_view text);

}  // namespace belay::cron
