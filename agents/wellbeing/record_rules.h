#pragma once
// wellbeing/record_rules.h - validates records before they are saved by a run, an edited approval,
// the command line or a request.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wellbeing/records.h"
#include "belay/record.h"

namespace belay::wellbeing {

inline constexpr std::size_t kNoteContentBytesMax = 1'000'000;  // below the limit of a whole record
// Returns the bytes of a note's text in its record: a line break or a quotation mark has two.
std::size_t note_content_bytes(const std::string& content);
inline constexpr int kFixedEventMinutesMax = 24 * 60;
// The maximum by which a writer's clock can be ahead of this machine's.
inline constexpr std::chrono::hours kClockAheadMax{24};

// Fails with `invalid`, naming the member, if the record must not be saved.
Result<Done> check(const Note& note, Instant now);
Result<Done> check(const DailySummary& summary, Instant now);
Result<Done> check(const Routine& routine, Instant now);
Result<Done> check(const FixedEvent& event, Instant now);

// The same for a record as JSON; accepts records of other collections and erasures.
Result<Done> check_record(const RecordWrite& write, Instant now);

// Accepts 1 to 10, and an unset level (not assessed).
Result<Done> check_risk_level(std::string_view member, std::optional<int> level);
Result<Done> check_text(std::string_view member, std::string_view text);
// Applies the validator's rules: see validate_schedule.h.
Result<Done> check_activities(const std::vector<Activity>& activities);

// Returns whether the text contains only invisible characters: white space of any kind and
// zero-width characters.
bool is_blank(std::string_view text);

}  // namespace belay::wellbeing
