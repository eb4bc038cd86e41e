#pragma once
// cli/shared_options.h - options that several commands have: their declarations and their checks.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "belay/command.h"
#include "belay/result.h"
#include "cli/settings.h"

namespace belay::cli {

// THREAD, required.
void declare_thread(CommandWords& words, std::string& thread);
// --run, of a command for one run of a thread.
void declare_run(CommandWords& words, std::optional<std::string>& run);
// NAME of a schedule, required.
void declare_schedule(CommandWords& words, std::string& name);
// --limit, of a list.
void declare_limit(CommandWords& words, std::size_t& limit);
// --role, of a command that decides approvals.
void declare_roles(CommandWords& words, std::vector<std::string>& roles);

Result<Done> check_thread(std::string_view thread);
Result<Done> check_thread_and_run(std::string_view thread, const std::optional<std::string>& run);
Result<Done> check_schedule(std::string_view name);
// For --by.
Result<Done> check_decider(const std::optional<std::string>& by);
// Sets the roles of the settings if the command line has none.
Result<Done> complete_roles(const Settings& settings, std::vector<std::string>& roles);
// For --at: the number of a commit.
Result<std::optional<std::uint64_t>> seq_from(const std::optional<std::string>& at);
// Parses "12h" or "30d".
Result<std::chrono::hours> age_from(std::string_view option, std::string_view text);

}  // namespace belay::cli
