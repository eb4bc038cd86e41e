#include "belay/command.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cli/output.h"

namespace belay {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& name)
      : file_(name == "-" ? STDIN_FILENO : ::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (file_ > STDIN_FILENO) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int file() const { return file_; }

 private:
  int file_;
};

Error unreadable(const std::string& shown, int why) {
  return error(ErrorCode::invalid, "The file " + shown +
                                       " could not be read: " + std::strerror(why) +
                                       ". Name a file, or - for standard input.");
}

}  // namespace

Result<std::string> read_input(const std::string& name, std::size_t most) {
  std::string shown = name == "-" ? "on standard input" : "\"" + one_line(name) + "\"";
  OpenFile open(name);
  if (open.file() < 0) return unreadable(shown, errno);
  std::string bytes;
  std::array<char, 64 * 1024> part;
  while (true) {
    ssize_t count = ::read(open.file(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(shown, errno);
    if (count == 0) return bytes;
    bytes.append(part.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most) {
      return error(ErrorCode::invalid, "The file " + shown + " has more than " +
                                           std::to_string(most) +
                                           " bytes. Split it into smaller ones.");
    }
  }
}

}  // namespace belay
