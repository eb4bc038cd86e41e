#pragma once
// tools/folder_walk.h - visits the files beneath a folder.

#include <sys/stat.h>

#include <functional>
#include <string>

#include "tools/beneath.h"

namespace belay::tools {

struct FoundEntry {
  int folder;               // the open directory that contains it
  const std::string& name;  // in that directory
  const std::string& path;  // from the start of the walk
  const struct stat& status;
};

enum class Visit { enter, skip, stop };

// Calls `visit` for each file and folder, in the order of their names, and enters the folders for
// which it returns `enter`. Does not follow links. Returns 0, or the errno of the first entry that
// could not be read; the walk continues with the others. Folders more than 40 levels deep, and
// names beyond the first 100,000 of one folder, are not visited: EOVERFLOW.
int walk_beneath(int folder, Resolution resolution,
                 const std::function<Visit(const FoundEntry&)>& visit);

}  // namespace belay::tools
