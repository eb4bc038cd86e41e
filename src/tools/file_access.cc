// The order of a write: lock, remove the remains of a write that a crash ended, check the limits,
// create the folders, write the temporary file, fsync, rename, fsync the folder.

#include "tools/file_access.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/in_quotes.h"
#include "base/write_all.h"
#include "belay/value.h"
#include "tools/file_path.h"
#include "tools/folder_walk.h"

namespace belay::tools {
namespace {

constexpr mode_t folder_mode = 0700;
constexpr int temporary_attempts_max = 8;
constexpr std::uint64_t character_bytes_max = 4;

Error file_error(int fault, const std::string& path, std::string_view action) {
  std::string file = "The file " + shown_path(path);
  switch (fault) {
    case ENOENT:
      return error(ErrorCode::not_found, file + " does not exist. Use the path of a written file.");
    case ELOOP:
      return error(ErrorCode::forbidden,
                   file + " is, or is behind, a symbolic link. Use a path without links.");
    case EXDEV:
      return error(ErrorCode::forbidden,
                   file + " is outside the folder of the files. Use a path inside it.");
    case ENOTDIR:
      return error(ErrorCode::invalid, file +
                                           " has a component that is not a folder. Use another "
                                           "path.");
    case ENAMETOOLONG:
      return error(ErrorCode::invalid, file + " has too long a name. Use a shorter one.");
    case EACCES:
      return error(ErrorCode::forbidden, file + " does not permit this process to " +
                                             std::string(action) + " it. Change its permissions.");
    case ENOSPC:
    case EDQUOT:
      return error(ErrorCode::unavailable, "The disk is full, and " + shown_path(path) +
                                               " was not written. Free some space and try again.");
    case EAGAIN:
      return error(ErrorCode::unavailable,
                   "Folders of " + shown_path(path) + " were being moved. Try again later.");
    default:
      return error(ErrorCode::unavailable, "The system could not " + std::string(action) + " " +
                                               shown_path(path) + " (" +
                                               std::system_category().message(fault) +
                                               "). Check the disk, then try again.");
  }
}

Error not_regular(const std::string& path) {
  return error(ErrorCode::invalid,
               "The path " + shown_path(path) + " is not a regular file. Use another path.");
}

Result<Done> check_path(const std::string& path) {
  auto fault = path_fault(path);
  if (!fault) return Done{};
  return error(ErrorCode::invalid, "The path " + shown_path(path) + " " + *fault +
                                       ". Use a relative path such as \"notes/today.md\".");
}

// Splits "a/b/c" into "a/b" and "c"; the first is empty without a slash.
std::pair<std::string, std::string> split(const std::string& path) {
  std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// Each returns 0 or an errno.
int lock(int folder) {
  while (::flock(folder, LOCK_EX) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int read_all(int file, std::uint64_t offset, std::string& text) {
  std::size_t filled = 0;
  while (filled < text.size()) {
    ssize_t bytes = ::pread(file, text.data() + filled, text.size() - filled,
                            static_cast<off_t>(offset + filled));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno;
    if (bytes == 0) break;  // the file became shorter
    filled += static_cast<std::size_t>(bytes);
  }
  text.resize(filled);
  return 0;
}

// Creates a folder durably, if it does not exist.
int make_folder(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), folder_mode) != 0) return errno == EEXIST ? 0 : errno;
  return ::fsync(parent) == 0 ? 0 : errno;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Removes the rest of a character at the begin, and an incomplete one at the end. Returns the
// number of bytes removed at the begin.
std::size_t trim_characters(std::string& text, bool begins_within, bool ends_within) {
  std::size_t begin = 0;
  while (begins_within && begin < text.size() && begin < 3 && is_continuation(text[begin])) ++begin;
  text.erase(0, begin);
  auto invalid = first_invalid_utf8(text);
  if (ends_within && invalid && text.size() - *invalid < 4) text.resize(*invalid);
  return begin;
}

}  // namespace

Result<Descriptor> FileAccess::open_folder(bool creates) const {
  std::error_code fault;
  if (creates) std::filesystem::create_directories(root_, fault);
  // The root is configured by the program, not by a model: it may be behind links.
  Descriptor root(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) {
    return error(ErrorCode::unavailable, "The folder of the files could not be opened (" +
                                             std::system_category().message(errno) +
                                             "). Check FileToolOptions::root.");
  }
  if (folder_.empty()) return root;
  if (creates) {
    if (int number = make_folder(root.number(), folder_)) {
      return file_error(number, folder_, "create");
    }
  }
  Opened opened = open_beneath(root.number(), folder_, O_RDONLY | O_DIRECTORY, resolution_);
  if (opened.fault != 0) return file_error(opened.fault, folder_, "open");
  return std::move(opened.file);
}

Result<FileAccess::Target> FileAccess::find_target(int folder, const std::string& path) const {
  std::vector<std::string> components = components_of(path);
  Descriptor parent;
  int from = folder;
  for (std::size_t i = 0; i + 1 < components.size(); ++i) {
    Opened next = open_beneath(from, components[i], O_PATH | O_DIRECTORY, resolution_);
    if (next.fault == ENOENT) return Target{components.size() - i, 0};
    if (next.fault != 0) return file_error(next.fault, path, "open");
    parent = std::move(next.file);
    from = parent.number();
  }
  struct stat status{};
  if (::fstatat(from, components.back().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return Target{1, 0};
    return file_error(errno, path, "open");
  }
  if (S_ISLNK(status.st_mode)) return file_error(ELOOP, path, "write");
  if (!S_ISREG(status.st_mode)) return not_regular(path);
  if (status.st_nlink != 1) {
    return error(ErrorCode::forbidden,
                 "The file " + shown_path(path) + " has several hard links. Use another path.");
  }
  return Target{0, static_cast<std::uint64_t>(status.st_size)};
}

Result<Done> FileAccess::check_quota(int folder, const std::string& path, const Target& target,
                                     std::uint64_t bytes) const {
  std::uint64_t entries = 0;
  std::uint64_t used = 0;
  auto count = [&](const FoundEntry& entry) {
    if (entry.name == temporary_name) {
      // The lock is held: the write of this file was interrupted.
      ::unlinkat(entry.folder, entry.name.c_str(), 0);
      return Visit::skip;
    }
    ++entries;
    if (S_ISREG(entry.status.st_mode)) used += static_cast<std::uint64_t>(entry.status.st_size);
    return entries > limits_.files_max ? Visit::stop : Visit::enter;
  };
  if (int fault = walk_beneath(folder, resolution_, count)) return file_error(fault, path, "count");
  if (entries + target.missing > limits_.files_max) {
    return error(ErrorCode::exhausted,
                 "The file " + shown_path(path) + " was not written: at most " +
                     std::to_string(limits_.files_max) +
                     " files and folders are allowed. Replace an existing file.");
  }
  used -= std::min(used, target.bytes);
  if (used + bytes > limits_.bytes_max) {
    return error(ErrorCode::exhausted,
                 "The file " + shown_path(path) + " was not written: all files together may have " +
                     std::to_string(limits_.bytes_max) + " bytes, and the others have " +
                     std::to_string(used) + ". Write less.");
  }
  return Done{};
}

// Creates the folders of the path, and opens the last one from the top: it is beneath `folder`
// then.
Result<Descriptor> FileAccess::open_parent(int folder, const std::string& path) const {
  std::vector<std::string> components = components_of(path);
  components.pop_back();
  Descriptor current;
  int from = folder;
  for (const std::string& component : components) {
    if (int fault = make_folder(from, component)) return file_error(fault, path, "create");
    Opened next = open_beneath(from, component, O_RDONLY | O_DIRECTORY, resolution_);
    if (next.fault != 0) return file_error(next.fault, path, "open");
    current = std::move(next.file);
    from = current.number();
  }
  if (components.empty()) {
    Descriptor same(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
    if (!same.is_open()) return file_error(errno, path, "open");
    return same;
  }
  Opened parent = open_beneath(folder, split(path).first, O_RDONLY | O_DIRECTORY, resolution_);
  if (parent.fault != 0) return file_error(parent.fault, path, "open");
  return std::move(parent.file);
}

Result<Done> FileAccess::replace(int parent, const std::string& path, std::string_view text) const {
  std::string name = split(path).second;
  std::string temporary(temporary_name);
  Opened opened;
  for (int attempt = 0; attempt < temporary_attempts_max; ++attempt) {
    opened = open_beneath(parent, temporary, O_WRONLY | O_CREAT | O_EXCL, resolution_);
    if (opened.fault != EEXIST) break;
    ::unlinkat(parent, temporary.c_str(), 0);
  }
  if (opened.fault != 0) return file_error(opened.fault, path, "write");
  int fault = write_all(opened.file.number(), text);
  if (fault == 0 && ::fsync(opened.file.number()) != 0) fault = errno;
  // Neither rename() nor its arguments follow links: both names are components of `parent`.
  if (fault == 0 && ::renameat(parent, temporary.c_str(), parent, name.c_str()) != 0) fault = errno;
  if (fault != 0) {
    ::unlinkat(parent, temporary.c_str(), 0);
    return fault == EISDIR || fault == ENOTEMPTY ? not_regular(path)
                                                 : file_error(fault, path, "write");
  }
  if (::fsync(parent) != 0) return file_error(errno, path, "write");
  return Done{};
}

Result<Done> FileAccess::write(const std::string& path, std::string_view text) const {
  BELAY_CHECK(check_path(path));
  if (text.size() > limits_.file_bytes_max) {
    return error(ErrorCode::exhausted, "The text for " + shown_path(path) + " has " +
                                           std::to_string(text.size()) + " bytes; at most " +
                                           std::to_string(limits_.file_bytes_max) +
                                           " are allowed. Write several files.");
  }
  BELAY_TRY(Descriptor folder, open_folder(true));
  if (int fault = lock(folder.number())) return file_error(fault, path, "lock");
  BELAY_TRY(Target target, find_target(folder.number(), path));
  BELAY_CHECK(check_quota(folder.number(), path, target, text.size()));
  BELAY_TRY(Descriptor parent, open_parent(folder.number(), path));
  return replace(parent.number(), path, text);
}

Result<FileText> FileAccess::read(const std::string& path, std::uint64_t offset,
                                  std::uint64_t length) const {
  BELAY_CHECK(check_path(path));
  BELAY_TRY(Descriptor folder, open_folder(false));
  // First without access: to open a FIFO or a device would already have an effect.
  for (int flags : {O_PATH, O_RDONLY}) {
    Opened opened = open_beneath(folder.number(), path, flags, resolution_);
    if (opened.fault == ENXIO) return not_regular(path);
    if (opened.fault != 0) return file_error(opened.fault, path, "read");
    struct stat status{};
    if (::fstat(opened.file.number(), &status) != 0) return file_error(errno, path, "read");
    if (!S_ISREG(status.st_mode)) return not_regular(path);
    if (flags == O_PATH) continue;
    FileText found;
    found.size = static_cast<std::uint64_t>(status.st_size);
    found.begin = std::min(offset, found.size);
    // At least one character, so that a reader who continues at the end makes progress.
    std::uint64_t wanted = std::max(std::min(length, limits_.file_bytes_max), character_bytes_max);
    std::uint64_t bytes = std::min(wanted, found.size - found.begin);
    found.text.resize(bytes);
    int fault = read_all(opened.file.number(), found.begin, found.text);
    if (fault != 0) return file_error(fault, path, "read");
    found.begin += trim_characters(found.text, found.begin > 0, found.begin + bytes < found.size);
    if (auto invalid = first_invalid_utf8(found.text)) {
      return error(ErrorCode::invalid, "The file " + shown_path(path) + " is not a text: byte " +
                                           std::to_string(found.begin + *invalid) +
                                           " is not UTF-8. Read another file.");
    }
    return found;
  }
  return not_regular(path);
}

}  // namespace belay::tools
