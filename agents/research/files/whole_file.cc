#include "agents/research/files/whole_file.h"

#include <filesystem>
#include <fstream>
#include <memory>

#include "agents/research/files/pending_file.h"

namespace belay::research {

Result<std::optional<std::string>> read_if_exists(const std::string& path, std::size_t bytes_max) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure) && !failure) return std::optional<std::string>();
  std::uintmax_t size = failure ? 0 : std::filesystem::file_size(path, failure);
  if (failure || size > bytes_max) {
    return error(ErrorCode::unavailable,
                 "The file \"" + path + "\" cannot be read: " +
                     (failure ? failure.message()
                              : "it has more than " + std::to_string(bytes_max) + " bytes") +
                     ".");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file || static_cast<std::uintmax_t>(file.gcount()) != size) {
    return error(ErrorCode::unavailable, "The file \"" + path + "\" cannot be read.");
  }
  return std::optional<std::string>(std::move(text));
}

Result<Done> replace_file(const std::string& path, std::string_view bytes) {
  BELAY_TRY(std::unique_ptr<PendingFile> file, PendingFile::create(path));
  BELAY_CHECK(file->add(bytes));
  return file->replace();
}

}  // namespace belay::research
