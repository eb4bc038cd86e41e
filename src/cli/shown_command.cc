#include "cli/shown_command.h"

#include <algorithm>

#include "cli/store_name.h"

namespace belay::cli {
namespace {

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "_@%+=:,./-";
  bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || kPlain.find(c) != kPlain.npos;
  });
  if (plain) return std::string(word);
  // Characters that change the direction of the line must not reach the terminal unchanged.
  bool has_directions = with_escaped_directions(word) != word;
  std::string quoted = has_directions ? "$'" : "'";
  for (char c : word) {
    if (c == '\'') {
      quoted += has_directions ? "\\'" : "'\\''";
    } else {
      if (c == '\\' && has_directions) quoted += '\\';
      quoted += c;
    }
  }
  return with_escaped_directions(quoted) + "'";
}

}  // namespace

std::string command(const CommandContext& world, const std::vector<std::string>& words) {
  std::string line = world.program.call;
  for (const std::string& word : words) line += " " + shell_word(word);
  return line + flags_text(world.settings);
}

std::string flags_text(const Settings& settings) {
  std::string flags;
  if (settings.store_by_flag) flags += " --store " + shell_word(shown_store(settings.store));
  if (settings.server_by_flag) flags += " --server " + shell_word(*settings.server);
  if (settings.api_key_file_by_flag) {
    flags += " --api-key-file " + shell_word(*settings.api_key_file);
  }
  if (settings.key_file_by_flag) flags += " --key-file " + shell_word(*settings.key_file);
  if (settings.language_by_flag) flags += " --language " + std::string(name_of(settings.language));
  return flags;
}

bool has_server_key(const Settings& settings) {
  return settings.server && (settings.api_key || settings.api_key_file);
}

void add_role(const CommandContext& world, const ApprovalRow& row,
              std::vector<std::string>& words) {
  if (row.roles.empty() || has_server_key(world.settings)) return;
  words.push_back("--role");
  words.push_back(row.roles.substr(0, row.roles.find(',')));
}

}  // namespace belay::cli
