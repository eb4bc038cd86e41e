#include "cli/completions.h"

#include <sys/time.h>

#include <algorithm>
#include <csignal>

#include "belay/command.h"
#include "cli/command_context.h"
#include "cli/command_list.h"
#include "cli/localized_text.h"
#include "cli/output.h"
#include "cli/process_context.h"

namespace belay::cli {
namespace {

constexpr const char* kCompletionsHelp =
    R"(Prints a script that completes commands, options, and the names of threads, approvals and
agents. Names are read from the store or the server, within a second.

Examples:
  source <({p} completions bash)          # for this shell; in ~/.bashrc for every shell
  {p} completions zsh > ~/.zfunc/_{p}
  {p} completions fish > ~/.config/fish/completions/{p}.fish
)";

constexpr std::size_t kNamesMax = 100;
constexpr time_t kSecondsMax = 1;  // a person waits at the prompt

// Bash splits words at ':' and '='. The script joins them again, for addresses and paths.
constexpr std::string_view kBash =
    R"(# {name} completions for bash: source it, or put it where bash looks for them.
_{function}_completions() {
  local IFS=$'\n' words=() word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#words[@]} -gt 0 && ( $word == [:=]* || ${words[-1]} == *[:=] ) ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  COMPREPLY=($({call} __complete "${words[@]}" 2>/dev/null))
}
complete -o default -F _{function}_completions {name}
)";

constexpr std::string_view kZsh = R"(#compdef {name}
# {name} completions for zsh.
_{function}_completions() {
  local -a found
  found=("${(@f)$({call} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _{function}_completions {name}
)";

constexpr std::string_view kFish = R"(# {name} completions for fish.
function __{function}_completions
  set -l words (commandline -opc)
  {call} __complete $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c {name} -a '(__{function}_completions)'
)";

bool is_word_of(const std::vector<CommandOption>& options, const std::string& word,
                CommandOption& found) {
  auto at = std::find_if(options.begin(), options.end(),
                         [&](const CommandOption& option) { return option.name == word; });
  if (at == options.end()) return false;
  found = *at;
  return true;
}

// Also finds a command by its former name.
const CommandHelp* find_command(const std::vector<CommandHelp>& table,
                                const std::vector<std::string>& path) {
  for (const CommandHelp& command : table) {
    if (command.path == path) return &command;
    bool is_beside = !path.empty() && command.path.size() == path.size() &&
                     std::equal(path.begin(), path.end() - 1, command.path.begin());
    const std::vector<std::string>& former = command.former_names;
    if (is_beside && std::find(former.begin(), former.end(), path.back()) != former.end()) {
      return &command;
    }
  }
  return nullptr;
}

void take_flag(const std::string& name, const std::string& value, GlobalFlags& flags) {
  if (name == "--config") flags.config = value;
  if (name == "--store") flags.store = value;
  if (name == "--server") flags.server = value;
  if (name == "--api-key-file") flags.api_key_file = value;
  if (name == "--user") flags.user = value;
  if (name == "--key-file") flags.key_file = value;
  if (name == "--redis") flags.redis = value;
}

// The command and the argument to complete.
struct Place {
  const CommandHelp* command;
  std::size_t arguments = 0;  // that precede it
  CommandOption open_option;  // an option whose value comes next; empty: none
};

Place place_of(const std::vector<CommandHelp>& table, const std::vector<std::string>& words,
               GlobalFlags& flags) {
  Place place{&table.front(), 0, {}};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (!place.open_option.name.empty()) {
      take_flag(place.open_option.name, word, flags);
      place.open_option = {};
      continue;
    }
    std::size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    if (equals != word.npos) {
      take_flag(word.substr(0, equals), word.substr(equals + 1), flags);
      continue;
    }
    CommandOption option;
    if (is_word_of(place.command->options, word, option) ||
        is_word_of(table.front().options, word, option)) {
      if (option.takes_value) place.open_option = option;
      continue;
    }
    std::vector<std::string> deeper = place.command->path;
    deeper.push_back(word);
    if (const CommandHelp* next = find_command(table, deeper)) {
      place.command = next;
    } else if (!word.starts_with("-")) {
      ++place.arguments;
    }
  }
  return place;
}

std::string function_name(const std::string& name) {
  std::string function = name;
  for (char& c : function) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain) c = '_';
  }
  return function;
}

std::string completion_script(const Program& program, const std::string& shell) {
  std::string_view script = shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish;
  std::string name = program.call.substr(program.call.rfind('/') + 1);
  return format_message(
      script, {{"name", name}, {"function", function_name(name)}, {"call", program.call}});
}

class CompletionsCommand final : public ProcessCommand {
 public:
  void declare(CommandWords& words) override {
    words.argument("SHELL", shell_, "bash, zsh or fish")
        .required()
        .choices({"bash", "zsh", "fish"});
  }

  CommandResult run_in_process(const ProcessContext& context) override {
    context.output.text(completion_script(context.program, shell_));
    return ExitCode::done;
  }

 private:
  std::string shell_;
};

// Prints the names, one per line.
class CompleteNamesCommand final : public Command {
 public:
  CompleteNamesCommand(NamesToComplete kind, std::string begun)
      : kind_(kind), begun_(std::move(begun)) {}

  Task<CommandResult> run(CommandContext& world) override {
    std::vector<std::string> names;
    if (kind_ == NamesToComplete::threads) {
      ThreadPage page;
      page.limit = kNamesMax;
      BELAY_CO_TRY(std::vector<ListedThread> all,
                   co_await world.service.threads(world.who, std::move(page)));
      for (const ListedThread& one : all) names.push_back(one.thread.thread.text);
    } else if (kind_ == NamesToComplete::approvals) {
      ApprovalPage page;
      page.limit = kNamesMax;
      BELAY_CO_TRY(std::vector<ApprovalRow> all, co_await world.service.approvals(world.who, page));
      for (const ApprovalRow& row : all) names.push_back(row.interrupt.text());
    } else {
      for (const auto& graph : world.graphs) names.push_back(graph->name);
    }
    for (const std::string& name : names) {
      // One name per line. Names that contain line breaks or characters of the shell are omitted.
      bool is_plain = one_line(name) == name && name.find_first_of(" \t'\"\\$`") == name.npos;
      if (is_plain && name.starts_with(begun_)) world.output.text(name + "\n");
    }
    co_return ExitCode::done;
  }

 private:
  NamesToComplete kind_;
  std::string begun_;
};

}  // namespace

Completion complete_words(const std::vector<CommandHelp>& table,
                          const std::vector<std::string>& words) {
  Completion completion;
  Place place = place_of(table, words, completion.flags);
  const CommandHelp& at = *place.command;
  completion.begun = words.empty() ? "" : words.back();
  if (!place.open_option.name.empty()) {
    completion.names = place.open_option.names;
    return completion;
  }
  auto offer = [&](const std::string& word) {
    if (word.starts_with(completion.begun)) completion.candidates.push_back(word);
  };
  if (completion.begun.starts_with("-")) {
    for (const CommandOption& option : at.options) {
      if (!option.is_former) offer(option.name);
    }
    if (!at.path.empty()) {
      for (const CommandOption& option : table.front().options) offer(option.name);
    }
    std::sort(completion.candidates.begin(), completion.candidates.end());
    auto twice = std::unique(completion.candidates.begin(), completion.candidates.end());
    completion.candidates.erase(twice, completion.candidates.end());
    return completion;
  }
  for (const CommandHelp& command : table) {
    bool is_below = command.path.size() == at.path.size() + 1 &&
                    std::equal(at.path.begin(), at.path.end(), command.path.begin());
    if (is_below && place.arguments == 0) offer(command.path.back());
  }
  if (place.arguments < at.arguments.size()) {
    completion.names = at.arguments[place.arguments].names;
  }
  return completion;
}

ChosenCommand complete_names(NamesToComplete kind, std::string begun) {
  // A completion must not write.
  CommandTraits traits{.processes_due = false,
                       .uses_server_agents = kind == NamesToComplete::agents};
  return {traits, std::make_unique<CompleteNamesCommand>(kind, std::move(begun))};
}

void limit_completion() {
  std::signal(SIGALRM, SIG_DFL);
  itimerval once{};
  once.it_value.tv_sec = kSecondsMax;
  ::setitimer(ITIMER_REAL, &once, nullptr);
}

CommandSpec builtin::completions_command(const Program&) {
  return {.path = {"completions"},
          .line = "Print completions for a shell",
          .end = kCompletionsHelp,
          .traits = {.uses_named_servers = false},
          .make = make_command<CompletionsCommand>};
}

}  // namespace belay::cli
