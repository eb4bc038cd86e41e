#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "belay/command.h"
#include "cli/command_list.h"
#include "cli/command_table.h"
#include "cli/former_names.h"
#include "cli/help_text.h"
#include "cli/localized_text.h"
#include "cli/output.h"
#include "cli/suggestions.h"

namespace belay::cli {
namespace {

// A command of the list and its object, whose members are targets of the parser.
struct ListedCommand {
  CommandSpec spec;
  std::unique_ptr<Command> command;  // null: only a group
  CLI::App* parser = nullptr;
};

// The targets of CLI11's options, and the selected command.
struct ParsedWords {
  const Program& program;
  GlobalFlags flags = {};
  std::vector<ListedCommand> commands = {};
  ListedCommand* chosen = nullptr;
  CompletedWords completed = {};
};

void add_flags(CLI::App& app, const Program& program, GlobalFlags& flags) {
  app.add_option("--config", flags.config, "The settings file");
  app.add_option("--store", flags.store, "The store: sqlite:PATH, memory: or a PostgreSQL URL");
  app.add_option("--server", flags.server, "A Belay server instead of a store: http://HOST:PORT");
  app.add_option("--api-key-file", flags.api_key_file, "File with the API key for the server");
  app.add_option("--user", flags.user, "User of records and runs");
  if (!program.brings_model) {
    app.add_option("--model", flags.model, "The model: PROVIDER:NAME, or a comma-separated list");
    app.add_option("--model-url", flags.model_url, "Its server: http[s]://HOST[:PORT][/PATH]");
  }
  app.add_option("--key-file", flags.key_file, "File with the encryption keys of the store");
  app.add_option("--redis", flags.redis,
                 "The optional fast tier: redis://HOST:PORT/DB, or rediss:// with TLS");
  app.add_option("--language", flags.language, "Language of the texts for you: en or es");
  app.add_flag("--json", flags.json, "The result as one JSON document");
  app.add_flag("--quiet", flags.quiet, "Print only the result");
}

std::string version_of(const Program& program) {
  std::string version = program.name == "belay" ? "" : program.name + ", ";
  return version + "belay " + BELAY_VERSION;
}

// Returns the parser of the command above; `app` for a command that has none.
CLI::App& parser_above(CLI::App& app, std::vector<ListedCommand>& commands,
                       const std::vector<std::string>& path) {
  for (ListedCommand& each : commands) {
    bool is_above = each.parser && each.spec.path.size() + 1 == path.size() &&
                    std::equal(each.spec.path.begin(), each.spec.path.end(), path.begin());
    if (!is_above) continue;
    // `queue` is a group, and without a subcommand it is itself a command.
    if (each.command) each.parser->require_subcommand(0, 1);
    return *each.parser;
  }
  return app;
}

void add_command(CLI::App& app, ParsedWords& words, ListedCommand& entry) {
  const CommandSpec& spec = entry.spec;
  CLI::App& above = parser_above(app, words.commands, spec.path);
  CLI::App* parser = above.add_subcommand(spec.path.back(), spec.line);
  parser->fallthrough();
  parser->footer(format_message(spec.end, {{"p", words.program.call}}));
  for (const std::string& name : spec.former_names) add_former_name(parser, name);
  entry.parser = parser;
  if (!entry.command) {
    parser->require_subcommand(1);
    return;
  }
  CommandWords declared(*parser, words.completed);
  entry.command->declare(declared);
  // CLI11 calls this for a subcommand before the command above it.
  parser->callback([&words, &entry] {
    if (!words.chosen) words.chosen = &entry;
  });
}

// Adds all commands and options. `words` must outlive the app.
void build_parser(CLI::App& app, std::vector<CommandSpec> commands, ParsedWords& words) {
  const Program& program = words.program;
  app.footer(format_message(help::kProgramEnd,
                            {{"p", program.call},
                             {"name", program.name},
                             {"examples", program.examples},
                             {"models", program.brings_model ? "" : help::kModelSettings},
                             {"settings", program.own_settings}}));
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", version_of(program));
  add_flags(app, program, words.flags);
  for (CommandSpec& spec : commands) {
    std::unique_ptr<Command> command = spec.make ? spec.make() : nullptr;
    words.commands.push_back({std::move(spec), std::move(command)});
  }
  // The elements are not moved from here on: the parser has their addresses.
  for (ListedCommand& entry : words.commands) add_command(app, words, entry);
}

// Returns the command that the words have selected, else the default one.
ChosenCommand take_chosen(ParsedWords& words) {
  for (ListedCommand& entry : words.commands) {
    if (!words.chosen && entry.spec.is_default) words.chosen = &entry;
  }
  return {words.chosen->spec.traits, std::move(words.chosen->command)};
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// " Did you mean ...?" about a word that the command does not have; empty without a similar one.
std::string hint_about(const CLI::App& at, const std::string& verb, std::string word) {
  word = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CLI::App* each : at.get_subcommands([](const CLI::App*) { return true; })) {
    std::vector<std::string> options = options_of(*each);
    bool has_option =
        word.starts_with("--") && std::find(options.begin(), options.end(), word) != options.end();
    if (has_option && !each->get_name().empty()) {
      return " It is an option of \"" + verb + " " + each->get_name() + "\".";
    }
    if (!word.starts_with('-') && !each->get_name().empty()) known.push_back(each->get_name());
  }
  if (word.starts_with('-')) known = options_of(at);
  std::string hint = did_you_mean(word, known);
  return hint.starts_with(" Did") ? hint : "";
}

// Returns the words that no command has, in their typed order.
std::vector<std::string> unknown_words(const CLI::App& app) {
  std::vector<std::string> words = app.remaining(true);
  std::erase(words, "--");
  return words;
}

std::string not_expected(const std::vector<std::string>& words) {
  std::string text = words.size() > 1 ? "The following arguments were not expected:"
                                      : "The following argument was not expected:";
  for (const std::string& word : words) text += " " + one_line(word);
  return text;
}

// The message of CLI11, joined to one line, and the command whose help explains it. A required word
// can be missing because it is one of the `unknown` words, with an error.
Error fault_in(const Program& program, const CLI::App& app, const CLI::ParseError& fault,
               const std::vector<std::string>& unknown) {
  std::string verb = program.call;
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    verb += " " + at->get_name();
  }
  bool is_about_words = dynamic_cast<const CLI::ExtrasError*>(&fault) != nullptr ||
                        dynamic_cast<const CLI::RequiredError*>(&fault) != nullptr;
  bool is_unknown = is_about_words && !unknown.empty();
  std::string what = is_unknown ? not_expected(unknown) : one_line(fault.what());
  while (!what.empty() && (what.back() == ' ' || what.back() == '.')) what.pop_back();
  std::string hint;
  for (std::size_t i = 0; is_unknown && hint.empty() && i < unknown.size(); ++i) {
    hint = hint_about(*at, verb, unknown[i]);
  }
  return error(ErrorCode::invalid, what + "." + hint + " See " + verb + " --help.");
}

// The parser gives words that a subcommand does not have to the command above it, which is not
// executed. Returns the first one; nullopt without one.
std::optional<std::string> word_of_command_above(const CLI::App& chosen) {
  const CLI::App* above = chosen.get_parent();
  for (; above && above->get_parent(); above = above->get_parent()) {
    for (const CLI::Option* option : above->get_options()) {
      if (option->count() == 0) continue;
      return option->get_positional() ? option->results().front() : option->get_name();
    }
  }
  return std::nullopt;
}

std::string about_of(const Program& program) {
  return format_message(help::kProgram, {{"about", program.about}, {"p", program.call}});
}

void add_commands(const CLI::App& app, const CompletedWords& completed,
                  std::vector<std::string> path, std::vector<CommandHelp>& table) {
  CommandHelp command;
  command.path = path;
  command.line = app.get_description();
  command.end = app.get_footer();
  command.former_names = app.get_aliases();
  for (const CLI::Option* option : app.get_options()) {
    std::optional<NamesToComplete> names;
    if (auto found = completed.find(option); found != completed.end()) names = found->second;
    if (option->get_positional()) {
      command.arguments.push_back({option->get_name(), option->get_required(), names});
    } else if (!option->get_lnames().empty()) {
      bool takes_value = option->get_items_expected_max() > 0;
      command.options.push_back({"--" + option->get_lnames().front(), option->get_description(),
                                 takes_value, is_former_name(*option), names});
    }
  }
  auto below = app.get_subcommands([](const CLI::App*) { return true; });
  command.has_verbs = !below.empty();
  table.push_back(std::move(command));
  for (const CLI::App* verb : below) {
    path.push_back(verb->get_name());
    add_commands(*verb, completed, path, table);
    path.pop_back();
  }
}

}  // namespace

std::vector<CommandHelp> command_table(const Program& program) {
  ParsedWords words{program};
  CLI::App app{about_of(program), program.call};
  auto commands = command_list(program);
  // parse_arguments() reports the error.
  if (!commands.ok()) commands = std::vector<CommandSpec>();
  build_parser(app, *std::move(commands), words);
  std::vector<CommandHelp> table;
  add_commands(app, words.completed, {}, table);
  return table;
}

Result<Parsed> parse_arguments(const Program& program, int count, const char* const* words) {
  BELAY_TRY(std::vector<CommandSpec> commands, command_list(program));
  ParsedWords read{program};
  CLI::App app{about_of(program), program.call};
  build_parser(app, std::move(commands), read);
  try {
    app.parse(count, words);
  } catch (const CLI::CallForHelp&) {
    remove_former_names(app);
    return Parsed(app.help());
  } catch (const CLI::CallForVersion&) {
    return Parsed(version_of(program) + "\n");
  } catch (const CLI::ParseError& fault) {
    return fault_in(program, app, fault, unknown_words(app));
  }
  if (auto word = read.chosen ? word_of_command_above(*read.chosen->parser) : std::nullopt) {
    CLI::ExtrasError unexpected({*word});
    return fault_in(program, app, unexpected, {*word});
  }
  ChosenCommand chosen = take_chosen(read);
  return Parsed(Arguments{std::move(read.flags), std::move(chosen)});
}

std::string_view belay_version() { return BELAY_VERSION; }

}  // namespace belay::cli
