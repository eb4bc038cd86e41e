#include "agents/research/graph/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace belay::research {
namespace {

Error file_error(const std::string& path, const std::string& how, int number) {
  return error(ErrorCode::unavailable,
               "The file \"" + path + "\" cannot be " + how + ": " + std::strerror(number) + ".");
}

// A temporary file, which is deleted unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string name_template)
      : name_(std::move(name_template)), file_(::mkostemp(name_.data(), O_CLOEXEC)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_ < 0) return;
    ::close(file_);
    if (!is_renamed_) ::unlink(name_.c_str());
  }

  bool is_open() const { return file_ >= 0; }

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(file_) == 0;
  }

  bool rename_to(const std::string& path) {
    is_renamed_ = std::rename(name_.c_str(), path.c_str()) == 0;
    return is_renamed_;
  }

 private:
  std::string name_;
  const int file_;
  bool is_renamed_ = false;
};

// Makes the new name durable.
bool sync_folder(const std::string& folder) {
  int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return false;
  bool is_synced = ::fsync(opened) == 0;
  ::close(opened);
  return is_synced;
}

}  // namespace

Result<Done> write_atomically(const std::string& path, std::string_view bytes) {
  std::size_t slash = path.rfind('/');
  std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  std::string name = slash == path.npos ? path : path.substr(slash + 1);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return file_error(path, "written, because its folder cannot be created", errno);
  }
  TemporaryFile file(folder + "/." + name + ".XXXXXX");
  if (!file.is_open()) return file_error(path, "created", errno);
  if (!file.write(bytes)) return file_error(path, "written", errno);
  if (!file.rename_to(path)) return file_error(path, "replaced", errno);
  if (!sync_folder(folder)) return file_error(path, "made durable", errno);
  return Done{};
}

}  // namespace belay::research
