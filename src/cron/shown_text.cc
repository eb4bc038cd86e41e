#include "cron/shown_text.h"

#include "base/hex.h"

namespace belay::cron {

std::string shown_text(std::string_view text) {
  constexpr std::size_t kBytesMax = 80;
  std::string shown;
  for (char byte : text.substr(0, kBytesMax)) {
    if (byte >= ' ' && byte <= '~') {
      shown += byte;
    } else {
      shown += "\\x";
      append_hex(static_cast<std::uint8_t>(byte), shown);
    }
  }
  if (text.size() > kBytesMax) shown += "...";
  return shown;
}

}  // namespace belay::cron
