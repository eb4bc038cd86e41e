#pragma once
// tests/crash/store_files.h - store files in folders of their own, and what SQLite itself says.

#include <string>
#include <vector>

#include "belay/result.h"

namespace belay::crash {

// A new folder among the temporary files; it stays until remove_folder().
std::string new_folder();
void remove_folder(const std::string& folder);

// The store's file in a folder.
std::string store_in(const std::string& folder);

// Makes `to` and copies what a dead process left in `from` into it, so that a look at the copy
// changes nothing for whoever recovers the original.
void copy_store(const std::string& from, const std::string& to);

// What PRAGMA integrity_check finds; empty when it is "ok".
std::vector<std::string> integrity_faults(const std::string& folder);

// Runs SQL behind Belay's back; how many rows it changed. And the first column of what it finds.
Result<int> change_behind_its_back(const std::string& folder, const std::string& sql);
Result<std::vector<std::string>> rows_behind_its_back(const std::string& folder,
                                                      const std::string& sql);

}  // namespace belay::crash
