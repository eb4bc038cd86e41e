#include "belay/command.h"

#include <CLI/CLI.hpp>

#include "cli/former_names.h"

namespace belay {

CommandWord& CommandWord::required() {
  option_->required();
  return *this;
}

CommandWord& CommandWord::range(std::size_t least, std::size_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

CommandWord& CommandWord::range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

CommandWord& CommandWord::choices(std::vector<std::string> values) {
  option_->check(CLI::IsMember(std::move(values)));
  return *this;
}

CommandWord& CommandWord::shows_default() {
  option_->capture_default_str();
  return *this;
}

CommandWord& CommandWord::comma_separated() {
  option_->delimiter(',');
  return *this;
}

CommandWord& CommandWord::completes(NamesToComplete names) {
  completed_->emplace(option_, names);
  return *this;
}

CommandWord& CommandWord::excludes(const CommandWord& other) {
  option_->excludes(other.option_);
  return *this;
}

CommandWord& CommandWord::optional_value() {
  option_->expected(0, 1);
  return *this;
}

CommandWord& CommandWord::former_name(const std::string& name) {
  cli::add_former_name(command_, option_, name);
  return *this;
}

CommandWord CommandWords::option(const std::string& name, std::string& target,
                                 const std::string& help) {
  return {command_, *command_.add_option(name, target, help), completed_};
}

CommandWord CommandWords::option(const std::string& name, std::optional<std::string>& target,
                                 const std::string& help) {
  return {command_, *command_.add_option(name, target, help), completed_};
}

CommandWord CommandWords::option(const std::string& name, std::size_t& target,
                                 const std::string& help) {
  return {command_, *command_.add_option(name, target, help), completed_};
}

CommandWord CommandWords::option(const std::string& name, std::int64_t& target,
                                 const std::string& help) {
  return {command_, *command_.add_option(name, target, help), completed_};
}

CommandWord CommandWords::option(const std::string& name, std::optional<std::uint64_t>& target,
                                 const std::string& help) {
  return {command_, *command_.add_option(name, target, help), completed_};
}

CommandWord CommandWords::option(const std::string& name, std::vector<std::string>& target,
                                 const std::string& help) {
  return {command_, *command_.add_option(name, target, help)->allow_extra_args(false), completed_};
}

CommandWord CommandWords::text_option(const std::string& name, std::optional<std::string>& target,
                                      const std::string& help) {
  std::function<void(const std::string&)> take = [&target](const std::string& text) {
    target = text;
  };
  return {command_, *command_.add_option_function<std::string>(name, take, help), completed_};
}

CommandWord CommandWords::flag(const std::string& name, bool& target, const std::string& help) {
  return {command_, *command_.add_flag(name, target, help), completed_};
}

CommandWord CommandWords::argument(const std::string& name, std::string& target,
                                   const std::string& help) {
  return option(name, target, help);
}

CommandWord CommandWords::argument(const std::string& name, std::optional<std::string>& target,
                                   const std::string& help) {
  return option(name, target, help);
}

CommandWords CommandWords::form(const std::string& name, const std::string& line,
                                std::function<void()> chosen) {
  CLI::App* below = command_.add_subcommand(name, line);
  below->fallthrough();
  below->footer(command_.get_footer());
  below->callback(std::move(chosen));
  return {*below, completed_};
}

}  // namespace belay
