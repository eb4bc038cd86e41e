#pragma once
// cli/trust.h - decides which servers a settings file in the current folder may name.
//
// ./NAME.yaml might have any author: it arrives with a cloned repository or an unpacked archive. If
// only this file names a server, that server receives no secret from the environment or from the
// user's own files, and a command prints the server's address before it sends anything there.
// `config trust` records the file's current bytes in the user's own settings; the file is then
// trusted like them.
//
// Threading: pure functions, except those that read and write the record.

#include <optional>
#include <string>
#include <vector>

#include "cli/config_file.h"

namespace belay::cli {

// A server that only ./NAME.yaml names.
struct StrangePlace {
  std::string origin;    // "file ./belay.yaml, line 2"
  std::string address;   // without its password
  std::string receives;  // data sent to it: "your notes and prompts"
  std::string secret;    // "the key in OPENAI_API_KEY"; empty: no secret of the user
  std::string instead;   // another way to name it: "--model-url"
};

// `environment` contains the file's settings, marked as untrusted: see add_config().
std::vector<StrangePlace> strange_places(const Environment& environment, const GlobalFlags& flags,
                                         const Settings& settings);

// Fails with `invalid` if one of the servers would receive a secret.
Result<Done> check_places(const std::vector<StrangePlace>& places, const std::string& call);

// Fails with `invalid` if only such a file gives agents access to files or networks.
Result<Done> check_access(const Program& program, const Environment& environment);

// True if the user has recorded this file with exactly these bytes.
bool is_trusted(const Program& program, const Environment& environment, const std::string& path,
                const std::string& text);
// Adds the file to the record, or removes it. `invalid` for a file that cannot be read, and if
// there is no folder for the record.
Result<Done> trust(const Program& program, const Environment& environment, const std::string& path,
                   bool trusted);

}  // namespace belay::cli
