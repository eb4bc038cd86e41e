#include "cli/command_list.h"

#include <algorithm>

#include "cli/program.h"

namespace belay::cli {
namespace {

using DescribeCommand = CommandSpec (*)(const Program&);

#define BELAY_LIST_COMMAND(name) builtin::name##_command,
constexpr DescribeCommand kBuiltinCommands[] = {BELAY_COMMANDS(BELAY_LIST_COMMAND)};
#undef BELAY_LIST_COMMAND

std::string quoted_path(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& word : path) text += (text.empty() ? "\"" : " ") + word;
  return text + "\"";
}

bool is_named(const CommandSpec& command, const std::string& name) {
  const std::vector<std::string>& former = command.former_names;
  return command.path.back() == name ||
         std::find(former.begin(), former.end(), name) != former.end();
}

std::string described(const CommandSpec& command) {
  std::string text = "\"" + command.line + "\"";
  return command.module.empty() ? text : text + " of module \"" + command.module + "\"";
}

// True if one word of the command line would select both.
bool have_one_name(const CommandSpec& one, const CommandSpec& other) {
  bool is_beside = one.path.size() == other.path.size() &&
                   std::equal(one.path.begin(), one.path.end() - 1, other.path.begin());
  if (!is_beside) return false;
  if (is_named(other, one.path.back())) return true;
  return std::any_of(one.former_names.begin(), one.former_names.end(),
                     [&](const std::string& name) { return is_named(other, name); });
}

Result<Done> check_commands(const std::vector<CommandSpec>& commands) {
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const CommandSpec& command = commands[i];
    bool has_group = command.path.size() == 1;
    for (std::size_t j = 0; j < i; ++j) {
      const CommandSpec& before = commands[j];
      if (have_one_name(command, before)) {
        return error(ErrorCode::invalid, "Two commands have the name " + quoted_path(command.path) +
                                             ": " + described(before) + " and " +
                                             described(command) + ". Rename one of them.");
      }
      has_group =
          has_group || (before.path.size() + 1 == command.path.size() &&
                        std::equal(before.path.begin(), before.path.end(), command.path.begin()));
    }
    if (has_group) continue;
    return error(ErrorCode::invalid, "The command " + quoted_path(command.path) +
                                         " is not below a command that precedes it.");
  }
  return Done{};
}

}  // namespace

Result<std::vector<CommandSpec>> command_list(const Program& program) {
  std::vector<CommandSpec> commands;
  for (const CommandSpec& own : program.commands) {
    if (own.path.empty()) return error(ErrorCode::invalid, "A command has no name: " + own.line);
    commands.push_back(own);
  }
  for (DescribeCommand describe : kBuiltinCommands) commands.push_back(describe(program));
  std::erase_if(commands, [](const CommandSpec& command) { return !command.is_offered; });
  std::vector<CommandSpec> all = commands;
  for (const RunForm& form : program.forms) {
    all.push_back({.path = {"run", form.name}, .line = form.line});
  }
  BELAY_CHECK(check_commands(all));
  return commands;
}

}  // namespace belay::cli
