#pragma once
// cli/config_file.h - reads settings from a YAML file.
//
// They override defaults; options and environment variables override them. The file is the first
// that exists of --config, BELAY_CONFIG, ./NAME.yaml, and NAME/NAME.yaml in $XDG_CONFIG_HOME
// (~/.config), where NAME is the program's name. A file named by --config or BELAY_CONFIG must
// exist.
//
// Only config_file.cc uses yaml-cpp.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/settings.h"

namespace belay::cli {

struct ConfigFile {
  struct Entry {
    std::string value;
    int line = 0;  // counted from 1
  };
  std::string path;
  std::map<std::string, Entry> entries;  // by key
  bool is_strange = false;               // its author is unknown: see trust.h

  // Returns "file PATH, line 3"; empty if the file does not have the key.
  std::string origin(const std::string& key) const;
};

// Returns the paths of the file to try, in order.
std::vector<std::string> config_places(const Program& program, const Environment& environment,
                                       const GlobalFlags& flags);

// Returns the settings that every program has, without help.
std::vector<ModuleSetting> common_settings();

// Returns nullopt if there is no file. Fails with `invalid`, with the line, if a key is unknown
// (the message suggests the nearest known one) or duplicate, if a value is not a single text, or if
// the file is not YAML.
Result<std::optional<ConfigFile>> read_config(const Program& program,
                                              const Environment& environment,
                                              const GlobalFlags& flags);

// Sets the members of `environment` that are unset. Relative paths are relative to the file's
// folder.
void add_config(const Program& program, const ConfigFile& file, Environment& environment);

// A setting, its value, and the origin of the value.
struct Explained {
  std::string key, value, origin;
};
// `environment` as before add_config(); `settings` contains the final values.
std::vector<Explained> explain_settings(const Program& program, const Environment& environment,
                                        const GlobalFlags& flags,
                                        const std::optional<ConfigFile>& file,
                                        const Settings& settings);

}  // namespace belay::cli
