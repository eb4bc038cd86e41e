#pragma once
// cli/key_file.h - the keys that a store is encrypted with, from where the settings say.

#include "belay/storage.h"
#include "cli/settings.h"

namespace belay::cli {

// `invalid` for a key file that can't be read, that others may read or change, or that holds no
// keys; the message never shows one.
Result<Sealing> sealing_of(const Settings& settings);

// The text of a file that holds keys of whatever kind. `invalid` for one that can't be read, or
// that others may read or change, its group included unless it is another user's (a mounted
// secret); `named_with` is what it is named with, for that message.
Result<std::string> read_key_file(const std::string& name, std::string_view named_with);

}  // namespace belay::cli
