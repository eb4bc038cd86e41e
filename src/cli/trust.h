#pragma once
// cli/trust.h - decides which servers a settings file of the current folder may name.
//
// ./NAME.yaml may be anybody's: it comes with a cloned repository or an unpacked archive. A server
// that it alone names receives no secret of the environment or of the person's own files, and a
// command says which server it is before it sends anything there. `config trust` records a file, as
// it is at that moment, among the person's own settings; then it counts as one of them.
//
// Threading: pure functions, but for those that read and write the record.

#include <optional>
#include <string>
#include <vector>

#include "cli/config_file.h"

namespace belay::cli {

// A server that nobody but ./NAME.yaml names.
struct StrangePlace {
  std::string origin;    // "file ./belay.yaml, line 2"
  std::string address;   // without a password
  std::string receives;  // "your notes and prompts"
  std::string secret;    // "the key in OPENAI_API_KEY"; empty: none of the person's own
  std::string instead;   // how to name it: "--model-url"
};

// `environment` has the file's settings, and says that they are strange: see add_config().
std::vector<StrangePlace> strange_places(const Environment& environment, const GlobalFlags& flags,
                                         const Settings& settings);

// `invalid` where one of them would receive a secret.
Result<Done> check_places(const std::vector<StrangePlace>& places, const std::string& call);

// Whether the person has recorded this file, with these bytes.
bool is_trusted(const Program& program, const Environment& environment, const std::string& path,
                const std::string& text);
// Records it, or takes it from the record. `invalid` for a file that can't be read, and where there
// is no place for the record.
Result<Done> trust(const Program& program, const Environment& environment, const std::string& path,
                   bool trusted);

}  // namespace belay::cli
