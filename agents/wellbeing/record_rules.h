#pragma once
// wellbeing/record_rules.h - the rules that a record obeys before it is saved, by whichever door: a
// run, an edited approval, the command line, a request.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wellbeing/records.h"
#include "belay/record.h"

namespace belay::wellbeing {

inline constexpr std::size_t kNoteContentBytesMax = 1'000'000;  // leaves room for the rest of it
inline constexpr int kFixedEventMinutesMax = 24 * 60;
// A writer's clock may be ahead of ours, but not by more.
inline constexpr std::chrono::hours kClockAheadMax{24};

// `invalid`, naming the member, for a record that must not be saved.
Result<Done> check(const Note& note, Instant now);
Result<Done> check(const DailySummary& summary, Instant now);
Result<Done> check(const Routine& routine, Instant now);
Result<Done> check(const FixedEvent& event, Instant now);

// The same for a record as JSON; records of other collections, and what is erased, pass.
Result<Done> check_record(const RecordWrite& write, Instant now);

// 1 to 10; absent where the notes were not assessed.
Result<Done> check_risk_level(std::string_view member, std::optional<int> level);
Result<Done> check_text(std::string_view member, std::string_view text);
// The validator's rules: see validate_schedule.h.
Result<Done> check_activities(const std::vector<Activity>& activities);

// Whether a person sees nothing in it: white space of any kind, zero-width characters.
bool is_blank(std::string_view text);

}  // namespace belay::wellbeing
