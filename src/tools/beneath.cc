#include "tools/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string_view>

namespace belay::tools {
namespace {

// openat2() fails with EAGAIN if a folder was renamed during the resolution. A process that renames
// all the time must not keep this one busy.
constexpr int resolutions_max = 32;
constexpr mode_t file_mode = 0600;

int flags_with(int flags) {
  int added = O_NOFOLLOW | O_CLOEXEC;
  if ((flags & O_PATH) == 0) added |= O_NONBLOCK;  // openat2() refuses both together
  return flags | added;
}

Opened failed(int fault) {
  Opened opened;
  opened.fault = fault;
  return opened;
}

Opened open_by_kernel(int folder, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags_with(flags));
  how.mode = (flags & O_CREAT) != 0 ? file_mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  for (int attempt = 0; attempt < resolutions_max; ++attempt) {
    long number = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
    if (number >= 0) return {Descriptor(static_cast<int>(number))};
    if (errno != EAGAIN && errno != EINTR) return failed(errno);
  }
  return failed(EAGAIN);
}

bool is_link(int folder, const std::string& name) {
  struct stat status{};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

// Opens one component, which must be in the file system `device`.
Opened open_component(int folder, const std::string& name, int flags, dev_t device) {
  if (name.empty() || name == "." || name == "..") return failed(EXDEV);
  Descriptor file(::openat(folder, name.c_str(), flags_with(flags), file_mode));
  if (!file.is_open()) return failed(errno);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return failed(errno);
  if (status.st_dev != device) return failed(EXDEV);
  return {std::move(file)};
}

// Both calls report a link as ENOTDIR if a directory is required.
bool is_link_in_fact(int folder, std::string_view path, int fault) {
  return fault == ENOTDIR && path.find('/') == path.npos && is_link(folder, std::string(path));
}

Opened open_by_components(int folder, std::string_view path, int flags) {
  struct stat status{};
  if (::fstat(folder, &status) != 0) return failed(errno);
  Opened parent;
  int from = folder;
  while (true) {
    std::size_t slash = path.find('/');
    std::string name(path.substr(0, slash));
    if (slash == path.npos) return open_component(from, name, flags, status.st_dev);
    Opened next = open_component(from, name, O_PATH | O_DIRECTORY, status.st_dev);
    if (next.fault != 0) {
      return failed(is_link_in_fact(from, name, next.fault) ? ELOOP : next.fault);
    }
    parent = std::move(next);
    from = parent.file.number();
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

Opened open_beneath(int folder, const std::string& path, int flags, Resolution resolution) {
  Opened opened;
  bool by_components = resolution == Resolution::components;
  if (!by_components) {
    opened = open_by_kernel(folder, path, flags);
    by_components = opened.fault == ENOSYS || opened.fault == EPERM;
  }
  if (by_components) opened = open_by_components(folder, path, flags);
  if (is_link_in_fact(folder, path, opened.fault)) return failed(ELOOP);
  if (opened.fault != 0 || (flags & O_PATH) == 0) return opened;
  // With O_PATH and O_NOFOLLOW, the system opens a link itself.
  struct stat status{};
  if (::fstat(opened.file.number(), &status) != 0) return failed(errno);
  if (S_ISLNK(status.st_mode)) return failed(ELOOP);
  return opened;
}

}  // namespace belay::tools
