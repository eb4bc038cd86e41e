#include "cli/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/output.h"

namespace belay::cli {
namespace {

constexpr std::size_t kKeyFileBytesMax = 64 * 1024;

class OpenKeyFile {
 public:
  explicit OpenKeyFile(const std::string& name)
      : file_(::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenKeyFile() {
    if (file_ >= 0) ::close(file_);
  }
  OpenKeyFile(const OpenKeyFile&) = delete;
  OpenKeyFile& operator=(const OpenKeyFile&) = delete;
  int file() const { return file_; }

 private:
  int file_;
};

Error refuse(const std::string& name, const std::string& why) {
  return error(ErrorCode::invalid, "The key file \"" + one_line(name) + "\" " + why + ".");
}

Result<KeyRing> keys_in(const std::string& name) {
  BELAY_TRY(std::string text, read_key_file(name, "--key-file or BELAY_KEY_FILE"));
  auto keys = KeyRing::from_text(std::move(text));
  if (keys.ok()) return keys;
  return error(ErrorCode::invalid,
               "Cannot use key file \"" + one_line(name) + "\": " + keys.error().message);
}

}  // namespace

Result<std::string> read_key_file(const std::string& name, std::string_view named_with) {
  OpenKeyFile open(name);
  struct stat about{};
  if (open.file() < 0 || ::fstat(open.file(), &about) != 0) {
    return refuse(name, "could not be read: " + std::string(std::strerror(errno)) +
                            ". Name it with " + std::string(named_with));
  }
  if (!S_ISREG(about.st_mode)) return refuse(name, "is not a regular file");
  // A secret mounted for a process belongs to another user, root, and the process reads it as a
  // member of its group. A file of the process's own user needs no group permission.
  mode_t unwanted = S_IRWXO | S_IWGRP | S_IXGRP;
  if (about.st_uid == ::geteuid()) unwanted |= S_IRGRP;
  if ((about.st_mode & unwanted) != 0) {
    return refuse(name,
                  "can be read or changed by its group or by other users. Restrict it with chmod "
                  "600, and replace the keys if another user might have read them");
  }
  // The text is read into its final buffer, so that no other copy of a key remains in memory.
  std::string text(kKeyFileBytesMax + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    ssize_t count = ::read(open.file(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse(name, "could not be read: " + std::string(std::strerror(errno)));
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > kKeyFileBytesMax) return refuse(name, "is too long");
  text.resize(size);
  return text;
}

Result<EncryptionOptions> encryption_of(const Settings& settings) {
  EncryptionOptions encryption;
  encryption.compress = settings.compression;
  encryption.accept_plaintext = settings.accept_plaintext;
  if (settings.key_file) {
    BELAY_TRY(encryption.keys, keys_in(*settings.key_file));
  } else if (settings.keys) {
    auto keys = KeyRing::from_text(*settings.keys);
    if (!keys.ok()) {
      return error(ErrorCode::invalid,
                   settings.keys_name + " cannot be used: " + keys.error().message);
    }
    encryption.keys = *std::move(keys);
  }
  return encryption;
}

}  // namespace belay::cli
