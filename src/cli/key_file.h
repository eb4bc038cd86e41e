#pragma once
// cli/key_file.h - the keys that a store is encrypted with, from where the settings say.

#include "belay/storage.h"
#include "cli/settings.h"

namespace belay::cli {

// `invalid` for a key file that can't be read, that others may read or change, or that holds no
// keys; the message never shows one.
Result<EncryptionOptions> encryption_of(const Settings& settings);

// Returns the text of a file that holds keys of any kind. Fails with `invalid` if the file cannot
// be read or if other users may read or change it; its group counts as other users, unless another
// user owns the file (a mounted secret). `named_with` is the option or variable for that message.
Result<std::string> read_key_file(const std::string& name, std::string_view named_with);

}  // namespace belay::cli
