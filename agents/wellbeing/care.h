#pragma once
// wellbeing/care.h - texts and activities that each audit and routine must contain, whichever model
// created it, and the detection of crisis words in the notes, which no model is asked for.
//
// Threading: pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/wellbeing/messages.h"
#include "agents/wellbeing/records.h"
#include "belay/model.h"

namespace belay::wellbeing {

inline constexpr int kRiskMin = 1;
inline constexpr int kRiskMax = 10;
inline constexpr int kRiskForApproval = 7;  // from this level on, an audit needs an approval
inline constexpr int kRiskForHelp = 8;      // from this level on: local help, and contact first
inline constexpr std::string_view kLocalHelpSetting = "BELAY_HELP_TEXT";

struct CareOptions {
  // Shown from kRiskForHelp on. Empty: a neutral text without phone numbers that names the setting.
  std::string local_help = {};
};

// Crisis words, as found by rules::crisis_floor().
struct Crisis {
  std::optional<int> minimum = std::nullopt;  // 8 to 10; unset if none were found
  std::vector<std::string> words = {};        // as written, each once, at most kCrisisWordsMax
  friend bool operator==(const Crisis&, const Crisis&) = default;
};
inline constexpr std::size_t kCrisisWordsMax = 20;

Crisis crisis_in(const std::vector<std::string>& texts);
// Adds `more` to `crisis`: the higher minimum, the words of both.
void merge(const Crisis& more, Crisis& crisis);
// Returns “one”, “two”.
std::string quoted_words(const Crisis& crisis);

// Returns the higher one of `level` and the crisis minimum.
int raised(int level, const Crisis& crisis);

std::string local_help(const CareOptions& options, Language language);

// Returns the notice about the origin of the reply, in the reader's language: the provider's own
// notice if there is one, otherwise one for its method.
std::string notice_of(const ModelReply& reply, Language language);

// Returns the first activity of a day after a risk of kRiskForHelp or more.
Activity contact_activity(Language language);

// Returns whether the day begins with exactly that activity.
bool begins_with_contact(const std::vector<Activity>& activities, Language language);

// Returns the activities with contact as the first one: unless it already is, it is added a quarter
// of an hour before the others.
std::vector<Activity> with_contact_first(std::vector<Activity> activities, Language language);

}  // namespace belay::wellbeing
