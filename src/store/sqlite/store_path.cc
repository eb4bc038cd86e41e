#include "store/sqlite/store_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

namespace belay::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr int links_max = 40;  // as in the kernel

Error refuse(const std::string& path, std::string_view why) {
  return error(ErrorCode::invalid, "Store \"" + path + "\" " + std::string(why));
}

Error failed_at(const std::string& path, int code) {
  switch (code) {
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return refuse(path, "cannot exist there. Name a file in a folder.");
    case ENOENT:
      return refuse(path, "is in a folder that does not exist. Create the folder.");
    default:
      return error(ErrorCode::unavailable,
                   "Store \"" + path + "\" could not be inspected: " + std::strerror(code) +
                       ". Check the permissions of the file and its folder.");
  }
}

// Returns the path of an existing file; else nothing, with the reason in errno.
std::optional<std::string> real_path(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> found(realpath(path.c_str(), nullptr), &std::free);
  if (!found) return std::nullopt;
  return std::string(found.get());
}

// Returns the target of a symbolic link; nothing for any other file.
std::optional<fs::path> target_of(const fs::path& path) {
  std::error_code other;
  fs::path target = fs::read_symlink(path, other);
  if (other) return std::nullopt;
  return target.is_absolute() ? target : path.parent_path() / target;
}

// Returns the id of a file's mount; nothing if the kernel (before 5.8) does not report it.
std::optional<std::uint64_t> mount_of(const std::string& path) {
#ifdef STATX_MNT_ID
  struct statx status{};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &status) != 0) return std::nullopt;
  if ((status.stx_mask & STATX_MNT_ID) == 0) return std::nullopt;
  return status.stx_mnt_id;
#else
  (void)path;
  return std::nullopt;
#endif
}

}  // namespace

Result<Done> check_store_name(const std::string& given) {
  if (given.empty() || given.find('\0') != std::string::npos) {
    return error(ErrorCode::invalid, "A SQLite store requires a path. Write sqlite:PATH.");
  }
  if (given[0] == ':') {
    return error(ErrorCode::invalid, "The path \"" + given +
                                         "\" names no file. Write memory: for a store that ends "
                                         "with its process.");
  }
  // SQLite would parse its parameters and open a file of another name.
  if (given.starts_with("file:")) {
    return error(ErrorCode::invalid, "The path \"" + given +
                                         "\" is a URI, which is not supported. Write sqlite:PATH "
                                         "with the path of the file.");
  }
  return Done{};
}

Result<std::string> store_path(const std::string& given) {
  BELAY_CHECK(check_store_name(given));
  fs::path path = given;
  for (int links = 0; links < links_max; ++links) {
    if (auto whole = real_path(path.string())) return *whole;
    if (errno != ENOENT) return failed_at(given, errno);
    // A link to a file that does not exist yet names that file, not the link.
    if (auto target = target_of(path)) {
      path = *target;
      continue;
    }
    if (!path.has_filename()) return refuse(given, "is a folder. Name a file in it.");
    std::string folder = path.parent_path().string();
    auto whole = real_path(folder.empty() ? "." : folder);
    if (!whole) return failed_at(given, errno);
    return (fs::path(*whole) / path.filename()).string();
  }
  return failed_at(given, ELOOP);
}

Result<std::optional<FileId>> file_id(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) return std::optional(FileId{status.st_dev, status.st_ino});
  if (errno == ENOENT) return std::optional<FileId>();
  return failed_at(path, errno);
}

Result<Done> check_only_name(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return failed_at(path, errno);
  std::string folder = fs::path(path).parent_path().string();
  if (status.st_nlink > 1) {
    return refuse(path, "has " + std::to_string(status.st_nlink) +
                            " names (hard links), and SQLite would use a separate log for each. "
                            "Remove all but one of them: find / -xdev -samefile " +
                            path + ".");
  }
  auto of_file = mount_of(path);
  auto of_folder = mount_of(folder);
  if (of_file && of_folder && *of_file != *of_folder) {
    return refuse(path,
                  "is mounted as a single file, so its log would be outside of the mount. Mount "
                  "its folder instead.");
  }
  return Done{};
}

}  // namespace belay::sqlite
