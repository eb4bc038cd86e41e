#pragma once
// cron/field_reader.h - reads the fields of a cron expression.

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "belay/result.h"
#include "cron/fields.h"

namespace belay::cron {

// Reads five or six fields. The error's message is a part of a sentence: `minute "75" must be ...`.
Result<Fields> read_fields(const std::vector<std::string_view>& texts);

// Reads the interval of "@every 1h30m". The error's message is a part of a sentence, too.
Result<std::chrono::seconds> read_interval(std::string_view text);

// SUN to SAT.
inline constexpr std::array<std::string_view, 7> weekday_names = {"SUN", "MON", "TUE", "WED",
                                                                  "THU", "FRI", "SAT"};

}  // namespace belay::cron
