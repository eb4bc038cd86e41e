#include "cli/shared_options.h"

namespace belay::cli {
namespace {

constexpr std::size_t kListMax = 1'000;
constexpr std::int64_t kKeepDaysMax = 36'500;
constexpr std::int64_t kSeqMax = 1'000'000'000'000;

}  // namespace

void declare_thread(CommandWords& words, std::string& thread) {
  words.argument("THREAD", thread, "The thread").required().completes(NamesToComplete::threads);
}

void declare_run(CommandWords& words, std::optional<std::string>& run) {
  words.option("--run", run, "Run of the thread, by its id or the beginning of it");
}

void declare_schedule(CommandWords& words, std::string& name) {
  words.argument("NAME", name, "Name of the schedule").required();
}

void declare_limit(CommandWords& words, std::size_t& limit) {
  words.option("--limit", limit, "Maximum number of rows, newest first")
      .range(std::size_t{1}, kListMax)
      .shows_default();
}

void declare_roles(CommandWords& words, std::vector<std::string>& roles) {
  words.option("--role", roles, "Role that you hold; repeatable");
}

Result<Done> check_thread(std::string_view thread) { return check_name("thread id", thread); }

Result<Done> check_thread_and_run(std::string_view thread, const std::optional<std::string>& run) {
  BELAY_CHECK(check_thread(thread));
  if (!run) return Done{};
  return check_name("run id", *run);
}

Result<Done> check_schedule(std::string_view name) {
  return check_name("name of the schedule", name);
}

Result<Done> check_decider(const std::optional<std::string>& by) {
  if (!by) return Done{};
  return check_name("name after --by", *by);
}

Result<Done> complete_roles(const Settings& settings, std::vector<std::string>& roles) {
  if (roles.empty()) roles = settings.roles;
  for (const std::string& role : roles) {
    BELAY_TRY(std::vector<std::string> read, roles_from("--role", role));
    if (read.size() == 1) continue;
    return error(ErrorCode::invalid, "--role accepts one role. Repeat it for more.");
  }
  return Done{};
}

Result<std::optional<std::uint64_t>> seq_from(const std::optional<std::string>& at) {
  if (!at) return std::optional<std::uint64_t>();
  BELAY_TRY(std::int64_t seq, whole_number("--at", *at, 1, kSeqMax));
  return std::optional(static_cast<std::uint64_t>(seq));
}

Result<std::chrono::hours> age_from(std::string_view option, std::string_view text) {
  bool is_days = text.ends_with('d');
  if (!is_days && !text.ends_with('h')) {
    return error(ErrorCode::invalid,
                 std::string(option) + " is invalid: expected a time such as 12h or 30d.");
  }
  text.remove_suffix(1);
  BELAY_TRY(std::int64_t count, whole_number(option, text, 0, kKeepDaysMax));
  return std::chrono::hours(is_days ? 24 * count : count);
}

}  // namespace belay::cli
