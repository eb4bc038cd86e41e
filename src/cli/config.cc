// `belay config`: shows the settings and their origins, and trusts the settings file.

#include "cli/command_list.h"
#include "cli/process_context.h"

namespace belay::cli {
namespace {

constexpr const char* kConfigHelp =
    R"(An option overrides the environment, which overrides the settings file, which overrides the
default. The file is the first that exists: --config, BELAY_CONFIG, ./belay.yaml, belay/belay.yaml
in $XDG_CONFIG_HOME (~/.config); "belay" stands for the name of the program.

./belay.yaml can be written by others, as in a cloned repository. If only this file names a server,
no key of the environment or of your files is sent there. `config trust` trusts the file with its
current contents.

Examples:
  {p} config explain
  {p} config path
  {p} config trust
)";

CommandResult show_config(const std::optional<ConfigFile>& file,
                          const std::vector<Explained>& settings, Output& output) {
  std::size_t key_width = 0, value_width = 0;
  for (const Explained& one : settings) {
    key_width = std::max(key_width, columns(one.key));
    value_width = std::max(value_width, columns(one.value));
  }
  value_width = std::min(value_width, std::size_t{48});
  Value::Array documents;
  for (const Explained& one : settings) {
    output.line(padded(one.key, key_width) + "  " + padded(one_line(one.value), value_width) +
                "  " + output.styled(Style::faint, one_line(one.origin)));
    documents.push_back(
        Value::object({{"name", one.key}, {"value", one.value}, {"from", one.origin}}));
  }
  output.document(Value::object(
      {{"file", file ? Value(file->path) : Value()}, {"settings", std::move(documents)}}));
  return ExitCode::done;
}

CommandResult show_config_path(const std::optional<ConfigFile>& file,
                               const std::vector<std::string>& places, Output& output) {
  Value::Array looked;
  for (const std::string& place : places) looked.push_back(place);
  if (file) {
    output.line(one_line(file->path));
  } else {
    output.line("No settings file. It is read from the first of these that exists:");
    for (const std::string& place : places) output.line("  " + one_line(place));
  }
  output.document(
      Value::object({{"file", file ? Value(file->path) : Value()}, {"places", std::move(looked)}}));
  return ExitCode::done;
}

class ConfigExplainCommand final : public ProcessCommand {
 public:
  CommandResult run_in_process(const ProcessContext& context) override {
    auto all = explain_settings(context.program, context.variables, context.flags, context.file,
                                context.settings);
    return show_config(context.file, all, context.output);
  }
};

class ConfigPathCommand final : public ProcessCommand {
 public:
  CommandResult run_in_process(const ProcessContext& context) override {
    return show_config_path(context.file,
                            config_places(context.program, context.variables, context.flags),
                            context.output);
  }
};

// `config trust` and `config distrust`, for ./NAME.yaml.
class ConfigTrustCommand final : public ProcessCommand {
 public:
  explicit ConfigTrustCommand(bool trusted) : trusted_(trusted) {}

  CommandResult run_in_process(const ProcessContext& context) override {
    Output& output = context.output;
    std::string path = "./" + context.program.name + ".yaml";
    BELAY_CHECK(trust(context.program, context.environment, path, trusted_));
    output.line(trusted_ ? "Trusted with its current contents: " + path
                         : "No longer trusted: " + path);
    Value::Array addresses;
    for (const StrangePlace& place : context.places) {
      addresses.push_back(place.address);
      if (trusted_) output.line("  " + one_line(place.address) + " may have " + place.receives);
    }
    output.document(Value::object(
        {{"file", path}, {"trusted", trusted_}, {"addresses", std::move(addresses)}}));
    return ExitCode::done;
  }

 private:
  bool trusted_;
};

CommandSpec config_spec(std::string name, std::string line,
                        std::function<std::unique_ptr<Command>()> make) {
  return {.path = {"config", std::move(name)},
          .line = std::move(line),
          .end = kConfigHelp,
          .traits = {.is_about_settings = true},
          .make = std::move(make)};
}

}  // namespace

CommandSpec builtin::config_command(const Program&) {
  return {.path = {"config"}, .line = "Show the settings", .end = kConfigHelp};
}

CommandSpec builtin::config_explain_command(const Program&) {
  return config_spec("explain", "Show each setting and its source",
                     make_command<ConfigExplainCommand>);
}

CommandSpec builtin::config_trust_command(const Program&) {
  return config_spec("trust", "Trust ./NAME.yaml with its current contents",
                     [] { return std::make_unique<ConfigTrustCommand>(true); });
}

CommandSpec builtin::config_distrust_command(const Program&) {
  return config_spec("distrust", "Revoke the trust in ./NAME.yaml",
                     [] { return std::make_unique<ConfigTrustCommand>(false); });
}

CommandSpec builtin::config_path_command(const Program&) {
  return config_spec("path", "Show the path of the settings file", make_command<ConfigPathCommand>);
}

}  // namespace belay::cli
