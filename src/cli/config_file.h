#pragma once
// cli/config_file.h - settings from a YAML file: below flags and environment, above defaults.
//
// The first that there is: --config, BELAY_CONFIG, ./NAME.yaml, NAME/NAME.yaml in
// $XDG_CONFIG_HOME (~/.config); NAME is the program's. One that is named has to be there.
//
// config_file.cc is the only file that knows yaml-cpp.

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

  // "file PATH, line 3"; empty for a key that it does not have.
  std::string origin(const std::string& key) const;
};

// Where the file is looked for, in order.
std::vector<std::string> config_places(const Program& program, const Environment& environment,
                                       const GlobalFlags& flags);

// Nothing where there is none. `invalid`, with the line, for an unknown key (and the nearest that
// is known), a key that stands there twice, a value that is no single text, and what is no YAML.
Result<std::optional<ConfigFile>> read_config(const Program& program,
                                              const Environment& environment,
                                              const GlobalFlags& flags);

// Sets in `environment` what it leaves open. Paths of the file are relative to its folder.
void add_config(const Program& program, const ConfigFile& file, Environment& environment);

// One setting: its value, and where that comes from.
struct Explained {
  std::string key, value, origin;
};
// `environment` as it was before add_config(); `settings` what all came to.
std::vector<Explained> explain_settings(const Program& program, const Environment& environment,
                                        const GlobalFlags& flags,
                                        const std::optional<ConfigFile>& file,
                                        const Settings& settings);

}  // namespace belay::cli
