// `belay man`: generates the manual page of the program in roff, for man(1).

#include "cli/arguments.h"
#include "cli/command_list.h"
#include "cli/command_table.h"
#include "cli/process_context.h"

namespace belay::cli {
namespace {

constexpr const char* kManualHelp =
    R"(Prints the manual page of the whole program, for man(1).

Example:
  {p} man | man -l -
)";

// Escapes text for roff: no line may start a request, and hyphens remain hyphens.
std::string escaped(std::string_view text) {
  std::string roff;
  bool begins = true;
  for (char c : text) {
    if (begins && (c == '.' || c == '\'')) roff += "\\&";
    begins = c == '\n';
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else {
      roff += c;
    }
  }
  return roff;
}

std::string as_it_stands(std::string_view text) {
  if (text.empty()) return "";
  std::string block = ".nf\n" + escaped(text);
  if (!block.ends_with('\n')) block += '\n';
  return block + ".fi\n";
}

void add_options(const std::vector<CommandOption>& options, std::string& page) {
  for (const CommandOption& option : options) {
    if (option.is_former) continue;
    page += ".TP\n\\fB" + escaped(option.name) + "\\fR";
    if (option.takes_value) page += " \\fIVALUE\\fR";
    page += "\n" + escaped(option.help) + "\n";
  }
}

std::string synopsis_of(const std::string& name, const CommandHelp& command) {
  std::string line = "\\fB" + escaped(name);
  for (const std::string& word : command.path) line += " " + escaped(word);
  line += "\\fR";
  for (const CommandArgument& argument : command.arguments) {
    std::string shown = "\\fI" + escaped(argument.name) + "\\fR";
    line += argument.required ? " " + shown : " [" + shown + "]";
  }
  if (command.has_verbs) line += " \\fICOMMAND\\fR";
  return line;
}

std::string manual_page(const Program& program, const std::vector<CommandHelp>& table) {
  std::string name = program.call.substr(program.call.rfind('/') + 1);
  const CommandHelp& whole = table.front();
  std::string page =
      ".TH \"" + escaped(name) + "\" 1 \"\" \"belay " + std::string(belay_version()) + "\"\n";
  std::string about = whole.line.substr(0, whole.line.find('\n'));
  if (about.starts_with(name + " - ")) about.erase(0, name.size() + 3);
  page += ".SH NAME\n" + escaped(name) + " \\- " + escaped(about) + "\n";
  page += ".SH SYNOPSIS\n\\fB" + escaped(name) + "\\fR [\\fIOPTION\\fR...] [\\fICOMMAND\\fR...]\n";
  page += ".SH DESCRIPTION\n" + escaped(whole.line) + "\n";
  page += ".SH OPTIONS\nAll commands accept these.\n";
  add_options(whole.options, page);
  page += ".SH COMMANDS\n";
  for (const CommandHelp& command : table) {
    if (command.path.empty()) continue;
    page += ".SS " + synopsis_of(name, command) + "\n" + escaped(command.line) + ".\n";
    add_options(command.options, page);
    page += ".PP\n" + as_it_stands(command.end);
  }
  page += ".SH MORE\n" + as_it_stands(whole.end);
  return page;
}

class ManCommand final : public ProcessCommand {
 public:
  CommandResult run_in_process(const ProcessContext& context) override {
    context.output.text(manual_page(context.program, command_table(context.program)));
    return ExitCode::done;
  }
};

}  // namespace

CommandSpec builtin::man_command(const Program&) {
  return {.path = {"man"},
          .line = "Print the manual page",
          .end = kManualHelp,
          .traits = {.uses_named_servers = false},
          .make = make_command<ManCommand>};
}

}  // namespace belay::cli
