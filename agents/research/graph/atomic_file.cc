#include "agents/research/graph/atomic_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "agents/research/files/pending_file.h"

namespace belay::research {

Result<Done> write_atomically(const std::string& path, std::string_view bytes) {
  std::size_t slash = path.rfind('/');
  std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return error(ErrorCode::unavailable, "The file \"" + path +
                                             "\" cannot be written, because its folder cannot be "
                                             "created: " +
                                             std::strerror(errno) + ".");
  }
  BELAY_TRY(std::unique_ptr<PendingFile> file, PendingFile::create(path, 0600));
  BELAY_CHECK(file->add(bytes));
  return file->replace();
}

}  // namespace belay::research
