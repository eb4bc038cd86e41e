#pragma once
// wellbeing/care.h - what must be said with every audit and routine, whoever made it, and the one
// thing that no model is asked about: whether the words of a crisis stand in the notes.
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
inline constexpr int kRiskForApproval = 7;  // from here on a person looks at the audit
inline constexpr int kRiskForHelp = 8;      // from here on: local help, and contact first
inline constexpr std::string_view kLocalHelpSetting = "BELAY_HELP_TEXT";

struct CareOptions {
  // Shown from kRiskForHelp up. Empty: a neutral text without numbers that names the setting.
  std::string local_help = {};
};

// Words of a crisis, as rules::crisis_floor finds them.
struct Crisis {
  std::optional<int> minimum = std::nullopt;  // 8 to 10; absent when none were found
  std::vector<std::string> words = {};        // as written, each once, at most kCrisisWordsMax
  friend bool operator==(const Crisis&, const Crisis&) = default;
};
inline constexpr std::size_t kCrisisWordsMax = 20;

Crisis crisis_in(const std::vector<std::string>& texts);
// Adds what `more` found: the higher minimum, the words of both.
void merge(const Crisis& more, Crisis& crisis);
// “one”, “two”
std::string quoted_words(const Crisis& crisis);

// Never below the crisis minimum, and never below `level`.
int raised(int level, const Crisis& crisis);

std::string local_help(const CareOptions& options, Language language);

// Who made the answer, in the reader's language: the provider's own notice, else what its method
// says.
std::string notice_of(const ModelReply& reply, Language language);

// The activity that a day begins with after a risk of kRiskForHelp or more.
Activity contact_activity(Language language);

// Whether the day begins with exactly that activity.
bool begins_with_contact(const std::vector<Activity>& activities, Language language);

// The same activities, beginning with contact: put in front, a quarter of an hour before the
// others, unless it stands there.
std::vector<Activity> with_contact_first(std::vector<Activity> activities, Language language);

}  // namespace belay::wellbeing
