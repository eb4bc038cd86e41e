#pragma once
// wellbeing/messages.h - the texts that the wellbeing agents display, in English and Spanish.
//
// To add a message: add it to Text, and its row to messages.cc. To add a language: add it to
// Language, and its column to messages.cc. messages_test.cc fails if a text is missing.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace belay::wellbeing {

enum class Language { en, es };

// Returns the language named "en" or "es"; `otherwise` for any other name.
Language language_named(std::string_view name, Language otherwise);
std::string_view name_of(Language language);

enum class Text {
  audit_question,               // {date} {risk}
  audit_question_not_assessed,  // {date}
  routine_question,             // {date}
  no_diagnosis,
  made_by_rules,
  made_by_model,  // {provider} {model}
  made_by_other,  // {provider} {method}
  not_assessed,
  nothing_written,
  local_help_default,  // {setting}
  risk_raised,         // {from} {to} {words}
  crisis_words_found,  // {words}
  notes_cut,           // {used} {total} {characters_used} {characters_total}
  passages_altered,    // {count}
  material_cut,        // {count}
  no_previous_data,
  first_recommendation,
  yesterday,               // {date} {summary} {risk}
  yesterday_not_assessed,  // {date} {summary}
  contact_first,
  contact_first_by_words,  // {words}
  contact_added,
  fixed_event_added,  // {time} {activity}
  fixed_event_benefit,
  fixed_event_bad_time,  // {activity}
  not_placed,            // {activity} {reason}
  audit_completed,
  audit_paused,
  nothing_to_do,  // {date}
  routine_completed,
  routine_paused,
  approved_and_completed,
  rejected_and_completed,
  expired_and_completed,
};
inline constexpr std::size_t kTexts = static_cast<std::size_t>(Text::expired_and_completed) + 1;

using Filling = std::pair<std::string_view, std::string_view>;

// Returns the message from the table, with its {placeholders}.
std::string_view wording(Text text, Language language);

// Returns the message with its placeholders replaced. Replaced text is not scanned again.
std::string message(Text text, Language language, std::initializer_list<Filling> fillings = {});

// Returns `wording` with each {name} replaced, in one pass; unknown names are not changed.
std::string filled(std::string_view wording, std::initializer_list<Filling> fillings);

}  // namespace belay::wellbeing
