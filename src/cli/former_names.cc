#include "cli/former_names.h"

namespace belay::cli {
namespace {

// The group of former options. CLI11 hides a group without a name, but omits the names of its
// options from error messages, too.
constexpr const char* kGroup = "Former names";

}  // namespace

void add_former_name(CLI::App* command, const std::string& name) { command->alias(name); }

void add_former_name(CLI::App* command, CLI::Option* option, const std::string& name) {
  // CLI11 calls this after it has read all words, so the order of the two names does not matter.
  // Option::excludes() would not do: it also adds the former name to the help of `option`, and
  // after this call both options have values.
  CLI::callback_t pass_on = [option, name](const CLI::results_t& values) {
    if (option->count() > 0) {
      throw CLI::ExcludesError(
          name + " and " + option->get_name() + " are names of one option: omit " + name,
          CLI::ExitCodes::ExcludesError);
    }
    option->add_result(values);
    option->run_callback();
    return true;
  };
  command->add_option(name, std::move(pass_on), option->get_description())
      ->type_name(option->get_type_name())
      ->type_size(option->get_type_size_min(), option->get_type_size_max())
      ->expected(option->get_expected_min())
      ->multi_option_policy(option->get_multi_option_policy())
      ->group(kGroup);
}

bool is_former_name(const CLI::Option& option) { return option.get_group() == kGroup; }

void remove_former_names(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (is_former_name(*option)) app.remove_option(option);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    command->clear_aliases();
    remove_former_names(*command);
  }
}

}  // namespace belay::cli
