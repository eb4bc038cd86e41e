#include "cli/form.h"

#include "belay/limits.h"
#include "belay/retention.h"
#include "cli/input_file.h"

namespace belay::cli {
namespace {

constexpr std::int64_t kAttemptsMax = 20;
constexpr std::int64_t kTimeoutMax = 86'400'000;  // a day
constexpr std::int64_t kKeepDaysMax = 36'500;
constexpr std::int64_t kSeqMax = 1'000'000'000'000;

Result<Done> check_date(std::string_view date) {
  if (is_date(date)) return Done{};
  return error(ErrorCode::invalid, "\"" + shortened(date, 40, "...") +
                                       "\" is no day of the calendar; write YYYY-MM-DD.");
}

Result<Done> check_thread(std::string_view thread) { return check_name("thread id", thread); }

Result<Done> check_by(const std::optional<std::string>& by) {
  if (!by) return Done{};
  return check_name("name after --by", *by);
}

Result<Done> complete(const Settings&, NotesImport& verb) {
  BELAY_TRY(std::string text, read_input(verb.file, kImportBytesMax));
  BELAY_TRY(verb.lines, read_note_lines(text));
  return Done{};
}

Result<Done> complete(const Settings&, NotesList& verb) {
  return verb.date ? check_date(*verb.date) : Result<Done>(Done{});
}

// What the run's texts are to be written in; empty: as the notes are.
Result<std::string> language_for(const Settings& settings, const RunAgent& verb) {
  if (!verb.language) {
    return settings.language_named ? std::string(name_of(settings.language)) : std::string();
  }
  if (language_from(*verb.language)) return *verb.language;
  return error(ErrorCode::invalid,
               "--language is \"" + shortened(*verb.language, 20, "...") + "\"; give en or es.");
}

Result<Done> complete(const Settings& settings, RunAgent& verb) {
  BELAY_CHECK(check_date(verb.date));
  if (verb.thread) BELAY_CHECK(check_thread(*verb.thread));
  BELAY_TRY(verb.language, language_for(settings, verb));
  if (auto text = verb.max_retries ? verb.max_retries : settings.max_retries) {
    std::string_view what = verb.max_retries ? "--max-retries" : "AGENT_MAX_RETRIES";
    BELAY_TRY(std::int64_t attempts, whole_number(what, *text, 1, kAttemptsMax));
    verb.options.max_retries = static_cast<int>(attempts);
  }
  if (auto text = verb.timeout_ms ? verb.timeout_ms : settings.timeout_ms) {
    std::string_view what = verb.timeout_ms ? "--timeout" : "AGENT_TIMEOUT_MS";
    BELAY_TRY(std::int64_t timeout, whole_number(what, *text, 1, kTimeoutMax));
    verb.options.timeout = std::chrono::milliseconds(timeout);
  }
  if (verb.no_approval) {
    verb.options.require_approval = false;
  } else if (settings.require_approval) {
    BELAY_TRY(verb.options.require_approval,
              truth_from("AGENT_REQUIRE_APPROVAL", *settings.require_approval));
  }
  if (verb.expires) {
    BELAY_TRY(std::chrono::milliseconds expires, duration_from("--expires", *verb.expires));
    verb.options.approval_expires = expires;
  }
  return Done{};
}

Result<Done> complete(const Settings&, ApprovalsShow& verb) {
  return check_name("approval's id", verb.id);
}

Result<Done> complete(const Settings&, ApprovalsDecide& verb) {
  BELAY_CHECK(check_name("approval's id", verb.id));
  BELAY_CHECK(check_by(verb.by));
  if (!verb.edit_file) return Done{};
  BELAY_TRY(std::string text, read_input(*verb.edit_file, limits::record_bytes_max));
  auto edited = parse_json(text);
  if (!edited.ok()) {
    return error(ErrorCode::invalid, "The edited payload can't be read: " + edited.error().message +
                                         " Nothing was decided.");
  }
  verb.edited = *std::move(edited);
  return Done{};
}

Result<Done> complete(const Settings&, Resume& verb) {
  if (verb.all) return Done{};
  if (!verb.thread.empty()) return check_thread(verb.thread);
  return error(ErrorCode::invalid,
               "Nothing to resume is named; write belay resume THREAD, or belay resume --all.");
}

Result<Done> complete(const Settings&, Cancel& verb) {
  BELAY_CHECK(check_thread(verb.thread));
  return check_by(verb.by);
}

Result<Done> complete(const Settings&, Preserve& verb) { return check_thread(verb.thread); }

Result<Done> complete(const Settings&, StorePrune& verb) {
  verb.keep = RetentionPolicy{}.keep_finished;
  if (!verb.older_than) return Done{};
  std::string_view number = *verb.older_than;
  bool is_days = number.ends_with('d');
  if (!is_days && !number.ends_with('h')) {
    return error(ErrorCode::invalid, "--older-than needs a time like 12h or 30d.");
  }
  number.remove_suffix(1);
  BELAY_TRY(std::int64_t count, whole_number("--older-than", number, 0, kKeepDaysMax));
  verb.keep = std::chrono::hours(is_days ? 24 * count : count);
  return Done{};
}

Result<Done> complete(const Settings&, History& verb) { return check_thread(verb.thread); }

Result<Done> complete(const Settings&, StateOf& verb) {
  BELAY_CHECK(check_thread(verb.thread));
  if (!verb.at) return Done{};
  BELAY_TRY(std::int64_t seq, whole_number("--at", *verb.at, 1, kSeqMax));
  verb.seq = static_cast<std::uint64_t>(seq);
  return Done{};
}

// Verbs of which every form will do.
template <typename Other>
Result<Done> complete(const Settings&, Other&) {
  return Done{};
}

}  // namespace

Result<Done> check_form(const Settings& settings, Verb& verb) {
  return std::visit([&](auto& one) { return complete(settings, one); }, verb);
}

bool makes_a_store(const Verb& verb) {
  return std::holds_alternative<NotesImport>(verb) || std::holds_alternative<RunAgent>(verb);
}

}  // namespace belay::cli
