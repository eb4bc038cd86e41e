#pragma once
// cron/zone_file.h - decodes a file of the time zone database (TZif, RFC 9636).

#include <string_view>

#include "belay/result.h"
#include "cron/zone.h"

namespace belay::cron {

// The files of the database have at most some 4 KB.
inline constexpr std::size_t zone_file_bytes_max = 256 * 1'024;

// Fails with `corrupt` if the bytes are not a complete file, and with `invalid` if its times count
// leap seconds, which no instant of Belay does.
Result<Zone::Periods> decode_zone_file(std::string_view bytes);

}  // namespace belay::cron
