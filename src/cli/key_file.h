#pragma once
// cli/key_file.h - reads the encryption keys of a store from the places that the settings name.

#include "belay/storage.h"
#include "cli/settings.h"

namespace belay::cli {

// Fails with `invalid` if the key file cannot be read, can be read or changed by other users, or
// contains no keys. The message never contains a key.
Result<EncryptionOptions> encryption_of(const Settings& settings);

// Returns the text of a file that holds keys of any kind. Fails with `invalid` if the file cannot
// be read or if other users may read or change it; its group counts as other users, unless another
// user owns the file (a mounted secret). `named_with` is the option or variable for that message.
Result<std::string> read_key_file(const std::string& name, std::string_view named_with);

}  // namespace belay::cli
