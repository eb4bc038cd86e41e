#pragma once
// agents/research/edgar/fetch_command.h - `belay research fetch`, and its settings.

#include <string>
#include <vector>

#include "agents/research/edgar/edgar_client.h"
#include "belay/command.h"
#include "belay/module.h"

namespace belay::research {

// For Module::commands, after the entry of {"research"}.
std::vector<ModuleCommandSpec> fetch_commands();

// For Module::settings.
std::vector<ModuleSetting> edgar_settings();

// Returns the servers of the settings: the SEC's, unless a test set others.
EdgarPlaces edgar_places(const ModuleSettings& settings);

// Reads a time such as "90s", "30m", "24h" or "7d", at most 365 days; "0" selects no age. Fails
// with `invalid`.
Result<std::chrono::milliseconds> age_from(const std::string& text);

}  // namespace belay::research
