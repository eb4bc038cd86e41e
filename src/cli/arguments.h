#pragma once
// cli/arguments.h - the parsed command line: the command that it selects, and the options that
// every command has. Only the syntax is checked.

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "belay/result.h"
#include "cli/command.h"
#include "cli/program.h"

namespace belay::cli {

// Options that every command takes. Unset ones fall back to the environment: see settings.h.
struct GlobalFlags {
  std::optional<std::string> config;
  std::optional<std::string> store;
  std::optional<std::string> user;
  std::optional<std::string> model;
  std::optional<std::string> model_url;
  std::optional<std::string> key_file;
  std::optional<std::string> server;
  std::optional<std::string> api_key_file;
  std::optional<std::string> redis;
  std::optional<std::string> language;
  bool json = false;
  bool quiet = false;
};

// The command that the words select, with its parsed options.
struct ChosenCommand {
  CommandTraits traits;
  std::unique_ptr<Command> command;
};

struct Arguments {
  GlobalFlags flags;
  ChosenCommand chosen;
};

// The result of parsing: a command, or a text to print (help, the version).
using Parsed = std::variant<Arguments, std::string>;

// Fails with `invalid`, with a message of one line, if the words cannot be parsed, or if the
// program's commands are not valid: see command_list().
Result<Parsed> parse_arguments(const Program& program, int count, const char* const* words);

// Example: "0.1.0".
std::string_view belay_version();

}  // namespace belay::cli
