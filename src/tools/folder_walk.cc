#include "tools/folder_walk.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

namespace belay::tools {
namespace {

constexpr int depth_max = 40;  // each level has an open directory
constexpr std::size_t names_max = 100'000;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

class Walk {
 public:
  Walk(Resolution resolution, const std::function<Visit(const FoundEntry&)>& visit)
      : resolution_(resolution), visit_(visit) {}

  // Returns false if the walk stops.
  bool level(int folder, const std::string& prefix, int depth) {
    for (const std::string& name : names_in(folder)) {
      struct stat status{};
      if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT) note(errno);  // removed since its name was read
        continue;
      }
      std::string path = prefix + name;
      Visit next = visit_(FoundEntry{folder, name, path, status});
      if (next == Visit::stop) return false;
      if (next == Visit::skip || !S_ISDIR(status.st_mode)) continue;
      if (depth == depth_max) {
        note(EOVERFLOW);
        continue;
      }
      Opened inner = open_beneath(folder, name, O_RDONLY | O_DIRECTORY, resolution_);
      if (inner.fault != 0) {
        if (inner.fault != ENOENT) note(inner.fault);
        continue;
      }
      if (!level(inner.file.number(), path + "/", depth + 1)) return false;
    }
    return true;
  }

  int fault() const { return fault_; }

 private:
  void note(int fault) {
    if (fault_ == 0) fault_ = fault;
  }

  std::vector<std::string> names_in(int folder) {
    std::vector<std::string> names;
    // A second open directory: closedir() closes it, and its position is its own.
    int number = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (number < 0) return note(errno), names;
    std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(number));
    if (!directory) {
      note(errno);
      ::close(number);
      return names;
    }
    while (const dirent* entry = ::readdir(directory.get())) {
      std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (names.size() == names_max) {
        note(EOVERFLOW);
        break;
      }
      names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  Resolution resolution_;
  const std::function<Visit(const FoundEntry&)>& visit_;
  int fault_ = 0;
};

}  // namespace

int walk_beneath(int folder, Resolution resolution,
                 const std::function<Visit(const FoundEntry&)>& visit) {
  Walk walk(resolution, visit);
  walk.level(folder, "", 0);
  return walk.fault();
}

}  // namespace belay::tools
