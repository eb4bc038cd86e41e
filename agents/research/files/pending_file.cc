#include "agents/research/files/pending_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace belay::research {
namespace {

Error pending_error(const std::string& path, const std::string& how, int number) {
  return error(ErrorCode::unavailable,
               "The file \"" + path + "\" cannot be " + how + ": " + std::strerror(number) + ".");
}

std::string folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Makes the new name durable.
bool sync_names(const std::string& folder) {
  int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return false;
  bool is_synced = ::fsync(opened) == 0;
  ::close(opened);
  return is_synced;
}

}  // namespace

PendingFile::PendingFile(std::string path, mode_t mode) : path_(std::move(path)), mode_(mode) {
  std::string name = std::filesystem::path(path_).filename().string();
  temporary_ = folder_of(path_) + "/." + name + ".XXXXXX";
  file_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
}

PendingFile::~PendingFile() {
  if (file_ < 0) return;
  ::close(file_);
  if (!is_renamed_) ::unlink(temporary_.c_str());
}

Result<std::unique_ptr<PendingFile>> PendingFile::create(std::string path, mode_t mode) {
  auto file = std::make_unique<PendingFile>(std::move(path), mode);
  if (file->file_ < 0) return pending_error(file->path_, "created", errno);
  return file;
}

Result<Done> PendingFile::add(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return pending_error(path_, "written", errno);
    bytes_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Done{};
}

Result<Done> PendingFile::restart() {
  if (::ftruncate(file_, 0) != 0 || ::lseek(file_, 0, SEEK_SET) != 0) {
    return pending_error(path_, "written", errno);
  }
  bytes_ = 0;
  return Done{};
}

Result<Done> PendingFile::replace() {
  if (::fchmod(file_, mode_) != 0 || ::fsync(file_) != 0) {
    return pending_error(path_, "written", errno);
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return pending_error(path_, "replaced", errno);
  }
  is_renamed_ = true;
  if (!sync_names(folder_of(path_))) return pending_error(path_, "made durable", errno);
  return Done{};
}

}  // namespace belay::research
