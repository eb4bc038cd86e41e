#pragma once
// cli/command_words.h - CommandWords: declares the options and arguments of a command.
//
// Each declaration names a target, which receives the value of the command line, or keeps its
// default. Targets must outlive the parser; members of the Command do.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace belay::cli {

struct Program;

// Names of the store or the server that a shell can complete.
enum class NamesToComplete { threads, approvals, agents };
using CompletedWords = std::map<const CLI::Option*, NamesToComplete>;

// An option or an argument that has been declared. Its functions return it, for the next one.
class CommandWord {
 public:
  CommandWord(CLI::App& command, CLI::Option& option, CompletedWords& completed)
      : command_(&command), option_(&option), completed_(&completed) {}

  CommandWord& required();
  // The value is a number from `least` to `most`, whose type the help names.
  CommandWord& range(std::size_t least, std::size_t most);
  CommandWord& range(int least, int most);
  CommandWord& choices(std::vector<std::string> values);
  // The help contains the current value of the target.
  CommandWord& shows_default();
  // One value of the command line is a list.
  CommandWord& comma_separated();
  // The value is the name of an existing object.
  CommandWord& completes(NamesToComplete names);
  // A command line with both words is invalid.
  CommandWord& excludes(const CommandWord& other);
  // Also accepts the option under this name, and does not display it. Must be called last.
  CommandWord& former_name(const std::string& name);

 private:
  CLI::App* command_;
  CLI::Option* option_;
  CompletedWords* completed_;
};

class CommandWords {
 public:
  // All arguments must outlive the object.
  CommandWords(const Program& program, CLI::App& command, CompletedWords& completed)
      : program_(program), command_(command), completed_(completed) {}

  // An option with a value: "--limit". An optional target remains unset if the value is empty; a
  // vector receives the values of all repetitions.
  CommandWord option(const std::string& name, std::string& target, const std::string& help);
  CommandWord option(const std::string& name, std::optional<std::string>& target,
                     const std::string& help);
  CommandWord option(const std::string& name, std::size_t& target, const std::string& help);
  CommandWord option(const std::string& name, std::int64_t& target, const std::string& help);
  CommandWord option(const std::string& name, std::optional<std::uint64_t>& target,
                     const std::string& help);
  CommandWord option(const std::string& name, std::vector<std::string>& target,
                     const std::string& help);
  // An option for which an empty value is a value.
  CommandWord text_option(const std::string& name, std::optional<std::string>& target,
                          const std::string& help);
  // An option without a value: "--all".
  CommandWord flag(const std::string& name, bool& target, const std::string& help);
  // A word without a name: "THREAD". It may be absent unless it is required().
  CommandWord argument(const std::string& name, std::string& target, const std::string& help);
  CommandWord argument(const std::string& name, std::optional<std::string>& target,
                       const std::string& help);

  // Adds a word after which the command has these options, too, such as "daily-audit" of `run`.
  // Calls `chosen` if the command line contains it.
  CommandWords form(const std::string& name, const std::string& line, std::function<void()> chosen);

  const Program& program() const { return program_; }

 private:
  const Program& program_;
  CLI::App& command_;
  CompletedWords& completed_;
};

}  // namespace belay::cli
