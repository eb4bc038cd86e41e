#pragma once
// tests/crash/store_files.h - store files in their own folders, and access to them by SQL.

#include <string>
#include <vector>

#include "belay/result.h"

namespace belay::crash {

// Creates a temporary folder, which exists until remove_folder().
std::string new_folder();
void remove_folder(const std::string& folder);

// Returns the path of the store's file in a folder.
std::string store_in(const std::string& folder);

// Creates `to` and copies into it the files that a dead process left in `from`: reading the copy
// does not change the files that are recovered later.
void copy_store(const std::string& from, const std::string& to);

// Returns the result of PRAGMA integrity_check; empty if it is "ok".
std::vector<std::string> integrity_faults(const std::string& folder);

// Executes SQL without Belay; returns the number of changed rows, or the first column of the
// result.
Result<int> change_behind_its_back(const std::string& folder, const std::string& sql);
Result<std::vector<std::string>> rows_behind_its_back(const std::string& folder,
                                                      const std::string& sql);

}  // namespace belay::crash
